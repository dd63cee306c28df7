// SPDX-License-Identifier: GPL-2.0-only
/*
 * What scripts can say of model-specific registers: what the kernel reads of those that a script
 * names comes from the script.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "msr_probe.h"
#include "msr_register.h"

#define NJ_PER_J 1000000000u
#define UPDATE_US 1000

enum counter_key {
	COUNTER_METER,
	COUNTER_SHIFT,
	COUNTER_PACKAGE,
	COUNTER_BITS,
	COUNTER_UPDATE
};

#define BITS \
	{ \
		"bits", SIM_NUMBER, false, 8, 64 \
	}
#define PACKAGE \
	{ \
		"package", SIM_NUMBER, false, 0, INT_MAX \
	}
#define COUNTER_KEYS \
	{ \
		[COUNTER_METER] = SIM_KEY_METER, \
		[COUNTER_SHIFT] = { "unit_shift", SIM_NUMBER, false, 0, 24 }, \
		[COUNTER_PACKAGE] = PACKAGE, [COUNTER_BITS] = BITS, \
		[COUNTER_UPDATE] = { "update_us", SIM_NUMBER, false, 0, 1000000 }, \
	}
#define VALUE_KEYS \
	{ \
		{ "value", SIM_NUMBER, true, 0, U64_MAX }, PACKAGE \
	}
#define ERRNO_KEYS \
	{ \
		SIM_KEY_ERRNO, PACKAGE \
	}
#define PACKAGE_KEYS \
	{ \
		PACKAGE \
	}

static int package_or_any(const struct sim_value *value)
{
	return value->is_set ? (int)value->number : SIM_ANY_PACKAGE;
}

static int run_counter(const char *target, const struct sim_value *values)
{
	struct sim_register *added;
	struct sim_meter *meter;
	int r = sim_register_new(target, package_or_any(&values[COUNTER_PACKAGE]), &added);

	if (r)
		return r;
	r = sim_meter_get(values[COUNTER_METER].text, &meter);
	if (r) {
		kfree(added);
		return r;
	}
	added->is_counter = true;
	sim_counter_init(&added->counter, meter, NJ_PER_J,
			 BIT_ULL(sim_number_or(&values[COUNTER_SHIFT], 14)),
			 (unsigned int)sim_number_or(&values[COUNTER_BITS], 32),
			 sim_number_or(&values[COUNTER_UPDATE], UPDATE_US) * NSEC_PER_USEC);
	sim_register_add(added);
	return 0;
}

static int run_value(const char *target, const struct sim_value *values)
{
	struct sim_register *added;
	int r = sim_register_new(target, package_or_any(&values[1]), &added);

	if (r)
		return r;
	added->value = values[0].number;
	sim_register_add(added);
	return 0;
}

static int run_set(const char *target, const struct sim_value *values)
{
	struct sim_register *found;
	int r = sim_register_get(target, package_or_any(&values[1]), &found);

	if (r)
		return r;
	if (found->is_counter)
		sim_counter_set(&found->counter, values[0].number);
	else
		WRITE_ONCE(found->value, values[0].number);
	return 0;
}

static int run_fail(const char *target, const struct sim_value *values)
{
	struct sim_register *found;
	int r = sim_register_get(target, package_or_any(&values[1]), &found);

	if (r)
		return r;
	if (found->is_counter)
		sim_counter_fail(&found->counter, -(int)values[0].number);
	else
		WRITE_ONCE(found->error, -(int)values[0].number);
	return 0;
}

static int run_remove(const char *target, const struct sim_value *values)
{
	struct sim_register *found;
	int r = sim_register_get(target, package_or_any(&values[0]), &found);

	if (!r)
		sim_register_free(found);
	return r;
}

static void show_registers(struct seq_file *file)
{
	struct sim_register *found;
	u64 value;
	int r;

	for (found = sim_register_next(NULL); found; found = sim_register_next(found)) {
		value = found->value;
		r = found->is_counter ? sim_counter_read(&found->counter, &value) : found->error;
		seq_printf(file, "msr 0x%x package=%d meter=%s", found->number, found->package_id,
			   found->is_counter ? sim_meter_name(found->counter.meter) : "-");
		seq_printf(file, r ? " errno=%lld\n" : " value=0x%llx\n", r ? (u64)-r : value);
	}
}

static const struct sim_verb msr_verbs[] = {
	{ "counter", true, COUNTER_KEYS, run_counter }, { "value", true, VALUE_KEYS, run_value },
	{ "set", true, VALUE_KEYS, run_set },           { "fail", true, ERRNO_KEYS, run_fail },
	{ "remove", true, PACKAGE_KEYS, run_remove },
};

static struct sim_noun msr_noun = {
	.name = "msr",
	.owner = THIS_MODULE,
	.verbs = msr_verbs,
	.n_verbs = ARRAY_SIZE(msr_verbs),
	.show = show_registers,
};

static int __init registers_init(void)
{
	int r = sim_probes_place();

	if (!r)
		sim_noun_register(&msr_noun);
	return r;
}

static void __exit registers_exit(void)
{
	sim_noun_unregister(&msr_noun);
	sim_probes_remove();
	sim_lock();
	sim_registers_free();
	sim_unlock();
}

module_init(registers_init);
module_exit(registers_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Wattribute's simulator: model-specific registers, for tests only");
