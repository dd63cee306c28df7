/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as text. Nothing is asked of the network. */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "number.h"

static int parse_host(const char *host, uint16_t port, union address *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!*host || inet_pton(AF_INET6, host, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons(port);
		return 0;
	}
	if (inet_pton(AF_INET, host, &ret->v4.sin_addr) != 1)
		return -EINVAL;
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = htons(port);
	return 0;
}

/* Changes its text. */
static int parse_one(char *text, union address *ret)
{
	char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	uint64_t port;

	if (!colon || number_count(colon + 1, 0, 65535, &port) < 0)
		return -EINVAL;
	*colon = '\0';
	if (*text == '[') {
		if (n < 3 || text[n - 1] != ']' || !strchr(text, ':'))
			return -EINVAL;
		text[n - 1] = '\0';
		text++;
	} else if (strchr(text, ':')) {
		return -EINVAL;
	}
	return parse_host(text, (uint16_t)port, ret);
}

int addresses_parse(const char *text, union address *ret, char *error, size_t error_size)
{
	char one[ADDRESS_TEXT_MAX];
	int n = 0;

	do {
		size_t len = strcspn(text, ",");

		if (n == ADDRESSES_MAX) {
			snprintf(error, error_size, "more than %d addresses", ADDRESSES_MAX);
			return -EINVAL;
		}
		snprintf(one, sizeof(one), "%.*s", (int)len, text);
		if (len >= sizeof(one) || parse_one(one, &ret[n]) < 0) {
			snprintf(error, error_size,
				 "'%.*s' is not ADDRESS:PORT, as 127.0.0.1:9753, [::1]:9753, or "
				 ":9753 for all addresses",
				 len > 80 ? 80 : (int)len, text);
			return -EINVAL;
		}
		n++;
		text += len;
	} while (*text++ == ',');
	return n;
}

unsigned int address_port(const union address *address)
{
	return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port :
							 address->v6.sin6_port);
}

const char *address_print(const union address *address, char *buf)
{
	char host[INET6_ADDRSTRLEN];

	if (address->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof(host));
		snprintf(buf, ADDRESS_TEXT_MAX, "%s:%u", host, ntohs(address->v4.sin_port));
	} else {
		inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof(host));
		snprintf(buf, ADDRESS_TEXT_MAX, "[%s]:%u", host, ntohs(address->v6.sin6_port));
	}
	return buf;
}
