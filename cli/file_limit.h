/* SPDX-License-Identifier: Apache-2.0 */
/* How many files this program may have open. */
#ifndef WATT_CLI_FILE_LIMIT_H
#define WATT_CLI_FILE_LIMIT_H

/* As many as it is allowed: each sensor keeps its files open, and there may be thousands. */
void file_limit_raise(void);

#endif
