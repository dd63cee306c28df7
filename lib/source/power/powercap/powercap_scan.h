/* SPDX-License-Identifier: Apache-2.0 */
/* What zones the powercap class shows. One thread per object. */
#ifndef WATT_SOURCE_POWER_POWERCAP_POWERCAP_SCAN_H
#define WATT_SOURCE_POWER_POWERCAP_POWERCAP_SCAN_H

#include <stdbool.h>

#include "source/power/powercap/rapl_zone.h"
#include "source/source.h"

#define WATT_POWERCAP_CLASS "class/powercap"

/* The parts of a zone's directory name: "intel-rapl:0:1"; the kernel's numbers are hexadecimal. */
struct watt_powercap_id {
	char control[48];   /* control type: "intel-rapl" */
	unsigned int depth; /* 1: top-level */
};

/* -ENOENT: it is a control type, not a zone; -EBADMSG: neither. */
int watt_powercap_id_parse(const char *id, struct watt_powercap_id *ret);

struct watt_powercap_zone {
	char id[64]; /* directory name, which changes from boot to boot */
	char control[48];
	char name[160];    /* names from the top-level zone down: "package-0/core" */
	bool is_rapl;      /* rapl is filled: a zone of the processor */
	bool is_energy;    /* energy_uj, else power_uw */
	bool is_nameless;  /* its name can't be read: name is its id, and nothing else is known */
	bool is_duplicate; /* an earlier zone, of another control type, measures the same */
	struct watt_rapl_zone rapl;
};

struct watt_powercap_zones {
	struct watt_powercap_zone *zone; /* those of intel-rapl first */
	size_t n;
	size_t cap;
	size_t n_hidden; /* names whose directory is not there: hidden from a container */
};

#define WATT_POWERCAP_ZONES_INIT \
	{ \
		0 \
	}

/*
 * Finds every zone that has something to read. What is not right is left out with a warning.
 * -ENOENT: no powercap class; -EACCES, -ENOMEM.
 */
int watt_powercap_scan(const struct watt_env *env, struct watt_powercap_zones *ret);
void watt_powercap_zones_done(struct watt_powercap_zones *zones);

#endif
