/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prometheus' text of metrics, in both its forms: text 0.0.4 and OpenMetrics 1.0. Energies are
 * written with all their digits, so that what adds up inside adds up in print.
 *
 *     exposition_family(ex, &(struct exposition_family){ "x_joules", EXPOSITION_COUNTER, ... });
 *     exposition_energy(ex, labels, domain, energy_nj);
 *     ...
 *     exposition_end(ex);
 *
 * One thread per object.
 */
#ifndef WATT_AGENT_EXPOSITION_H
#define WATT_AGENT_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Energies beyond int64 nJ, which are 107 days at 1 kW. */
__extension__ typedef __int128 nanojoules;

/* Text that grows. */
struct bytes {
	char *data;
	size_t n, cap;
};

void bytes_add(struct bytes *bytes, const char *text, size_t n);
void bytes_add_text(struct bytes *bytes, const char *text);
__attribute__((format(printf, 2, 3))) void bytes_format(struct bytes *bytes, const char *format,
							...);
void bytes_done(struct bytes *bytes);

enum exposition_format {
	EXPOSITION_TEXT = 0,        /* text/plain; version=0.0.4 */
	EXPOSITION_OPENMETRICS = 1, /* application/openmetrics-text; version=1.0.0 */
	EXPOSITION_N,
};

enum exposition_type {
	EXPOSITION_GAUGE,
	EXPOSITION_COUNTER, /* "_total" is added to its name */
	EXPOSITION_INFO,    /* "_info" is added to its name; its value is 1 */
};

struct exposition_family {
	const char *name; /* without the suffix of its type */
	enum exposition_type type;
	const char *unit; /* the end of the name; NULL: none */
	const char *help;
};

struct exposition {
	struct bytes bytes; /* owned */
	enum exposition_format format;
	struct exposition_family family; /* the one that samples belong to */
	size_t name_n;                   /* bytes of its name */
	bool has_head;                   /* its head is written: with its first sample */
	size_t samples;                  /* so far, all families; those of _created too */
};

/* `kind="process",pid="12"`: a label is added behind what is there; an empty value is none. */
void exposition_add_label(struct bytes *labels, const char *name, const char *value);

/* Adds a label of such labels under another name; one that is not there is none. */
void exposition_copy_label(struct bytes *to, const char *to_name, const char *labels,
			   const char *name);
bool exposition_has_label(const char *labels, const char *name);
/*
 * Reads the first of such labels, unescaped and cut to the sizes; what is behind it. NULL: there was
 * none.
 */
const char *exposition_next_label(const char *labels, char *name, size_t name_size, char *value,
				  size_t value_size);

/* room: memory to write in, which is the exposition's from then on; NULL: new memory. */
void exposition_begin(struct exposition *ex, enum exposition_format format, struct bytes *room);
void exposition_family(struct exposition *ex, const struct exposition_family *family);
/*
 * Samples of the family. `labels` are as add_label() leaves them, NULL or "": none; `domain` is
 * one more of them, NULL: none.
 */
void exposition_energy(struct exposition *ex, const char *labels, const char *domain,
		       nanojoules energy_nj);
void exposition_time(struct exposition *ex, const char *labels, uint64_t time_ns);
void exposition_count(struct exposition *ex, const char *labels, uint64_t count);
/* A value that is not a number is left out. */
void exposition_number(struct exposition *ex, const char *labels, const char *domain, double value);
/*
 * One of those who made the counter of the sample before grow, if the format has that: what by, and
 * when. Labels that OpenMetrics finds too long are left out, and it with them.
 */
void exposition_exemplar(struct exposition *ex, const char *labels, double value,
			 uint64_t realtime_ns);
/* When the counter of the sample before began, if the format has that. */
void exposition_created(struct exposition *ex, const char *labels, const char *domain,
			uint64_t realtime_ns);
void exposition_end(struct exposition *ex);
void exposition_done(struct exposition *ex);

/* The media type of a form. */
const char *exposition_mime(enum exposition_format format);
/* The form that a client would rather have, by its header Accept; NULL: it has none. */
enum exposition_format exposition_choose(const char *accept);

#endif
