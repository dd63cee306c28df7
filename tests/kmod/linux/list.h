/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_LIST_H
#define KMOD_LINUX_LIST_H

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

#endif
