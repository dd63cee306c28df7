/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes the simulator's files. Must not be lenient: a file that is not as documented is
 * a failure of the test.
 */
#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FJ_PER_NJ 1000000

__attribute__((format(printf, 1, 2))) _Noreturn static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "simulator: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	exit(1);
}

static FILE *open_file(const char *name)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), SIM_DIR "/%s", name);
	file = fopen(path, "re");
	if (!file)
		die("%s: %s", path, strerror(errno));
	return file;
}

void sim_say(const char *format, ...)
{
	char script[4096], error[256] = "";
	va_list args;
	int fd, n;
	FILE *file;

	va_start(args, format);
	n = vsnprintf(script, sizeof(script), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(script))
		die("the script is too long");
	fd = open(SIM_DIR "/control", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die("%s: %s", SIM_DIR "/control", strerror(errno));
	if (write(fd, script, (size_t)n) != n) {
		n = errno;
		file = open_file("error");
		if (!fgets(error, sizeof(error), file))
			strcpy(error, "?");
		die("%s: %s\nin the script:\n%s", strerror(n), error, script);
	}
	close(fd);
}

/* "123.000456" at *text: whole nJ, and fJ; moves text behind it. */
static void parse_energy(char **text, int64_t *ret_nj, int64_t *ret_fj)
{
	char *end;

	*ret_nj = (int64_t)strtoull(*text, &end, 10);
	if (end == *text || *end != '.' || strspn(end + 1, "0123456789") != 6)
		die("no energy: '%s'", *text);
	*ret_fj = (int64_t)strtoull(end + 1, &end, 10);
	*text = end;
}

struct sums {
	int64_t nj[SIM_PACKAGES_MAX], fj[SIM_PACKAGES_MAX];
};

static void add_to(struct sums *sums, size_t i, int64_t nj, int64_t fj)
{
	sums->nj[i] += nj;
	sums->fj[i] += fj;
}

/* The energies of a row, after its run time. Returns what follows. */
static char *parse_energies(char *text, struct sim_truth *truth, struct sim_process *process,
			    struct sums *sums)
{
	int64_t fj;
	size_t i;

	process->run_ns = strtoull(text, &text, 10);
	for (i = 0; i < truth->n_packages; i++) {
		parse_energy(&text, &process->energy_nj[i], &fj);
		add_to(sums, i, process->energy_nj[i], fj);
	}
	return text;
}

static void parse_package(char *text, struct sim_truth *truth, struct sums *sums)
{
	size_t i = truth->n_packages++;
	int64_t nj, fj;

	if (i == SIM_PACKAGES_MAX)
		die("too many packages");
	truth->package_id[i] = (int)strtol(text, &text, 10);
	parse_energy(&text, &truth->total_nj[i], &fj);
	add_to(sums, i, -truth->total_nj[i], -fj);
	if (strncmp(text, " idle ", 6))
		die("no idle energy: '%s'", text);
	text += 6;
	parse_energy(&text, &nj, &fj);
	truth->idle_nj[i] = nj;
	add_to(sums, i, nj, fj);
}

static void parse_row(char *line, struct sim_truth *truth, struct sums *sums)
{
	struct sim_process process = { 0 };
	char state[16] = "";
	int at = 0;

	if (sscanf(line, "process %" SCNu32 " %" SCNu64 " %15s %n", &process.pid, &process.start_ns,
		   state, &at) != 3 &&
	    sscanf(line, "%63s - - - %n", process.name, &at) != 1)
		die("not a row: '%s'", line);
	process.is_alive = !strcmp(state, "alive");
	line = parse_energies(line + at, truth, &process, sums);
	if (process.pid)
		snprintf(process.name, sizeof(process.name), "%s", line + strspn(line, " "));
	truth->processes =
		reallocarray(truth->processes, truth->n_processes + 1, sizeof(*truth->processes));
	if (!truth->processes)
		die("out of memory");
	truth->processes[truth->n_processes++] = process;
}

static void parse_line(char *line, struct sim_truth *truth, struct sums *sums)
{
	if (line[0] == '#' &&
	    sscanf(line,
		   "# time_ns %" SCNu64 " start_ns %*u switches %*u strangers %" SCNu64
		   " overflows %" SCNu64,
		   &truth->t_ns, &truth->n_strangers, &truth->n_overflows) != 3)
		die("not the head: '%s'", line);
	else if (!strncmp(line, "package ", 8))
		parse_package(line + 8, truth, sums);
	else if (line[0] != '#')
		parse_row(line, truth, sums);
}

void sim_truth_read(struct sim_truth *ret)
{
	struct sim_truth truth = { 0 };
	struct sums sums = { 0 };
	FILE *file = open_file("truth");
	char line[1024];
	size_t i;

	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		parse_line(line, &truth, &sums);
	}
	fclose(file);
	for (i = 0; i < truth.n_packages; i++)
		if (sums.nj[i] * FJ_PER_NJ + sums.fj[i])
			die("package %d: the sum of all is off by %" PRId64 " nJ and %" PRId64
			    " fJ",
			    truth.package_id[i], sums.nj[i], sums.fj[i]);
	if (truth.n_strangers || truth.n_overflows)
		die("%" PRIu64 " strangers, %" PRIu64 " overflows", truth.n_strangers,
		    truth.n_overflows);
	*ret = truth;
}

void sim_truth_done(struct sim_truth *truth)
{
	free(truth->processes);
	*truth = (struct sim_truth){ 0 };
}

const struct sim_process *sim_truth_find(const struct sim_truth *truth, uint32_t pid,
					 uint64_t start_ns)
{
	size_t i;

	for (i = 0; i < truth->n_processes; i++)
		if (truth->processes[i].pid == pid &&
		    (!start_ns || truth->processes[i].start_ns == start_ns))
			return &truth->processes[i];
	return NULL;
}

/* The line of `state` that begins with these words. */
static void find_state(const char *words, char *line, size_t size)
{
	FILE *file = open_file("state");
	size_t len = strlen(words);
	bool is_found = false;

	while (!is_found && fgets(line, (int)size, file))
		is_found = !strncmp(line, words, len) && line[len] == ' ';
	fclose(file);
	if (!is_found)
		die("there is no %s", words);
}

/* The number behind " KEY=" in a line. */
static int64_t number_of(const char *line, const char *key)
{
	char text[32];
	const char *found;

	snprintf(text, sizeof(text), " %s=", key);
	found = strstr(line, text);
	if (!found)
		die("no %s in '%s'", key, line);
	return (int64_t)strtoull(found + strlen(text), NULL, 10);
}

static void find_meter(const char *name, char *line, size_t size)
{
	char words[80];

	snprintf(words, sizeof(words), "meter %s", name);
	find_state(words, line, size);
}

int64_t sim_meter_nj(const char *name)
{
	char line[256];

	find_meter(name, line, sizeof(line));
	return number_of(line, "energy_nj");
}

void sim_meter_since(const char *name, uint64_t *ret_ns, int64_t *ret_nj, uint32_t *ret_uw)
{
	char line[256];

	find_meter(name, line, sizeof(line));
	*ret_ns = (uint64_t)number_of(line, "since_ns");
	*ret_nj = number_of(line, "since_nj");
	*ret_uw = (uint32_t)number_of(line, "power_uw");
}

int64_t sim_origin_nj(const char *counter)
{
	char line[256];

	find_state(counter, line, sizeof(line));
	return number_of(line, "origin_nj");
}
