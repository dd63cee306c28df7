/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `wattribute calibrate gpu`: what the sensors of GPUs do, measured. How is the library's to know.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wattribute/calibration.h>

#include "command.h"
#include "message.h"
#include "options.h"
#include "status.h"
#include "time_arg.h"
#include "xalloc.h"

static const char help_text[] =
	"Usage: wattribute calibrate gpu [OPTION...]\n"
	"Measures what the power sensors of NVIDIA's GPUs do: how often they have a new\n"
	"value, of how much time that is the mean, and how late it can be read. A load of\n"
	"its own runs on each GPU for that time; let nothing else use it meanwhile. What\n"
	"is found is kept, and everything that measures these GPUs later uses it.\n\n"
	"      --for=TIME       of each GPU; 15s by default\n"
	"      --nvml-lib=FILE  instead of libnvidia-ml.so.1\n"
	"      --cuda-lib=FILE  instead of libcuda.so.1\n"
	"      --sysfs-root=DIR\n"
	"                       instead of /sys, which says what sleeps\n"
	"  -v, --verbose, -h, --help\n"
	"\nExample: wattribute calibrate gpu --for=30s\n";

struct wish {
	uint64_t length_ns;
	const char *cuda_lib;
};

enum {
	OPT_FOR = OPTIONS_OWN,
	OPT_CUDA_LIB,
};

static int take_own(void *data, int code)
{
	struct wish *wish = data;
	struct time_arg time;
	int r;

	if (code == OPT_CUDA_LIB) {
		wish->cuda_lib = optarg;
		return 0;
	}
	r = time_arg_take("--for", optarg, &time);
	if (r == 0 && (time.kind != TIME_ARG_SINCE || time.ns < 2000000000))
		return options_bad_value("--for", optarg, "a time of 2s at least");
	wish->length_ns = time.ns;
	return r;
}

static const char *why(int error)
{
	switch (error) {
	case -ENOENT:
		return "there is no libcuda.so.1: the driver's library for CUDA is not installed";
	case -ENODATA:
		return "the load left no trace in its power: is the GPU, or this machine, busy with something else?";
	case -EAGAIN:
		return "it is asleep, and is not woken";
	default:
		return strerror(-error);
	}
}

static void print_sensor(const struct watt_gpu_sensor *sensor, void *data)
{
	const char **newest = data;

	if (sensor->error) {
		message_error("%s (%s): %s", sensor->gpu, sensor->name, why(sensor->error));
		return;
	}
	if (!*newest || strcmp(*newest, sensor->gpu)) {
		printf("%s  %s\n", sensor->gpu, sensor->name);
		free((void *)*newest);
		*newest = xstrdup(sensor->gpu);
		if (!sensor->path)
			message_error("%s: what was found can't be kept", sensor->gpu);
	}
	printf("  %-8s every %.1f ms", sensor->reading, (double)sensor->period_ns / 1e6);
	if (sensor->window_ns)
		printf(", of %.1f ms", (double)sensor->window_ns / 1e6);
	printf(", %.1f ms late: sees %.0f %% of the time, ±%.1f %%\n",
	       (double)sensor->delay_ns / 1e6, (double)sensor->coverage_ppm / 1e4,
	       (double)sensor->uncertainty_ppm / 1e4);
}

static int calibrate(const struct options *opts, const struct wish *wish)
{
	char *newest = NULL;
	int r = watt_gpu_calibrate(opts->session, wish->cuda_lib, wish->length_ns, print_sensor,
				   &newest);

	if (r == -ENODEV && !newest)
		message_error("there is no NVIDIA GPU that can be used; 'wattribute doctor' tells "
			      "why");
	free(newest);
	return r < 0 ? STATUS_FAILURE : STATUS_OK;
}

int cmd_calibrate(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "for", required_argument, NULL, OPT_FOR },
		{ "cuda-lib", required_argument, NULL, OPT_CUDA_LIB },
		{ "nvml-lib", required_argument, NULL, OPTIONS_SESSION },
		{ "sysfs-root", required_argument, NULL, OPTIONS_SESSION },
		OPTIONS_SELF_LONG,
	};
	bool is_gpu = argc > 1 && !strcmp(argv[1], "gpu");
	struct options opts = { 0 };
	struct wish wish = { 0 };

	if (is_gpu) {
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	if (options_take(&opts, argc, argv, ":" OPTIONS_SHORT, longs, take_own, &wish) < 0 ||
	    options_finish(&opts, argc, argv) < 0)
		return STATUS_USAGE;
	if (opts.is_help) {
		fputs(help_text, stdout);
		return STATUS_OK;
	}
	if (!is_gpu)
		return message_usage("what? 'wattribute calibrate gpu' is all there is");
	return calibrate(&opts, &wish);
}
