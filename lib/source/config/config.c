/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: reads it from disk and frees what became of it. What is in it is
 * config_yaml.c's business, or config_none.c's in a build that knows no YAML.
 */
#include "source/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define SIZE_MAX_BYTES (1u << 20)

static int open_regular(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	int opened;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	opened = fd;
	fd = -1;
	return opened;
}

/* Reads at most SIZE_MAX_BYTES; one byte more is -EFBIG. */
static int read_all(const char *path, char **ret, size_t *ret_len)
{
	_cleanup_close_ int fd = open_regular(path);
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	text = malloc(SIZE_MAX_BYTES + 1);
	if (!text)
		return -ENOMEM;
	do {
		n = read(fd, text + len, SIZE_MAX_BYTES + 1 - len);
		if (n < 0 && errno != EINTR)
			return -errno;
		len += n > 0 ? (size_t)n : 0;
	} while (n != 0 && len <= SIZE_MAX_BYTES);
	if (len > SIZE_MAX_BYTES)
		return -EFBIG;
	*ret = text;
	text = NULL;
	*ret_len = len;
	return 0;
}

int watt_config_open(const char *path, const struct watt_log *log, struct watt_config **ret)
{
	_cleanup_free_ char *text = NULL;
	struct watt_config *config;
	size_t len = 0;
	int r;

	if (!path) {
		config = calloc(1, sizeof(*config));
		if (!config)
			return -ENOMEM;
		*ret = config;
		return 0;
	}
	r = read_all(path, &text, &len);
	if (r < 0) {
		watt_log(log, WATT_LOG_ERROR, "%s: %s", path,
			 r == -EFBIG ? "larger than 1 MiB; a configuration file is smaller" :
				       strerror(-r));
		return r == -ENOENT || r == -EACCES || r == -ENOMEM ? r : -EINVAL;
	}
	return watt_config_parse(text, len, path, log, ret);
}

static void free_rails(struct watt_config_rail *rails, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		free(rails[i].label);
		free(rails[i].domain);
		free(rails[i].address);
		free(rails[i].chip);
	}
	free(rails);
}

/* Ended by NULL. */
static void free_texts(char **texts)
{
	char **p;

	for (p = texts; p && *p; p++)
		free(*p);
	free(texts);
}

static void free_board(struct watt_config_board *board)
{
	size_t i;

	for (i = 0; i < WATT_CONFIG_EMC_N; i++)
		free(board->emc[i]);
	free_texts(board->gpu_loads);
	free_texts(board->zones);
	for (i = 0; i < board->n_compatible; i++)
		free(board->compatible[i]);
	free(board->compatible);
	free(board->name);
	free_rails(board->rails, board->n_rails);
}

struct watt_config *watt_config_free(struct watt_config *config)
{
	size_t i;

	if (!config)
		return NULL;
	for (i = 0; i < config->n_options; i++) {
		free(config->options[i].name);
		free(config->options[i].value);
	}
	for (i = 0; i < config->n_chips; i++) {
		free(config->chips[i].name);
		free(config->chips[i].pairs);
		free(config->chips[i].skip_voltages);
		free(config->chips[i].skip_currents);
	}
	free_rails(config->rails, config->n_rails);
	for (i = 0; i < config->n_boards; i++)
		free_board(&config->boards[i]);
	for (i = 0; i < config->n_models; i++) {
		free(config->models[i].name);
		free(config->models[i].match);
	}
	free(config->options);
	free(config->chips);
	free(config->boards);
	free(config->models);
	free(config);
	return NULL;
}
