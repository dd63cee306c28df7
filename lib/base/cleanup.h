/* SPDX-License-Identifier: Apache-2.0 */
/* Locals that free themselves at the end of their scope. */
#ifndef WATT_BASE_CLEANUP_H
#define WATT_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void watt_cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void watt_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void watt_cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static inline void watt_cleanup_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define _cleanup_free_ _cleanup_(watt_cleanup_free)
#define _cleanup_close_ _cleanup_(watt_cleanup_close)
#define _cleanup_closedir_ _cleanup_(watt_cleanup_closedir)
#define _cleanup_fclose_ _cleanup_(watt_cleanup_fclose)

#endif
