/* SPDX-License-Identifier: Apache-2.0 */
/* What a BMC that is played answers to DCMI's question for the power (DCMI 1.5, 6.6.1). */
#ifndef WATT_TESTS_DCMI_ANSWER_H
#define WATT_TESTS_DCMI_ANSWER_H

#include <string.h>

#define DCMI_ANSWER_SIZE 18
#define DCMI_GROUP 0xdc

/* Behind the completion code; the least, the most, the mean and the times are 0. */
static inline void dcmi_answer(unsigned char ret[DCMI_ANSWER_SIZE], unsigned int power_w,
			       int is_measuring)
{
	memset(ret, 0, DCMI_ANSWER_SIZE);
	ret[0] = DCMI_GROUP;
	ret[1] = (unsigned char)power_w;
	ret[2] = (unsigned char)(power_w >> 8);
	ret[17] = is_measuring ? 0x40 : 0;
}

#endif
