/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMOD_LINUX_LLIST_H
#define KMOD_LINUX_LLIST_H

struct llist_node {
	struct llist_node *next;
};

#endif
