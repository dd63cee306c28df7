/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers from the command line, strictly: the whole word is the number, or it is an error. */
#ifndef WATT_CLI_NUMBER_H
#define WATT_CLI_NUMBER_H

#include <stdint.h>

/* A count in [least, most]. 0, -EINVAL or -ERANGE. */
int number_count(const char *text, uint64_t least, uint64_t most, uint64_t *ret);
/* In octal digits, as the mode of a file, at most that. 0, -EINVAL or -ERANGE. */
int number_octal(const char *text, uint64_t most, uint64_t *ret);
/*
 * A duration: "50ms", "1.5s", "200us", "2min" or "2m", "1h", "1d"; a bare number is in units of unit_ns. At least
 * 1 us, at most a year. 0, -EINVAL or -ERANGE.
 */
int number_duration(const char *text, uint64_t unit_ns, uint64_t *ret_ns);
/* A size: "500k", "100M", "2G", with or without B or iB behind; k is 1,024. 0, -EINVAL, -ERANGE. */
int number_size(const char *text, uint64_t *ret_bytes);

#endif
