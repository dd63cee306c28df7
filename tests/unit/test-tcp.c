/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/tcp.c */
#include "unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/tcp.h"
#include "base/util.h"

/* Deaf: who has the port, so that nobody else gets it, and does not listen. */
static int have_port(bool is_deaf, unsigned int *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_true(is_deaf || listen(fd, 5) == 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static void expect_open(const char *place, const char *default_port)
{
	int fd = watt_tcp_open(place, default_port, 30000);

	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
}

static void test_somebody_listens(void **state)
{
	unsigned int port;
	char place[64], port_text[16];
	int fd = have_port(false, &port);

	snprintf(port_text, sizeof(port_text), "%u", port);
	snprintf(place, sizeof(place), "127.0.0.1:%u", port);
	expect_open(place, NULL);
	expect_open(place, "1");
	expect_open("127.0.0.1", port_text);
	expect_open("[127.0.0.1]", port_text);
	snprintf(place, sizeof(place), "[127.0.0.1]:%u", port);
	expect_open(place, "1");
	close(fd);
}

static void test_nobody_listens(void **state)
{
	unsigned int port;
	char place[64];
	int fd = have_port(true, &port);

	snprintf(place, sizeof(place), "127.0.0.1:%u", port);
	assert_int_equal(watt_tcp_open(place, NULL, 30000), -ECONNREFUSED);
	close(fd);
}

static void test_places_that_are_none(void **state)
{
	static const char *const places[] = {
		"", ":5", "host:", "[::1", "[::1]x", "[]:5", "[::1]:"
	};
	char text[300];
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(places); i++)
		assert_int_equal(watt_tcp_open(places[i], "1", 30000), -EINVAL);
	assert_int_equal(watt_tcp_open("127.0.0.1", NULL, 30000), -EINVAL);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(watt_tcp_open(text, "1", 30000), -ENAMETOOLONG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_somebody_listens),
		cmocka_unit_test(test_nobody_listens),
		cmocka_unit_test(test_places_that_are_none),
	};

	return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}
