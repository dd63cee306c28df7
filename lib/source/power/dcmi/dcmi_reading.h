/* SPDX-License-Identifier: Apache-2.0 */
/* The answer to DCMI's question for the power of the machine. Pure. */
#ifndef WATT_SOURCE_POWER_DCMI_READING_H
#define WATT_SOURCE_POWER_DCMI_READING_H

#include <stddef.h>
#include <stdint.h>

/* Its number among the groups that extend IPMI; each question and each answer begins with it. */
#define WATT_DCMI_GROUP 0xdc

/*
 * What is behind the completion code, by DCMI 1.5, Get Power Reading. 0; -EBADMSG: it is no such
 * answer; -ENODATA: it does not measure now, or says 0 W, which no machine takes that can ask.
 */
int watt_dcmi_reading_parse(const uint8_t *data, size_t len, uint32_t *ret_w);

#endif
