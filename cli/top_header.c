/* SPDX-License-Identifier: Apache-2.0 */
/* The lines above the table of `top`. Missing is said in words, never shown as 0. */
#include "top_header.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <wattribute/units.h>

#include "tally.h"
#include "text.h"
#include "totals.h"

#define DECIMALS 3
/* What is known up to less than this ago is known now, for people. */
#define NOTICED_NS 1000000000ULL

/* What is measured of the whole machine first, and how much of it is known of whom. */
static char *outside(const struct watt_balance *balance, char *buf, size_t size)
{
	char power[WATT_UNITS_SIZE], inside[WATT_UNITS_SIZE], accuracy[WATT_UNITS_SIZE];
	int digits = watt_units_digits(balance->uncertainty_ppm);

	watt_units_power(power, balance->outside_w, 3);
	if (!balance->has_power)
		snprintf(buf, size, "%s measured (%s)", power, balance->outside);
	else
		snprintf(buf, size, "%s measured (%s), %s of it %s%s%s", power, balance->outside,
			 watt_units_power(inside, balance->power_w, digits),
			 watt_origin_name(balance->origin), balance->uncertainty_ppm ? " " : "",
			 balance->uncertainty_ppm ?
				 text_uncertainty(accuracy, balance->uncertainty_ppm) :
				 "");
	return buf;
}

char *top_header_power(const struct watt_balance *balance, char *buf, size_t size)
{
	int digits = watt_units_digits(balance->uncertainty_ppm);
	char power[WATT_UNITS_SIZE], accuracy[WATT_UNITS_SIZE];

	if (balance->has_outside)
		return outside(balance, buf, size);
	if (!balance->has_power) {
		snprintf(buf, size, "power not known yet");
		return buf;
	}
	snprintf(buf, size, "%s %s%s%s", watt_units_power(power, balance->power_w, digits),
		 watt_origin_name(balance->origin), balance->uncertainty_ppm ? " " : "",
		 balance->uncertainty_ppm ? text_uncertainty(accuracy, balance->uncertainty_ppm) :
					    "");
	return buf;
}

char *top_header_phase(const char *phase, char *buf, size_t size)
{
	char clean[256];

	buf[0] = '\0';
	if (phase && *phase)
		snprintf(buf, size, ", in phase '%s'", text_clean(clean, sizeof(clean), phase));
	return buf;
}

/*
 * "measured A = attributed B + idle C + unattributed D W", of whole and parts: as many decimals as
 * the whole can stand, and what is shown adds up.
 */
static char *equation(const struct watt_balance *balance, double numbers[4], const char *unit,
		      char *buf, size_t size)
{
	auto_tally struct watt_tally *tally =
		tally_new(&numbers[1], 3, tally_digits(balance->uncertainty_ppm), DECIMALS);
	int decimals = watt_tally_get_decimals(tally);
	/* Of a sum that does not hold, both sides are shown as they are. */
	double whole = balance->is_exact ? watt_tally_get_whole(tally) : numbers[0];
	bool is_shared = totals_is_shared(balance) || numbers[1] != 0;
	char idle[64] = "", attributed[64] = "";

	/* what is not known is not 0 */
	if (is_shared)
		snprintf(attributed, sizeof(attributed), "attributed %.*f", decimals,
			 watt_tally_get_part(tally, 0));
	if (balance->is_baseline_ready || numbers[2] != 0)
		snprintf(idle, sizeof(idle), "%sidle %.*f", is_shared ? " + " : "", decimals,
			 watt_tally_get_part(tally, 1));
	snprintf(buf, size, "%s %.*f %s %s %s%s%sunattributed %.*f %s%s",
		 watt_origin_name(balance->origin), decimals, whole, unit,
		 balance->is_exact ? "=" : "IS NOT", attributed, idle,
		 *attributed || *idle ? " + " : "", decimals, watt_tally_get_part(tally, 2), unit,
		 is_shared || *unit != 'W' ? "" : ": nothing tells who used it");
	return buf;
}

char *top_header_watts(const struct watt_balance *balance, char *buf, size_t size)
{
	double parts[] = { balance->power_w, balance->attributed_w, balance->idle_w,
			   balance->unattributed_w };

	if (balance->has_power)
		return equation(balance, parts, "W", buf, size);
	snprintf(buf, size, "no power is known for this window");
	return buf;
}

char *top_header_joules(const struct watt_balance *balance, char *buf, size_t size)
{
	double parts[] = { watt_energy_to_j(balance->energy), watt_energy_to_j(balance->attributed),
			   watt_energy_to_j(balance->idle),
			   watt_energy_to_j(balance->unattributed) };

	if (balance->is_known)
		return equation(balance, parts, "J", buf, size);
	snprintf(buf, size, "no energy is known yet");
	return buf;
}

/* What was lost, or that nothing was. */
static void format_losses(const struct watt_quality *quality, char *buf, size_t size)
{
	char number[WATT_UNITS_SIZE];
	size_t n = 0;

	buf[0] = '\0';
#define ADD(...) \
	(n += n < size ? (size_t)snprintf(buf + n, size - n, "%s", n ? ", " : "") : 0, \
	 n += n < size ? (size_t)snprintf(buf + n, size - n, __VA_ARGS__) : 0)
	if (quality->check_failures)
		ADD("%llu CHECKS FAILED", (unsigned long long)quality->check_failures);
	if (quality->sum_failures)
		ADD("%llu CHECKS OF SUMS FAILED", (unsigned long long)quality->sum_failures);
	if (quality->lost_records)
		ADD("%llu records lost", (unsigned long long)quality->lost_records);
	if (quality->lost_samples)
		ADD("%llu samples lost", (unsigned long long)quality->lost_samples);
	if (quality->unseen_cpu_ns)
		ADD("%s CPU unseen",
		    watt_units_time(number, (double)quality->unseen_cpu_ns / 1e9, 2));
	if (quality->late_cpu_ns)
		ADD("%s CPU late", watt_units_time(number, (double)quality->late_cpu_ns / 1e9, 2));
#undef ADD
	if (n == 0)
		snprintf(buf, size, "nothing lost");
}

/* "context/cpu3/busy" */
static bool is_cpu(const struct watt_gauge *gauge)
{
	const char *cpu = strchr(gauge->name, '/');
	size_t n;

	if (!cpu || strncmp(cpu, "/cpu", 4) != 0)
		return false;
	n = strspn(cpu + 4, "0123456789");
	return n > 0 && strcmp(cpu + 4 + n, "/busy") == 0;
}

/* Beyond so many, their mean and the busiest are shown, not each. */
#define CPUS_SHOWN 16

/* In percent: "CPUs busy 12 0 99 -". */
static size_t add_each_cpu(const struct watt_view *view, char *buf, size_t size)
{
	size_t i, n = (size_t)snprintf(buf, size, "CPUs busy");

	for (i = 0; i < view->n_gauges && n < size; i++) {
		double mean = watt_gauge_get_now(view->gauges[i]);

		if (is_cpu(view->gauges[i]) && isnan(mean))
			n += (size_t)snprintf(buf + n, size - n, " -");
		else if (is_cpu(view->gauges[i]))
			n += (size_t)snprintf(buf + n, size - n, " %.0f", 100 * mean);
	}
	return n < size ? n + (size_t)snprintf(buf + n, size - n, " %%") : n;
}

static size_t add_cpus(const struct watt_view *view, char *buf, size_t size)
{
	double sum = 0, most = 0;
	size_t i, n = 0, n_known = 0;

	for (i = 0; i < view->n_gauges; i++) {
		double busy = watt_gauge_get_now(view->gauges[i]);

		if (!is_cpu(view->gauges[i]))
			continue;
		n++;
		if (isnan(busy))
			continue;
		n_known++;
		sum += busy;
		most = fmax(most, busy);
	}
	if (!n)
		return 0;
	if (n <= CPUS_SHOWN)
		return add_each_cpu(view, buf, size);
	if (!n_known)
		return (size_t)snprintf(buf, size, "CPUs busy -");
	return (size_t)snprintf(buf, size, "CPUs busy %.0f %%, one %.0f %%",
				100 * sum / (double)n_known, 100 * most);
}

char *top_header_context(const struct watt_view *view, const struct top_gpus *gpus, char *buf,
			 size_t size)
{
	char number[WATT_UNITS_SIZE], name[128];
	size_t i, n;

	buf[0] = '\0';
	n = add_cpus(view, buf, size);
	for (i = 0; i < view->n_gauges && n < size; i++) {
		const struct watt_gauge *gauge = view->gauges[i];
		const char *device = strchr(gauge->name, '/');
		double now = watt_gauge_get_now(gauge);

		if (is_cpu(gauge) || top_gpus_has_gauge(gpus, view, gauge))
			continue;
		text_clean(name, sizeof(name), device ? device + 1 : gauge->name);
		n += (size_t)snprintf(buf + n, size - n, "%s%s %s", n ? ", " : "", name,
				      isnan(now) ?
					      watt_status_name(gauge->status) :
					      watt_units_quantity(number, gauge->quantity, now, 3));
	}
	return buf;
}

/* Windows of slow totals end before those of their parts: nobody says that these add up. */
static size_t add_power(const struct watt_view *view, size_t domain, const char *before, char *buf,
			size_t size)
{
	const struct watt_domain *d = view->domains[domain];
	const struct watt_domain_state *state = view->states[domain];
	double power_w = watt_view_power_w(state, state->window_nj);
	char number[WATT_UNITS_SIZE], name[128];
	bool is_residual = d->kind == WATT_DOMAIN_RESIDUAL;
	const char *more = !is_residual               ? "" :
			   state->window_clamped_ns   ? " (the total is behind its parts)" :
			   state->window_transient_ns ? " (in doubt: its parts have just changed)" :
			   state->is_significant      ? " (programs' too)" :
							"";
	const char *word = is_residual && !state->is_usable ?
				   "none, the parts are more than the total" :
			   isnan(power_w) ? watt_status_name(state->status) :
					    watt_units_power(number, power_w, 3);

	text_clean(name, sizeof(name), is_residual ? "residual" : d->path);
	return (size_t)snprintf(buf, size, "%s%s %s%s", before, name, word,
				state->is_usable ? more : "");
}

/* ", by values 2.5 s old +-0.1 s" where that was found. */
static size_t add_age(const struct watt_domain_state *state, char *buf, size_t size)
{
	char age[WATT_UNITS_SIZE], error[WATT_UNITS_SIZE];

	if (!state->found_delay_uncertainty_ns)
		return 0;
	return (size_t)snprintf(
		buf, size, ", by values %s old %s%s",
		watt_units_time(age, (double)state->found_delay_ns / 1e9, 2),
		text_is_utf8() ? "\u00b1" : "+-",
		watt_units_time(error, (double)state->found_delay_uncertainty_ns / 1e9, 1));
}

/* " until 5.1 s ago" where that is a time that somebody would notice. */
static size_t add_freshness(const struct watt_view *view, const struct watt_domain_state *state,
			    char *buf, size_t size)
{
	char number[WATT_UNITS_SIZE];

	if (!state->t_ns || view->t_ns < state->t_ns + NOTICED_NS)
		return 0;
	return (size_t)snprintf(buf, size, " until %s ago",
				watt_units_time(number, (double)(view->t_ns - state->t_ns) / 1e9,
						2));
}

char *top_header_node(const struct watt_view *view, char *buf, size_t size)
{
	size_t node, i, n, n_parts = 0;

	buf[0] = '\0';
	for (node = 0; node < view->n_domains; node++)
		if (!strcmp(view->domains[node]->path, "node"))
			break;
	if (node == view->n_domains)
		return buf;
	n = add_power(view, node, "", buf, size);
	if (n < size)
		n += add_freshness(view, view->states[node], buf + n, size - n);
	if (n < size)
		n += add_age(view->states[node], buf + n, size - n);
	for (i = 0; i < view->n_domains; i++) {
		if (view->domains[i]->parent != (int32_t)node)
			continue;
		if (n < size)
			n += add_power(view, i, n_parts ? ", " : ": ", buf + n, size - n);
		n_parts++;
	}
	if (!n_parts)
		buf[0] = '\0';
	return buf;
}

char *top_header_trust(const struct watt_balance *balance, const struct watt_quality *quality,
		       const char *usage, const char *late, char *buf, size_t size)
{
	bool is_guessed = balance->baseline_from == WATT_BASELINE_EXTRAPOLATED;
	char losses[128], idle[96], doubt[WATT_UNITS_SIZE + 8] = "", waits[128] = "",
							    number[WATT_UNITS_SIZE], missing[192];

	format_losses(quality, losses, sizeof(losses));
	if (is_guessed)
		snprintf(doubt, sizeof(doubt), " %s%s", text_is_utf8() ? "\u00b1" : "+-",
			 watt_units_power(number, balance->baseline_uncertainty_w, 2));
	if (balance->is_baseline_ready)
		snprintf(idle, sizeof(idle), "idle %s (%s%s)%s",
			 is_guessed ? "extrapolated" : "known",
			 watt_units_power(number, balance->baseline_w,
					  watt_units_digits(balance->uncertainty_ppm)),
			 doubt,
			 balance->idle_policy == WATT_IDLE_PROPORTIONAL ? " and shared too" : "");
	else
		snprintf(idle, sizeof(idle), "idle power not known yet");
	if (late && *late)
		snprintf(waits, sizeof(waits), "no word yet of: %s; ", late);
	totals_missing_text(balance, missing, sizeof(missing));
	snprintf(buf, size, "%s%s%sshared by %s, %s, %s, usage %s", waits, missing,
		 *missing ? "; " : "",
		 *balance->keys && totals_is_shared(balance) ? balance->keys : "nothing", idle,
		 losses, usage);
	return buf;
}
