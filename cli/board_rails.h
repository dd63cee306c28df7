/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sensors of a board, on its supply rails and of context: what is known of each, and how long it
 * takes to read.
 */
#ifndef WATT_CLI_BOARD_RAILS_H
#define WATT_CLI_BOARD_RAILS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wattribute/session.h>

struct board_rail {
	size_t index;        /* of its channel in the session */
	const char *channel; /* its name; valid as long as the session */
	const char *source;
	const char *label; /* as the sensor says it; "": it does not */
	const char *domain;
	char clean[96];  /* the label, as it may be part of a domain; "": there is none */
	char address[5]; /* of its device on an i2c bus: "0040"; "": on none */
	enum watt_domain_kind kind;
	enum watt_status status;
	bool is_context; /* no rail: what the board was like */
	enum watt_quantity quantity;
	double value;      /* of context: its newest one, in the unit of its quantity */
	bool is_known;     /* the board or a rule has a place for it */
	bool is_alone;     /* how it overlaps with the others is not known */
	uint64_t begun_ns; /* its newest reading, the same for rails that are read by one call */
	uint64_t read_ns;  /* how long a reading takes: the median */
	size_t n_reads;
};

struct board_rails {
	struct watt_session *ses;
	struct board_rail *list; /* rails before context */
	size_t n;
	size_t n_context; /* of n */
};

/*
 * Opens a session and reads all rails for so long. 0, also where there is none; else a line of the
 * log has said it.
 */
int board_rails_listen(struct board_rails *rails, const struct watt_options *options,
		       uint32_t listen_ms);
void board_rails_clear(struct board_rails *rails);
/*
 * The source after this one (NULL: the first) that has read a sensor, and how long all its sensors take,
 * one after the other. NULL: there is none.
 */
const char *board_rails_next_source(const struct board_rails *rails, const char *source,
				    uint64_t *ret_sweep_ns);
/*
 * Where a description puts a rail: where it is, if somebody knows it, or else by itself, by its
 * label. Returns buf.
 */
const char *board_rails_place(const struct board_rails *rails, const struct board_rail *rail,
			      char *buf, size_t size);

/* How often something can be read. */
enum board_tier {
	BOARD_TIER_FAST,
	BOARD_TIER_MEDIUM,
	BOARD_TIER_SLOW,
};

/* The fastest in which this leaves nine tenths of the time. Slower ones are slow, too. */
enum board_tier board_tier_of(uint64_t read_ns);
const char *board_tier_name(enum board_tier tier);
unsigned int board_tier_hz(enum board_tier tier);

#endif
