/* SPDX-License-Identifier: Apache-2.0 */
/* Field keys, varints, lengths: all of the wire format that writing needs. */
#include "protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "xalloc.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

void protobuf_clear(struct protobuf *pb)
{
	pb->n = 0;
}

void protobuf_done(struct protobuf *pb)
{
	free(pb->data);
	*pb = (struct protobuf){ 0 };
}

static void append(struct protobuf *pb, const void *data, size_t n)
{
	if (n == 0)
		return;
	if (pb->n + n > pb->capacity) {
		pb->capacity = 2 * (pb->n + n);
		pb->data = xrealloc(pb->data, pb->capacity, 1);
	}
	memcpy(pb->data + pb->n, data, n);
	pb->n += n;
}

static void append_varint(struct protobuf *pb, uint64_t value)
{
	unsigned char buf[10];
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		buf[n++] = (unsigned char)(value | 0x80);
	buf[n++] = (unsigned char)value;
	append(pb, buf, n);
}

static void append_key(struct protobuf *pb, unsigned int field, enum wire_type type)
{
	append_varint(pb, (uint64_t)field << 3 | type);
}

void protobuf_uint(struct protobuf *pb, unsigned int field, uint64_t value)
{
	append_key(pb, field, WIRE_VARINT);
	append_varint(pb, value);
}

void protobuf_double(struct protobuf *pb, unsigned int field, double value)
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

void protobuf_text(struct protobuf *pb, unsigned int field, const char *text)
{
	auto_free char *clean = escape_utf8(text);

	append_key(pb, field, WIRE_BYTES);
	append_varint(pb, strlen(clean));
	append(pb, clean, strlen(clean));
}

void protobuf_message(struct protobuf *pb, unsigned int field, const struct protobuf *inner)
{
	append_key(pb, field, WIRE_BYTES);
	append_varint(pb, inner->n);
	append(pb, inner->data, inner->n);
}
