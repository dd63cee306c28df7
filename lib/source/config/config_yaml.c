/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the configuration file says, by libfyaml, strictly: whatever is not known, of the wrong
 * kind, out of range or said twice is an error that tells file, line and what is allowed. The
 * format is described in docs/man/wattribute.yaml.5. Nothing half-read ever leaves here.
 */
#include "source/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <wattribute/channel.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "source/config/config_reader.h"

#define UW_PLACES 6  /* of a number in W */
#define PPM_PLACES 4 /* of a number in percent */
#define POWER_MAX_UW 4000000000u
#define UNCERTAINTY_MAX_PPM 1000000u

/* ---- hwmon ---- */

struct index_list {
	uint32_t **index;
	size_t *n;
};

static int take_list_index(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct index_list *list = obj;
	int r;

	r = watt_config_grow(rd, (void **)list->index, *list->n, sizeof(**list->index));
	if (r < 0)
		return r;
	r = watt_config_take_index(rd, node, &(*list->index)[*list->n]);
	if (r < 0)
		return r;
	(*list->n)++;
	return 0;
}

static int take_chip_name(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_text(rd, node, "name", &((struct watt_config_chip *)obj)->name);
}

/* [voltage, current] */
static int take_pair(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_chip *chip = obj;
	struct watt_config_pair pair;
	int r;

	if (fy_node_get_type(node) != FYNT_SEQUENCE || fy_node_sequence_item_count(node) != 2)
		return watt_config_complain(rd, node, "a pair must be [N of inN, M of currM]");
	r = watt_config_take_index(rd, fy_node_sequence_get_by_index(node, 0), &pair.voltage);
	if (r < 0)
		return r;
	r = watt_config_take_index(rd, fy_node_sequence_get_by_index(node, 1), &pair.current);
	if (r < 0)
		return r;
	r = watt_config_grow(rd, (void **)&chip->pairs, chip->n_pairs, sizeof(*chip->pairs));
	if (r < 0)
		return r;
	chip->pairs[chip->n_pairs++] = pair;
	return 0;
}

static int take_pairs(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "pairs", take_pair, obj);
}

static int take_skip_voltages(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_chip *chip = obj;
	struct index_list list = { &chip->skip_voltages, &chip->n_skip_voltages };

	return watt_config_read_sequence(rd, node, "skip_voltages", take_list_index, &list);
}

static int take_skip_currents(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_chip *chip = obj;
	struct index_list list = { &chip->skip_currents, &chip->n_skip_currents };

	return watt_config_read_sequence(rd, node, "skip_currents", take_list_index, &list);
}

static int take_bool(struct watt_config_reader *rd, struct fy_node *node, const char *key,
		     bool *ret)
{
	_cleanup_free_ char *text = watt_config_dup_scalar(node);

	if (!text || (strcmp(text, "true") && strcmp(text, "false")))
		return watt_config_complain(rd, node, "%s must be true or false", key);
	*ret = !strcmp(text, "true");
	return 0;
}

static int take_same_index(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return take_bool(rd, node, "same_index", &((struct watt_config_chip *)obj)->is_same_index);
}

static int take_chip(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "name", take_chip_name, true },
		{ "pairs", take_pairs, false },
		{ "same_index", take_same_index, false },
		{ "skip_voltages", take_skip_voltages, false },
		{ "skip_currents", take_skip_currents, false },
		{ 0 },
	};
	struct watt_config *config = obj;
	size_t i;
	int r;

	r = watt_config_grow(rd, (void **)&config->chips, config->n_chips, sizeof(*config->chips));
	if (r < 0)
		return r;
	config->chips[config->n_chips] = (struct watt_config_chip){ 0 };
	r = watt_config_read_mapping(rd, node, "a chip", fields, &config->chips[config->n_chips++]);
	if (r < 0)
		return r;
	for (i = 0; i + 1 < config->n_chips; i++)
		if (!strcmp(config->chips[i].name, config->chips[config->n_chips - 1].name))
			return watt_config_complain(rd, NULL, "chip '%s' is there twice",
						    config->chips[i].name);
	return 0;
}

static int take_chips(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "chips", take_chip, obj);
}

static int take_hwmon(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "chips", take_chips, false },
		{ 0 },
	};

	return watt_config_read_mapping(rd, node, "hwmon", fields, obj);
}
/* ---- rails ---- */

static int take_rail_label(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_text(rd, node, "label", &((struct watt_config_rail *)obj)->label);
}

/* Names of [a-z0-9:_-] and of what is beyond ASCII, joined by '/'. */
static bool is_domain_path(const char *path)
{
	bool is_empty = true;

	if (!watt_utf8_is_printable(path, strlen(path)))
		return false;
	for (; *path; path++) {
		if (*path == '/' && is_empty)
			return false;
		is_empty = *path == '/';
		if (!strchr("/:_-", *path) && !(*path >= 'a' && *path <= 'z') &&
		    !(*path >= '0' && *path <= '9') && (unsigned char)*path < 0x80)
			return false;
	}
	return !is_empty;
}

static int take_rail_domain(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_rail *rail = obj;
	int r;

	r = watt_config_take_text(rd, node, "domain", &rail->domain);
	if (r < 0)
		return r;
	if (!is_domain_path(rail->domain))
		return watt_config_complain(rd, node,
					    "domain must be names of a-z, 0-9, ':', '_' and '-', "
					    "joined by '/', as 'vdd_in/vdd_soc'");
	return 0;
}

/* Every kind but the residual, which is never measured. */
static int take_rail_kind(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	_cleanup_free_ char *text = watt_config_dup_scalar(node);
	struct watt_config_rail *rail = obj;
	int32_t kind;

	for (kind = WATT_DOMAIN_TOTAL; text && kind < WATT_DOMAIN_RESIDUAL; kind++)
		if (!strcmp(text, watt_domain_kind_name((enum watt_domain_kind)kind))) {
			rail->kind = kind;
			return 0;
		}
	return watt_config_complain(rd, node,
				    "kind must be one of total, package, cores, uncore, dram, "
				    "core, gpu, rail, supply, cpu_rail");
}

static int take_rail(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "label", take_rail_label, true },
		{ "domain", take_rail_domain, true },
		{ "kind", take_rail_kind, false },
		{ 0 },
	};
	struct watt_config *config = obj;
	size_t i;
	int r;

	r = watt_config_grow(rd, (void **)&config->rails, config->n_rails, sizeof(*config->rails));
	if (r < 0)
		return r;
	config->rails[config->n_rails] = (struct watt_config_rail){ .kind = -1 };
	r = watt_config_read_mapping(rd, node, "a rail", fields, &config->rails[config->n_rails++]);
	if (r < 0)
		return r;
	for (i = 0; i + 1 < config->n_rails; i++)
		if (!strcasecmp(config->rails[i].label, config->rails[config->n_rails - 1].label))
			return watt_config_complain(rd, NULL, "rail '%s' is there twice",
						    config->rails[i].label);
	return 0;
}

static int take_rails(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "rails", take_rail, obj);
}

/* ---- boards ---- */

static int take_board_name(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_text(rd, node, "name", &((struct watt_config_board *)obj)->name);
}

static int take_compatible(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_board *board = obj;
	int r;

	r = watt_config_grow(rd, (void **)&board->compatible, board->n_compatible,
			     sizeof(*board->compatible));
	if (r < 0)
		return r;
	board->compatible[board->n_compatible++] = NULL;
	return watt_config_take_text(rd, node, "compatible",
				     &board->compatible[board->n_compatible - 1]);
}

static int take_compatibles(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "compatible", take_compatible, obj);
}

/* As the kernel writes it in names of devices: four digits of "1-0040". */
static int take_rail_address(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_rail *rail = obj;
	int r;

	r = watt_config_take_text(rd, node, "address", &rail->address);
	if (r < 0)
		return r;
	if (strlen(rail->address) != 4 || strspn(rail->address, "0123456789abcdef") != 4)
		return watt_config_complain(rd, node,
					    "address must be that of a device on an i2c bus, four "
					    "digits in quotes, as \"0040\"");
	return 0;
}

static int take_rail_chip(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_text(rd, node, "chip", &((struct watt_config_rail *)obj)->chip);
}

static int take_rail_alone(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return take_bool(rd, node, "alone", &((struct watt_config_rail *)obj)->is_alone);
}

static bool is_same_rail(const struct watt_config_rail *a, const struct watt_config_rail *b)
{
	if (strcasecmp(a->label, b->label))
		return false;
	return !a->address || !b->address || !strcmp(a->address, b->address);
}

static int take_board_rail(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "label", take_rail_label, true },
		{ "address", take_rail_address, false },
		{ "domain", take_rail_domain, true },
		{ "kind", take_rail_kind, false },
		{ "alone", take_rail_alone, false },
		{ "chip", take_rail_chip, false },
		{ 0 },
	};
	struct watt_config_board *board = obj;
	struct watt_config_rail *rail;
	size_t i;
	int r;

	r = watt_config_grow(rd, (void **)&board->rails, board->n_rails, sizeof(*board->rails));
	if (r < 0)
		return r;
	rail = &board->rails[board->n_rails++];
	*rail = (struct watt_config_rail){ .kind = -1 };
	r = watt_config_read_mapping(rd, node, "a rail", fields, rail);
	if (r < 0)
		return r;
	for (i = 0; i + 1 < board->n_rails; i++)
		if (is_same_rail(&board->rails[i], rail))
			return watt_config_complain(rd, NULL,
						    "rail '%s' is there twice; an address each "
						    "tells them apart",
						    rail->label);
	return 0;
}

static int take_board_rails(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "rails", take_board_rail, obj);
}

/* Files are written as a person sees them; what is kept is below the folder of sysfs. */
static int take_sysfs_file(struct watt_config_reader *rd, struct fy_node *node, const char *what,
			   char **ret)
{
	static const char sysfs[] = "/sys/";
	int r = watt_config_take_text(rd, node, what, ret);

	if (r < 0)
		return r;
	if (strncmp(*ret, sysfs, strlen(sysfs)) || strstr(*ret, "/../") || strstr(*ret, "//"))
		return watt_config_complain(rd, node, "%s must be a file below /sys", what);
	memmove(*ret, *ret + strlen(sysfs), strlen(*ret + strlen(sysfs)) + 1);
	return 0;
}

/* Room for another text and the NULL behind it. */
static int grow_texts(struct watt_config_reader *rd, char ***texts, size_t n)
{
	int r = watt_config_grow(rd, (void **)texts, n, sizeof(**texts));

	if (r == 0 && n == 0)
		(*texts)[0] = NULL;
	if (r == 0)
		r = watt_config_grow(rd, (void **)texts, n + 1, sizeof(**texts));
	if (r == 0)
		(*texts)[n + 1] = NULL;
	return r;
}

static int take_gpu_load(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_board *board = obj;
	int r = grow_texts(rd, &board->gpu_loads, board->n_gpu_loads);

	return r < 0 ? r :
		       take_sysfs_file(rd, node, "gpu_load",
				       &board->gpu_loads[board->n_gpu_loads++]);
}

static int take_gpu_loads(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "gpu_load", take_gpu_load, obj);
}

static int take_zone(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_board *board = obj;
	int r = grow_texts(rd, &board->zones, board->n_zones);

	return r < 0 ? r :
		       watt_config_take_text(rd, node, "thermal", &board->zones[board->n_zones++]);
}

static int take_zones(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "thermal", take_zone, obj);
}

static int take_emc_activity(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_board *board = obj;

	return take_sysfs_file(rd, node, "activity", &board->emc[WATT_CONFIG_EMC_ACTIVITY]);
}

static int take_emc_period(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_board *board = obj;

	return take_sysfs_file(rd, node, "period", &board->emc[WATT_CONFIG_EMC_PERIOD]);
}

static int take_emc_rate(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	struct watt_config_board *board = obj;

	return take_sysfs_file(rd, node, "rate", &board->emc[WATT_CONFIG_EMC_RATE]);
}

static int take_emc(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "activity", take_emc_activity, true },
		{ "period", take_emc_period, true },
		{ "rate", take_emc_rate, true },
		{ 0 },
	};

	return watt_config_read_mapping(rd, node, "emc", fields, obj);
}

static int take_board(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "name", take_board_name, true },
		{ "compatible", take_compatibles, true },
		{ "gpu_load", take_gpu_loads, false },
		{ "emc", take_emc, false },
		{ "thermal", take_zones, false },
		{ "rails", take_board_rails, true },
		{ 0 },
	};
	struct watt_config *config = obj;
	struct watt_config_board *board;
	int r;

	r = watt_config_grow(rd, (void **)&config->boards, config->n_boards,
			     sizeof(*config->boards));
	if (r < 0)
		return r;
	board = &config->boards[config->n_boards++];
	*board = (struct watt_config_board){ 0 };
	r = watt_config_read_mapping(rd, node, "a board", fields, board);
	if (r < 0)
		return r;
	if (!board->n_compatible || !board->n_rails)
		return watt_config_complain(rd, NULL,
					    "board '%s' must have a compatible string and a rail",
					    board->name);
	return 0;
}

static int take_boards(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "boards", take_board, obj);
}

/* ---- estimate ---- */

static int take_model_name(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_text(rd, node, "name", &((struct watt_config_model *)obj)->name);
}

static int take_model_match(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_text(rd, node, "match", &((struct watt_config_model *)obj)->match);
}

static int take_model_idle(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_decimal(rd, node, "idle_w", UW_PLACES, POWER_MAX_UW,
					&((struct watt_config_model *)obj)->idle_uw);
}

static int take_model_full(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_decimal(rd, node, "full_w", UW_PLACES, POWER_MAX_UW,
					&((struct watt_config_model *)obj)->full_uw);
}

static int take_model_uncertainty(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_take_decimal(rd, node, "uncertainty_percent", PPM_PLACES,
					UNCERTAINTY_MAX_PPM,
					&((struct watt_config_model *)obj)->uncertainty_ppm);
}

static int take_model(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "name", take_model_name, true },
		{ "match", take_model_match, false },
		{ "idle_w", take_model_idle, true },
		{ "full_w", take_model_full, true },
		{ "uncertainty_percent", take_model_uncertainty, false },
		{ 0 },
	};
	struct watt_config *config = obj;
	struct watt_config_model *model;
	int r;

	r = watt_config_grow(rd, (void **)&config->models, config->n_models,
			     sizeof(*config->models));
	if (r < 0)
		return r;
	model = &config->models[config->n_models];
	*model = (struct watt_config_model){ 0 };
	config->n_models++;
	r = watt_config_read_mapping(rd, node, "a model", fields, model);
	if (r < 0)
		return r;
	if (model->full_uw == 0 || model->full_uw < model->idle_uw)
		return watt_config_complain(rd, NULL,
					    "model '%s': full_w must be more than 0 and at least "
					    "idle_w",
					    model->name);
	return 0;
}

static int take_models(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_sequence(rd, node, "models", take_model, obj);
}

static int take_estimate(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	static const struct watt_config_field fields[] = {
		{ "models", take_models, false },
		{ 0 },
	};

	return watt_config_read_mapping(rd, node, "estimate", fields, obj);
}

/* ---- the file ---- */

/* ---- options ---- */

static int take_option(struct watt_config_reader *rd, char *key, struct fy_node *node, void *obj)
{
	struct watt_config *config = obj;
	struct watt_config_option *option;
	int r;

	r = watt_config_grow(rd, (void **)&config->options, config->n_options,
			     sizeof(*config->options));
	if (r < 0) {
		free(key);
		return r;
	}
	option = &config->options[config->n_options++];
	*option = (struct watt_config_option){ .name = key, .line = rd->line };
	return watt_config_take_text(rd, node, "an option", &option->value);
}

static int take_options(struct watt_config_reader *rd, struct fy_node *node, void *obj)
{
	return watt_config_read_pairs(rd, node, "options", take_option, obj);
}

static int read_root(struct watt_config_reader *rd, struct fy_node *root,
		     struct watt_config *config)
{
	static const struct watt_config_field fields[] = {
		{ "options", take_options, false },   { "hwmon", take_hwmon, false },
		{ "rails", take_rails, false },       { "boards", take_boards, false },
		{ "estimate", take_estimate, false }, { 0 },
	};

	return watt_config_read_mapping(rd, root, "the file", fields, config);
}

static void cleanup_diag(struct fy_diag **diag)
{
	fy_diag_destroy(*diag);
}

static void cleanup_parser(struct fy_parser **parser)
{
	fy_parser_destroy(*parser);
}

static void cleanup_document(struct fy_document **doc)
{
	fy_document_destroy(*doc);
}

static void cleanup_config(struct watt_config **config)
{
	watt_config_free(*config);
}

/* What libfyaml found wrong, of which the first is worth telling. Returns -EINVAL. */
static int complain_syntax(struct watt_config_reader *rd, struct fy_diag *diag)
{
	void *cursor = NULL;
	struct fy_diag_error *error = fy_diag_errors_iterate(diag, &cursor);

	if (!error)
		return watt_config_complain(rd, NULL, "not valid YAML");
	rd->line = error->line;
	return watt_config_complain(rd, NULL, "not valid YAML: %s", error->msg);
}

/* The one document of the text; a file of nothing but comments has none and is empty. */
static int read_documents(struct watt_config_reader *rd, struct fy_parser *parser,
			  struct fy_diag *diag, struct watt_config *config)
{
	_cleanup_(cleanup_document) struct fy_document *doc = fy_parse_load_document(parser);
	_cleanup_(cleanup_document) struct fy_document *second = NULL;
	struct fy_node *root = doc ? fy_document_root(doc) : NULL;
	int r = 0;

	if (root && !fy_node_is_null(root))
		r = read_root(rd, root, config);
	if (r < 0)
		return r;
	if (doc)
		second = fy_parse_load_document(parser);
	if (fy_parser_get_stream_error(parser))
		return complain_syntax(rd, diag);
	if (second)
		return watt_config_complain(rd, NULL,
					    "more than one document ('---'); one is allowed");
	return 0;
}

/* Without an output it collects what it has to say, and prints nothing. */
static struct fy_diag *quiet_diag(void)
{
	struct fy_diag_cfg cfg;
	struct fy_diag *diag;

	fy_diag_cfg_default(&cfg);
	cfg.fp = NULL;
	cfg.level = FYET_ERROR;
	diag = fy_diag_create(&cfg);
	if (diag)
		fy_diag_set_collect_errors(diag, true);
	return diag;
}

/* Takes the text; without a configuration only looks how much there is of everything. */
static int read_with(struct watt_config_reader *rd, const char *text, size_t len,
		     struct watt_config *config)
{
	struct fy_parse_cfg cfg = { .flags = FYPCF_QUIET };
	_cleanup_(cleanup_diag) struct fy_diag *diag = quiet_diag();
	_cleanup_(cleanup_parser) struct fy_parser *parser = NULL;

	if (!diag)
		return -ENOMEM;
	cfg.diag = diag;
	parser = fy_parser_create(&cfg);
	if (!parser || fy_parser_set_string(parser, text, len) < 0)
		return -ENOMEM;
	return config ? read_documents(rd, parser, diag, config) :
			watt_config_check_entries(rd, parser);
}

static int read_text(struct watt_config_reader *rd, const char *text, size_t len,
		     struct watt_config *config)
{
	int r = read_with(rd, text, len, NULL);

	return r < 0 ? r : read_with(rd, text, len, config);
}

int watt_config_parse(const char *text, size_t len, const char *name, const struct watt_log *log,
		      struct watt_config **ret)
{
	_cleanup_(cleanup_config) struct watt_config *config = calloc(1, sizeof(*config));
	struct watt_config_reader rd = { .name = name, .log = log, .line = 1 };
	int r;

	if (!config)
		return -ENOMEM;
	r = watt_config_check_text(&rd, text, len);
	/* libfyaml takes the length 0 for "up to the NUL". */
	if (r == 0 && len)
		r = read_text(&rd, text, len, config);
	if (r < 0)
		return r;
	*ret = config;
	config = NULL;
	return 0;
}
