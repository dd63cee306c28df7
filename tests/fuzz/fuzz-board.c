/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the compatible strings of a devicetree: the same board however often they ask. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "source/power/sensor/board.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct watt_board *board;
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	board = watt_board_find(text, size);
	if (board != watt_board_find(text, size))
		abort();
	if (board) {
		const struct watt_board_rail *rail = board->rails;

		if (watt_board_find_rail(board, rail->label, rail->address) != rail)
			abort();
		watt_board_find_rail(board, text, text);
	}
	free(text);
	return 0;
}
