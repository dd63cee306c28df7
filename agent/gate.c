/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates by GnuTLS, passwords by bcrypt in crypt(3). */
#include "gate.h"

#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "xalloc.h"

/* Each costs up to a second of CPU time, on a machine that has better to do. */
#define WRONG_PER_S 5

struct gate *gate_new(struct web_config *config)
{
	struct gate *gate = xcalloc(1, sizeof(*gate));

	if (gnutls_rnd(GNUTLS_RND_KEY, gate->key, sizeof(gate->key)) < 0) {
		free(gate);
		return NULL;
	}
	gate->config = *config;
	memset(config, 0, sizeof(*config));
	pthread_mutex_init(&gate->lock, NULL);
	return gate;
}

struct gate *gate_free(struct gate *gate)
{
	if (!gate)
		return NULL;
	web_config_done(&gate->config);
	pthread_mutex_destroy(&gate->lock);
	explicit_bzero(gate, sizeof(*gate));
	free(gate);
	return NULL;
}

/* ---- certificates ---- */

static bool is_known_client(gnutls_session_t session)
{
	gnutls_typed_vdata_st purpose = { .type = GNUTLS_DT_KEY_PURPOSE_OID,
					  .data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT };
	unsigned int status = 0;

	return gnutls_certificate_verify_peers(session, &purpose, 1, &status) >= 0 && status == 0;
}

static bool is_let_in(const struct gate *gate, gnutls_session_t session)
{
	unsigned int n = 0;

	if (gate->config.client_auth == CLIENT_ANY)
		return true;
	if (!session)
		return false;
	if (gate->config.client_auth == CLIENT_IF_GIVEN &&
	    (!gnutls_certificate_get_peers(session, &n) || n == 0))
		return true;
	return is_known_client(session);
}

/* ---- passwords ---- */

static bool digest(const struct gate *gate, const char *name, const char *password,
		   unsigned char *ret)
{
	size_t name_size = strlen(name) + 1, password_size = strlen(password) + 1;
	char *both = xcalloc(name_size + password_size, 1);
	int r;

	memcpy(both, name, name_size);
	memcpy(both + name_size, password, password_size);
	r = gnutls_hmac_fast(GNUTLS_MAC_SHA256, gate->key, sizeof(gate->key), both,
			     name_size + password_size, ret);
	explicit_bzero(both, name_size + password_size);
	free(both);
	return r >= 0;
}

static bool is_remembered(const struct gate *gate, const unsigned char *hash)
{
	size_t i;

	for (i = 0; i < gate->n_remembered; i++)
		if (gnutls_memcmp(gate->remembered[i], hash, GATE_DIGEST_BYTES) == 0)
			return true;
	return false;
}

static void remember(struct gate *gate, const unsigned char *hash)
{
	memcpy(gate->remembered[gate->next], hash, GATE_DIGEST_BYTES);
	gate->next = (gate->next + 1) % GATE_REMEMBERED;
	if (gate->n_remembered < GATE_REMEMBERED)
		gate->n_remembered++;
}

/* Somebody unknown takes as long as somebody known, or names could be guessed. */
static bool is_password(const struct gate *gate, const char *name, const char *password)
{
	struct crypt_data *data = xcalloc(1, sizeof(*data));
	const struct web_user *user = NULL;
	const char *hash, *made;
	bool is_right;
	size_t i;

	for (i = 0; i < gate->config.n_users && !user; i++)
		if (strcmp(gate->config.users[i].name, name) == 0)
			user = &gate->config.users[i];
	hash = user ? user->hash : gate->config.users[0].hash;
	made = crypt_rn(password, hash, data, (int)sizeof(*data));
	is_right = made && strlen(made) == strlen(hash) &&
		   gnutls_memcmp(made, hash, strlen(hash)) == 0;
	explicit_bzero(data, sizeof(*data));
	free(data);
	return is_right && user;
}

/* Whether one more password may be tried in this second. */
static bool may_try(struct gate *gate)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec != gate->wrong_s) {
		gate->wrong_s = now.tv_sec;
		gate->wrong = 0;
	}
	return gate->wrong < WRONG_PER_S;
}

static enum gate_verdict check_password(struct gate *gate, const char *name, const char *password)
{
	unsigned char hash[GATE_DIGEST_BYTES];

	if (!digest(gate, name, password, hash))
		return GATE_WHO;
	if (is_remembered(gate, hash))
		return GATE_OPEN;
	if (!may_try(gate))
		return GATE_BUSY;
	if (is_password(gate, name, password)) {
		remember(gate, hash);
		return GATE_OPEN;
	}
	gate->wrong++;
	return GATE_WHO;
}

enum gate_verdict gate_check(struct gate *gate, gnutls_session_t session, const char *name,
			     const char *password)
{
	enum gate_verdict verdict;

	if (!is_let_in(gate, session))
		return GATE_SHUT;
	if (gate->config.n_users == 0)
		return GATE_OPEN;
	if (!name || !password)
		return GATE_WHO;
	pthread_mutex_lock(&gate->lock);
	verdict = check_password(gate, name, password);
	pthread_mutex_unlock(&gate->lock);
	return verdict;
}
