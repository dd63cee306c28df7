/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask the agent: what can't be read lets nobody in, and every error is one sentence. */
#include "fuzz.h"

#include <string.h>

#include "web_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_config config;
	int r = web_config_parse(&config, (const char *)data, size, "x");
	size_t i;

	check(r <= 0);
	check(r == 0 || (config.yaml.error[0] && !strchr(config.yaml.error, '\n')));
	check(r < 0 || config.client_auth == CLIENT_ANY || config.client_ca ||
	      config.client_ca_path);
	check(r < 0 || !(config.cert || config.cert_path) == !(config.key || config.key_path));
	for (i = 0; i < config.n_users; i++)
		check(*config.users[i].name && strlen(config.users[i].hash) == 60);
	web_config_done(&config);
	return 0;
}
