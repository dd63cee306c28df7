/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_UIDGID_H
#define KMOD_LINUX_UIDGID_H

typedef struct {
	unsigned int val;
} kuid_t;

#endif
