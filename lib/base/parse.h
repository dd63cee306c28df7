/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to numbers, strictly: the whole text must be the number (white space around it may be
 * there), and what does not fit is an error. It must not allocate, nor depend on the locale.
 */
#ifndef WATT_BASE_PARSE_H
#define WATT_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, -EBADMSG (not a number, or something after it), -ERANGE (does not fit). */
int watt_parse_u64(const char *text, uint64_t *ret);
int watt_parse_i64(const char *text, int64_t *ret);
/* Hexadecimal with or without 0x. */
int watt_parse_hex(const char *text, uint64_t *ret);

/*
 * A decimal fraction as a rational: "6.25" is 625 / 100, "2.3283064365386962890625e-10" what it
 * says, reduced until both fit. -EBADMSG, -ERANGE; zero and negative numbers are -ERANGE.
 */
int watt_parse_ratio(const char *text, uint64_t *ret_num, uint64_t *ret_den);

/*
 * Reads a decimal number at *cursor and moves the cursor behind it. For tables such as
 * /proc/stat. -EBADMSG if there is no digit, -ERANGE.
 */
int watt_scan_u64(const char **cursor, uint64_t *ret);
/* The same where no blank may be before it. */
int watt_scan_digits(const char **cursor, uint64_t *ret);

/*
 * A time: "50ms", "1.5s", "200us", "20ns", "2min" or "2m", "1h", "1d"; a bare number is in units
 * of unit_ns. At most a year; of its decimals, the first nine count. A rate, as its period:
 * "100", "0.5Hz", "1kHz". 0, -EBADMSG, -ERANGE.
 */
int watt_parse_time(const char *text, uint64_t unit_ns, uint64_t *ret_ns);
int watt_parse_rate(const char *text, uint64_t *ret_period_ns);

/*
 * A CPU list as the kernel prints it: "0-3,8,10-11". Calls fn for each CPU in order. 0, or
 * -EBADMSG, -ERANGE (a CPU of 65,536 or more), or what fn returned if not 0.
 */
int watt_parse_cpulist(const char *text, int (*fn)(unsigned int cpu, void *data), void *data);

/*
 * Makes a name of ours from a label of theirs: lower case; of ASCII, anything outside [a-z0-9:_-]
 * becomes '_', as does what is no letter or sign of UTF-8; no '_' at either end. Returns its length; 0: nothing is left.
 */
size_t watt_clean_name(const char *label, char *buf, size_t size);

/*
 * Whether JSON has more than so many objects and arrays in each other: who reads it goes down by
 * calling itself, and must know before. Of what is no JSON it may say either.
 */
bool watt_parse_is_deeper(const char *json, size_t len, size_t most);

#endif
