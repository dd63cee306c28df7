/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target needs: the entry point, and a claim that ends the run if it is wrong. */
#ifndef WATT_TESTS_FUZZ_H
#define WATT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check(bool ok)
{
	if (!ok)
		abort();
}

#endif
