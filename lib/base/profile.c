/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in memory. */
#include "base/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct watt_profile *watt_profile_new(void)
{
	return calloc(1, sizeof(struct watt_profile));
}

struct watt_profile *watt_profile_free(struct watt_profile *profile)
{
	size_t d, i;

	for (d = 0; profile && d < profile->n; d++) {
		struct watt_profile_part *part = &profile->parts[d];

		for (i = 0; i < part->n; i++) {
			free((char *)part->programs[i].name);
			free((char *)part->programs[i].cgroup);
		}
		free(part->programs);
		free((char *)part->domain.path);
	}
	if (profile)
		free(profile->parts);
	free(profile);
	return NULL;
}

struct watt_profile_part *watt_profile_add_domain(struct watt_profile *profile,
						  const struct watt_profile_domain *domain)
{
	struct watt_profile_part *part;
	char *path = strdup(domain->path);

	if (!path || watt_grow((void **)&profile->parts, &profile->cap, profile->n,
			       sizeof(*profile->parts)) < 0) {
		free(path);
		return NULL;
	}
	part = &profile->parts[profile->n++];
	*part = (struct watt_profile_part){ .domain = *domain };
	part->domain.sz = sizeof(part->domain);
	part->domain.path = path;
	return part;
}

/* By what each is known from: in a program's numbers are processes that nobody could tell apart. */
static void merge(struct watt_profile_program *to, const struct watt_profile_program *from)
{
	double cpu_s = to->cpu_s + from->cpu_s, part = cpu_s > 0 ? from->cpu_s / cpu_s : 0.5;

	to->power_w += part * (from->power_w - to->power_w);
	to->uncertainty_w += part * (from->uncertainty_w - to->uncertainty_w);
	to->cpu_s = cpu_s;
	to->n_slices += from->n_slices;
}

int watt_profile_add_program(struct watt_profile_part *part,
			     const struct watt_profile_program *program)
{
	const struct watt_profile_program *same = watt_profile_find_program(
		part, program->name, program->cgroup, program->is_executable);
	char *name = strdup(program->name);
	char *cgroup = program->cgroup ? strdup(program->cgroup) : NULL;
	struct watt_profile_program *added;

	if (same) {
		merge(&part->programs[same - part->programs], program);
		free(name);
		free(cgroup);
		return 0;
	}
	if (!name || (program->cgroup && !cgroup) ||
	    watt_grow((void **)&part->programs, &part->cap, part->n, sizeof(*part->programs)) < 0) {
		free(name);
		free(cgroup);
		return -ENOMEM;
	}
	added = &part->programs[part->n++];
	*added = *program;
	added->sz = sizeof(*added);
	added->name = name;
	added->cgroup = cgroup;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct watt_profile_program *x = a, *y = b;
	double x_j = x->power_w * x->cpu_s, y_j = y->power_w * y->cpu_s;
	int by_name = strcmp(x->name, y->name);

	if (x_j != y_j)
		return x_j < y_j ? 1 : -1;
	if (by_name)
		return by_name;
	return strcmp(x->cgroup ? x->cgroup : "", y->cgroup ? y->cgroup : "");
}

void watt_profile_sort(struct watt_profile_part *part)
{
	if (part->n)
		qsort(part->programs, part->n, sizeof(*part->programs), compare);
}

const struct watt_profile_part *watt_profile_find(const struct watt_profile *profile,
						  const char *path, enum watt_domain_kind kind)
{
	size_t i;

	for (i = 0; profile && i < profile->n; i++)
		if (!strcmp(profile->parts[i].domain.path, path))
			return &profile->parts[i];
	for (i = 0; profile && i < profile->n; i++)
		if (profile->parts[i].domain.kind == kind)
			return &profile->parts[i];
	return NULL;
}

const struct watt_profile_program *watt_profile_find_program(const struct watt_profile_part *part,
							     const char *name, const char *cgroup,
							     bool is_executable)
{
	size_t i;

	for (i = 0; part && i < part->n; i++) {
		const struct watt_profile_program *one = &part->programs[i];

		if (is_executable != (bool)one->is_executable || strcmp(one->name, name) != 0)
			continue;
		if (is_executable || !strcmp(cgroup ? cgroup : "", one->cgroup ? one->cgroup : ""))
			return one;
	}
	return NULL;
}

size_t watt_profile_get_domain_count(const struct watt_profile *profile)
{
	return profile->n;
}

const struct watt_profile_domain *watt_profile_get_domain(const struct watt_profile *profile,
							  size_t domain)
{
	return domain < profile->n ? &profile->parts[domain].domain : NULL;
}

size_t watt_profile_get_program_count(const struct watt_profile *profile, size_t domain)
{
	return domain < profile->n ? profile->parts[domain].n : 0;
}

const struct watt_profile_program *watt_profile_get_program(const struct watt_profile *profile,
							    size_t domain, size_t program)
{
	if (domain >= profile->n || program >= profile->parts[domain].n)
		return NULL;
	return &profile->parts[domain].programs[program];
}
