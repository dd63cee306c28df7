/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_BITS_H
#define KMOD_LINUX_BITS_H

#define BIT_ULL(n) (1ULL << (n))

#endif
