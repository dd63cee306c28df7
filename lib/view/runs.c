/* SPDX-License-Identifier: Apache-2.0 */
/* Sums a run: its phases by their labels, its threads as each was seen last, its domains. */
#include "view/runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "view/view.h"

int watt_run_draft_init(struct watt_run_draft *draft)
{
	struct watt_run *run = calloc(1, sizeof(*run));

	if (!run)
		return -ENOMEM;
	*run = (struct watt_run){ .sz = sizeof(*run),
				  .machine_w = NAN,
				  .rusage_s = NAN,
				  .outside_w = NAN,
				  .uncertainty_j = NAN };
	*draft = (struct watt_run_draft){ .run = run };
	return 0;
}

void watt_run_draft_done(struct watt_run_draft *draft)
{
	size_t i;

	watt_textmap_done(&draft->index);
	for (i = 0; i < draft->labels_cap; i++)
		free(draft->labels[i]);
	free(draft->labels);
	free(draft->windows_ns);
	watt_run_free(draft->run);
	*draft = (struct watt_run_draft){ 0 };
}

struct watt_run *watt_run_free(struct watt_run *run)
{
	size_t i;

	if (!run)
		return NULL;
	for (i = 0; i < run->n_phases; i++) {
		free(run->phases[i].domain_nj);
		free(run->phases[i].domain_machine_nj);
	}
	for (i = 0; i < run->n_threads; i++)
		free(run->threads[i].name);
	free(run->phases);
	free(run->threads);
	free(run->intervals);
	free(run->domain_known);
	free(run->domain_nj);
	free(run->domain_machine_nj);
	free(run->domain_loss);
	free(run->domain_users);
	free(run);
	return NULL;
}

/* ---- what is told of it ---- */

static double to_j(int64_t energy_nj)
{
	return (double)energy_nj / 1e9;
}

/* nJ per ns are watts. Too little for the sensors is not none: cpu_s tells that somebody ran. */
static double mean_w(int64_t energy_nj, uint64_t elapsed_ns, double cpu_s)
{
	if (!elapsed_ns || (!energy_nj && cpu_s > 0))
		return NAN;
	return (double)energy_nj / (double)elapsed_ns;
}

/* Who came and went unseen is known by getrusage. */
static double cpu_s_of(const struct watt_run *run)
{
	return run->cpu_ns || isnan(run->rusage_s) ? (double)run->cpu_ns / 1e9 : run->rusage_s;
}

double watt_run_get(const struct watt_run *run, enum watt_run_measure measure)
{
	if (measure < WATT_RUN_CPU_S && !run->is_known)
		return NAN;
	switch (measure) {
	case WATT_RUN_ENERGY_J:
		return to_j(run->energy_nj);
	case WATT_RUN_MACHINE_J:
		return to_j(run->machine_nj);
	case WATT_RUN_IDLE_J:
		return to_j(run->idle_nj);
	case WATT_RUN_UNATTRIBUTED_J:
		return to_j(run->unattributed_nj);
	case WATT_RUN_OTHERS_J:
		return to_j(run->machine_nj - run->energy_nj - run->idle_nj - run->unattributed_nj);
	case WATT_RUN_SHARED_IDLE_J:
		return to_j(run->shared_idle_nj);
	case WATT_RUN_SHARE:
		return run->machine_nj ? (double)run->energy_nj / (double)run->machine_nj : NAN;
	case WATT_RUN_POWER_W:
		return mean_w(run->energy_nj, run->elapsed_ns, cpu_s_of(run));
	case WATT_RUN_MACHINE_W:
		return run->machine_w;
	case WATT_RUN_OUTSIDE_W:
		return run->outside_w;
	case WATT_RUN_CPU_S:
		return (double)run->cpu_ns / 1e9;
	case WATT_RUN_RUSAGE_S:
		return run->rusage_s;
	case WATT_RUN_ELAPSED_S:
		return (double)run->elapsed_ns / 1e9;
	}
	return NAN;
}

/* What is known of a part of a run as of the whole. */
struct span {
	bool is_known;
	int64_t energy_nj, machine_nj;
	uint64_t cpu_ns, elapsed_ns;
};

static double span_get(const struct span *span, enum watt_run_measure measure)
{
	double cpu_s = (double)span->cpu_ns / 1e9;

	if (measure < WATT_RUN_CPU_S && !span->is_known)
		return NAN;
	switch (measure) {
	case WATT_RUN_ENERGY_J:
		return to_j(span->energy_nj);
	case WATT_RUN_MACHINE_J:
		return to_j(span->machine_nj);
	case WATT_RUN_SHARE:
		return span->machine_nj ? (double)span->energy_nj / (double)span->machine_nj : NAN;
	case WATT_RUN_POWER_W:
		return mean_w(span->energy_nj, span->elapsed_ns, cpu_s);
	case WATT_RUN_MACHINE_W:
		return mean_w(span->machine_nj, span->elapsed_ns, 0);
	case WATT_RUN_CPU_S:
		return cpu_s;
	case WATT_RUN_ELAPSED_S:
		return (double)span->elapsed_ns / 1e9;
	default:
		return NAN;
	}
}

double watt_run_phase_get(const struct watt_run_phase *phase, enum watt_run_measure measure)
{
	return span_get(&(struct span){ .is_known = phase->is_known,
					.energy_nj = phase->energy_nj,
					.machine_nj = phase->machine_nj,
					.cpu_ns = phase->cpu_ns,
					.elapsed_ns = phase->elapsed_ns },
			measure);
}

double watt_run_interval_get(const struct watt_run_interval *interval,
			     enum watt_run_measure measure)
{
	return span_get(&(struct span){ .is_known = true,
					.energy_nj = interval->energy_nj,
					.machine_nj = interval->machine_nj,
					.cpu_ns = interval->cpu_ns,
					.elapsed_ns = interval->elapsed_ns },
			measure);
}

/* ---- phases ---- */

static int append_phase(struct watt_run_draft *draft, const char *label, size_t n_domains)
{
	struct watt_run *run = draft->run;
	struct watt_run_phase *phase;

	if (watt_grow((void **)&run->phases, &draft->phases_cap, run->n_phases,
		      sizeof(*run->phases)) < 0)
		return -ENOMEM;
	phase = &run->phases[run->n_phases];
	*phase = (struct watt_run_phase){ .n_domains = n_domains };
	watt_strlcpy(phase->label, label, sizeof(phase->label));
	phase->domain_nj = calloc(n_domains + 1, sizeof(*phase->domain_nj));
	phase->domain_machine_nj = calloc(n_domains + 1, sizeof(*phase->domain_machine_nj));
	if (phase->domain_nj && phase->domain_machine_nj) {
		run->n_phases++;
		return 0;
	}
	free(phase->domain_nj);
	free(phase->domain_machine_nj);
	return -ENOMEM;
}

static struct watt_run_phase *find_or_add(struct watt_run_draft *draft, const char *label,
					  size_t n_domains)
{
	struct watt_run *run = draft->run;
	size_t number = watt_textmap_find(&draft->index, label), *place;

	if (number != WATT_TEXTMAP_NONE)
		return &run->phases[number];
	number = run->n_phases;
	if (watt_grow((void **)&draft->labels, &draft->labels_cap, number, sizeof(*draft->labels)) <
	    0)
		return NULL;
	if (!draft->labels[number])
		draft->labels[number] = strdup(label);
	if (!draft->labels[number] || append_phase(draft, label, n_domains) < 0)
		return NULL;
	place = watt_textmap_get(&draft->index, draft->labels[number]);
	if (!place)
		return NULL;
	*place = number;
	return &run->phases[number];
}

int watt_run_add_phase(struct watt_run_draft *draft, const char *label, uint64_t elapsed_ns,
		       const struct watt_totals *from, const struct watt_totals *to)
{
	struct watt_run_phase *phase =
		find_or_add(draft, label, to->view ? to->view->n_domains : 0);
	size_t i;

	if (!phase)
		return -ENOMEM;
	phase->count++;
	phase->is_known = phase->is_known || (to->balance.is_known && to->row);
	phase->elapsed_ns += elapsed_ns;
	phase->energy_nj +=
		watt_totals_between_nj(watt_totals_get_energy(from), watt_totals_get_energy(to));
	phase->machine_nj += watt_totals_between_nj(from->balance.energy, to->balance.energy);
	phase->cpu_ns += watt_totals_get_cpu_ns(to) - watt_totals_get_cpu_ns(from);
	for (i = 0; i < phase->n_domains; i++) {
		phase->domain_nj[i] +=
			watt_totals_between_nj(watt_totals_get_domain_energy(from, i),
					       watt_totals_get_domain_energy(to, i));
		phase->domain_machine_nj[i] +=
			watt_totals_between_nj(watt_totals_get_machine_energy(from, i),
					       watt_totals_get_machine_energy(to, i));
	}
	return 0;
}

int watt_run_add_interval(struct watt_run_draft *draft, const struct watt_run_interval *interval)
{
	struct watt_run *run = draft->run;

	if (watt_grow((void **)&run->intervals, &draft->intervals_cap, run->n_intervals,
		      sizeof(*run->intervals)) < 0)
		return -ENOMEM;
	run->intervals[run->n_intervals++] = *interval;
	return 0;
}

/* ---- threads ---- */

static struct watt_run_thread *append_thread(struct watt_run_draft *draft,
					     const struct watt_run_thread *thread, const char *name)
{
	struct watt_run *run = draft->run;
	struct watt_run_thread *added;

	if (watt_grow((void **)&run->threads, &draft->threads_cap, run->n_threads,
		      sizeof(*run->threads)) < 0)
		return NULL;
	added = &run->threads[run->n_threads];
	*added = *thread;
	added->name = strdup(name);
	if (!added->name)
		return NULL;
	run->n_threads++;
	return added;
}

static struct watt_run_thread *find_thread(const struct watt_run *run, uint64_t id)
{
	size_t i;

	for (i = 0; i < run->n_threads; i++)
		if (run->threads[i].id == id)
			return &run->threads[i];
	return NULL;
}

/* A thread's name is the one that it had last. */
static int rename_thread(struct watt_run_thread *thread, const char *name)
{
	char *copy;

	if (!strcmp(thread->name, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(thread->name);
	thread->name = copy;
	return 0;
}

static int note_thread(struct watt_run_draft *draft, const struct watt_row *row)
{
	const struct watt_entity *entity = row->entity;
	struct watt_run_thread noted = { .id = entity->id }, *thread;

	thread = find_thread(draft->run, entity->id);
	if (!thread)
		thread = append_thread(draft, &noted, entity->name);
	if (!thread || rename_thread(thread, entity->name) < 0)
		return -ENOMEM;
	thread->pid = entity->identity ? entity->identity->pid : 0;
	thread->tid = entity->identity ? entity->identity->tid : 0;
	thread->count = entity->count;
	thread->energy_nj = watt_energy_to_nj(row->tracked);
	thread->cpu_ns = row->tracked_cpu_ns;
	return 0;
}

int watt_run_note_threads(struct watt_run_draft *draft, const struct watt_view *view,
			  uint64_t tracked_id)
{
	size_t i;

	for (i = 0; i < view->n_rows; i++) {
		const struct watt_entity *entity = view->rows[i]->entity;

		if (entity->kind != WATT_ENTITY_THREAD || entity->tracked_id != tracked_id)
			continue;
		if (note_thread(draft, view->rows[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_energy(const void *left, const void *right)
{
	const struct watt_run_thread *a = left, *b = right;

	if (a->energy_nj != b->energy_nj)
		return a->energy_nj < b->energy_nj ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->id > b->id) - (a->id < b->id);
}

int watt_run_end_threads(struct watt_run_draft *draft)
{
	struct watt_run *run = draft->run;
	struct watt_run_thread others = { .energy_nj = run->energy_nj, .cpu_ns = run->cpu_ns };
	size_t i;

	/* Those that came and went between two looks, or nobody tells who. */
	for (i = 0; i < run->n_threads; i++) {
		others.energy_nj -= run->threads[i].energy_nj;
		others.cpu_ns -= run->threads[i].cpu_ns;
	}
	if ((others.energy_nj || others.cpu_ns) &&
	    !append_thread(draft, &others, "(other threads)"))
		return -ENOMEM;
	if (run->n_threads)
		qsort(run->threads, run->n_threads, sizeof(*run->threads), by_energy);
	return 0;
}

/* ---- domains ---- */

static int note_windows(struct watt_run_draft *draft, const struct watt_view *view)
{
	size_t i, n = view->n_domains;

	if (n > draft->n_windows) {
		uint64_t *grown = realloc(draft->windows_ns, n * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(&grown[draft->n_windows], 0, (n - draft->n_windows) * sizeof(*grown));
		draft->windows_ns = grown;
		draft->n_windows = n;
	}
	for (i = 0; i < n; i++)
		draft->windows_ns[i] += view->states[i]->window_ns;
	return 0;
}

int watt_run_note(struct watt_run_draft *draft, const struct watt_view *view, uint64_t tracked_id)
{
	int r = watt_run_note_threads(draft, view, tracked_id);

	return r < 0 ? r : note_windows(draft, view);
}

static struct watt_run_loss loss_between(const struct watt_domain_state *before,
					 const struct watt_domain_state *after)
{
	return (struct watt_run_loss){
		.errors = after->errors - before->errors,
		.resets = after->resets - before->resets,
		.gap_ns = after->unknown_ns - before->unknown_ns,
		.ambiguous = after->ambiguous - before->ambiguous,
	};
}

/* How much of the run a domain's energy is not known for, beside the gaps that it tells of. */
static uint64_t get_unknown_ns(const struct watt_run_draft *draft, size_t domain)
{
	uint64_t known_ns = draft->windows_ns[domain], elapsed_ns = draft->run->elapsed_ns;

	return known_ns < elapsed_ns ? elapsed_ns - known_ns : 0;
}

static void fill_domain(struct watt_run_draft *draft, const struct watt_totals *before,
			const struct watt_totals *after, size_t i)
{
	static const struct watt_domain_state none;
	struct watt_run *run = draft->run;
	const struct watt_domain_state *a = after->view->states[i];
	const struct watt_domain_state *b = i < before->view->n_domains ? before->view->states[i] :
									  &none;

	run->domain_known[i] = after->row && watt_view_has_energy(a);
	run->domain_nj[i] = watt_energy_to_nj(watt_totals_get_domain_energy(after, i));
	run->domain_machine_nj[i] =
		watt_totals_between_nj(watt_totals_get_machine_energy(before, i), a->energy);
	run->domain_loss[i] = loss_between(b, a);
	run->domain_users[i] = (uint8_t)a->users_status;
	/* of what can't be read the machine's balance speaks */
	if (run->domain_known[i] || a->status == WATT_STATUS_PENDING ||
	    a->status == WATT_STATUS_STALE)
		run->domain_loss[i].gap_ns += get_unknown_ns(draft, i);
}

static int fill_domains(struct watt_run_draft *draft, const struct watt_totals *before,
			const struct watt_totals *after)
{
	struct watt_run *run = draft->run;
	size_t i, n = after->view->n_domains;

	run->domain_known = calloc(n + 1, sizeof(*run->domain_known));
	run->domain_nj = calloc(n + 1, sizeof(*run->domain_nj));
	run->domain_machine_nj = calloc(n + 1, sizeof(*run->domain_machine_nj));
	run->domain_loss = calloc(n + 1, sizeof(*run->domain_loss));
	run->domain_users = calloc(n + 1, sizeof(*run->domain_users));
	if (!run->domain_known || !run->domain_nj || !run->domain_machine_nj || !run->domain_loss ||
	    !run->domain_users)
		return -ENOMEM;
	run->n_domains = n;
	for (i = 0; i < n; i++)
		fill_domain(draft, before, after, i);
	return 0;
}

int watt_run_fill(struct watt_run_draft *draft, const struct watt_totals *before,
		  const struct watt_totals *after, struct watt_balance *balance)
{
	const struct watt_balance *from = &before->balance, *to = &after->balance;
	struct watt_run *run = draft->run;
	int r;

	run->is_known = to->is_known && after->row;
	run->energy_nj = watt_energy_to_nj(watt_totals_get_energy(after));
	run->uncertainty_j = after->row ? after->row->total_uncertainty_j : NAN;
	run->cpu_ns = watt_totals_get_cpu_ns(after);
	run->machine_nj = watt_totals_between_nj(from->energy, to->energy);
	run->idle_nj = watt_totals_between_nj(from->idle, to->idle);
	run->unattributed_nj = watt_totals_between_nj(from->unattributed, to->unattributed);
	run->shared_idle_nj = watt_totals_between_nj(from->shared_idle, to->shared_idle);
	r = fill_domains(draft, before, after);
	if (r == 0)
		r = watt_totals_find_power(before, after, &run->machine_w, balance);
	run->outside_w = r == 0 && balance->has_outside ? balance->outside_w : NAN;
	return r;
}
