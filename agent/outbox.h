/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outbox: documents that wait to be sent, oldest first. Bounded in bytes: the oldest go when it is
 * full, and are counted. With a folder each is a file there, so that they survive a restart; one
 * process has a folder at a time. A folder that can't be written to costs survival, not documents.
 *
 * One thread per object.
 */
#ifndef WATT_AGENT_OUTBOX_H
#define WATT_AGENT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct outbox_item {
	uint64_t number; /* grows; the name of its file */
	size_t n;        /* bytes */
	char *text;      /* owned; NULL: it is in its file */
};

struct outbox {
	int folder;                /* -1: none */
	int lock;                  /* -1: none */
	struct outbox_item *items; /* owned; [0] is the oldest */
	size_t n_items, cap;
	size_t bytes, max_bytes;
	uint64_t next; /* number */
	uint64_t lost; /* documents that had to go unsent, or could not be read again */
	int error;     /* why the last one is in no file; 0: it is, or there is no folder */
};

/*
 * Takes up what an earlier process has left in the folder, which is made where it is not there. NULL:
 * no folder. 0; -EBUSY: another process has it; or why it can't be had.
 */
int outbox_open(struct outbox *outbox, const char *folder, size_t max_bytes);
/* What is in files stays there. */
void outbox_close(struct outbox *outbox);
/* Takes the text. */
void outbox_add(struct outbox *outbox, char *text);
/* The oldest document, which stays; the caller frees it. NULL: there is none. */
char *outbox_copy_first(struct outbox *outbox, size_t *ret_n);
/* It was sent, or never will be. */
void outbox_remove_first(struct outbox *outbox);

#endif
