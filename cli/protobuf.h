/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the wire format of protocol buffers, built in memory from the inside out. */
#ifndef WATT_CLI_PROTOBUF_H
#define WATT_CLI_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

/* A message under construction; it keeps its memory when it is emptied for the next one. */
struct protobuf {
	unsigned char *data;
	size_t n;
	size_t capacity;
};

void protobuf_clear(struct protobuf *pb);
void protobuf_done(struct protobuf *pb);
/* uint32, uint64, bool, enum; and int32, int64 where they are not negative. */
void protobuf_uint(struct protobuf *pb, unsigned int field, uint64_t value);
void protobuf_double(struct protobuf *pb, unsigned int field, double value);
/* Made valid UTF-8, as a string has to be. */
void protobuf_text(struct protobuf *pb, unsigned int field, const char *text);
void protobuf_message(struct protobuf *pb, unsigned int field, const struct protobuf *inner);

#endif
