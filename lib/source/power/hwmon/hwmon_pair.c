/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds for each current of a chip the voltage of the same rail: equal labels, else the chip's
 * rule, else equal index. Pure: it must not read files.
 */
#include "source/power/hwmon/hwmon_pair.h"

#include <stdbool.h>
#include <string.h>

#define NO_MATCH ((size_t)-1)

struct pairing {
	const struct watt_sysfs_sensor *voltages;
	size_t n_voltages;
	const struct watt_sysfs_sensor *currents;
	size_t n_currents;
	const struct watt_chip_rule *rule;
	const struct watt_hwmon_match *found;
	size_t n_found;
};

static bool voltage_is_free(const struct pairing *p, size_t i)
{
	size_t k;

	if (p->rule && watt_chip_rule_skips_voltage(p->rule, p->voltages[i].index))
		return false;
	for (k = 0; k < p->n_found; k++)
		if (p->found[k].in_at == i)
			return false;
	return true;
}

static bool current_is_free(const struct pairing *p, size_t i)
{
	size_t k;

	if (p->rule && watt_chip_rule_skips_current(p->rule, p->currents[i].index))
		return false;
	for (k = 0; k < p->n_found; k++)
		if (p->found[k].curr_at == i)
			return false;
	return true;
}

/* Equal, or equal but for the letter of the quantity: vin and iin, vout1 and iout1. */
static bool labels_match(const char *voltage, const char *current)
{
	if (!voltage[0] || !current[0])
		return false;
	if (!strcmp(voltage, current))
		return true;
	return voltage[0] == 'v' && current[0] == 'i' && voltage[1] &&
	       !strcmp(voltage + 1, current + 1);
}

static size_t find_by_label(const struct pairing *p, size_t current)
{
	size_t i;

	for (i = 0; i < p->n_voltages; i++)
		if (voltage_is_free(p, i) &&
		    labels_match(p->voltages[i].clean, p->currents[current].clean))
			return i;
	return NO_MATCH;
}

static size_t find_by_index(const struct pairing *p, uint32_t index)
{
	size_t i;

	for (i = 0; i < p->n_voltages; i++)
		if (p->voltages[i].index == index && voltage_is_free(p, i))
			return i;
	return NO_MATCH;
}

static size_t find_by_rule(const struct pairing *p, size_t current)
{
	uint32_t index = p->currents[current].index;
	size_t i;

	for (i = 0; p->rule && i < p->rule->n_pairs; i++)
		if (p->rule->pairs[i].current == index)
			return find_by_index(p, p->rule->pairs[i].voltage);
	if (!p->rule || p->rule->is_same_index)
		return find_by_index(p, index);
	return NO_MATCH;
}

/* Where labels match on a chip, two different labels are two different things. */
static bool labels_differ(const struct pairing *p, size_t voltage, size_t current, bool has_labels)
{
	return has_labels && p->voltages[voltage].clean[0] && p->currents[current].clean[0];
}

static void sort_by_current(struct watt_hwmon_match *match, size_t n)
{
	size_t i, k;

	for (i = 1; i < n; i++) {
		struct watt_hwmon_match m = match[i];

		for (k = i; k > 0 && match[k - 1].curr_at > m.curr_at; k--)
			match[k] = match[k - 1];
		match[k] = m;
	}
}

size_t watt_hwmon_pair(const struct watt_sysfs_sensor *voltages, size_t n_voltages,
		       const struct watt_sysfs_sensor *currents, size_t n_currents,
		       const struct watt_chip_rule *rule, struct watt_hwmon_match *ret)
{
	struct pairing p = { voltages, n_voltages, currents, n_currents, rule, ret, 0 };
	/* who wrote down which belong together knows better than the labels */
	bool by_user = rule && rule->is_user && (rule->n_pairs || rule->is_same_index);
	bool has_labels;
	size_t i, v;

	for (i = 0; i < n_currents && !by_user; i++) {
		if (!current_is_free(&p, i))
			continue;
		v = find_by_label(&p, i);
		if (v != NO_MATCH)
			ret[p.n_found++] = (struct watt_hwmon_match){ v, i };
	}
	has_labels = p.n_found > 0;
	for (i = 0; i < n_currents; i++) {
		if (!current_is_free(&p, i))
			continue;
		v = find_by_rule(&p, i);
		if (v != NO_MATCH && !labels_differ(&p, v, i, has_labels))
			ret[p.n_found++] = (struct watt_hwmon_match){ v, i };
	}
	sort_by_current(ret, p.n_found);
	return p.n_found;
}
