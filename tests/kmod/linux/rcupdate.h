/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_RCUPDATE_H
#define KMOD_LINUX_RCUPDATE_H

struct rcu_head {
	struct rcu_head *next;
};

#endif
