/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/uevent.c: the kernel is believed, and nobody else. */
#include "unit.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include "base/uevent.h"

#define MESSAGE(text) text, sizeof(text)

static void test_parse(void **state)
{
	static const char *const of_set[] = { "add", "remove", "bind", "unbind", "move" };
	static const char *const others[] = { "change", "online", "offline", "added" };
	struct watt_uevent event = { 0 };
	char message[256];
	size_t i;
	int n;

	for (i = 0; i < 5; i++) {
		n = snprintf(message, sizeof(message), "%s@/devices/x%cA=1%cSUBSYSTEM=hwmon",
			     of_set[i], 0, 0);
		assert_int_equal(watt_uevent_parse(message, (size_t)n + 1, &event), 0);
		assert_true(event.is_of_set);
		assert_string_equal(event.subsystem, "hwmon");
	}
	for (i = 0; i < 4; i++) {
		n = snprintf(message, sizeof(message),
			     "%s@/devices/x%cSUBSYSTEM=iio%cB=", others[i], 0, 0);
		assert_int_equal(watt_uevent_parse(message, (size_t)n + 1, &event), 0);
		assert_false(event.is_of_set);
		assert_string_equal(event.subsystem, "iio");
	}
}

static void test_refuses(void **state)
{
	struct watt_uevent event = { .subsystem = "none" };

	assert_int_equal(watt_uevent_parse("", 0, &event), -EBADMSG);
	assert_int_equal(watt_uevent_parse(MESSAGE("add@/devices/x"), &event), -EBADMSG);
	assert_int_equal(watt_uevent_parse(MESSAGE("add@/x\0SUBSYSTEM="), &event), -EBADMSG);
	assert_int_equal(watt_uevent_parse(MESSAGE("libudev\0SUBSYSTEM=iio"), &event), -EBADMSG);
	assert_int_equal(watt_uevent_parse("add@/x\0SUBSYSTEM=iio", 20, &event), -EBADMSG);
	assert_string_equal(event.subsystem, "none");
}

static void count(void *data, const char *subsystem)
{
	unsigned int *n = data;

	*n += subsystem && !strcmp(subsystem, "watt-test");
}

/* What a program sends is not what the kernel says. */
static void test_other_senders(void **state)
{
	static const char message[] = "add@/devices/x\0SUBSYSTEM=watt-test";
	struct sockaddr_nl to = { 0 };
	socklen_t size = sizeof(to);
	struct watt_uevents events;
	unsigned int n = 0;
	int fd;

	if (watt_uevents_open(&events) < 0)
		skip();
	assert_int_equal(getsockname(events.fd, (struct sockaddr *)&to, &size), 0);
	to.nl_groups = 0;
	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	assert_true(fd >= 0);
	if (sendto(fd, message, sizeof(message), 0, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		watt_uevents_close(&events);
		skip(); /* not everybody may */
	}
	watt_uevents_read(&events, count, &n);
	assert_int_equal(n, 0);
	close(fd);
	watt_uevents_close(&events);
	watt_uevents_read(&events, count, &n); /* of nobody */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_other_senders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
