/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a datagram at a marks socket, as an address, and as the name of a socket. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "mark/address.h"
#include "mark/datagram.h"

static void try_datagram(const uint8_t *data, size_t size)
{
	struct watt_mark_datagram datagram, again;
	size_t len;

	if (watt_mark_decode(data, size, &datagram) < 0)
		return;
	len = strnlen(datagram.label, sizeof(datagram.label));
	check(len < sizeof(datagram.label));
	check(watt_utf8_is_printable(datagram.label, len));
	/* what is taken is just what would be sent */
	check(watt_mark_encode(datagram.label, datagram.t_ns, &again) == 0);
	again.lost = datagram.lost;
	check(memcmp(&again, data, sizeof(again)) == 0);
}

static void try_label(const char *text)
{
	struct watt_mark_datagram datagram, again;

	if (watt_mark_encode(text, 1, &datagram) == 0)
		check(watt_mark_decode(&datagram, sizeof(datagram), &again) == 0);
}

static void try_address(const char *text)
{
	struct sockaddr_un sa;
	socklen_t len;

	watt_mark_parse_name(text);
	if (watt_mark_parse_address(text, &sa, &len) < 0)
		return;
	check(len > sizeof(sa.sun_family) + 1 && len <= sizeof(sa));
	check(sa.sun_path[0] == (text[0] == '@' ? '\0' : '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	try_datagram(data, size);
	try_label(text);
	try_address(text);
	free(text);
	return 0;
}
