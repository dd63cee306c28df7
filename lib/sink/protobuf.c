/* SPDX-License-Identifier: Apache-2.0 */
/* Field keys, varints, lengths: all of the wire format that writing needs. */
#include "sink/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "sink/escape.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

void watt_protobuf_clear(struct watt_protobuf *pb)
{
	pb->n = 0;
}

void watt_protobuf_done(struct watt_protobuf *pb)
{
	free(pb->data);
	*pb = (struct watt_protobuf){ 0 };
}

static void append(struct watt_protobuf *pb, const void *data, size_t n)
{
	if (n == 0)
		return;
	if (pb->n + n > pb->capacity) {
		unsigned char *grown = realloc(pb->data, 2 * (pb->n + n));

		pb->has_failed = pb->has_failed || !grown;
		if (!grown)
			return;
		pb->capacity = 2 * (pb->n + n);
		pb->data = grown;
	}
	memcpy(pb->data + pb->n, data, n);
	pb->n += n;
}

static void append_varint(struct watt_protobuf *pb, uint64_t value)
{
	unsigned char buf[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		buf[n++] = (unsigned char)(value | 0x80);
	buf[n++] = (unsigned char)value;
	append(pb, buf, n);
}

static void append_key(struct watt_protobuf *pb, unsigned int field, enum wire_type type)
{
	append_varint(pb, (uint64_t)field << 3 | type);
}

void watt_protobuf_uint(struct watt_protobuf *pb, unsigned int field, uint64_t value)
{
	append_key(pb, field, WIRE_VARINT);
	append_varint(pb, value);
}

void watt_protobuf_double(struct watt_protobuf *pb, unsigned int field, double value)
{
	unsigned char buf[8];
	uint64_t bits;
	size_t i;

	memcpy(&bits, &value, sizeof(bits));
	for (i = 0; i < sizeof(buf); i++)
		buf[i] = (unsigned char)(bits >> (8 * i));
	append_key(pb, field, WIRE_FIXED64);
	append(pb, buf, sizeof(buf));
}

void watt_protobuf_text(struct watt_protobuf *pb, unsigned int field, const char *text)
{
	_cleanup_free_ char *clean = watt_escape_utf8(text);

	if (!clean) {
		pb->has_failed = true;
		return;
	}
	append_key(pb, field, WIRE_BYTES);
	append_varint(pb, strlen(clean));
	append(pb, clean, strlen(clean));
}

void watt_protobuf_message(struct watt_protobuf *pb, unsigned int field,
			   const struct watt_protobuf *inner)
{
	append_key(pb, field, WIRE_BYTES);
	append_varint(pb, inner->n);
	append(pb, inner->data, inner->n);
	pb->has_failed = pb->has_failed || inner->has_failed;
}
