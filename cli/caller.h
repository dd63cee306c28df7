/* SPDX-License-Identifier: Apache-2.0 */
/* Who called by sudo: files are theirs, and one's own processes are. */
#ifndef WATT_CLI_CALLER_H
#define WATT_CLI_CALLER_H

#include <stdbool.h>
#include <stdint.h>

/* False: we are not root, or nobody has called by sudo, or it was root. */
bool caller_get_uid(uint32_t *ret);
bool caller_get_gid(uint32_t *ret);

#endif
