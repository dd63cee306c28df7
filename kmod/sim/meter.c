// SPDX-License-Identifier: GPL-2.0-only
/*
 * Meters: integrals of a power that is known exactly, or the ground truth of a package.
 */
#include "meter.h"

#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "core.h"
#include "truth.h"

#define METERS_MAX 256
#define PERMILLE 1000

struct sim_meter {
	struct list_head node;
	char name[SIM_TEXT_MAX];
	unsigned int users;
	raw_spinlock_t lock;    /* what follows */
	struct sim_energy base; /* used until since_ns */
	u64 since_ns;
	u32 high_uw, low_uw;
	u64 half_ns;    /* half the period; 0: always high */
	int package_id; /* of the ground truth; -1: none */
	u32 share_permille;
	struct sim_energy origin; /* what the package had used at since_ns */
};

static LIST_HEAD(meters);
static unsigned int n_meters;

static struct sim_meter *find_meter(const char *name)
{
	struct sim_meter *meter;

	list_for_each_entry(meter, &meters, node)
		if (!strcmp(meter->name, name))
			return meter;
	return NULL;
}

int sim_meter_get(const char *name, struct sim_meter **ret)
{
	struct sim_meter *meter = find_meter(name);

	if (!meter)
		return sim_fail(-ENOENT, "there is no meter '%s'; 'meter add' makes one", name);
	meter->users++;
	*ret = meter;
	return 0;
}
EXPORT_SYMBOL_GPL(sim_meter_get);

void sim_meter_put(struct sim_meter *meter)
{
	if (meter)
		meter->users--;
}
EXPORT_SYMBOL_GPL(sim_meter_put);

void sim_meter_refresh(struct sim_meter *meter)
{
	if (READ_ONCE(meter->package_id) >= 0)
		sim_truth_refresh();
}
EXPORT_SYMBOL_GPL(sim_meter_refresh);

const char *sim_meter_name(const struct sim_meter *meter)
{
	return meter->name;
}
EXPORT_SYMBOL_GPL(sim_meter_name);

static void add_wave(const struct sim_meter *meter, u64 time_ns, struct sim_energy *energy)
{
	u64 n, rest_ns;

	if (!meter->half_ns) {
		sim_energy_add_power(energy, meter->high_uw, time_ns);
		return;
	}
	n = div64_u64_rem(time_ns, 2 * meter->half_ns, &rest_ns);
	sim_energy_add_power(energy, meter->high_uw,
			     n * meter->half_ns + min(rest_ns, meter->half_ns));
	sim_energy_add_power(energy, meter->low_uw,
			     n * meter->half_ns +
				     (rest_ns > meter->half_ns ? rest_ns - meter->half_ns : 0));
}

/* energy * share / 1000, cut to whole femtojoules. */
static void take_share(struct sim_energy *energy, u32 share_permille)
{
	u64 rest_nj;

	if (share_permille == PERMILLE)
		return;
	energy->nj = div64_u64_rem(energy->nj * share_permille, PERMILLE, &rest_nj);
	energy->fj =
		(u32)div_u64(rest_nj * SIM_FJ_PER_NJ + (u64)energy->fj * share_permille, PERMILLE);
}

/* meter->lock is held. */
static void energy_at(struct sim_meter *meter, u64 t_ns, struct sim_energy *ret)
{
	struct sim_energy part = { 0 };

	if (meter->package_id < 0) {
		add_wave(meter, t_ns > meter->since_ns ? t_ns - meter->since_ns : 0, &part);
	} else if (!sim_truth_energy(meter->package_id, &part)) {
		sim_energy_sub(&part, &meter->origin);
		take_share(&part, meter->share_permille);
	}
	*ret = meter->base;
	sim_energy_add(ret, &part);
}

void sim_meter_energy(struct sim_meter *meter, u64 update_ns, struct sim_energy *ret)
{
	unsigned long flags;
	u64 t_ns, rest_ns;

	raw_spin_lock_irqsave(&meter->lock, flags);
	t_ns = ktime_get_ns();
	if (update_ns) {
		div64_u64_rem(t_ns, update_ns, &rest_ns);
		t_ns -= rest_ns;
	}
	energy_at(meter, t_ns, ret);
	raw_spin_unlock_irqrestore(&meter->lock, flags);
}
EXPORT_SYMBOL_GPL(sim_meter_energy);

u32 sim_meter_power_uw(struct sim_meter *meter)
{
	unsigned long flags;
	u64 rest_ns = 0;
	u32 power_uw;

	raw_spin_lock_irqsave(&meter->lock, flags);
	if (meter->half_ns)
		div64_u64_rem(ktime_get_ns() - meter->since_ns, 2 * meter->half_ns, &rest_ns);
	power_uw = rest_ns < max(meter->half_ns, 1ull) ? meter->high_uw : meter->low_uw;
	if (meter->package_id >= 0) {
		power_uw = 0;
		sim_truth_power_uw(meter->package_id, &power_uw);
		power_uw = (u32)div_u64((u64)power_uw * meter->share_permille, PERMILLE);
	}
	raw_spin_unlock_irqrestore(&meter->lock, flags);
	return power_uw;
}
EXPORT_SYMBOL_GPL(sim_meter_power_uw);

/* ---- the noun ---- */

enum meter_key {
	KEY_POWER,
	KEY_HIGH,
	KEY_LOW,
	KEY_PERIOD,
	KEY_PACKAGE,
	KEY_SHARE
};

#define METER_KEYS \
	{ \
		[KEY_POWER] = { "power_uw", SIM_NUMBER, false, 0, SIM_POWER_MAX_UW }, \
		[KEY_HIGH] = { "high_uw", SIM_NUMBER, false, 0, SIM_POWER_MAX_UW }, \
		[KEY_LOW] = { "low_uw", SIM_NUMBER, false, 0, SIM_POWER_MAX_UW }, \
		[KEY_PERIOD] = { "period_ms", SIM_NUMBER, false, 2, 3600000 }, \
		[KEY_PACKAGE] = { "package", SIM_NUMBER, false, 0, INT_MAX }, \
		[KEY_SHARE] = { "share_permille", SIM_NUMBER, false, 0, PERMILLE }, \
	}

/* Exactly one of the three kinds of power is given, and given whole. */
static int check_power(const struct sim_value *values)
{
	bool is_wave = values[KEY_HIGH].is_set || values[KEY_LOW].is_set ||
		       values[KEY_PERIOD].is_set;

	if (values[KEY_POWER].is_set + is_wave + values[KEY_PACKAGE].is_set != 1)
		return sim_fail(-EINVAL,
				"give one of power_uw=, package=, or high_uw= low_uw= period_ms=");
	if (is_wave &&
	    !(values[KEY_HIGH].is_set && values[KEY_LOW].is_set && values[KEY_PERIOD].is_set))
		return sim_fail(-EINVAL, "a wave needs high_uw=, low_uw= and period_ms=");
	if (values[KEY_SHARE].is_set && !values[KEY_PACKAGE].is_set)
		return sim_fail(-EINVAL, "share_permille= is of a package= only");
	return 0;
}

/* Changes the power from now on; what was used stays used. */
static int set_power(struct sim_meter *meter, const struct sim_value *values)
{
	bool had_package = meter->package_id >= 0;
	struct sim_energy used;
	unsigned long flags;
	u64 now_ns;
	int r;

	r = check_power(values);
	if (!r && values[KEY_PACKAGE].is_set)
		r = sim_truth_hold((int)values[KEY_PACKAGE].number);
	if (r)
		return r;
	sim_truth_refresh();
	raw_spin_lock_irqsave(&meter->lock, flags);
	now_ns = ktime_get_ns();
	energy_at(meter, now_ns, &used);
	meter->base = used;
	meter->since_ns = now_ns;
	meter->high_uw = (u32)(values[KEY_POWER].is_set ? values[KEY_POWER].number :
							  values[KEY_HIGH].number);
	meter->low_uw = (u32)values[KEY_LOW].number;
	meter->half_ns = values[KEY_PERIOD].number * (NSEC_PER_MSEC / 2);
	meter->package_id = values[KEY_PACKAGE].is_set ? (int)values[KEY_PACKAGE].number : -1;
	meter->share_permille = values[KEY_SHARE].is_set ? (u32)values[KEY_SHARE].number : PERMILLE;
	if (meter->package_id >= 0)
		sim_truth_energy(meter->package_id, &meter->origin);
	raw_spin_unlock_irqrestore(&meter->lock, flags);
	if (had_package)
		sim_truth_release();
	return 0;
}

static int run_add(const char *target, const struct sim_value *values)
{
	struct sim_meter *meter;
	int r;

	if (find_meter(target))
		return sim_fail(-EEXIST, "there is a meter '%s' already", target);
	if (n_meters == METERS_MAX)
		return sim_fail(-ENOSPC, "there are %d meters already, which is all there may be",
				METERS_MAX);
	meter = kzalloc(sizeof(*meter), GFP_KERNEL);
	if (!meter)
		return sim_fail(-ENOMEM, "out of memory");
	raw_spin_lock_init(&meter->lock);
	strscpy(meter->name, target, sizeof(meter->name));
	meter->package_id = -1;
	r = set_power(meter, values);
	if (r) {
		kfree(meter);
		return r;
	}
	list_add_tail(&meter->node, &meters);
	n_meters++;
	return 0;
}

static int run_set(const char *target, const struct sim_value *values)
{
	struct sim_meter *meter = find_meter(target);

	if (!meter)
		return sim_fail(-ENOENT, "there is no meter '%s'", target);
	return set_power(meter, values);
}

static void free_meter(struct sim_meter *meter)
{
	list_del(&meter->node);
	n_meters--;
	if (meter->package_id >= 0)
		sim_truth_release();
	kfree(meter);
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct sim_meter *meter = find_meter(target);

	if (!meter)
		return sim_fail(-ENOENT, "there is no meter '%s'", target);
	if (meter->users)
		return sim_fail(-EBUSY, "meter '%s' is read by %u sensors: remove them first",
				target, meter->users);
	free_meter(meter);
	return 0;
}

static void show_meters(struct seq_file *file)
{
	struct sim_meter *meter;
	struct sim_energy used;

	list_for_each_entry(meter, &meters, node) {
		sim_meter_refresh(meter);
		sim_meter_energy(meter, 0, &used);
		seq_printf(file, "meter %s energy_nj=%llu.%06u power_uw=%u users=%u", meter->name,
			   used.nj, used.fj, sim_meter_power_uw(meter), meter->users);
		/* changed under the simulator's mutex alone */
		seq_printf(file, " since_ns=%llu since_nj=%llu.%06u\n", meter->since_ns,
			   meter->base.nj, meter->base.fj);
	}
}

static const struct sim_verb meter_verbs[] = {
	{ "add", true, METER_KEYS, run_add },
	{ "set", true, METER_KEYS, run_set },
	{ "remove", true, {}, run_remove },
};

static struct sim_noun meter_noun = {
	.name = "meter",
	.owner = THIS_MODULE,
	.verbs = meter_verbs,
	.n_verbs = ARRAY_SIZE(meter_verbs),
	.show = show_meters,
};

void sim_meter_init(void)
{
	sim_noun_register(&meter_noun);
}

void sim_meter_exit(void)
{
	struct sim_meter *meter, *next;

	sim_noun_unregister(&meter_noun);
	list_for_each_entry_safe(meter, next, &meters, node)
		free_meter(meter);
}
