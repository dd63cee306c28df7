/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract of share keys: how the energy of a domain that somebody has to answer for becomes
 * weights of those who were active. A key sees slices of its domain alone; it reads no clock and
 * keeps nothing outside its state, so live and replay give the same bytes. The one table of all
 * keys is in key.c. One thread per object.
 */
#ifndef WATT_ATTRIB_KEY_H
#define WATT_ATTRIB_KEY_H

#include <wattribute/domain.h>

#include "attrib/slice.h"
#include "base/profile.h"
#include "base/words.h"

#define WATT_KEY_BIT(kind) (1u << (kind))

/* What somebody did at a place of the domain, and what comes of it. */
struct watt_part {
	const struct watt_use *use; /* who, where, how much; its account's name says which program */
	enum watt_activity_kind kind;
	uint64_t weight;  /* weigh() sets it, in any unit that all parts of a slice have */
	int64_t share_nj; /* for learn(): what the ledger gave it, by whatever key */
};

/* A slice of a domain, as a key sees it. */
struct watt_key_slice {
	uint64_t t0_ns;
	uint64_t t1_ns;
	int64_t energy_nj;  /* measured */
	int64_t dynamic_nj; /* of it, what is not idle */
	uint64_t busy;      /* of the first kind that the key needs: all that was done */
	uint32_t n_units;   /* and what could be active at once */
	bool is_complete;   /* every activity came in time */
	bool is_idle_known; /* else dynamic_nj may have idle energy in it */
	bool is_usable;     /* else the energy is not what it seems, as a rest that was cut at 0 */
	uint64_t idle_uw;   /* when known: what is idle may be more than the energy of a slice */
	uint64_t idle_doubt_uw; /* how unsure that is: watt_baseline_doubt_uw */
	uint64_t edge_ns[2];    /* how far its begin and its end lie from the nearest reading */
	uint64_t joint_ns;      /* shorter times between two readings say nothing of energy */
	uint64_t block_ns;      /* shorter times say nothing of power, as the sensor is slower */
	struct watt_part *parts;
	size_t n_parts;
	size_t n_needed; /* of them, at the front before they are weighed: of what the key needs */
	uint32_t likes;  /* of what it likes, WATT_KEY_BIT() of what is known of the whole slice */
	/* Who did nothing, but may be weighed: what nobody causes. The last part, behind n_needed;
	 * NULL: the key has none. */
	struct watt_part *nobody;
};

/* How far off an actor's part of a slice may be, all relative to the part. */
struct watt_key_doubt {
	uint16_t at[2]; /* directions of the key's space that it depends on */
	uint16_t n_at;
	double by;   /* and how much by a unit of each */
	double own;  /* variance of what is only its own */
	double bias; /* what the part is too small by, as the key has it where another one divided */
};

/* What all doubts have in common: how those directions vary together. */
struct watt_key_space {
	size_t n;     /* 0: there are none yet */
	double scale; /* by which variances are larger than the covariance has them */
	double open; /* relative variance of each energy beside that, times s: in each second another */
	double level; /* the same of energy that no program causes; not times s, it lasts longer */
	double prior; /* variance of a direction nobody knows anything of: never scaled */
	const void *state;
	const double *(*covariance)(const void *state, size_t row);
	double (*growth)(const void *state, size_t row); /* of its variance, per second */
};

struct watt_key_ops {
	enum watt_share_key id;
	/* Whether this one is meant where a domain has the key: several may have one number, and
	 * the first that suits is used. NULL: it suits all, as one of each number does. */
	bool (*suits)(const struct watt_domain *domain);
	/* Activities that it needs, WATT_KEY_BIT() of each. A slice waits for all of them. */
	uint32_t needs;
	/* And others that it can do without, where somebody tells of them: they weigh nothing. */
	uint32_t likes;
	bool weighs_nobody; /* whether it knows of energy that nobody causes, and is not idle */
	/* Who divides where this one is not ready, or can't tell. */
	enum watt_share_key fallback;
	size_t state_size; /* per domain, zeroed before init(); 0: none */
	/* 0 or -ENOMEM. NULL: zeros are enough. */
	int (*init)(void *state, const struct watt_domain *domain);
	void (*done)(void *state); /* NULL: nothing to free */
	/* How ready it is to divide, in 1e-6; 0: its fallback does. NULL: always ready. */
	uint32_t (*readiness_ppm)(const void *state);
	/* Standard uncertainty of a weight, in 1e-6; 0: not known. NULL: it does not say. */
	uint32_t (*uncertainty_ppm)(const void *state);
	/*
	 * t value of what it knows, where that has to be significant before it divides; *ret_is:
	 * whether it is. NULL: it needs not be.
	 */
	double (*significance)(const void *state, bool *ret_is);
	/* Sets the weights of all parts. 0; -EAGAIN: it can't tell, its fallback does; -ENOMEM. */
	int (*weigh)(void *state, const struct watt_key_slice *slice);
	/*
	 * How far off the parts may be that it made, or, where is_fallback, the one behind it.
	 * NULL: nobody knows.
	 */
	void (*get_space)(const void *state, struct watt_key_space *ret);
	void (*doubt)(const void *state, const struct watt_member *actor, bool is_fallback,
		      struct watt_key_doubt *ret);
	/* What is known from before: borrowed, at the beginning. NULL: it takes none. */
	void (*set_prior)(void *state, const struct watt_profile_part *prior);
	/* Adds what it knows to a profile. 0 or -ENOMEM. NULL: it knows nothing that lasts. */
	int (*tell)(const void *state, struct watt_profile_part *ret);
	/* Saves or loads its state. 0 or words->error. NULL: it has none. */
	int (*visit)(void *state, struct watt_words *words);
	/* Is told every slice that its domain has divided, ready or not. NULL: it learns nothing. */
	int (*learn)(void *state, const struct watt_key_slice *slice);
};

/* key_learned.c */
extern const struct watt_key_ops watt_key_learned, watt_key_learned_gpu, watt_key_learned_rest;

/* All keys, ended by NULL. */
extern const struct watt_key_ops *const watt_key_registry[];

/* The key of a table with this number that suits the domain; NULL: none. */
const struct watt_key_ops *watt_key_find(const struct watt_key_ops *const *table,
					 enum watt_share_key id, const struct watt_domain *domain);

/* ---- the keys of one domain ---- */

#define WATT_KEY_CHAIN 4

struct watt_key {
	const struct watt_key_ops *ops;
	void *state;
};

/* The key that was chosen, its fallback, and so on. */
struct watt_key_chain {
	struct watt_key keys[WATT_KEY_CHAIN];
	size_t n;
};

/* 0 or -ENOMEM; -EINVAL: the table does not have the key of the domain. */
int watt_key_chain_init(struct watt_key_chain *chain, const struct watt_key_ops *const *table,
			const struct watt_domain *domain);
/* Accepts one of zeros. */
void watt_key_chain_done(struct watt_key_chain *chain);
uint32_t watt_key_readiness_ppm(const struct watt_key *key);
uint32_t watt_key_uncertainty_ppm(const struct watt_key *key);

#endif
