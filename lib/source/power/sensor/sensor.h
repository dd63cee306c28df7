/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of sensors that are files: what hwmon, iio and power_supply have in common. It keeps the
 * channels, their open files and the strings they own, and reads them. It must not know how
 * sensors are found. One thread per object.
 */
#ifndef WATT_SOURCE_POWER_SENSOR_SENSOR_H
#define WATT_SOURCE_POWER_SENSOR_SENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/htab.h"
#include "source/power/sensor/place.h"
#include "source/source.h"

/*
 * One file of a sensor. A number with a point is taken times 10^decimals, further digits are cut
 * off. What it says counts as value * mul + add.
 */
struct watt_sensor_factor {
	const char *path; /* below sysfs; NULL: unused */
	int64_t mul;      /* 0 is taken for 1 */
	int64_t add;
	uint32_t decimals; /* 0: it holds whole numbers and nothing else */
	const char *field; /* of lines as "Name: 123 kB": the number behind it; NULL: no lines */
};

/* Who says which sign a value has. */
enum watt_sensor_sign {
	WATT_SENSOR_AS_READ = 0,
	WATT_SENSOR_BY_STATUS = 1,    /* a battery's status file: discharging is positive */
	WATT_SENSOR_BY_ONLINE = 2,    /* an adapter's online file: nothing flows while it says 0 */
	WATT_SENSOR_FALLING = 3,      /* what is left in a battery: counts while it is discharged */
	WATT_SENSOR_SIGN_UNKNOWN = 4, /* nobody says: only 0 is a value */
};

/* What is known about a sensor when it is found. Strings are copied. */
struct watt_sensor_spec {
	const char *chip;  /* stable name of the device; cleaned here */
	const char *part;  /* which sensor of the chip; cleaned here */
	const char *label; /* what it calls itself; NULL: nothing */
	struct watt_place place;
	const struct watt_root *root;        /* of its files, outlives it; NULL: sysfs */
	struct watt_sensor_factor factor[2]; /* the second: raw is their product */
	bool is_ratio; /* or the first by the second, in whole numbers; by 0 there is no value */
	bool is_opened_anew; /* debugfs: what is open is read only once */
	enum watt_sensor_sign sign;
	/* It is no number in a file, but what the set's reader has by this index; factor[0] says where
	 * that is from, for people. */
	bool is_of_reader;
	uint32_t index;
	bool is_moody;           /* ENODEV says that it has no value just now, as batteries do */
	const char *status_path; /* the file that tells the sign; not with AS_READ */
	int64_t unknown_raw;     /* the sensor's own word for "no value"; 0: it has none */
	/* quantity, semantics, scale, wrap_nj, max_power_uw, period_ns, window_ns, delay_ns,
	 * uncertainty_ppm; the rest is filled in here */
	struct watt_channel channel;
};

struct watt_sensor;

/* What a group of a set is read by where its sensors are no files of their own. */
struct watt_sensor_reader {
	/* Reads all there is. */
	void (*look)(struct watt_sensor_reader *reader);
	/* What one sensor was at the newest look: all but the channel. */
	void (*get)(const struct watt_sensor_reader *reader, uint32_t index,
		    struct watt_sample *ret);
	void (*free)(struct watt_sensor_reader *reader);
};

struct watt_sensor_set {
	struct watt_power power; /* first, so that it is the source */
	const struct watt_env *env;
	struct watt_channel *channels;
	struct watt_sensor *sensors;
	struct watt_power_group *groups;
	struct watt_sensor_reader *reader; /* owned; NULL: all sensors are files */
	size_t channels_cap, sensors_cap, groups_cap;
	struct watt_htab names; /* names and domains that are taken, with the suffix to try next */
	uint32_t n_forbidden;   /* sensors left out because this user may not read them */
	uint32_t n_broken;      /* sensors left out because they said something unreadable */
};

/* env must outlive the set. */
int watt_sensor_set_new(const struct watt_env *env, const struct watt_power_ops *ops,
			struct watt_sensor_set **ret);
/*
 * Adds a sensor, after reading it once. One that cannot be read is left out with one warning;
 * one that has no value just now is kept. 1: added; 0: left out; -ENOMEM.
 */
int watt_sensor_set_add(struct watt_sensor_set *set, const struct watt_sensor_spec *spec);
/* Forgets the sensors whose channels are known, and the groups that had no others. */
void watt_sensor_set_drop_known(struct watt_sensor_set *set, const struct watt_known *known);
/* Makes one group of all sensors added since the last one, if there are any. */
int watt_sensor_set_end_group(struct watt_sensor_set *set, uint64_t period_ns);
/* Fills a new set with what it finds; also tells how many devices it looked at. */
typedef int (*watt_sensor_load_fn)(struct watt_sensor_set *set, size_t *ret_n_devices);
/* The operations of a source that is such a set: as in watt_power_ops. */
int watt_sensor_source_open(const struct watt_env *env, const struct watt_power_ops *ops,
			    watt_sensor_load_fn load, struct watt_power **ret);
int watt_sensor_source_rescan(const struct watt_env *env, const struct watt_power_ops *ops,
			      watt_sensor_load_fn load, const struct watt_known *known,
			      struct watt_power **ret);
int watt_sensor_source_probe(const struct watt_env *env, const struct watt_power_ops *ops,
			     watt_sensor_load_fn load, const char *path, const char *things,
			     struct watt_diag *diag);
/* The read and close operations of the sources. */
void watt_sensor_set_read(struct watt_power *power, uint32_t group, struct watt_sample *ret);
void watt_sensor_set_close(struct watt_power *power);

/* What a failed read (negative errno) says about a sample. */
enum watt_status watt_sensor_status(int error);
/* The same in words, for people; never NULL. */
const char *watt_sensor_reason(int error);

#endif
