// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a register shows of a meter: whole units since its origin, cut to its width.
 */
#include "counter.h"

#include <linux/export.h>

void sim_counter_init(struct sim_counter *counter, struct sim_meter *meter, u64 unit_num,
		      u64 unit_den, unsigned int bits, u64 update_ns)
{
	*counter = (struct sim_counter){
		.meter = meter,
		.unit_num = unit_num,
		.unit_den = unit_den,
		.bits = bits,
		.update_ns = update_ns,
	};
	raw_spin_lock_init(&counter->lock);
	sim_meter_refresh(meter);
	sim_meter_energy(meter, update_ns, &counter->origin);
}
EXPORT_SYMBOL_GPL(sim_counter_init);

void sim_counter_done(struct sim_counter *counter)
{
	sim_meter_put(counter->meter);
}
EXPORT_SYMBOL_GPL(sim_counter_done);

/* energy * den / num with num, den < 2^30 or den a power of two up to 2^32: no step overflows. */
static u64 whole_units(const struct sim_energy *energy, u64 num, u64 den)
{
	u64 whole, rest_nj;

	whole = div64_u64_rem(energy->nj, num, &rest_nj);
	return whole * den +
	       div64_u64(rest_nj * den + div_u64(energy->fj * den, SIM_FJ_PER_NJ), num);
}

u64 sim_counter_max(const struct sim_counter *counter)
{
	return counter->bits >= 64 ? U64_MAX : (1ull << counter->bits) - 1;
}
EXPORT_SYMBOL_GPL(sim_counter_max);

int sim_counter_read(struct sim_counter *counter, u64 *ret)
{
	struct sim_energy energy;
	unsigned long flags;
	int error;

	sim_meter_refresh(counter->meter);
	raw_spin_lock_irqsave(&counter->lock, flags);
	error = counter->error;
	if (!error) {
		sim_meter_energy(counter->meter, counter->update_ns, &energy);
		sim_energy_sub(&energy, &counter->origin);
		*ret = (counter->start +
			whole_units(&energy, counter->unit_num, counter->unit_den)) &
		       sim_counter_max(counter);
	}
	raw_spin_unlock_irqrestore(&counter->lock, flags);
	return error;
}
EXPORT_SYMBOL_GPL(sim_counter_read);

void sim_counter_set(struct sim_counter *counter, u64 value)
{
	unsigned long flags;

	sim_meter_refresh(counter->meter);
	raw_spin_lock_irqsave(&counter->lock, flags);
	sim_meter_energy(counter->meter, counter->update_ns, &counter->origin);
	counter->start = value;
	raw_spin_unlock_irqrestore(&counter->lock, flags);
}
EXPORT_SYMBOL_GPL(sim_counter_set);

void sim_counter_origin(struct sim_counter *counter, struct sim_energy *ret)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&counter->lock, flags);
	*ret = counter->origin;
	raw_spin_unlock_irqrestore(&counter->lock, flags);
}
EXPORT_SYMBOL_GPL(sim_counter_origin);

void sim_counter_fail(struct sim_counter *counter, int error)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&counter->lock, flags);
	counter->error = error;
	raw_spin_unlock_irqrestore(&counter->lock, flags);
}
EXPORT_SYMBOL_GPL(sim_counter_fail);
