/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute doctor`: what can be measured here, why not more, and what to do about it.
 * All findings are the library's, and so is the conclusion; this only sets them in type.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/diag.h>
#include <wattribute/json.h>
#include <wattribute/session.h>
#include <wattribute/units.h>

#include "command.h"
#include "diags.h"
#include "message.h"
#include "options.h"
#include "page.h"
#include "status.h"
#include "text.h"
#include "xalloc.h"

#define INDENT 4
#define WIDTH_MOST 100

static const char help_text[] =
	"Usage: wattribute doctor [OPTION...]\n"
	"For each source: is it available, absent, forbidden or broken,\n"
	"why, and what to do about it.\n\n"
	"      --json           one JSON document\n"
	"  -v, --verbose        sources for tests, and what was looked at, too\n\n" OPTIONS_HELP
	"\nExit status: 0 if energy can be measured or estimated, and attributed;\n"
	"1 if not; 2 for a mistake in the command line.\n";

static void print_detail(const char *word, const char *text, size_t width)
{
	char clean[1024];

	printf("%*s%s: ", INDENT, "", word);
	text_wrap(stdout, text_clean(clean, sizeof(clean), text), INDENT + strlen(word) + 2,
		  INDENT + strlen(word) + 2, width);
}

/* "12 channels, measured, +-2 %, a value every 1 ms, a read takes 12 us" */
static void print_facts(const struct watt_diag *diag, size_t width)
{
	char facts[256], number[WATT_UNITS_SIZE];
	size_t n = 0;

#define ADD(...) n += (size_t)snprintf(facts + n, sizeof(facts) - n, __VA_ARGS__)
	if (diag->role == WATT_ROLE_POWER) {
		ADD("%u channel%s, %s", diag->n_channels, diag->n_channels == 1 ? "" : "s",
		    watt_origin_name(diag->origin));
		if (diag->uncertainty_ppm)
			ADD(" %s", text_uncertainty(number, diag->uncertainty_ppm));
		else
			ADD(", accuracy unknown");
		if (diag->period_ns)
			ADD(", a value every %s",
			    watt_units_time(number, (double)diag->period_ns / 1e9, 3));
		if (diag->watched_ns)
			ADD(", asked every %s to find out how often it has a new value",
			    watt_units_time(number, (double)diag->watched_ns / 1e9, 3));
		if (diag->efficiency_ppm)
			ADD(", supplies %.1f %% efficient", (double)diag->efficiency_ppm / 1e4);
	}
	if (diag->read_cost_ns)
		ADD("%s%s takes %s", n ? ", " : "",
		    diag->role == WATT_ROLE_USAGE ? "a sweep" : "a read",
		    watt_units_time(number, (double)diag->read_cost_ns / 1e9, 2));
#undef ADD
	if (n > 0)
		print_detail("gives", facts, width);
}

static enum page_style style_of(enum watt_availability state)
{
	switch (state) {
	case WATT_AVAILABLE:
		return PAGE_GOOD;
	case WATT_ABSENT:
		return PAGE_DIM;
	case WATT_FORBIDDEN:
		return PAGE_WARN;
	case WATT_BROKEN:
	default:
		return PAGE_BAD;
	}
}

static void print_diag(const struct watt_diag *diag, bool is_verbose, size_t width)
{
	char clean[256];

	printf("  %s%-13s%s%s%-10s%s", page_style(stdout, PAGE_BOLD), diag->source,
	       page_style(stdout, PAGE_PLAIN), page_style(stdout, style_of(diag->state)),
	       watt_availability_name(diag->state), page_style(stdout, PAGE_PLAIN));
	printf(" %s ", diag->is_selected ? "used" : "    ");
	text_wrap(stdout, text_clean(clean, sizeof(clean), diag->summary), 31, 31, width);
	if (diag->state == WATT_AVAILABLE)
		print_facts(diag, width);
	/* what counts may count less than all */
	if (*diag->why &&
	    (diag->state != WATT_AVAILABLE || is_verbose || diag->role == WATT_ROLE_ACTIVITY))
		print_detail("why", diag->why, width);
	if (*diag->hint)
		print_detail("do", diag->hint, width);
	if (*diag->path && is_verbose)
		print_detail("looked at", diag->path, width);
}

/*
 * What this machine doesn't have is no news where something else does its work: a line for all of
 * it. Where no sensor measures, it is what could be done about that.
 */
static bool is_in_short(const struct watt_diag *diag, const struct watt_verdict *verdict)
{
	if (diag->state != WATT_ABSENT || diag->role == WATT_ROLE_USAGE)
		return false;
	if (diag->role == WATT_ROLE_POWER)
		return verdict->is_measured || diag->error == -EOPNOTSUPP;
	return !*diag->hint;
}

static void print_absent(const struct watt_diag *diags, size_t n, enum watt_source_role role,
			 const struct watt_verdict *verdict, size_t width)
{
	char list[512] = "";
	size_t used = 0, i;

	for (i = 0; i < n && used < sizeof(list); i++)
		if (diags[i].role == role && !diags[i].is_test && is_in_short(&diags[i], verdict))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 used ? ", " : "", diags[i].source);
	if (!used)
		return;
	printf("  %sabsent%s: ", page_style(stdout, PAGE_DIM), page_style(stdout, PAGE_PLAIN));
	text_wrap(stdout, list, 10, 10, width);
}

static void print_role(const struct watt_diag *diags, size_t n, enum watt_source_role role,
		       const struct watt_verdict *verdict, bool is_verbose, size_t width)
{
	static const char *const titles[] = {
		[WATT_ROLE_POWER] = "Power: what is used",
		[WATT_ROLE_USAGE] = "Usage: who was running",
		[WATT_ROLE_META] = "Names: who is who",
		[WATT_ROLE_ACTIVITY] = "Activity: who used what beside the CPUs",
	};
	bool has_title = false;
	size_t i;

	for (i = 0; i < n; i++) {
		if (diags[i].role != role ||
		    (diags[i].is_test && !is_verbose && !diags[i].is_selected))
			continue;
		if (!has_title)
			printf("%s%s%s\n", page_style(stdout, PAGE_BOLD), titles[role],
			       page_style(stdout, PAGE_PLAIN));
		has_title = true;
		if (is_verbose || !is_in_short(&diags[i], verdict))
			print_diag(&diags[i], is_verbose, width);
	}
	if (has_title && !is_verbose)
		print_absent(diags, n, role, verdict, width);
	if (has_title)
		putchar('\n');
}

static void print_all(const struct watt_diag *diags, size_t n, const struct watt_verdict *verdict,
		      const struct options *opts)
{
	bool is_verbose = opts->verbosity > 0;
	size_t width = page_get_width(stdout, WIDTH_MOST);
	char clean[sizeof(verdict->text)];

	text_wrap(stdout, text_clean(clean, sizeof(clean), verdict->text), 0, 0, width);
	putchar('\n');
	print_role(diags, n, WATT_ROLE_POWER, verdict, is_verbose, width);
	print_role(diags, n, WATT_ROLE_USAGE, verdict, is_verbose, width);
	print_role(diags, n, WATT_ROLE_ACTIVITY, verdict, is_verbose, width);
	print_role(diags, n, WATT_ROLE_META, verdict, is_verbose, width);
	if (opts->is_captured)
		puts("This is a captured machine, one instant of it: its counters stand still, and tell no\n"
		     "power. What it lacks can be had on the machine itself alone: run doctor there.");
	else if (!is_verbose)
		puts("Of what is absent, -v says why, and what to do to have it.");
}

static int print_json(const struct watt_diag *diags, size_t n)
{
	auto_free char *text = NULL;
	int r;

	r = watt_doctor_to_json(diags, n, WATT_JSON_PRETTY, &text);
	if (r < 0) {
		message_error("no JSON: %s", strerror(-r));
		return r;
	}
	puts(text);
	return 0;
}

int cmd_doctor(int argc, char **argv)
{
	struct options opts = { 0 };
	auto_free struct watt_diag *diags = NULL;
	struct watt_verdict verdict = { .sz = sizeof(verdict) };
	int r;
	size_t n;

	if (options_take_all(&opts, argc, argv) < 0)
		return STATUS_USAGE;
	if (opts.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	r = diags_get(opts.session, &diags, &n);
	if (r < 0) {
		if (message_get_error_count() == 0)
			message_error("cannot look at this machine: %s", strerror(-r));
		return options_status(r == -ENOENT ? -EINVAL : r);
	}
	r = watt_verdict_draw(diags, n, text_is_utf8(), &verdict);
	if (r < 0) {
		message_error("no verdict: %s", strerror(-r));
		return STATUS_FAILURE;
	}
	if (!opts.is_json)
		print_all(diags, n, &verdict, &opts);
	else if (print_json(diags, n) < 0)
		return STATUS_FAILURE;
	return verdict.is_possible ? STATUS_OK : STATUS_FAILURE;
}
