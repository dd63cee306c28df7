/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_TIME64_H
#define KMOD_LINUX_TIME64_H

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

#endif
