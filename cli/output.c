/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file without a name where the file system has such (then nothing is left of it, however the
 * command ends), else one with a name of its own beside the one asked for.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"
#include "xalloc.h"

static int complain(const struct output *output, const char *what, int error)
{
	message_error("cannot %s %s: %s", what, output->path ? output->path : "the output",
		      strerror(error));
	return -error;
}

static char *folder_of(const char *path)
{
	char *copy = xstrdup(path), *folder = xstrdup(dirname(copy));

	free(copy);
	return folder;
}

static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_nameless(const char *path)
{
	auto_free char *folder = folder_of(path);

	return open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
}

/* A name beside the one asked for. */
static int open_named(struct output *output)
{
	int fd;

	output->temp = xasprintf("%s.XXXXXX", output->path);
	fd = mkostemp(output->temp, O_CLOEXEC);
	if (fd < 0) {
		free(output->temp);
		output->temp = NULL;
		return -1;
	}
	fchmod(fd, default_mode());
	return fd;
}

static int open_new(struct output *output)
{
	int fd = open_nameless(output->path);

	/* What a file system says that has no nameless files. */
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT))
		fd = open_named(output);
	if (fd < 0)
		return complain(output, "create", errno);
	output->is_new = true;
	output->file = fdopen(fd, "w");
	return output->file ? 0 : complain(output, "create", errno);
}

int output_open(struct output *output, const char *path, bool can_replace)
{
	struct stat st;

	*output = (struct output){ .can_replace = can_replace };
	if (!path || strcmp(path, "-") == 0) {
		output->file = stdout;
		return 0;
	}
	output->path = path;
	if (stat(path, &st) < 0)
		return open_new(output);
	if (S_ISDIR(st.st_mode))
		return complain(output, "write", EISDIR);
	/* A pipe or a device is written as it is. */
	if (!S_ISREG(st.st_mode)) {
		output->file = fopen(path, "we");
		return output->file ? 0 : complain(output, "write", errno);
	}
	if (can_replace)
		return open_new(output);
	message_error("%s is there already; --force replaces it", path);
	return -EEXIST;
}

/* Gives a nameless file the name to. */
static int link_nameless(struct output *output, const char *to)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(output->file));
	return linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

static int publish(struct output *output)
{
	unsigned int i;

	if (!output->can_replace)
		return output->temp ? link(output->temp, output->path) :
				      link_nameless(output, output->path);
	/* A name can't be given over another one at once: first a free one, then a rename. */
	for (i = 0; !output->temp && i < 100; i++) {
		char *name = xasprintf("%s.%d-%u", output->path, (int)getpid(), i);

		if (link_nameless(output, name) == 0) {
			output->temp = name;
			break;
		}
		free(name);
		if (errno != EEXIST)
			return -1;
	}
	if (!output->temp || rename(output->temp, output->path) < 0)
		return -1;
	free(output->temp);
	output->temp = NULL;
	return 0;
}

int output_commit(struct output *output)
{
	int r = 0;

	if (fflush(output->file) != 0 || ferror(output->file))
		r = complain(output, "write", errno ? errno : EIO);
	else if (output->is_new && publish(output) < 0)
		r = complain(output, "write", errno);
	output_discard(output);
	return r;
}

void output_discard(struct output *output)
{
	if (output->file && output->file != stdout)
		fclose(output->file);
	if (output->temp) {
		unlink(output->temp);
		free(output->temp);
	}
	*output = (struct output){ 0 };
}
