/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chunk of a whole recording, behind its checksum: the input is which one, and what it unpacks to.
 * It is packed and takes the place of that chunk; then the recording is replayed as it was taken and
 * as it is asked anew. Energy is conserved, whatever it says.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>
#include <zstd.h>

#include <wattribute/wattribute.h>

/* Of what is in it a session makes no more than this. */
#define SNAPSHOTS_MAX 64
#define WAIT_MS 100
/* Of one chunk: what takes longer to replay is no more telling. */
#define INPUT_MAX ((size_t)1 << 16)

static char path[64];
static uint8_t whole[1 << 16];
static size_t whole_size;

static void remove_file(void)
{
	unlink(path);
}

static void init(void)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	FILE *file;

	if (path[0])
		return;
	snprintf(path, sizeof(path), "%s/watt-fuzz-replay-%d", folder, (int)getpid());
	atexit(remove_file);
	file = fopen(WATT_FUZZ_RECORDING, "re");
	check(file);
	whole_size = fread(whole, 1, sizeof(whole), file);
	check(whole_size > 0 && whole_size < sizeof(whole));
	fclose(file);
}

static void write_whole(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(fd >= 0);
	check(write(fd, whole, whole_size) == (ssize_t)whole_size);
	close(fd);
}

static void put_chunk(int id, const void *data, size_t size)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;

	check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
	check(sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL,
			   NULL) == SQLITE_OK);
	check(sqlite3_prepare_v2(db, "UPDATE chunks SET data = ? WHERE id = ?", -1, &stmt, NULL) ==
	      SQLITE_OK);
	check(sqlite3_bind_blob(stmt, 1, data, (int)size, SQLITE_STATIC) == SQLITE_OK);
	check(sqlite3_bind_int(stmt, 2, id) == SQLITE_OK);
	check(sqlite3_step(stmt) == SQLITE_DONE && sqlite3_changes(db) == 1);
	sqlite3_finalize(stmt);
	check(sqlite3_close(db) == SQLITE_OK);
}

static int64_t used_nj(const struct watt_view *view, size_t domain)
{
	int64_t sum_nj = 0;
	size_t i;

	for (i = 0; i < view->n_rows; i++) {
		const struct watt_row *row = view->rows[i];
		enum watt_entity_kind kind = row->entity->kind;

		if (kind < WATT_ENTITY_CGROUP || kind == WATT_ENTITY_VM)
			check(!__builtin_add_overflow(sum_nj, row->window_nj[domain], &sum_nj));
	}
	return sum_nj;
}

/* What a view shows of it adds up, and can be told. */
static void look_at(struct watt_snapshot *snap)
{
	struct watt_balance balance = { .sz = sizeof(balance) };
	struct watt_view *view;
	char *text;
	size_t d;

	check(watt_view_new(snap, &view) == 0);
	check(view->quality->check_failures == 0 && view->quality->sum_failures == 0);
	for (d = 0; d < view->n_domains; d++)
		check(used_nj(view, d) == view->states[d]->window_nj);
	check(watt_balance_draw(view, &balance) == 0 && (!balance.is_known || balance.is_exact));
	check(watt_snapshot_to_json(snap, 0, &text) == 0 && *text);
	free(text);
	watt_view_free(view);
	watt_snapshot_unref(snap);
}

static struct watt_session *open_session(bool is_shared)
{
	struct watt_options *options;
	struct watt_session *ses;

	check(watt_options_new(&options) == 0);
	if (is_shared)
		check(watt_options_set(options, "idle-policy", "proportional") == 0);
	check(watt_session_open_recording(path, options, &ses) == 0);
	watt_options_free(options);
	check(watt_session_start(ses) == 0);
	return ses;
}

static void replay_as_taken(void)
{
	struct watt_session *ses = open_session(false);
	struct watt_snapshot *snap;
	unsigned int i;
	int r = 0;

	for (i = 0; i < SNAPSHOTS_MAX && r == 0; i++) {
		r = watt_session_next_snapshot(ses, &snap);
		check(r == 0 || r == 1);
		if (r == 0)
			look_at(snap);
	}
	watt_session_close(ses);
}

static void replay_anew(bool is_shared)
{
	struct watt_session *ses = open_session(is_shared);
	struct watt_snapshot *snap;
	unsigned int i;
	int r = 0, rs;

	for (i = 0; i < SNAPSHOTS_MAX && r == 0; i++) {
		r = watt_session_wait(ses, WAIT_MS);
		check(r == 0 || r == -ENODATA);
		rs = watt_session_snapshot(ses, &snap);
		check(rs == 0 || rs == -EOVERFLOW);
		if (rs == 0)
			look_at(snap);
	}
	watt_session_close(ses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bound, n;
	void *packed;

	if (size < 1 || size > INPUT_MAX)
		return 0;
	init();
	bound = ZSTD_compressBound(size - 1);
	packed = malloc(bound);
	if (!packed)
		return 0;
	n = ZSTD_compress(packed, bound, data + 1, size - 1, 1);
	check(!ZSTD_isError(n));
	write_whole();
	put_chunk(1 + (data[0] & 1), packed, n);
	free(packed);
	replay_as_taken();
	replay_anew(data[0] & 2);
	return 0;
}
