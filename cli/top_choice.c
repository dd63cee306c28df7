/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the options about groups, order and filter. */
#include "top_choice.h"

#include <errno.h>
#include <getopt.h>

#include "options.h"
#include "text.h"

int top_choice_take(struct top_model *model, int code)
{
	int found;

	switch (code) {
	case 'g':
		found = top_group_of(optarg);
		if (found < 0)
			return options_bad_value(
				"--group", optarg,
				"process, tree, container, unit, user, cgroup or job");
		model->group = (enum top_group)found;
		return 0;
	case 's':
		found = top_sort_of(optarg);
		if (found < 0)
			return options_bad_value("--sort", optarg,
						 "power, energy, cpu, gpu, pid or name");
		model->sort = (enum top_sort)found;
		return 0;
	case 'f':
		text_clean(model->filter, sizeof(model->filter), optarg);
		return 0;
	default:
		return -EINVAL;
	}
}
