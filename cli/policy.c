/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the options about attribution. It must not judge them: the library knows the domains. */
#include "policy.h"

#include <errno.h>
#include <getopt.h>

int policy_take(struct watt_session_opts *session, int code)
{
	switch (code) {
	case POLICY_IDLE:
		session->idle_policy = optarg;
		return 0;
	case POLICY_SHARE_KEY:
		session->share_keys = optarg;
		return 0;
	case POLICY_SENSOR_DELAY:
		session->delays = optarg;
		return 0;
	default:
		return -ENOENT;
	}
}
