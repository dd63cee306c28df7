/* SPDX-License-Identifier: Apache-2.0 */
/* The phases of several runs by their labels: a table of labels and runs. */
#include <wattribute/run.h>

#include <errno.h>
#include <stdlib.h>

#include "base/textmap.h"
#include "base/util.h"

struct watt_run_phases {
	size_t n_runs;
	const char **labels;
	size_t n, cap;
	const struct watt_run_phase **cells; /* of label i in run k: [i * n_runs + k]; or NULL */
	struct watt_textmap index;
};

static int add_label(struct watt_run_phases *phases, const char *label, size_t *ret)
{
	size_t *position = watt_textmap_get(&phases->index, label), k;
	const struct watt_run_phase **cells;

	if (!position)
		return -ENOMEM;
	if (*position != WATT_TEXTMAP_NONE) {
		*ret = *position;
		return 0;
	}
	if (watt_grow((void **)&phases->labels, &phases->cap, phases->n, sizeof(char *)) < 0)
		return -ENOMEM;
	cells = reallocarray(phases->cells, phases->cap * phases->n_runs, sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	phases->cells = cells;
	for (k = 0; k < phases->n_runs; k++)
		cells[phases->n * phases->n_runs + k] = NULL;
	phases->labels[phases->n] = label;
	*position = *ret = phases->n++;
	return 0;
}

static int add_run(struct watt_run_phases *phases, const struct watt_run *run, size_t k)
{
	size_t i, label;
	int r = 0;

	for (i = 0; i < run->n_phases && r == 0; i++) {
		r = add_label(phases, run->phases[i].label, &label);
		if (r == 0)
			phases->cells[label * phases->n_runs + k] = &run->phases[i];
	}
	return r;
}

int watt_run_phases_new(const struct watt_run *const *runs, size_t n_runs,
			struct watt_run_phases **ret)
{
	struct watt_run_phases *phases;
	size_t k;
	int r = 0;

	if (!ret || (!runs && n_runs))
		return -EINVAL;
	phases = calloc(1, sizeof(*phases));
	if (!phases)
		return -ENOMEM;
	phases->n_runs = n_runs;
	for (k = 0; k < n_runs && r == 0; k++)
		r = add_run(phases, runs[k], k);
	if (r < 0)
		watt_run_phases_free(phases);
	else
		*ret = phases;
	return r;
}

struct watt_run_phases *watt_run_phases_free(struct watt_run_phases *phases)
{
	if (!phases)
		return NULL;
	watt_textmap_done(&phases->index);
	free(phases->labels);
	free(phases->cells);
	free(phases);
	return NULL;
}

const char *watt_run_phases_get_label(const struct watt_run_phases *phases, size_t index)
{
	return index < phases->n ? phases->labels[index] : NULL;
}

const struct watt_run_phase *watt_run_phases_get(const struct watt_run_phases *phases, size_t index,
						 size_t run_index)
{
	if (index >= phases->n || run_index >= phases->n_runs)
		return NULL;
	return phases->cells[index * phases->n_runs + run_index];
}
