/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meters. The library is a session in this process; the command records, and reports of the
 * recording; the module is a file. Where the product says that something is wrong, so does this.
 */
#include "guest_meter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>
#include <wattribute/wattribute.h>

#include "../options_of.h"
#include "guest_load.h"

#define MODULE "/modules/wattribute.ko"
#define MODULE_PARAMETERS "sample_ns=25000000 window_ns=200000000"
#define MODULE_MISLED " w_cpu_ns=0 w_wakeups=5"
#define MODULE_FILE "/proc/energy/all"
#define MODULE_STAT "/sys/kernel/debug/energy/stat"
#define RECORDING "/tmp/truth.watt"
#define REPORT "/tmp/truth.json"
#define SNAPSHOTS "/tmp/truth.lines"

static bool is_misled;

void meter_mislead(void)
{
	is_misled = true;
}

void meter_account_done(struct meter_account *account)
{
	free(account->rows);
	*account = (struct meter_account){ 0 };
}

static struct meter_row *add_row(struct meter_account *account)
{
	account->rows = reallocarray(account->rows, account->n_rows + 1, sizeof(*account->rows));
	if (!account->rows)
		load_die("rows", ENOMEM);
	account->rows[account->n_rows] = (struct meter_row){ 0 };
	return &account->rows[account->n_rows++];
}

static void package_path(char *path, size_t size, int package_id)
{
	snprintf(path, size, "package-%d", package_id);
}

/* ---- the library ---- */

static struct watt_session *session;

static void log_line(void *data, enum watt_log_level level, const char *text)
{
	if (level <= WATT_LOG_WARNING)
		fprintf(stderr, "%s\n", text);
}

static void library_begin(void)
{
	struct watt_options *options =
		options_of("sources", "powercap", "share-key", is_misled ? "none" : "auto", NULL);
	int r;

	watt_options_set_log(options, log_line, NULL);
	r = open_by(options, &session);
	if (r == 0)
		r = watt_session_start(session);
	if (r < 0)
		load_die("no session", -r);
}

static void library_wait(uint32_t ms)
{
	watt_session_wait(session, ms);
}

static size_t library_domain(int package_id)
{
	char path[32];
	size_t d;

	package_path(path, sizeof(path), package_id);
	for (d = 0; d < watt_session_get_domain_count(session); d++)
		if (!strcmp(watt_session_get_domain(session, d)->path, path))
			return d;
	load_die(path, ENOENT);
}

static void library_row(const struct watt_row *row, size_t package, size_t domain,
			struct meter_row *ret)
{
	ret->energy_nj[package] = watt_energy_to_nj(row->energy[domain]);
	ret->is_exited = row->entity->kind == WATT_ENTITY_EXITED;
	snprintf(ret->name, sizeof(ret->name), "%s", row->entity->name);
	if (row->entity->kind == WATT_ENTITY_PROCESS && row->entity->identity) {
		ret->pid = row->entity->identity->pid;
		ret->start_ns = row->entity->identity->start_ns;
	}
}

static void library_end(const struct sim_truth *truth, struct meter_account *ret)
{
	const struct watt_domain_state *state;
	struct watt_snapshot *snapshot;
	size_t i, p, domain;
	int r = watt_session_snapshot_at(session, load_now_ns(), 5000, &snapshot);

	if (r < 0)
		load_die("no snapshot", -r);
	if (watt_snapshot_get_quality(snapshot)->check_failures)
		load_die("energy is not conserved", EPROTO);
	for (p = 0; p < watt_snapshot_get_row_count(snapshot); p++)
		add_row(ret);
	for (i = 0; i < truth->n_packages; i++) {
		domain = library_domain(truth->package_id[i]);
		state = watt_snapshot_get_domain_state(snapshot, domain);
		ret->idle_uw[i] = state->baseline_ready ? (double)state->baseline_uw : NAN;
		for (p = 0; p < watt_snapshot_get_row_count(snapshot); p++)
			library_row(watt_snapshot_get_row(snapshot, p), i, domain, &ret->rows[p]);
	}
	watt_snapshot_unref(snapshot);
}

static void library_done(void)
{
	watt_session_close(session);
	session = NULL;
}

const struct meter meter_library = {
	.name = "library",
	.sensor = "zone",
	.has_packages = true,
	.begin = library_begin,
	.wait = library_wait,
	.end = library_end,
	.done = library_done,
};

/* ---- the command ---- */

static pid_t recorder;

static pid_t start_command(const char *const *argv, const char *output)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		load_die("fork", errno);
	if (pid)
		return pid;
	if (output && !freopen(output, "w", stdout))
		load_die(output, errno);
	execvp(argv[0], (char *const *)argv);
	load_die(argv[0], errno);
}

static void await_command(pid_t pid, const char *what)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		load_die(what, ECANCELED);
}

/* It takes its first snapshot when it has measured for a second. */
static void command_begin(void)
{
	static const char *const argv[] = { "wattribute", "record",  "--sources=powercap",
					    "--json",     "--force", "-o",
					    RECORDING,    NULL };
	struct stat found;

	unlink(SNAPSHOTS);
	recorder = start_command(argv, SNAPSHOTS);
	while (waitpid(recorder, NULL, WNOHANG) == 0) {
		load_rest_ms(50);
		if (!stat(SNAPSHOTS, &found) && found.st_size > 0)
			return;
	}
	load_die("wattribute record", ECHILD);
}

static void command_wait(uint32_t ms)
{
	load_rest_ms(ms);
}

static int64_t json_nj(const json_t *energies, int package_id)
{
	char path[32];

	package_path(path, sizeof(path), package_id);
	return json_integer_value(json_object_get(energies, path));
}

static const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void report_rows(const struct sim_truth *truth, const json_t *report,
			struct meter_account *ret)
{
	const json_t *entities = json_object_get(report, "entities"), *entity;
	size_t e, i;

	if (!json_array_size(entities))
		load_die("the report has no entities", ENODATA);
	json_array_foreach(entities, e, entity)
	{
		struct meter_row *row = add_row(ret);

		row->pid = (uint32_t)json_integer_value(json_object_get(entity, "pid"));
		row->is_exited = !strcmp(json_text(entity, "kind"), "exited");
		snprintf(row->name, sizeof(row->name), "%s",
			 json_text(entity, json_text(entity, "comm")[0] ? "comm" : "name"));
		for (i = 0; i < truth->n_packages; i++)
			row->energy_nj[i] = json_nj(json_object_get(entity, "domains_nj"),
						    truth->package_id[i]);
	}
}

static void command_end(const struct sim_truth *truth, struct meter_account *ret)
{
	static const char *const argv[] = { "wattribute", "report",  "--json",
					    "--rows=0",   RECORDING, NULL };
	const json_t *failures;
	json_error_t error;
	json_t *report;
	size_t i;

	load_rest_ms(500);
	kill(recorder, SIGINT);
	await_command(recorder, "wattribute record");
	await_command(start_command(argv, REPORT), "wattribute report");
	report = json_load_file(REPORT, 0, &error);
	if (!report)
		load_die(error.text, EBADMSG);
	failures = json_object_get(json_object_get(report, "conservation"), "failures");
	if (!json_is_integer(failures) || json_integer_value(failures))
		load_die("the report says that energy is not conserved", EPROTO);
	report_rows(truth, report, ret);
	json_decref(report);
	for (i = 0; i < truth->n_packages; i++)
		ret->idle_uw[i] = NAN;
}

static void command_done(void)
{
	unlink(RECORDING);
	unlink(REPORT);
	unlink(SNAPSHOTS);
}

const struct meter meter_command = {
	.name = "command",
	.sensor = "zone",
	.has_packages = true,
	.begin = command_begin,
	.wait = command_wait,
	.end = command_end,
	.done = command_done,
};

/* ---- the module ---- */

static int64_t unlisted_before_nj;

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		load_die(path, errno);
	return file;
}

/* When the window that it shows ended. */
static uint64_t window_ns(void)
{
	FILE *file = open_file(MODULE_FILE);
	uint64_t t_ns = 0;

	if (fscanf(file, "timestamp=%" SCNu64, &t_ns) != 1)
		load_die(MODULE_FILE, EBADMSG);
	fclose(file);
	return t_ns;
}

static void await_window(uint64_t after_ns)
{
	while (window_ns() < after_ns)
		load_rest_ms(50);
}

/* "key=12.345" in uJ. */
static bool parse_uj(const char *text, const char *key, int64_t *ret_nj)
{
	size_t length = strlen(key);
	int64_t uj, nj;

	if (strncmp(text, key, length) ||
	    sscanf(text + length, "=%" SCNd64 ".%" SCNd64, &uj, &nj) != 2)
		return false;
	*ret_nj = uj * 1000 + nj;
	return true;
}

static void module_line(const char *line, struct meter_account *account, int64_t *ret_unlisted_nj)
{
	const char *comm = strstr(line, " comm=");
	struct meter_row *row;
	int64_t nj;
	uint32_t pid;
	int at = 0;

	parse_uj(line, "unlisted_energy", ret_unlisted_nj);
	if (sscanf(line, "pid=%" SCNu32 " %n", &pid, &at) != 1 || !pid || !comm)
		return;
	if (!parse_uj(line + at, "energy", &nj))
		load_die(line, EBADMSG);
	row = add_row(account);
	row->energy_nj[0] = nj;
	row->is_exited = strstr(line, " alive=0 ") != NULL;
	row->pid = row->is_exited ? 0 : pid;
	snprintf(row->name, sizeof(row->name), "%.*s", (int)strcspn(comm + 6, "\n"), comm + 6);
}

/* Those that have exited and are not listed any more are one row of the name that is asked for. */
static void module_read(struct meter_account *account, int64_t *ret_unlisted_nj)
{
	FILE *file = open_file(MODULE_FILE);
	char line[512];

	while (fgets(line, sizeof(line), file))
		module_line(line, account, ret_unlisted_nj);
	fclose(file);
}

static void module_check(void)
{
	FILE *file = open_file(MODULE_STAT);
	unsigned long long n_failures = 1;
	char line[128];

	while (fgets(line, sizeof(line), file))
		sscanf(line, "check_failures=%llu", &n_failures);
	fclose(file);
	if (n_failures)
		load_die("energy is not conserved", EPROTO);
}

/* Not by insmod: a process that exits just before would be among what this one counts. */
static void module_begin(void)
{
	struct meter_account unused = { 0 };
	char parameters[128] = MODULE_PARAMETERS;
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	if (is_misled)
		strcat(parameters, MODULE_MISLED);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		load_die(MODULE, errno);
	close(fd);
	await_window(1);
	module_read(&unused, &unlisted_before_nj);
	meter_account_done(&unused);
}

static void module_wait(uint32_t ms)
{
	load_rest_ms(ms);
}

static void module_end(const struct sim_truth *truth, struct meter_account *ret)
{
	int64_t unlisted_nj = 0;
	struct meter_row *row;
	size_t i;

	await_window(load_now_ns());
	module_read(ret, &unlisted_nj);
	module_check();
	row = add_row(ret);
	row->is_exited = true;
	row->energy_nj[0] = unlisted_nj - unlisted_before_nj;
	for (i = 0; i < truth->n_packages; i++)
		ret->idle_uw[i] = NAN;
}

static void module_done(void)
{
	if (syscall(SYS_delete_module, "wattribute", 0))
		load_die("rmmod", errno);
}

const struct meter meter_module = {
	.name = "module",
	.sensor = "msr",
	.has_packages = false,
	.idle_bound = 4,
	.begin = module_begin,
	.wait = module_wait,
	.end = module_end,
	.done = module_done,
};
