/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of "drm-KEY: VALUE". It must not know what the drivers mean beyond what they say. */
#include "source/activity/drm/fdinfo.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"

static struct watt_fdinfo_engine *find_engine(struct watt_fdinfo *info, const char *name,
					      size_t len)
{
	struct watt_fdinfo_engine *engine;
	uint32_t i;

	for (i = 0; i < info->n_engines; i++)
		if (strlen(info->engines[i].name) == len &&
		    !memcmp(info->engines[i].name, name, len))
			return &info->engines[i];
	if (info->n_engines == WATT_FDINFO_ENGINES || !len || len >= WATT_FDINFO_NAME)
		return NULL;
	engine = &info->engines[info->n_engines++];
	memcpy(engine->name, name, len);
	return engine;
}

/* "123" or "123 ns", and nothing else. */
static int parse_number(const char *value, const char *unit, uint64_t *ret)
{
	int r = watt_scan_u64(&value, ret);

	if (r < 0)
		return -EBADMSG;
	value += strspn(value, " \t");
	if (*value && (!unit || strcmp(value, unit) != 0))
		return -EBADMSG;
	return 0;
}

static int set_capacity(struct watt_fdinfo_engine *engine, const char *value)
{
	uint64_t capacity;

	if (parse_number(value, NULL, &capacity) < 0 || capacity == 0 || capacity > 1024)
		return -EBADMSG;
	engine->capacity = (uint32_t)capacity;
	return 0;
}

enum what {
	CAPACITY,
	BUSY,
	TOTAL_CYCLES,
	CYCLES,
};

/* The longer of two that begin alike comes first. */
static const struct prefix {
	const char *text;
	enum what what;
} prefixes[] = {
	{ "drm-engine-capacity-", CAPACITY },
	{ "drm-engine-", BUSY },
	{ "drm-total-cycles-", TOTAL_CYCLES },
	{ "drm-cycles-", CYCLES },
};

static int take_engine(struct watt_fdinfo_engine *engine, enum what what, const char *value)
{
	switch (what) {
	case CAPACITY:
		return set_capacity(engine, value);
	case BUSY:
		engine->has_busy_ns = true;
		return parse_number(value, "ns", &engine->busy_ns);
	case TOTAL_CYCLES:
		return parse_number(value, NULL, &engine->total_cycles);
	case CYCLES:
		break;
	}
	return parse_number(value, NULL, &engine->cycles);
}

/* 1: it is no line of an engine. */
static int parse_engine(struct watt_fdinfo *info, const char *key, size_t len, const char *value)
{
	struct watt_fdinfo_engine *engine;
	size_t i, used;

	for (i = 0; i < WATT_ARRAY_SIZE(prefixes); i++) {
		used = strlen(prefixes[i].text);
		if (len <= used || memcmp(key, prefixes[i].text, used) != 0)
			continue;
		engine = find_engine(info, key + used, len - used);
		return engine ? take_engine(engine, prefixes[i].what, value) : 0;
	}
	return 1;
}

/* ---- memory ---- */

/* What is there goes before what was asked for; "memory" is the older name of the first. */
static const struct memory_key {
	const char *text;
	uint8_t rank;
} memory_keys[] = {
	{ "drm-total-", 1 },
	{ "drm-memory-", 2 },
	{ "drm-resident-", 3 },
};

/* "123", "123 KiB", "123 MiB". */
static int parse_bytes(const char *value, uint64_t *ret)
{
	static const char *const units[] = { "", "KiB", "MiB" };
	unsigned int i;
	uint64_t number;

	if (watt_scan_u64(&value, &number) < 0)
		return -EBADMSG;
	value += strspn(value, " \t");
	for (i = 0; i < WATT_ARRAY_SIZE(units); i++)
		if (!strcmp(value, units[i]) && number <= UINT64_MAX >> (10 * i)) {
			*ret = number << (10 * i);
			return 0;
		}
	return -EBADMSG;
}

static struct watt_fdinfo_region *find_region(struct watt_fdinfo *info, const char *name,
					      size_t len)
{
	struct watt_fdinfo_region *region;
	uint32_t i;

	for (i = 0; i < info->n_regions; i++)
		if (strlen(info->regions[i].name) == len &&
		    !memcmp(info->regions[i].name, name, len))
			return &info->regions[i];
	if (info->n_regions == WATT_FDINFO_REGIONS || !len || len >= WATT_FDINFO_NAME)
		return NULL;
	region = &info->regions[info->n_regions++];
	memcpy(region->name, name, len);
	return region;
}

static void parse_memory(struct watt_fdinfo *info, const char *key, size_t len, const char *value)
{
	struct watt_fdinfo_region *region;
	uint64_t bytes;
	size_t i, used;

	for (i = 0; i < WATT_ARRAY_SIZE(memory_keys); i++) {
		used = strlen(memory_keys[i].text);
		if (len <= used || memcmp(key, memory_keys[i].text, used) != 0 ||
		    parse_bytes(value, &bytes) < 0)
			continue;
		region = find_region(info, key + used, len - used);
		if (region && memory_keys[i].rank > region->rank) {
			region->bytes = bytes;
			region->rank = memory_keys[i].rank;
		}
	}
}

static bool is_of_card(const char *region)
{
	return !strncmp(region, "vram", 4) || !strncmp(region, "local", 5);
}

int watt_fdinfo_memory(const struct watt_fdinfo *info, uint64_t *ret_bytes)
{
	uint64_t of_card = 0, all = 0;
	bool has_card = false;
	uint32_t i;

	for (i = 0; i < info->n_regions; i++) {
		const struct watt_fdinfo_region *region = &info->regions[i];

		all += WATT_MIN(region->bytes, UINT64_MAX - all);
		if (!is_of_card(region->name))
			continue;
		has_card = true;
		of_card += WATT_MIN(region->bytes, UINT64_MAX - of_card);
	}
	if (!info->n_regions)
		return -ENODATA;
	*ret_bytes = has_card ? of_card : all;
	return 0;
}

/* ---- lines ---- */

static bool is_key(const char *key, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(key, name, len);
}

static int parse_pair(struct watt_fdinfo *info, const char *key, size_t len, const char *value)
{
	int r;

	if (is_key(key, len, "drm-driver")) {
		if (!*value || strlen(value) >= sizeof(info->driver))
			return -EBADMSG;
		watt_strlcpy(info->driver, value, sizeof(info->driver));
		return 0;
	}
	if (is_key(key, len, "drm-pdev"))
		return watt_pci_parse(value, info->pdev);
	if (is_key(key, len, "drm-client-id")) {
		info->has_client_id = true;
		return parse_number(value, NULL, &info->client_id);
	}
	r = parse_engine(info, key, len, value);
	if (r > 0)
		parse_memory(info, key, len, value);
	return WATT_MIN(r, 0);
}

/* Cuts a line into key and value; lines of other forms are nobody's. */
static int parse_line(struct watt_fdinfo *info, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	char value[64];
	size_t n;

	if (!colon || strncmp(line, "drm-", 4) != 0)
		return 0;
	len -= (size_t)(colon + 1 - line);
	n = (size_t)(colon - line);
	for (colon++; len > 0 && isblank((unsigned char)*colon); colon++)
		len--;
	while (len > 0 && isspace((unsigned char)colon[len - 1]))
		len--;
	if (len >= sizeof(value))
		return 0; /* no value that is wanted is so long */
	memcpy(value, colon, len);
	value[len] = '\0';
	return parse_pair(info, line, n, value);
}

int watt_fdinfo_parse(const char *text, struct watt_fdinfo *ret)
{
	struct watt_fdinfo info = { 0 };
	size_t len;
	int r = 0;

	for (; *text && r == 0; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		r = parse_line(&info, text, len);
	}
	if (r < 0)
		return r;
	if (!info.driver[0] || !info.has_client_id)
		return -ENODATA;
	*ret = info;
	return 0;
}
