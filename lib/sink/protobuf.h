/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the wire format of protocol buffers, built in memory from the inside out. */
#ifndef WATT_SINK_PROTOBUF_H
#define WATT_SINK_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message under construction; it keeps its memory when it is emptied for the next one. */
struct watt_protobuf {
	unsigned char *data;
	size_t n;
	size_t capacity;
	bool has_failed; /* out of memory somewhere: it is not whole */
};

void watt_protobuf_clear(struct watt_protobuf *pb);
void watt_protobuf_done(struct watt_protobuf *pb);
/* uint32, uint64, bool, enum; and int32, int64 where they are not negative. */
void watt_protobuf_uint(struct watt_protobuf *pb, unsigned int field, uint64_t value);
void watt_protobuf_double(struct watt_protobuf *pb, unsigned int field, double value);
/* Made valid UTF-8, as a string has to be. */
void watt_protobuf_text(struct watt_protobuf *pb, unsigned int field, const char *text);
void watt_protobuf_message(struct watt_protobuf *pb, unsigned int field,
			   const struct watt_protobuf *inner);

#endif
