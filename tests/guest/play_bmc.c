/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays the BMC of the machine 'bmc': what the guest's driver for IPMI asks comes over a serial line,
 * as QEMU's ipmi-bmc-extern passes it on (OpenIPMI's protocol for virtual machines).
 *
 * A message is a number, the function and its command, data, and a byte that makes the sum of all 0; it
 * ends with 0xa0. A command of QEMU's own ends with 0xa1, and is left unanswered. Of bytes from 0xa0 to
 * 0xaf that are none of these, bit 4 is set, behind 0xaa.
 *
 * usage: play_bmc TTY FILE       FILE has the power in watts, is read at each question; "off": it
 *                                measures nothing; "none": it can't; "dead": it says nothing
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "../fake/dcmi_answer.h"

#define MESSAGE_END 0xa0
#define COMMAND_END 0xa1
#define ESCAPE 0xaa
#define ESCAPED 0x10
#define MAX 256

enum {
	NETFN_APP = 0x06,
	NETFN_GROUP = 0x2c,
	GET_DEVICE_ID = 0x01,
	SET_ENABLES = 0x2e,
	GET_ENABLES = 0x2f,
	CLEAR_FLAGS = 0x30,
	GET_FLAGS = 0x31,
	GET_POWER_READING = 0x02,
	INVALID_COMMAND = 0xc1,
};

static int open_line(const char *path)
{
	struct termios line;
	int fd = open(path, O_RDWR | O_NOCTTY);

	if (fd < 0 || tcgetattr(fd, &line) < 0) {
		perror(path);
		exit(1);
	}
	cfmakeraw(&line);
	cfsetspeed(&line, B115200);
	tcsetattr(fd, TCSANOW, &line);
	return fd;
}

static void read_word(const char *path, char *word, size_t size)
{
	FILE *file = fopen(path, "r");

	word[0] = '\0';
	if (file && fgets(word, (int)size, file))
		word[strcspn(word, "\n")] = '\0';
	if (file)
		fclose(file);
}

/* What a driver wants to know of any BMC. */
static int tell_device(unsigned char command, unsigned char *ret)
{
	static const unsigned char device_id[] = { 0x20, 1, 1, 0, 2, 0x80, 0, 0, 0, 0, 0 };

	ret[0] = ret[1] = 0;
	switch (command) {
	case GET_DEVICE_ID:
		memcpy(ret + 1, device_id, sizeof(device_id));
		return 1 + (int)sizeof(device_id);
	case GET_ENABLES:
	case GET_FLAGS:
		return 2;
	case SET_ENABLES:
	case CLEAR_FLAGS:
		return 1;
	default:
		ret[0] = INVALID_COMMAND;
		return 1;
	}
}

/* The completion code and what is behind it; 0 bytes: no answer. */
static int answer(const unsigned char *question, int len, const char *path, unsigned char *ret)
{
	int netfn = question[0] >> 2;
	char word[32];

	read_word(path, word, sizeof(word));
	if (!strcmp(word, "dead"))
		return 0;
	ret[0] = 0;
	if (netfn == NETFN_APP)
		return tell_device(question[1], ret);
	if (netfn == NETFN_GROUP && question[1] == GET_POWER_READING && len >= 3 &&
	    question[2] == DCMI_GROUP && strcmp(word, "none") != 0) {
		dcmi_answer(ret + 1, (unsigned int)strtoul(word, NULL, 10),
			    strcmp(word, "off") != 0);
		return 1 + DCMI_ANSWER_SIZE;
	}
	ret[0] = INVALID_COMMAND;
	return 1;
}

static void put(unsigned char *out, int *n, unsigned char byte)
{
	if (byte >= 0xa0 && byte <= 0xaf) {
		out[(*n)++] = ESCAPE;
		byte |= ESCAPED;
	}
	out[(*n)++] = byte;
}

static void reply(int fd, const unsigned char *message, int len, const char *path)
{
	unsigned char told[MAX], out[2 * MAX], sum = 0;
	int n_told, n = 0, i;
	/* its number, the function that answers, and the command */
	const unsigned char head[] = { message[0], (unsigned char)(message[1] | 4), message[2] };

	n_told = answer(message + 1, len - 2, path, told);
	if (!n_told)
		return;
	for (i = 0; i < 3; i++)
		put(out, &n, head[i]), sum = (unsigned char)(sum + head[i]);
	for (i = 0; i < n_told; i++)
		put(out, &n, told[i]), sum = (unsigned char)(sum + told[i]);
	put(out, &n, (unsigned char)-sum);
	out[n++] = MESSAGE_END;
	if (write(fd, out, (size_t)n) != n)
		exit(1);
}

int main(int argc, char **argv)
{
	unsigned char message[MAX], byte;
	int fd, len = 0, is_escaped = 0;

	if (argc != 3)
		return 2;
	fd = open_line(argv[1]);
	while (read(fd, &byte, 1) == 1) {
		if (byte == MESSAGE_END && len >= 4)
			reply(fd, message, len, argv[2]);
		if (byte == MESSAGE_END || byte == COMMAND_END)
			len = 0;
		else if (byte == ESCAPE)
			is_escaped = 1;
		else if (len < MAX)
			message[len++] = is_escaped ? (unsigned char)(byte & ~ESCAPED) : byte;
		if (byte != ESCAPE)
			is_escaped = 0;
	}
	return 0;
}
