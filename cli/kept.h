/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is about to be replaced, under another name until it is sure that there will be
 * another one: a command that can't be run must cost nobody a file.
 */
#ifndef WATT_CLI_KEPT_H
#define WATT_CLI_KEPT_H

#define KEPT_FILES 3

struct kept {
	char *names[KEPT_FILES];  /* where they are; NULL: there is none */
	char *places[KEPT_FILES]; /* where they were */
};

/* Where the file system has no second names, or there is no file, nothing is kept. */
void kept_take(struct kept *kept, const char *path);
/* Puts back what was there, in the place of what is there now. */
void kept_restore(struct kept *kept);
/* Lets it go. May be called after kept_restore(), and twice. */
void kept_drop(struct kept *kept);

#endif
