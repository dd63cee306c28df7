/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings from a file: one mapping of names to plain values, strictly. What is not known, said
 * twice or of another kind is an error with its line. Nothing of a file with an error is taken.
 */
#include "settings.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"
#include "yaml.h"

struct kept {
	struct yaml yaml;
	char *texts[SETTING_N]; /* owned */
	int lines[SETTING_N];
};

static int find_name(const char *name)
{
	int id;

	for (id = 0; id < SETTING_N; id++)
		if (strcmp(setting_get((enum setting_id)id)->name, name) == 0)
			return id;
	return -1;
}

static int keep_pair(struct kept *kept, struct fy_node_pair *pair)
{
	auto_free char *key = yaml_scalar(fy_node_pair_key(pair));
	int line = yaml_line(fy_node_pair_key(pair));
	char *text;
	int id;

	if (!key)
		return yaml_complain(&kept->yaml, line, "a setting's name must be a plain word");
	id = find_name(key);
	if (id < 0)
		return yaml_complain(&kept->yaml, line,
				     "'%.60s' is no setting; 'wattribute agent --print-config' "
				     "lists them",
				     key);
	if (kept->texts[id])
		return yaml_complain(&kept->yaml, line, "%s is set twice, first in line %d", key,
				     kept->lines[id]);
	text = yaml_scalar(fy_node_pair_value(pair));
	if (!text)
		return yaml_complain(&kept->yaml, line,
				     "%s must be one plain value of at most %d bytes", key,
				     YAML_VALUE_MAX);
	kept->texts[id] = text;
	kept->lines[id] = line;
	return 0;
}

static int keep_root(void *data, struct fy_node *root)
{
	struct kept *kept = data;
	struct fy_node_pair *pair;
	void *cursor = NULL;
	int r = 0;

	/* An empty file sets nothing. */
	if (!root || (fy_node_get_type(root) == FYNT_SCALAR && fy_node_is_null(root)))
		return 0;
	if (fy_node_get_type(root) != FYNT_MAPPING)
		return yaml_complain(&kept->yaml, 1, "must be lines of 'name: value'");
	while (r == 0 && (pair = fy_node_mapping_iterate(root, &cursor)))
		r = keep_pair(kept, pair);
	return r;
}

/* All or nothing: tried on a copy first. */
static int take_kept(struct kept *kept, struct settings *settings)
{
	struct settings trial;
	char where[512];
	int pass, id, r = 0;

	settings_init(&trial);
	for (pass = 0; pass < 2 && r == 0; pass++)
		for (id = 0; id < SETTING_N && r == 0; id++) {
			if (!kept->texts[id])
				continue;
			snprintf(where, sizeof(where), "%.200s:%d", kept->yaml.name,
				 kept->lines[id]);
			r = settings_take(pass ? settings : &trial, (enum setting_id)id,
					  kept->texts[id], where);
		}
	if (r < 0)
		memcpy(settings->error, trial.error, sizeof(trial.error));
	settings_done(&trial);
	return r;
}

/* Ends what was begun with a file or a text, of which reading said r. */
static int finish(struct kept *kept, struct settings *settings, int r)
{
	int id;

	if (r == 0)
		r = take_kept(kept, settings);
	else
		snprintf(settings->error, sizeof(settings->error), "%s", kept->yaml.error);
	for (id = 0; id < SETTING_N; id++)
		free(kept->texts[id]);
	return r;
}

int settings_take_yaml(struct settings *settings, const char *text, size_t n, const char *name)
{
	struct kept kept = { .yaml.name = name };

	return finish(&kept, settings, yaml_read(&kept.yaml, text, n, keep_root, &kept));
}

int settings_take_file(struct settings *settings, const char *path)
{
	struct kept kept = { .yaml.name = path };

	return finish(&kept, settings, yaml_read_file(&kept.yaml, keep_root, &kept));
}
