/* SPDX-License-Identifier: Apache-2.0 */
/* Who may read how busy the memory controller of a Tegra is: files of debugfs, which is root's. */
#ifndef WATT_CLI_EMC_GRANT_H
#define WATT_CLI_EMC_GRANT_H

/* What it was like before is kept here, by default; like debugfs itself, until the next boot. */
#define EMC_GRANT_STATE "/run/wattribute-emc"

/*
 * Lets a group (its name or number) read these files below the root of sysfs (ended by NULL) and go
 * through the folders that they are in, and nobody else; says what was done, and writes down in the
 * file `state` what was there before. All of it is done, or nothing. 0, or a negative errno after a
 * message.
 */
int emc_grant(const char *sysfs, const char *const *files, const char *group, const char *state);
/* Makes it as it was before. The same. */
int emc_revoke(const char *sysfs, const char *state);

#endif
