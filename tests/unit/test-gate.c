/* SPDX-License-Identifier: Apache-2.0 */
/* agent/gate.c and agent/web_config.c */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate.h"

/* bcrypt of cost 4: "secret" and "other" */
#define SECRET "$2b$04$aaaaaaaaaaaaaaaaaaaaaOGY9KrC7e/pHj3EXQPxs8hKEBbvQhsvG"
#define OTHER "$2y$04$bbbbbbbbbbbbbbbbbbbbbeBGHJ7nEtZGlefGGLhQ3WonKqlZw/z4e"

static int parse(struct web_config *config, const char *text)
{
	return web_config_parse(config, text, strlen(text), "web.yml");
}

static void test_reads(void **state)
{
	struct web_config config;

	assert_int_equal(parse(&config,
			       "tls_server_config:\n  cert_file: c.pem\n  key_file: k.pem\n"
			       "  client_ca_file: ca.pem\n"
			       "  client_auth_type: RequireAndVerifyClientCert\n"
			       "  min_version: TLS13\nhttp_server_config:\n  http2: true\n"
			       "basic_auth_users:\n  ann: " SECRET "\n  bob: " OTHER "\n"),
			 0);
	assert_string_equal(config.cert_path, "c.pem");
	assert_string_equal(config.client_ca_path, "ca.pem");
	assert_int_equal(config.client_auth, CLIENT_REQUIRED);
	assert_string_equal(config.priorities, "NORMAL:-VERS-ALL:+VERS-TLS1.3");
	assert_int_equal(config.n_users, 2);
	assert_string_equal(config.users[1].name, "bob");
	web_config_done(&config);
	assert_int_equal(parse(&config, "# nobody is kept out\n"), 0);
	assert_int_equal(config.n_users, 0);
	assert_null(config.cert_path);
	web_config_done(&config);
}

/* What would leave a door open must never be passed over. */
static void test_errors(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{ "tls_config:\n  cert_file: c\n", "web.yml:1: 'tls_config' is not" },
		{ "tls_server_config:\n  cert_file: c\n", "cert_file and key_file go together" },
		{ "tls_server_config:\n  cert_file: c\n  key_file: k\n  cert: x\n",
		  "cert_file and cert are the same" },
		{ "tls_server_config:\n  cert_file: c\n  key_file: k\n  cipher_suites: [a]\n",
		  "web.yml:4: tls_server_config: 'cipher_suites' can't be done" },
		{ "tls_server_config:\n  min_version: TLS13\n", "min_version takes a cert_file" },
		{ "tls_server_config:\n  cert_file: c\n  key_file: k\n"
		  "  client_auth_type: RequireAnyClientCert\n",
		  "'RequireAnyClientCert' is not NoClientCert" },
		{ "tls_server_config:\n  cert_file: c\n  key_file: k\n"
		  "  client_auth_type: RequireAndVerifyClientCert\n",
		  "takes a client_ca_file" },
		{ "tls_server_config:\n  cert_file: c\n  key_file: k\n  client_ca_file: a\n",
		  "for nothing without" },
		{ "tls_server_config:\n  cert_file: c\n  key_file: k\n  min_version: TLS10\n",
		  "min_version and max_version" },
		{ "http_server_config:\n  headers: {a: b}\n", "'headers' can't be done" },
		{ "basic_auth_users:\n  ann: secret\n", "web.yml:2: user 'ann': not a password's" },
		{ "basic_auth_users:\n  ann: $2b$31$aaaaaaaaaaaaaaaaaaaaa."
		  "9kJlrqvDHgV6e1MXSN8UyY8cD5nOZC2\n",
		  "not a password's" },
		{ "basic_auth_users: ann\n", "must be lines of 'name: value'" },
		{ "- a\n", "must be lines of 'name:'" },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct web_config config;

		assert_int_equal(parse(&config, cases[i].text), -EINVAL);
		if (!strstr(config.yaml.error, cases[i].error))
			fail_msg("%zu: '%s' has no '%s'", i, config.yaml.error, cases[i].error);
		web_config_done(&config);
	}
}

static void test_files(void **state)
{
	char folder[] = "/tmp/gate-XXXXXX", path[64], pem[64];
	struct web_config config;
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/web.yml", folder);
	snprintf(pem, sizeof(pem), "%s/c.pem", folder);
	file = fopen(path, "w");
	fputs("tls_server_config:\n  cert_file: c.pem\n  key_file: c.pem\n", file);
	fclose(file);
	assert_int_equal(web_config_read(&config, path), -ENOENT);
	assert_non_null(strstr(config.yaml.error, "/c.pem: cannot read it"));
	web_config_done(&config);
	file = fopen(pem, "w");
	fputs("no certificate\n", file);
	fclose(file);
	assert_int_equal(web_config_read(&config, path), -EINVAL);
	assert_non_null(strstr(config.yaml.error, "certificate and key can't be used"));
	web_config_done(&config);
	unlink(pem);
	unlink(path);
	rmdir(folder);
}

static struct gate *open_gate(const char *text)
{
	struct web_config config;
	struct gate *gate;

	assert_int_equal(parse(&config, text), 0);
	gate = gate_new(&config);
	web_config_done(&config);
	assert_non_null(gate);
	return gate;
}

static void test_passwords(void **state)
{
	struct gate *gate = open_gate("basic_auth_users:\n  ann: " SECRET "\n  bob: " OTHER "\n");

	assert_int_equal(gate_check(gate, NULL, NULL, NULL), GATE_WHO);
	assert_int_equal(gate_check(gate, NULL, "ann", NULL), GATE_WHO);
	assert_int_equal(gate_check(gate, NULL, "ann", "secret"), GATE_OPEN);
	assert_int_equal(gate->n_remembered, 1);
	assert_int_equal(gate_check(gate, NULL, "ann", "secret"), GATE_OPEN);
	assert_int_equal(gate->n_remembered, 1);
	assert_int_equal(gate_check(gate, NULL, "bob", "other"), GATE_OPEN);
	/* One's password is not another's, nor is a part of it. */
	assert_int_equal(gate_check(gate, NULL, "bob", "secret"), GATE_WHO);
	assert_int_equal(gate_check(gate, NULL, "eve", "secret"), GATE_WHO);
	assert_int_equal(gate_check(gate, NULL, "ann", ""), GATE_WHO);
	assert_int_equal(gate->n_remembered, 2);
	gate_free(gate);
}

/* Who guesses waits, and who is known does not wait for that. */
static void test_guesses_are_slowed(void **state)
{
	struct gate *gate = open_gate("basic_auth_users:\n  ann: " SECRET "\n");
	enum gate_verdict verdict = GATE_WHO;
	int i;

	assert_int_equal(gate_check(gate, NULL, "ann", "secret"), GATE_OPEN);
	/* A second may end between two of them, but not between all. */
	for (i = 0; i < 10000 && verdict == GATE_WHO; i++)
		verdict = gate_check(gate, NULL, "ann", "guess");
	assert_int_equal(verdict, GATE_BUSY);
	assert_int_equal(gate_check(gate, NULL, "ann", "secret"), GATE_OPEN);
	gate_free(gate);
}

static void test_certificates_are_asked_for(void **state)
{
	struct gate *gate = open_gate("tls_server_config:\n  cert: c\n  key: k\n  client_ca: a\n"
				      "  client_auth_type: RequireAndVerifyClientCert\n");

	assert_int_equal(gate_check(gate, NULL, NULL, NULL), GATE_SHUT);
	gate_free(gate);
	gate = open_gate("");
	assert_int_equal(gate_check(gate, NULL, NULL, NULL), GATE_OPEN);
	gate_free(gate);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_passwords),
		cmocka_unit_test(test_guesses_are_slowed),
		cmocka_unit_test(test_certificates_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
