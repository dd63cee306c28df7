/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over every file of the folders given, where there is no libFuzzer.
 * It must not invent inputs.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 1 if path is a file and was run; 0 if it is a folder. */
static int replay_file(const char *path)
{
	static uint8_t data[1 << 20];
	FILE *file = fopen(path, "re");
	uint8_t *exact;
	size_t n;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	n = fread(data, 1, sizeof(data), file);
	if (ferror(file)) {
		fclose(file);
		return 0;
	}
	fclose(file);
	/* A buffer of just this size lets the address sanitizer see every byte too far. */
	exact = malloc(n ? n : 1);
	if (!exact)
		exit(1);
	memcpy(exact, data, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 1;
}

static int replay_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];
	int n = 0;

	if (!dir) {
		fprintf(stderr, "%s: %s\n", folder, strerror(errno));
		exit(1);
	}
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			n += replay_file(path);
		}
	closedir(dir);
	return n;
}

int main(int argc, char **argv)
{
	int n = 0;
	int i;

	for (i = 1; i < argc; i++)
		n += replay_folder(argv[i]);
	printf("%d inputs replayed\n", n);
	return n ? 0 : 1;
}
