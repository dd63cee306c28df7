/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work for the kernel module to account, and readers of its files. Runs in the guest.
 *
 * usage: kmod_load threads N MS     N threads, each busy for MS ms of CPU time; then the process
 *                                   says "PID CPU_NS TIME_NS", what it used by its own clock and
 *                                   how long that took, and waits for a signal
 *        kmod_load move MS A B      busy for MS ms of CPU time, on the CPUs A and B by turns; then says
 *                                   the same as `threads`
 *        kmod_load storm N US       N children one after another, each busy for US us; then says
 *                                   "CPU_NS TIME_NS", what they all used by wait4 and how long that
 *                                   took, and waits
 *        kmod_load many N           N children that sleep; says "ready", and waits
 *        kmod_load pulse N M MS     N processes of M threads, each of which runs for a moment every MS
 *                                   ms; says "ready", and waits
 *        kmod_load price WHAT N     does something N times and says how many ns one took: "fork" (a
 *                                   child that exits, and is waited for), "packet" (sent to itself,
 *                                   and received), "move" (to CPU 2 or to CPU 0, by turns) or "switch"
 *                                   (to another process on its CPU, and back)
 *        kmod_load stream           sends itself 1,000,000 bytes by TCP, and takes them out 100 at a
 *                                   time; says "ready", and waits
 *        kmod_load balance FILE    reads the file, whole, and says
 *                                   "TIMESTAMP TOTAL IDLE UNLISTED PROCESSES DIFFERENCE", amounts
 *                                   in thousandths; the last is TOTAL less the three before
 *        kmod_load progress PID N FILE
 *                                   reads the file until it has seen the process in N windows that
 *                                   end less than 3 ms after another one, and says in how many of
 *                                   them the process ran nothing; after 5,000 windows it gives up
 *                                   and says "none"
 *        kmod_load contain CMD...  the command as root of user, pid, mount and cgroup namespaces of
 *                                   its own
 *        kmod_load enter NS CMD... the command, or what it forks, in the namespace of this file
 *        kmod_load nice CMD...     the command, which runs when nobody else does
 *        kmod_load read N FILE...   N processes that read the files over and over until a signal;
 *                                   a file that is not there is no error
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t cpu_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void be_busy(uint64_t ns)
{
	while (cpu_ns(CLOCK_THREAD_CPUTIME_ID) < ns)
		;
}

static void *run_thread(void *ms)
{
	be_busy((uintptr_t)ms * 1000000);
	return NULL;
}

static int say_used(uint64_t begin_ns)
{
	printf("%d %llu %llu\n", getpid(), (unsigned long long)cpu_ns(CLOCK_PROCESS_CPUTIME_ID),
	       (unsigned long long)(cpu_ns(CLOCK_MONOTONIC) - begin_ns));
	fflush(stdout);
	pause();
	return 0;
}

static int do_threads(unsigned long n, unsigned long ms)
{
	const uint64_t begin_ns = cpu_ns(CLOCK_MONOTONIC);
	pthread_t thread;

	for (; n > 0; n--) {
		if (pthread_create(&thread, NULL, run_thread, (void *)(uintptr_t)ms))
			return 1;
		pthread_join(thread, NULL);
	}
	return say_used(begin_ns);
}

static int do_move(unsigned long ms, const unsigned long cpus[2])
{
	const uint64_t turn_ns = 500000, begin_ns = cpu_ns(CLOCK_MONOTONIC);
	uint64_t i;

	for (i = 0; i * turn_ns < ms * 1000000; i++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpus[i % 2], &set);
		if (sched_setaffinity(0, sizeof(set), &set)) {
			perror("kmod_load: CPU");
			return 1;
		}
		be_busy(i * turn_ns);
	}
	return say_used(begin_ns);
}

static uint64_t us(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static int do_storm(unsigned long n, unsigned long busy_us)
{
	const uint64_t begin_ns = cpu_ns(CLOCK_MONOTONIC);
	struct rusage used;

	for (; n > 0; n--) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			be_busy(busy_us * 1000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%llu %llu\n", (unsigned long long)(us(used.ru_utime) + us(used.ru_stime)) * 1000,
	       (unsigned long long)(cpu_ns(CLOCK_MONOTONIC) - begin_ns));
	fflush(stdout);
	pause();
	return 0;
}

static _Noreturn int sleep_for_ever(void *unused)
{
	while (true)
		pause();
}

/* Processes that share all that processes can share: 10,000 fit into a small machine. */
static int do_many(unsigned long n)
{
	const size_t stack_bytes = 4096; /* the first call of a function takes most of it */
	char *stacks = malloc(n * stack_bytes);

	signal(SIGCHLD, SIG_IGN); /* who dies is gone */
	for (; stacks && n > 0; n--) {
		if (clone(sleep_for_ever, stacks + n * stack_bytes,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL) >= 0)
			continue;
		fprintf(stderr, "kmod_load: %lu children short: %s\n", n, strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

static void *run_pulse(void *ms)
{
	const unsigned long period_ms = (uintptr_t)ms;
	const struct timespec period = { .tv_sec = (time_t)(period_ms / 1000),
					 .tv_nsec = (long)(period_ms % 1000) * 1000000 };

	while (true)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
	return NULL;
}

static int do_pulse(unsigned long n_processes, unsigned long n_threads, unsigned long ms)
{
	pthread_attr_t small;
	pthread_t thread;
	pid_t child;

	for (; n_processes > 0; n_processes--) {
		child = fork();
		if (child < 0)
			return 1;
		if (child)
			continue;
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 65536);
		for (; n_threads > 1; n_threads--)
			if (pthread_create(&thread, &small, run_pulse, (void *)(uintptr_t)ms))
				_exit(1);
		run_pulse((void *)(uintptr_t)ms);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

static int exit_at_once(void *unused)
{
	(void)unused;
	_exit(0);
}

/* A child that shares all it can, so that little but the fork and the exit itself is measured. */
static int fork_once(int unused)
{
	static char stack[4096] __attribute__((aligned(16)));
	pid_t child = clone(exit_at_once, stack + sizeof(stack),
			    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL);

	(void)unused;
	return child > 0 && waitpid(child, NULL, 0) == child ? 0 : -1;
}

static int send_once(int fd)
{
	char byte = 0;

	return send(fd, &byte, 1, 0) == 1 && recv(fd, &byte, 1, 0) == 1 ? 0 : -1;
}

static int move_once(int unused)
{
	static unsigned int n;
	cpu_set_t set;

	(void)unused;
	CPU_ZERO(&set);
	CPU_SET(++n % 2 * 2, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int switch_once(int fd)
{
	char byte = 0;

	return write(fd, &byte, 1) == 1 && read(fd, &byte, 1) == 1 ? 0 : -1;
}

/* A child on the same CPU that sends back what it is sent; both end together. */
static int open_mirror(void)
{
	cpu_set_t set;
	int ends[2];
	pid_t child;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
		perror("kmod_load: a child that answers");
		exit(1);
	}
	child = fork();
	if (child < 0)
		exit(1);
	if (child) {
		close(ends[1]);
		return ends[0];
	}
	close(ends[0]);
	for (char byte; read(ends[1], &byte, 1) == 1;)
		if (write(ends[1], &byte, 1) != 1)
			break;
	_exit(0);
}

/* A socket that sends to itself. */
static int open_echo(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) ||
	    getsockname(fd, (struct sockaddr *)&address, &length) ||
	    connect(fd, (struct sockaddr *)&address, length)) {
		perror("kmod_load: a socket to itself");
		exit(1);
	}
	return fd;
}

static int do_price(const char *what, unsigned long n)
{
	int (*once)(int) = NULL;
	uint64_t begin_ns;
	unsigned long i;
	int value = 0;

	if (!strcmp(what, "fork")) {
		once = fork_once;
	} else if (!strcmp(what, "packet")) {
		once = send_once;
		value = open_echo();
	} else if (!strcmp(what, "move")) {
		once = move_once;
	} else if (!strcmp(what, "switch")) {
		once = switch_once;
		value = open_mirror();
	}
	if (!once || !n)
		return 2;
	begin_ns = cpu_ns(CLOCK_MONOTONIC);
	for (i = 0; i < n; i++) {
		if (once(value)) {
			perror(what);
			return 1;
		}
	}
	printf("%llu\n", (unsigned long long)((cpu_ns(CLOCK_MONOTONIC) - begin_ns) / n));
	return 0;
}

/* Two ends of one connection. */
static int open_stream(int ret[2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ret[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || ret[0] < 0 || bind(listener, (struct sockaddr *)&address, length) ||
	    listen(listener, 1) || getsockname(listener, (struct sockaddr *)&address, &length) ||
	    connect(ret[0], (struct sockaddr *)&address, length))
		return -1;
	ret[1] = accept(listener, NULL, NULL);
	close(listener);
	return ret[1] < 0 ? -1 : 0;
}

static int do_stream(void)
{
	static char buffer[10000];
	unsigned int i, j;
	int ends[2];

	if (open_stream(ends)) {
		perror("kmod_load: a stream to itself");
		return 1;
	}
	for (i = 0; i < 100; i++) {
		if (send(ends[0], buffer, sizeof(buffer), 0) != sizeof(buffer))
			return 1;
		for (j = 0; j < sizeof(buffer) / 100; j++)
			if (recv(ends[1], buffer, 100, MSG_WAITALL) != 100)
				return 1;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

static void read_once(const char *path)
{
	char buffer[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (read(fd, buffer, sizeof(buffer)) > 0)
		;
	close(fd);
}

static _Noreturn void do_read(unsigned long n, char *const *paths)
{
	size_t i;

	for (; n > 1 && fork() > 0; n--)
		;
	while (true)
		for (i = 0; paths[i]; i++)
			read_once(paths[i]);
}

/* An amount with three decimals after a key, in thousandths; 0 if it is not there. */
static int64_t amount_after(const char *line, const char *key)
{
	const char *at = strstr(line, key);
	char *end;
	int64_t whole;

	if (!at)
		return 0;
	whole = (int64_t)strtoull(at + strlen(key), &end, 10);
	return *end == '.' ? whole * 1000 + strtol(end + 1, NULL, 10) : whole * 1000;
}

static int do_balance(const char *path)
{
	int64_t total = 0, idle = 0, unlisted = 0, processes = 0;
	char line[1024], timestamp[32] = "?";
	FILE *file = fopen(path, "re");

	if (!file) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "timestamp=%31s", timestamp);
		if (!strncmp(line, "pid=0 ", 6))
			total = amount_after(line, " energy=");
		else if (!strncmp(line, "pid=", 4))
			processes += amount_after(line, " energy=");
		idle += amount_after(line, "idle_energy=");
		unlisted += amount_after(line, "unlisted_energy=");
	}
	fclose(file);
	printf("%s %lld %lld %lld %lld %lld\n", timestamp, (long long)total, (long long)idle,
	       (long long)unlisted, (long long)processes,
	       (long long)(total - idle - unlisted - processes));
	return 0;
}

/* A process and the window that it is in. */
struct moment {
	uint64_t window_ns;
	uint64_t cpu_ns;
};

static int find_moment(const char *path, unsigned long pid, struct moment *ret)
{
	FILE *file = fopen(path, "re");
	char line[1024];
	int found = -1;

	if (!file) {
		perror(path);
		return -1;
	}
	while (found && fgets(line, sizeof(line), file)) {
		const char *cpu = strstr(line, " cpu_ns=");

		if (!strncmp(line, "timestamp=", 10))
			ret->window_ns = strtoull(line + 10, NULL, 10);
		if (strncmp(line, "pid=", 4) || strtoul(line + 4, NULL, 10) != pid || !cpu)
			continue;
		ret->cpu_ns = strtoull(cpu + 8, NULL, 10);
		found = 0;
	}
	fclose(file);
	return found;
}

static int do_progress(unsigned long pid, unsigned long n, const char *path)
{
	struct moment last = { 0 }, now = { 0 };
	unsigned long n_seen = 0, n_still = 0, left;

	for (left = 5000; left && n_seen < n;) {
		if (find_moment(path, pid, &now))
			return 1;
		if (now.window_ns == last.window_ns)
			continue;
		if (now.window_ns - last.window_ns < 3000000) {
			n_seen++;
			n_still += now.cpu_ns == last.cpu_ns;
		}
		last = now;
		left--;
	}
	if (n_seen < n)
		puts("none");
	else
		printf("%lu\n", n_still);
	return 0;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : write(fd, text, strlen(text));

	if (n < 0)
		perror(path);
	if (fd >= 0)
		close(fd);
	return n < 0 ? -1 : 0;
}

static int do_contain(char **command)
{
	uid_t uid = getuid();
	char map[32];
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWCGROUP)) {
		perror("unshare");
		return 1;
	}
	snprintf(map, sizeof(map), "0 %u 1", uid);
	if (write_text("/proc/self/setgroups", "deny") || write_text("/proc/self/uid_map", map) ||
	    write_text("/proc/self/gid_map", map))
		return 1;
	pid = fork();
	if (!pid) {
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int do_enter(const char *path, char **command)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, 0)) {
		perror(path);
		return 1;
	}
	execvp(command[0], command);
	perror(command[0]);
	return 127;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long more = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

	if (argc == 4 && !strcmp(argv[1], "threads"))
		return do_threads(n, more);
	if (argc == 5 && !strcmp(argv[1], "move"))
		return do_move(n, (const unsigned long[]){ more, strtoul(argv[4], NULL, 10) });
	if (argc == 4 && !strcmp(argv[1], "storm"))
		return do_storm(n, more);
	if (argc == 3 && !strcmp(argv[1], "many"))
		return do_many(n);
	if (argc == 5 && !strcmp(argv[1], "pulse"))
		return do_pulse(n, more, strtoul(argv[4], NULL, 10));
	if (argc == 4 && !strcmp(argv[1], "price"))
		return do_price(argv[2], more);
	if (argc == 2 && !strcmp(argv[1], "stream"))
		return do_stream();
	if (argc == 3 && !strcmp(argv[1], "balance"))
		return do_balance(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "progress"))
		return do_progress(n, more, argv[4]);
	if (argc > 2 && !strcmp(argv[1], "nice")) {
		setpriority(PRIO_PROCESS, 0, 19);
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		return 127;
	}
	if (argc > 2 && !strcmp(argv[1], "contain"))
		return do_contain(argv + 2);
	if (argc > 3 && !strcmp(argv[1], "enter"))
		return do_enter(argv[2], argv + 3);
	if (argc > 3 && !strcmp(argv[1], "read"))
		do_read(n, argv + 3);
	fputs("usage: kmod_load threads N MS | move MS A B | storm N US | many N | pulse N M MS | price WHAT N | "
	      "stream | balance FILE | progress PID N FILE | contain CMD... | enter NS CMD... | nice CMD... | read N FILE...\n",
	      stderr);
	return 2;
}
