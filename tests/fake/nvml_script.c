/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the script of the fake NVML: one word and its values in each line; what is of a GPU stands
 * below its line. docs are in tests/fake/README.md.
 */
#include "nvml_script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

struct parser {
	struct script *script;
	struct gpu *gpu; /* NULL: none yet */
};

static int add_step(struct steps *steps, double t_s, uint32_t value)
{
	if (steps->n == MAX_STEPS)
		return -1;
	steps->list[steps->n++] = (struct step){ (uint64_t)(t_s * NS_PER_S), value };
	return 0;
}

uint32_t steps_at(const struct steps *steps, uint64_t t_ns)
{
	uint32_t value = 0;
	unsigned int i;

	for (i = 0; i < steps->n && steps->list[i].t_ns <= t_ns; i++)
		value = steps->list[i].value;
	return value;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t steps_area(const struct steps *steps, uint64_t t0_ns, uint64_t t1_ns)
{
	uint64_t area = 0, from_ns, to_ns;
	unsigned int i;

	for (i = 0; i < steps->n; i++) {
		if (steps->list[i].value == PROCESS_GONE)
			continue;
		from_ns = larger(steps->list[i].t_ns, t0_ns);
		to_ns = i + 1 < steps->n && steps->list[i + 1].t_ns < t1_ns ?
				steps->list[i + 1].t_ns :
				t1_ns;
		if (to_ns > from_ns)
			area += (to_ns - from_ns) * steps->list[i].value;
	}
	return area;
}

static int add_gpu(struct parser *p, const char *rest)
{
	struct gpu *gpu = &p->script->gpus[p->script->n_gpus];

	if (p->script->n_gpus == MAX_GPUS)
		return -1;
	*gpu = (struct gpu){ .index = p->script->n_gpus,
			     .architecture = 9,
			     .period_ns = 100000000,
			     .window_ns = 25000000,
			     .sampling_ns = 200000000,
			     .buffer_ns = 20000000,
			     .kernel_mw = 300000,
			     .energy_factor = 1 };
	if (sscanf(rest, "%95s %31s %95[^\n]", gpu->uuid, gpu->pci, gpu->name) != 3)
		return -1;
	p->gpu = gpu;
	p->script->n_gpus++;
	return 0;
}

static struct process *find_process(struct gpu *gpu, uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < gpu->n_processes; i++)
		if (gpu->processes[i].pid == pid)
			return &gpu->processes[i];
	if (gpu->n_processes == MAX_PROCESSES)
		return NULL;
	gpu->processes[gpu->n_processes] = (struct process){
		.pid = pid, .gi = NO_INSTANCE, .ci = NO_INSTANCE, .memory_bytes = 1 << 20
	};
	return &gpu->processes[gpu->n_processes++];
}

/* process PID SECONDS PERCENT | process PID SECONDS gone */
static int add_process(struct parser *p, const char *rest)
{
	struct process *process;
	char what[16];
	unsigned int pid;
	double t_s;

	if (sscanf(rest, "%u %lf %15s", &pid, &t_s, what) != 3)
		return -1;
	process = find_process(p->gpu, pid);
	if (!process)
		return -1;
	return add_step(&process->sm, t_s,
			!strcmp(what, "gone") ? PROCESS_GONE : (uint32_t)atoi(what));
}

/* place PID GI CI, graphics PID, mps PID */
static int add_place(struct parser *p, const char *rest)
{
	struct process *process;
	unsigned int pid, gi, ci;

	if (sscanf(rest, "%u %u %u", &pid, &gi, &ci) != 3)
		return -1;
	process = find_process(p->gpu, pid);
	if (!process)
		return -1;
	process->gi = gi;
	process->ci = ci;
	return 0;
}

/* bytes PID N */
static int set_bytes(struct parser *p, const char *rest)
{
	unsigned long long bytes;
	struct process *process;
	unsigned int pid;

	if (sscanf(rest, "%u %llu", &pid, &bytes) != 2)
		return -1;
	process = find_process(p->gpu, pid);
	if (!process)
		return -1;
	process->memory_bytes = bytes;
	return 0;
}

static int set_list(struct parser *p, const char *rest, enum list list)
{
	struct process *process = find_process(p->gpu, (uint32_t)atoi(rest));

	if (!process)
		return -1;
	process->list = list;
	return 0;
}

/* mig GI CI SLICES UUID [FROM [UNTIL]] */
static int add_instance(struct parser *p, const char *rest)
{
	struct instance *instance = &p->gpu->instances[p->gpu->n_instances];
	double from_s = 0, until_s = 1e9;

	if (p->gpu->n_instances == MAX_INSTANCES ||
	    sscanf(rest, "%u %u %u %95s %lf %lf", &instance->gi, &instance->ci, &instance->slices,
		   instance->uuid, &from_s, &until_s) < 4)
		return -1;
	instance->from_ns = (uint64_t)(from_s * NS_PER_S);
	instance->until_ns = (uint64_t)(until_s * NS_PER_S);
	p->gpu->is_mig = true;
	p->gpu->n_instances++;
	return 0;
}

/* error FUNCTION SECONDS CODE, hang FUNCTION SECONDS SECONDS [CALLS]; "*": all functions */
static int add_fault(struct parser *p, const char *rest, bool is_hang)
{
	struct fault *fault = &p->script->faults[p->script->n_faults];
	double t_s, value;

	if (p->script->n_faults == MAX_FAULTS)
		return -1;
	*fault = (struct fault){ .gpu = p->gpu ? (int)p->gpu->index : -1 };
	if (sscanf(rest, "%63s %lf %lf %u", fault->function, &t_s, &value, &fault->spared) < 3)
		return -1;
	fault->t_ns = (uint64_t)(t_s * NS_PER_S);
	if (is_hang)
		fault->hang_ns = (uint64_t)(value * NS_PER_S);
	else
		fault->code = (int)value;
	p->script->n_faults++;
	return 0;
}

static int add_lack(struct parser *p, const char *rest)
{
	bool *lacks = !strncmp(rest, "energy", 6)  ? &p->gpu->lacks_energy :
		      !strncmp(rest, "instant", 7) ? &p->gpu->lacks_instant :
		      !strncmp(rest, "average", 7) ? &p->gpu->lacks_average :
		      !strncmp(rest, "usage", 5)   ? &p->gpu->lacks_usage :
		      !strncmp(rest, "samples", 7) ? &p->gpu->lacks_samples :
		      !strncmp(rest, "buffer", 6)  ? &p->gpu->lacks_buffer :
						     NULL;

	if (!lacks)
		return -1;
	*lacks = true;
	return 0;
}

static int set_ms(uint64_t *ret_ns, const char *rest)
{
	double value_ms = atof(rest);

	*ret_ns = (uint64_t)(value_ms * 1e6);
	return value_ms >= 0 ? 0 : -1;
}

/* What is of the GPU above. */
static int parse_gpu_line(struct parser *p, const char *word, const char *rest)
{
	struct gpu *gpu = p->gpu;
	uint32_t value;
	double t_s;

	if (!strcmp(word, "power"))
		return sscanf(rest, "%lf %u", &t_s, &value) == 2 ?
			       add_step(&gpu->power_mw, t_s, value) :
			       -1;
	if (!strcmp(word, "process"))
		return add_process(p, rest);
	if (!strcmp(word, "place"))
		return add_place(p, rest);
	if (!strcmp(word, "bytes"))
		return set_bytes(p, rest);
	if (!strcmp(word, "graphics"))
		return set_list(p, rest, LIST_GRAPHICS);
	if (!strcmp(word, "mps"))
		return set_list(p, rest, LIST_MPS);
	if (!strcmp(word, "mig"))
		return add_instance(p, rest);
	if (!strcmp(word, "gpm"))
		return gpu->has_gpm = true, 0;
	if (!strcmp(word, "accounting"))
		return gpu->is_accounted = true, 0;
	if (!strcmp(word, "lacks"))
		return add_lack(p, rest);
	if (!strcmp(word, "period_ms"))
		return set_ms(&gpu->period_ns, rest);
	if (!strcmp(word, "window_ms"))
		return set_ms(&gpu->window_ns, rest);
	if (!strcmp(word, "delay_ms"))
		return set_ms(&gpu->delay_ns, rest);
	if (!strcmp(word, "sampling_ms"))
		return set_ms(&gpu->sampling_ns, rest);
	if (!strcmp(word, "buffer_ms"))
		return set_ms(&gpu->buffer_ns, rest);
	if (!strcmp(word, "architecture"))
		return sscanf(rest, "%u", &gpu->architecture) == 1 ? 0 : -1;
	if (!strcmp(word, "kernel"))
		return sscanf(rest, "%u", &gpu->kernel_mw) == 1 ? 0 : -1;
	if (!strcmp(word, "module"))
		return sscanf(rest, "%u", &gpu->module_mw) == 1 ? 0 : -1;
	if (!strcmp(word, "memory"))
		return sscanf(rest, "%u", &gpu->memory_mw) == 1 ? 0 : -1;
	if (!strcmp(word, "energy_factor"))
		return sscanf(rest, "%u", &gpu->energy_factor) == 1 ? 0 : -1;
	if (!strcmp(word, "temperature"))
		return sscanf(rest, "%u %u", &gpu->degrees, &gpu->memory_degrees) >= 1 ? 0 : -1;
	if (!strcmp(word, "clock"))
		return sscanf(rest, "%u %u", &gpu->clock_mhz, &gpu->memory_clock_mhz) == 2 ? 0 : -1;
	if (!strcmp(word, "card_mb"))
		return sscanf(rest, "%u", &gpu->card_mb) == 1 ? 0 : -1;
	if (!strcmp(word, "limit"))
		return sscanf(rest, "%u", &gpu->limit_mw) == 1 ? 0 : -1;
	if (!strcmp(word, "held"))
		return sscanf(rest, "%lf %u", &t_s, &value) == 2 ?
			       add_step(&gpu->reasons, t_s, value) :
			       -1;
	if (!strcmp(word, "stuck"))
		return gpu->is_stuck = true, 0;
	return -1;
}

static int parse_line(struct parser *p, const char *line)
{
	char word[32];
	int used = 0;
	const char *rest;

	if (sscanf(line, "%31s %n", word, &used) != 1 || word[0] == '#')
		return 0;
	rest = line + used;
	if (!strcmp(word, "gpu"))
		return add_gpu(p, rest);
	if (!strcmp(word, "error") || !strcmp(word, "hang"))
		return add_fault(p, rest, word[0] == 'h');
	if (!strcmp(word, "age"))
		return set_ms(&p->script->age_ns, rest);
	if (!strcmp(word, "stride"))
		return sscanf(rest, "%u", &p->script->stride) == 1 ? 0 : -1;
	if (!strcmp(word, "driver"))
		return sscanf(rest, "%79s", p->script->driver) == 1 ? 0 : -1;
	return p->gpu ? parse_gpu_line(p, word, rest) : -1;
}

int script_parse(const char *text, struct script *ret)
{
	struct parser p = { .script = ret };
	char line[512];
	int number = 0;

	memset(ret, 0, sizeof(*ret));
	snprintf(ret->driver, sizeof(ret->driver), "575.57.08");
	while (*text) {
		size_t len = strcspn(text, "\n");

		number++;
		if (len >= sizeof(line))
			return number;
		memcpy(line, text, len);
		line[len] = '\0';
		if (parse_line(&p, line) < 0)
			return number;
		text += len + (text[len] == '\n');
	}
	return 0;
}

const struct fault *script_find_fault(struct script *script, int gpu, const char *function,
				      uint64_t t_ns)
{
	const struct fault *found = NULL;
	unsigned int i;

	for (i = 0; i < script->n_faults; i++) {
		struct fault *fault = &script->faults[i];

		if (fault->t_ns > t_ns || (fault->gpu >= 0 && fault->gpu != gpu) ||
		    (strcmp(fault->function, "*") && strcmp(fault->function, function)))
			continue;
		if (!fault->spared)
			found = fault;
		else
			fault->spared--;
	}
	return found;
}
