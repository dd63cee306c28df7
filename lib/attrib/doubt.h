/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How unsure the energy of every account is, by what its domain's key says of its own shares. A
 * standard uncertainty, carried from slices into totals and windows, and from processes into
 * sums: programs that one key learned are correlated, and so are neighbouring slices. Reckoned now
 * and then, not with each slice. One thread per object.
 */
#ifndef WATT_ATTRIB_DOUBT_H
#define WATT_ATTRIB_DOUBT_H

#include "attrib/state.h"

/* Whether accounts have to be told of what they got before a slice is divided by this key. */
bool watt_doubt_is_due(const struct watt_ledger *ledger, const struct watt_key_slice *slice,
		       const struct watt_key *next);
/* A slice was divided: what of it is off as idle power is. */
void watt_doubt_add_slice(const struct watt_attrib *at, struct watt_ledger *ledger,
			  const struct watt_key_slice *slice);
/* Tells all accounts how unsure what they got since the last time is. 0 or -ENOMEM. */
int watt_doubt_tell(struct watt_attrib *at, struct watt_ledger *ledger);
/* The same in every domain in which this account has something untold: before it goes. */
int watt_doubt_settle(struct watt_attrib *at, const struct watt_account *account);
/* What a row says of that: each is added to. */
struct watt_doubt_row {
	double *all_j, *window_j; /* per domain; NAN: nobody knows */
	double *idle_j;           /* per domain: of window_j, what has one sign in all domains */
	double *total_j, *window_total_j;
};

/* Rows of a reader's window are next. */
void watt_doubt_begin_rows(struct watt_attrib *at, size_t reader);
/*
 * Adds the standard uncertainty of what an account has of each domain, and of those of the partition
 * together, since the beginning and in the reader's window, in joules.
 */
void watt_doubt_add_row(const struct watt_attrib *at, const struct watt_account *account,
			size_t reader, const struct watt_doubt_row *row);

/* One account has all that another has: errors of one name add up as they are. */
void watt_doubt_merge(const struct watt_accounts *accounts, struct watt_account *to,
		      const struct watt_account *from);
/* A sum gets what a member used before; is_only: the member is all that its account has. */
void watt_doubt_join(const struct watt_accounts *accounts, struct watt_account *sum,
		     const struct watt_member *member, bool is_only);

#endif
