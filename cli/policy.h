/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options by which a person chooses how energy is attributed. Those of all commands that
 * attribute, live or from a recording.
 */
#ifndef WATT_CLI_POLICY_H
#define WATT_CLI_POLICY_H

#include <wattribute/session.h>

enum policy_code {
	POLICY_IDLE = 1024, /* above all codes of options.h and of commands */
	POLICY_SHARE_KEY,
	POLICY_SENSOR_DELAY,
};

/* clang-format off */
#define POLICY_LONG \
	{ "idle-policy", required_argument, NULL, POLICY_IDLE }, \
	{ "share-key", required_argument, NULL, POLICY_SHARE_KEY }, \
	{ "sensor-delay", required_argument, NULL, POLICY_SENSOR_DELAY }

#define POLICY_HELP \
	"How energy is attributed:\n" \
	"  --idle-policy=separate|proportional, --sensor-delay=CHANNEL=MS,...\n" \
	"  --share-key=[DOMAIN=]auto|learned|cpu_time|none,...\n"
/* clang-format on */

/*
 * Takes one option that getopt_long() found; whether its value makes sense on this machine is the
 * library's word. 0: taken; -ENOENT: it is none of these.
 */
int policy_take(struct watt_session_opts *session, int code);

#endif
