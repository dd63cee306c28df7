/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of the file are a table; what they mean together is checked afterwards. */
#include "web_config.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <libfyaml.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

#define PEM_MAX (1 << 20)
#define USERS_MAX 1000
#define HASH_LENGTH 60
/* More takes seconds for each word that somebody tries. */
#define COST_MAX 14

struct field {
	const char *name;
	size_t offset; /* of a char * */
};

static const struct field tls_fields[] = {
	{ "cert_file", offsetof(struct web_config, cert_path) },
	{ "key_file", offsetof(struct web_config, key_path) },
	{ "client_ca_file", offsetof(struct web_config, client_ca_path) },
	{ "cert", offsetof(struct web_config, cert) },
	{ "key", offsetof(struct web_config, key) },
	{ "client_ca", offsetof(struct web_config, client_ca) },
	{ "client_auth_type", offsetof(struct web_config, client_auth_type) },
	{ "min_version", offsetof(struct web_config, min_version) },
	{ "max_version", offsetof(struct web_config, max_version) },
};

static char **field_of(struct web_config *config, const struct field *field)
{
	return (char **)((char *)config + field->offset);
}

static bool is_mapping(struct fy_node *node)
{
	return node && fy_node_get_type(node) == FYNT_MAPPING;
}

/* ---- parts of the file ---- */

static int keep_tls_field(struct web_config *config, const char *key, int line,
			  struct fy_node *value)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tls_fields); i++) {
		char **text = field_of(config, &tls_fields[i]);

		if (strcmp(key, tls_fields[i].name) != 0)
			continue;
		if (*text)
			return yaml_complain(&config->yaml, line, "%s is said twice", key);
		*text = yaml_scalar(value);
		if (*text && **text)
			return 0;
		return yaml_complain(&config->yaml, line, "%s must be a text of at most %d bytes",
				     key, YAML_VALUE_MAX);
	}
	return yaml_complain(&config->yaml, line,
			     "tls_server_config: '%.60s' can't be done by this agent", key);
}

/* HTTP/2 is offered by nobody here, which is what an exporter without it does, too. */
static int keep_http_field(struct web_config *config, const char *key, int line,
			   struct fy_node *value)
{
	(void)value;
	if (strcmp(key, "http2") == 0)
		return 0;
	return yaml_complain(&config->yaml, line,
			     "http_server_config: '%.60s' can't be done by this agent", key);
}

/* "$2y$10$" and 53 letters. */
static bool is_bcrypt(const char *hash)
{
	static const char letters[] = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789";
	int cost;

	if (strlen(hash) != HASH_LENGTH || strncmp(hash, "$2", 2) != 0 || !strchr("aby", hash[2]) ||
	    hash[3] != '$' || hash[6] != '$' || strspn(hash + 4, "0123456789") != 2)
		return false;
	cost = (hash[4] - '0') * 10 + hash[5] - '0';
	return cost >= 4 && cost <= COST_MAX && strspn(hash + 7, letters) == HASH_LENGTH - 7;
}

static int keep_user(struct web_config *config, const char *key, int line, struct fy_node *value)
{
	auto_free char *hash = yaml_scalar(value);
	struct web_user *user;
	size_t i;

	for (i = 0; i < config->n_users; i++)
		if (strcmp(config->users[i].name, key) == 0)
			return yaml_complain(&config->yaml, line, "user '%.60s' is said twice",
					     key);
	if (!*key || strchr(key, ':'))
		return yaml_complain(&config->yaml, line, "'%.60s' can't be a user's name", key);
	if (!hash || !is_bcrypt(hash))
		return yaml_complain(&config->yaml, line,
				     "user '%.60s': not a password's bcrypt hash of cost 4 to %d; "
				     "'htpasswd -nB' makes one",
				     key, COST_MAX);
	if (config->n_users == USERS_MAX)
		return yaml_complain(&config->yaml, line, "more than %d users", USERS_MAX);
	config->users = xrealloc(config->users, config->n_users + 1, sizeof(*config->users));
	user = &config->users[config->n_users++];
	user->name = xstrdup(key);
	user->hash = xstrdup(hash);
	user->line = line;
	return 0;
}

typedef int (*keep_field_fn)(struct web_config *config, const char *key, int line,
			     struct fy_node *value);

static const struct {
	const char *name;
	keep_field_fn keep;
} sections[] = {
	{ "tls_server_config", keep_tls_field },
	{ "http_server_config", keep_http_field },
	{ "basic_auth_users", keep_user },
};

static int keep_section(struct web_config *config, struct fy_node *section, const char *name,
			int line, keep_field_fn keep)
{
	struct fy_node_pair *pair;
	void *cursor = NULL;
	int r = 0;

	if (!is_mapping(section))
		return yaml_complain(&config->yaml, line, "%s must be lines of 'name: value'",
				     name);
	while (r == 0 && (pair = fy_node_mapping_iterate(section, &cursor))) {
		auto_free char *key = yaml_scalar(fy_node_pair_key(pair));

		line = yaml_line(fy_node_pair_key(pair));
		r = key ? keep(config, key, line, fy_node_pair_value(pair)) :
			  yaml_complain(&config->yaml, line, "a name must be a plain word");
	}
	return r;
}

static int keep_pair(struct web_config *config, struct fy_node_pair *pair)
{
	auto_free char *key = yaml_scalar(fy_node_pair_key(pair));
	int line = yaml_line(fy_node_pair_key(pair));
	size_t i;

	for (i = 0; key && i < ARRAY_SIZE(sections); i++)
		if (strcmp(key, sections[i].name) == 0)
			return keep_section(config, fy_node_pair_value(pair), key, line,
					    sections[i].keep);
	return yaml_complain(&config->yaml, line,
			     "'%.60s' is not tls_server_config, http_server_config or "
			     "basic_auth_users",
			     key ? key : "");
}

static int keep_root(void *data, struct fy_node *root)
{
	struct web_config *config = data;
	struct fy_node_pair *pair;
	void *cursor = NULL;
	int r = 0;

	if (!root || (fy_node_get_type(root) == FYNT_SCALAR && fy_node_is_null(root)))
		return 0;
	if (!is_mapping(root))
		return yaml_complain(&config->yaml, 1, "must be lines of 'name:', as a mapping");
	while (r == 0 && (pair = fy_node_mapping_iterate(root, &cursor)))
		r = keep_pair(config, pair);
	return r;
}

/* ---- what they mean together ---- */

static int check_client_auth(struct web_config *config)
{
	const char *type = config->client_auth_type ? config->client_auth_type : "";
	bool has_ca = config->client_ca || config->client_ca_path;

	if (strcmp(type, "VerifyClientCertIfGiven") == 0)
		config->client_auth = CLIENT_IF_GIVEN;
	else if (strcmp(type, "RequireAndVerifyClientCert") == 0)
		config->client_auth = CLIENT_REQUIRED;
	else if (*type && strcmp(type, "NoClientCert") != 0)
		return yaml_complain(&config->yaml, 1,
				     "client_auth_type: '%.60s' is not NoClientCert, "
				     "VerifyClientCertIfGiven or RequireAndVerifyClientCert",
				     type);
	if (config->client_auth != CLIENT_ANY && !has_ca)
		return yaml_complain(&config->yaml, 1, "%s takes a client_ca_file", type);
	if (config->client_auth == CLIENT_ANY && has_ca)
		return yaml_complain(&config->yaml, 1,
				     "client_ca_file is for nothing without a client_auth_type "
				     "that verifies");
	return 0;
}

static int check_pairs(struct web_config *config)
{
	size_t i;

	for (i = 0; i < 3; i++)
		if (*field_of(config, &tls_fields[i]) && *field_of(config, &tls_fields[i + 3]))
			return yaml_complain(&config->yaml, 1, "%s and %s are the same",
					     tls_fields[i].name, tls_fields[i + 3].name);
	if (!(config->cert || config->cert_path) != !(config->key || config->key_path))
		return yaml_complain(&config->yaml, 1, "cert_file and key_file go together");
	return 0;
}

static int version_of(const char *name, int absent)
{
	if (!name)
		return absent;
	return strcmp(name, "TLS12") == 0 ? 2 : strcmp(name, "TLS13") == 0 ? 3 : -1;
}

static int choose_versions(struct web_config *config)
{
	int min = version_of(config->min_version, 2), max = version_of(config->max_version, 3);

	if (min < 0 || max < 0 || min > max)
		return yaml_complain(
			&config->yaml, 1,
			"min_version and max_version are TLS12 or TLS13, in this order");
	snprintf(config->priorities, sizeof(config->priorities), "NORMAL:-VERS-ALL%s%s",
		 max == 3 ? ":+VERS-TLS1.3" : "", min == 2 ? ":+VERS-TLS1.2" : "");
	return 0;
}

static int check(struct web_config *config)
{
	bool has_tls = config->cert || config->cert_path;
	size_t i;
	int r;

	for (i = 0; i < ARRAY_SIZE(tls_fields); i++)
		if (!has_tls && *field_of(config, &tls_fields[i]))
			return yaml_complain(&config->yaml, 1,
					     "%s takes a cert_file and a key_file",
					     tls_fields[i].name);
	r = check_pairs(config);
	if (r == 0)
		r = check_client_auth(config);
	return r < 0 ? r : choose_versions(config);
}

int web_config_parse(struct web_config *config, const char *text, size_t n, const char *name)
{
	int r;

	memset(config, 0, sizeof(*config));
	config->yaml.name = name;
	r = yaml_read(&config->yaml, text, n, keep_root, config);
	return r < 0 ? r : check(config);
}

/* ---- the files that it names ---- */

static int read_pem(struct web_config *config, const char *path, char **ret)
{
	const char *slash = strrchr(config->yaml.name, '/');
	auto_free char *whole = NULL;
	size_t n = 0;
	FILE *file;
	int error;

	if (!path)
		return 0;
	whole = *path == '/' || !slash ? xstrdup(path) :
					 xasprintf("%.*s/%s", (int)(slash - config->yaml.name),
						   config->yaml.name, path);
	file = fopen(whole, "re");
	error = errno;
	if (file) {
		*ret = xcalloc(PEM_MAX + 1, 1);
		errno = 0;
		n = fread(*ret, 1, PEM_MAX, file);
		error = ferror(file) ? (errno ? errno : EIO) : n == PEM_MAX ? EFBIG : 0;
		fclose(file);
	}
	if (!error)
		return 0;
	snprintf(config->yaml.error, sizeof(config->yaml.error), "%.300s: cannot read it: %s",
		 whole, strerror(error));
	return -error;
}

/* Whether certificate and key belong together, and certificates can be read at all. */
static int check_pem(struct web_config *config)
{
	gnutls_certificate_credentials_t credentials;
	gnutls_datum_t cert = { (unsigned char *)config->cert, 0 };
	gnutls_datum_t key = { (unsigned char *)config->key, 0 };
	gnutls_datum_t ca = { (unsigned char *)config->client_ca, 0 };
	int r;

	if (!config->cert)
		return 0;
	if (gnutls_certificate_allocate_credentials(&credentials) < 0)
		return -ENOMEM;
	cert.size = (unsigned int)strlen(config->cert);
	key.size = (unsigned int)strlen(config->key);
	r = gnutls_certificate_set_x509_key_mem(credentials, &cert, &key, GNUTLS_X509_FMT_PEM);
	if (r < 0)
		yaml_complain(&config->yaml, 1, "certificate and key can't be used: %s",
			      gnutls_strerror(r));
	if (r >= 0 && config->client_ca) {
		ca.size = (unsigned int)strlen(config->client_ca);
		r = gnutls_certificate_set_x509_trust_mem(credentials, &ca, GNUTLS_X509_FMT_PEM);
		if (r <= 0)
			yaml_complain(&config->yaml, 1, "client_ca_file has no certificate%s%s",
				      r ? ": " : "", r ? gnutls_strerror(r) : "");
		r = r <= 0 ? -1 : 0;
	}
	gnutls_certificate_free_credentials(credentials);
	return r < 0 ? -EINVAL : 0;
}

int web_config_read(struct web_config *config, const char *path)
{
	int r;

	memset(config, 0, sizeof(*config));
	config->yaml.name = path;
	r = yaml_read_file(&config->yaml, keep_root, config);
	if (r == 0)
		r = check(config);
	if (r == 0)
		r = read_pem(config, config->cert_path, &config->cert);
	if (r == 0)
		r = read_pem(config, config->key_path, &config->key);
	if (r == 0)
		r = read_pem(config, config->client_ca_path, &config->client_ca);
	return r < 0 ? r : check_pem(config);
}

void web_config_done(struct web_config *config)
{
	size_t i;

	if (config->key)
		explicit_bzero(config->key, strlen(config->key));
	for (i = 0; i < ARRAY_SIZE(tls_fields); i++)
		free(*field_of(config, &tls_fields[i]));
	for (i = 0; i < config->n_users; i++) {
		free(config->users[i].name);
		free(config->users[i].hash);
	}
	free(config->users);
	memset(config, 0, sizeof(*config));
}
