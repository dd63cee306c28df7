/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider answered: frees it. */
#include "source/source.h"

#include <stdlib.h>

void watt_answer_done(struct watt_answer *answer)
{
	free(answer->storage);
	*answer = (struct watt_answer){ .kind = answer->kind };
}
