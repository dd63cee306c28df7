/* SPDX-License-Identifier: Apache-2.0 */
/* Two packages that count in nJ, of a machine that never was. */
#ifndef WATT_TESTS_TWO_PACKAGES_H
#define WATT_TESTS_TWO_PACKAGES_H

#include <wattribute/channel.h>

static const struct watt_channel two_packages[2] = {
	{ .name = "p0",
	  .source = "t",
	  .domain = "package-0",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .scale_num = 1,
	  .scale_den = 1,
	  .package_id = 0,
	  .die_id = -1,
	  .core_id = -1 },
	{ .name = "p1",
	  .source = "t",
	  .domain = "package-1",
	  .kind = WATT_DOMAIN_PACKAGE,
	  .scale_num = 1,
	  .scale_den = 1,
	  .package_id = 1,
	  .die_id = -1,
	  .core_id = -1 },
};

#endif
