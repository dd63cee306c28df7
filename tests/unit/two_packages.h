/* SPDX-License-Identifier: Apache-2.0 */
/* Two packages that count in nJ, of a machine that never was. */
#ifndef WATT_TESTS_TWO_PACKAGES_H
#define WATT_TESTS_TWO_PACKAGES_H

#include "channel.h"

static const struct watt_channel two_packages[2] = {
	CHANNEL("p0", "package-0", WATT_DOMAIN_PACKAGE, .package_id = 0),
	CHANNEL("p1", "package-1", WATT_DOMAIN_PACKAGE, .package_id = 1),
};

#endif
