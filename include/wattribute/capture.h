/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file capture.h
 * @brief Captures: what the sensors, CPUs and, if that is wanted, processes of a machine show now,
 * as one file. Option "machine" (options.h) takes it in place of the machine.
 */
#ifndef WATTRIBUTE_CAPTURE_H
#define WATTRIBUTE_CAPTURE_H

#include <wattribute/options.h>

WATT_BEGIN_DECLS

/** What is left out of a capture unless it is asked for: it may tell of people. */
enum watt_capture_flags {
	WATT_CAPTURE_PROCESSES = 1, /**< processes, by number, name, cgroup and what they used */
	WATT_CAPTURE_COMMANDS = 2,  /**< with processes: their command lines */
	WATT_CAPTURE_HOST = 4,      /**< the host's name and the names of its users */
	WATT_CAPTURE_SERIALS = 8,   /**< serial numbers of devices */
};

/** What has been captured. */
struct watt_capture {
	size_t sz; /**< sizeof(struct watt_capture), the caller's */
	uint64_t n_files;
	uint64_t n_links;
	uint64_t n_forbidden; /**< files that are there, and that this user may not read */
	uint64_t bytes;       /**< in files, before they were packed */
};

/**
 * Writes the machine of the options as a tar archive; the end of its name says how it is packed:
 * .zst, .gz, or not. A file that is there is not replaced. What is wrong is said through the
 * options' log. It opens no session, and may read slow sensors once.
 *
 * 0; -EEXIST; -EINVAL: the path has another end, or a flag is none of watt_capture_flags; -ENODEV:
 * there is nothing to capture; -EOPNOTSUPP: libarchive is missing; another error of the system.
 *
 * @param options  where to look; NULL: this machine.
 * @param flags    of enum watt_capture_flags, joined by |.
 * @param ret      NULL is allowed.
 */
WATT_API int watt_capture_write(const struct watt_options *options, const char *path,
				uint32_t flags, struct watt_capture *ret);

WATT_END_DECLS

#endif
