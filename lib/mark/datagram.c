/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the datagram of a mark. Whatever is not as it must be is refused as a whole. */
#include "mark/datagram.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"

int watt_mark_encode(const char *label, uint64_t t_ns, struct watt_mark_datagram *ret)
{
	struct watt_mark_datagram datagram = {
		.version = WATT_MARK_VERSION,
		.t_ns = t_ns,
	};
	size_t len = label ? strlen(label) : 0;

	if (len > 0 && !watt_utf8_is_printable(label, len))
		return -EINVAL;
	memcpy(datagram.magic, WATT_MARK_MAGIC, sizeof(datagram.magic));
	if (len > 0)
		memcpy(datagram.label, label, watt_utf8_fit(label, len, WATT_MARK_SIZE - 1));
	*ret = datagram;
	return 0;
}

int watt_mark_decode(const void *data, size_t len, struct watt_mark_datagram *ret)
{
	struct watt_mark_datagram datagram;
	size_t n, i;

	if (len != sizeof(datagram))
		return -EBADMSG;
	memcpy(&datagram, data, sizeof(datagram));
	if (memcmp(datagram.magic, WATT_MARK_MAGIC, sizeof(datagram.magic)) != 0 ||
	    datagram.version != WATT_MARK_VERSION)
		return -EBADMSG;
	n = strnlen(datagram.label, sizeof(datagram.label));
	if (n == sizeof(datagram.label) || !watt_utf8_is_printable(datagram.label, n))
		return -EBADMSG;
	for (i = n; i < sizeof(datagram.label); i++)
		if (datagram.label[i])
			return -EBADMSG;
	*ret = datagram;
	return 0;
}
