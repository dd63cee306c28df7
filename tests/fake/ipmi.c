/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for /dev/ipmi0 and the BMC behind it: open() and ioctl() of the program that it is
 * linked into, or preloaded to, are its own for that one path. The file that the environment
 * variable FAKE_IPMI names says how it answers; it is read again at each question:
 *
 *	open ERRNO              opening fails
 *	send ERRNO              the driver refuses a question
 *	none                    no answer ever comes
 *	late MS                 answers come so much later
 *	stray                   an answer to another question, and an event, come before each
 *	answer HEX              completion code and what is behind it
 *	power WATTS             such an answer of DCMI, which measures
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ipmi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "dcmi_answer.h"

#define DEVICE "/dev/ipmi0"
#define ANSWER_MAX 128
#define N_STRAY 2

struct script {
	int open_errno, send_errno;
	int is_none, is_stray;
	unsigned int late_ms;
	unsigned char answer[ANSWER_MAX];
	unsigned short len;
};

static struct {
	int fd; /* a timer: readable when the answer is there */
	long number;
	int n_stray; /* still to come before it */
	struct script script;
} device = { .fd = -1 };

static void take_hex(struct script *script, const char *text)
{
	unsigned int byte;
	int used;

	for (script->len = 0; script->len < ANSWER_MAX && sscanf(text, " %2x%n", &byte, &used) == 1;
	     text += used)
		script->answer[script->len++] = (unsigned char)byte;
}

static void take_power(struct script *script, unsigned int power_w)
{
	script->answer[0] = 0; /* completed */
	dcmi_answer(script->answer + 1, power_w, 1);
	script->len = 1 + DCMI_ANSWER_SIZE;
}

static void take_line(struct script *script, const char *line)
{
	unsigned int n = 0;
	char word[16] = "";

	sscanf(line, "%15s %u", word, &n);
	if (!strcmp(word, "open"))
		script->open_errno = (int)n;
	else if (!strcmp(word, "send"))
		script->send_errno = (int)n;
	else if (!strcmp(word, "none"))
		script->is_none = 1;
	else if (!strcmp(word, "stray"))
		script->is_stray = 1;
	else if (!strcmp(word, "late"))
		script->late_ms = n;
	else if (!strcmp(word, "answer"))
		take_hex(script, line + strlen(word));
	else if (!strcmp(word, "power"))
		take_power(script, n);
}

static int read_script(struct script *ret)
{
	const char *path = getenv("FAKE_IPMI");
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[4 * ANSWER_MAX];

	*ret = (struct script){ 0 };
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file))
		take_line(ret, line);
	fclose(file);
	return 0;
}

static int open_device(void)
{
	struct script script;

	if (read_script(&script) < 0 || script.open_errno) {
		errno = script.open_errno ? script.open_errno : ENOENT;
		return -1;
	}
	device.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return device.fd;
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (!strcmp(path, DEVICE))
		return open_device();
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static int send_command(const struct ipmi_req *request)
{
	struct itimerspec when = { 0 };

	if (read_script(&device.script) < 0 || device.script.send_errno) {
		errno = device.script.send_errno ? device.script.send_errno : EIO;
		return -1;
	}
	device.number = request->msgid;
	device.n_stray = device.script.is_stray ? N_STRAY : 0;
	when.it_value.tv_sec = device.script.late_ms / 1000;
	when.it_value.tv_nsec = (long)(device.script.late_ms % 1000) * 1000000 + 1;
	if (device.script.is_none)
		when = (struct itimerspec){ 0 };
	return timerfd_settime(device.fd, 0, &when, NULL);
}

static int fill(struct ipmi_recv *ret)
{
	const struct script *script = &device.script;
	unsigned short room = ret->msg.data_len;

	memset(ret->msg.data, 0, room);
	memcpy(ret->msg.data, script->answer, script->len < room ? script->len : room);
	ret->msg.data_len = script->len < room ? script->len : room;
	ret->recv_type = IPMI_RESPONSE_RECV_TYPE;
	ret->msgid = device.number;
	if (script->len <= room)
		return 0;
	errno = EMSGSIZE;
	return -1;
}

static int receive(struct ipmi_recv *ret)
{
	uint64_t n;

	if (device.n_stray == 0 && read(device.fd, &n, sizeof(n)) < 0)
		return -1; /* EAGAIN */
	if (device.n_stray == 0)
		return fill(ret);
	ret->recv_type = device.n_stray == 1 ? IPMI_RESPONSE_RECV_TYPE : IPMI_ASYNC_EVENT_RECV_TYPE;
	ret->msgid = device.number - (device.n_stray == 1);
	ret->msg.data_len = 1;
	ret->msg.data[0] = 0;
	device.n_stray--;
	return 0;
}

__attribute__((visibility("default"))) int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (fd >= 0 && fd == device.fd && request == IPMICTL_SEND_COMMAND)
		return send_command(arg);
	if (fd >= 0 && fd == device.fd && request == IPMICTL_RECEIVE_MSG_TRUNC)
		return receive(arg);
	return (int)syscall(SYS_ioctl, fd, request, arg);
}
