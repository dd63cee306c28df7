/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the module's arithmetic needs of the kernel's headers, for programs that test it: the files
 * of this folder stand in for those of the same names.
 */
#ifndef KMOD_LINUX_TYPES_H
#define KMOD_LINUX_TYPES_H

#include_next <linux/types.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int64_t s64;

#define __rcu

#endif
