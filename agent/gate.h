/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: whether who asks may have an answer, by certificate and by name and password. Passwords
 * are hashed slowly on purpose (bcrypt), so that those which were right are remembered for as long
 * as the agent runs, as digests under a key of this process.
 *
 * Thread-safe, but for opening and closing it.
 */
#ifndef WATT_AGENT_GATE_H
#define WATT_AGENT_GATE_H

#include <pthread.h>
#include <stdbool.h>

#include <gnutls/gnutls.h>

#include "web_config.h"

#define GATE_KEY_BYTES 32
#define GATE_DIGEST_BYTES 32
#define GATE_REMEMBERED 64

enum gate_verdict {
	GATE_OPEN,
	GATE_WHO,  /* a name and a password are missing, or wrong */
	GATE_SHUT, /* no certificate that a known authority has signed */
	GATE_BUSY, /* too many wrong passwords lately; ask again in a second */
};

struct gate {
	struct web_config config; /* owned */
	pthread_mutex_t lock;     /* of what follows */
	unsigned char key[GATE_KEY_BYTES];
	unsigned char remembered[GATE_REMEMBERED][GATE_DIGEST_BYTES];
	size_t n_remembered, next;
	unsigned int wrong; /* passwords in the second that began at wrong_s */
	long wrong_s;
};

/* Takes the configuration over; NULL: there is no good randomness. */
struct gate *gate_new(struct web_config *config);
/* NULL is allowed. Always returns NULL. */
struct gate *gate_free(struct gate *gate);
/* session: of TLS, NULL: there is none; name and password are NULL where none were given. */
enum gate_verdict gate_check(struct gate *gate, gnutls_session_t session, const char *name,
			     const char *password);

#endif
