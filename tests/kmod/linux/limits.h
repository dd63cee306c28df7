/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_LIMITS_H
#define KMOD_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U32_MAX UINT32_MAX
#define S64_MAX INT64_MAX
#define S64_MIN INT64_MIN

#endif
