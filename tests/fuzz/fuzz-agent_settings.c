/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's settings file: it is taken whole or not at all, and every error is one sentence. */
#include "fuzz.h"

#include <string.h>

#include "settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings settings;
	int id, r;

	settings_init(&settings);
	r = settings_take_yaml(&settings, (const char *)data, size, "x");
	check(r <= 0);
	check(r == 0 || (settings.error[0] && !strchr(settings.error, '\n')));
	for (id = 0; id < SETTING_N; id++) {
		const struct setting *setting = setting_get((enum setting_id)id);
		uint64_t number = settings_number(&settings, (enum setting_id)id);

		check(r == 0 ||
		      !strcmp(settings_text(&settings, (enum setting_id)id), setting->value));
		if (setting->type == SETTING_COUNT || setting->type == SETTING_TIME)
			check(number >= setting->least && number <= setting->most);
	}
	settings_done(&settings);
	return 0;
}
