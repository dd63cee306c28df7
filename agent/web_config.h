/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The web configuration: who may ask, and how what is said is kept from others. The file is that of
 * Prometheus' exporters (exporter-toolkit, docs/web-configuration.md), so that one file does for all
 * exporters of a machine. What is in such files and can't be done here is an error, never ignored.
 */
#ifndef WATT_AGENT_WEB_CONFIG_H
#define WATT_AGENT_WEB_CONFIG_H

#include <stddef.h>

#include "yaml.h"

enum client_auth {
	CLIENT_ANY,      /* NoClientCert */
	CLIENT_IF_GIVEN, /* VerifyClientCertIfGiven */
	CLIENT_REQUIRED, /* RequireAndVerifyClientCert */
};

struct web_user {
	char *name;
	char *hash; /* bcrypt */
	int line;
};

struct web_config {
	char *cert, *key, *client_ca;                /* PEM; owned; NULL: none */
	char *cert_path, *key_path, *client_ca_path; /* of files that they are in; owned */
	enum client_auth client_auth;
	char *client_auth_type;          /* as the file has it; owned */
	char *min_version, *max_version; /* "TLS12"; owned; NULL: as usual */
	struct web_user *users;          /* owned */
	size_t n_users;
	char priorities[128]; /* the versions of TLS, as GnuTLS takes them */
	struct yaml yaml;     /* its error says what was wrong */
};

/* What a text says, without a look at the files that it names. 0 or -EINVAL. */
int web_config_parse(struct web_config *config, const char *text, size_t n, const char *name);
/* The file and those that it names, relative to its folder. 0 or a negative errno. */
int web_config_read(struct web_config *config, const char *path);
/* Forgets everything; keys are overwritten. */
void web_config_done(struct web_config *config);

#endif
