/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that the fake NVML shows: what its script says, and what is true at an instant. */
#ifndef WATT_TESTS_FAKE_NVML_SCRIPT_H
#define WATT_TESTS_FAKE_NVML_SCRIPT_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_GPUS 16
#define MAX_STEPS 256
#define MAX_PROCESSES 32
#define MAX_FAULTS 32
#define MAX_INSTANCES 7
#define MAX_KERNELS 4096
#define NO_INSTANCE 0xffffffffu

/* From an instant on. */
struct step {
	uint64_t t_ns;
	uint32_t value;
};

struct steps {
	struct step list[MAX_STEPS];
	unsigned int n;
};

enum list {
	LIST_COMPUTE,
	LIST_GRAPHICS,
	LIST_MPS
};

struct process {
	uint32_t pid;
	uint32_t gi, ci; /* instance; NO_INSTANCE: none */
	enum list list;  /* where it is told of */
	uint64_t memory_bytes;
	struct steps sm; /* percent of the engine; it runs while that was said and is not "gone" */
};

#define PROCESS_GONE 1000u

struct instance {
	uint32_t gi, ci, slices;
	char uuid[96];
	uint64_t from_ns, until_ns; /* it is there between */
};

struct gpu {
	unsigned int index;
	char uuid[96], pci[32], name[96];
	uint32_t architecture;
	uint64_t period_ns, window_ns, delay_ns, sampling_ns, buffer_ns;
	struct steps power_mw;
	uint32_t kernel_mw; /* so much more while a kernel runs */
	struct {
		uint64_t begin_ns, end_ns, before_ns; /* how long any ran before */
	} kernels[MAX_KERNELS];
	unsigned int n_kernels;
	uint32_t module_mw, memory_mw; /* 0: it has no such scope */
	bool lacks_energy, lacks_instant, lacks_average, lacks_usage, lacks_samples, lacks_buffer,
		is_mig;
	bool has_gpm, is_accounted;
	/* what it is like; 0: it does not tell */
	uint32_t degrees, memory_degrees, clock_mhz, memory_clock_mhz, limit_mw, card_mb;
	struct steps reasons; /* bits of what holds it back */
	bool is_stuck;
	uint32_t energy_factor; /* the counter says so much per mJ; 1: the truth */
	struct process processes[MAX_PROCESSES];
	unsigned int n_processes;
	struct instance instances[MAX_INSTANCES];
	unsigned int n_instances;
};

/* What a function does from an instant on. */
struct fault {
	int gpu; /* -1: any */
	char function[64];
	uint64_t t_ns;
	int code;         /* returns it; 0: works again */
	uint64_t hang_ns; /* sleeps so long before */
	uint32_t spared;  /* calls that it does not touch yet */
};

struct script {
	struct gpu gpus[MAX_GPUS];
	unsigned int n_gpus;
	struct fault faults[MAX_FAULTS];
	unsigned int n_faults;
	uint64_t age_ns; /* it began so long before it was read */
	uint32_t stride; /* of lists of processes; 0: as it should be */
	char driver[80];
};

/* What the fake libcuda needs of the fake NVML. */
struct script *fake_script(void);
/* The file that FAKE_NVML_SCRIPT names, unless a script was read already. 0, or an error of NVML's. */
int fake_script_read(void);
uint64_t fake_now_ns(void);

/* 0, or the number of the line that makes no sense. */
int script_parse(const char *text, struct script *ret);
uint32_t steps_at(const struct steps *steps, uint64_t t_ns);
/* Sum of value times ns between two instants. */
uint64_t steps_area(const struct steps *steps, uint64_t t0_ns, uint64_t t1_ns);
/* The newest that touches this call; NULL: none. Calls that are spared are counted. */
const struct fault *script_find_fault(struct script *script, int gpu, const char *function,
				      uint64_t t_ns);

#endif
