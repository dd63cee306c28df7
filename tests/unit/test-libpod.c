/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/libpod.c and podman.c: what podman's database says of containers and pods. */
#include "containers.h"

#include <sqlite3.h>

#define POD_A "1111111111111111111111111111111111111111111111111111111111111111"
#define STORAGE "var/lib/containers/storage"
#define TABLES \
	"CREATE TABLE PodConfig(ID TEXT PRIMARY KEY NOT NULL, Name TEXT UNIQUE NOT NULL," \
	" JSON TEXT NOT NULL);" \
	"CREATE TABLE ContainerConfig(ID TEXT PRIMARY KEY NOT NULL, Name TEXT UNIQUE NOT NULL," \
	" PodID TEXT, JSON TEXT NOT NULL);"
#define POD "INSERT INTO PodConfig VALUES('" POD_A "', 'shop', '{}');"
#define IN_POD \
	"INSERT INTO ContainerConfig VALUES('" ID_A "', 'shop-web', '" POD_A "'," \
	" '{\"rootfsImageName\":\"docker.io/library/nginx:latest\",\"labels\":{\"app\":\"shop\"}}');"
#define ALONE "INSERT INTO ContainerConfig VALUES('" ID_B "', 'other', NULL, '{}');"

static void make_database(const struct containers *c, const char *folder, const char *sql)
{
	char path[PATH_MAX], place[256];
	sqlite3 *db;

	snprintf(place, sizeof(place), "%s/x", folder);
	scratch_write(c->dir, place, ""); /* makes the folder */
	snprintf(path, sizeof(path), "%s/%s/db.sql", c->dir, folder);
	unlink(path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA synchronous=OFF", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void expect_pod(const struct containers *c)
{
	const struct watt_container *found = &c->answer.container;

	assert_string_equal(found->runtime, "podman");
	assert_string_equal(found->pod_uid, POD_A);
	assert_string_equal(found->pod_name, "shop");
	assert_null(found->pod_namespace);
	assert_int_equal(found->n_labels, 1);
	assert_string_equal(found->labels[0].key, "app");
	assert_string_equal(found->labels[0].value, "shop");
}

static void test_pods(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_podman);
	make_database(&c, STORAGE, TABLES POD IN_POD ALONE);
	containers_probe(&c, "kube-node", WATT_AVAILABLE);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), 0);
	containers_expect(&c, "shop-web", "docker.io/library/nginx:latest");
	expect_pod(&c);
	assert_int_equal(containers_ask(&c, ID_B, "podman", 0), 0);
	containers_expect(&c, "other", NULL);
	assert_null(c.answer.container.pod_uid);
	assert_int_equal(containers_ask(&c, "cc", "podman", 0), -ENOENT);
	containers_close(&c);
}

/* A user's own, and one whose changes went to a log beside it until podman was done. */
static void test_places(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_podman);
	make_database(&c, "home/anna/.local/share/containers/storage",
		      "PRAGMA journal_mode=WAL;" TABLES POD IN_POD);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), -ENOENT);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 1000), 0);
	expect_pod(&c);
	containers_close(&c);
}

/* What the database doesn't tell, the list may. */
static void test_list_beside_it(void **state)
{
	static const char list[] = "[{\"id\":\"" ID_A "\",\"names\":[\"listed\"]}]";
	struct containers c;

	containers_open(&c, &watt_meta_podman);
	scratch_write(c.dir, STORAGE "/overlay-containers/containers.json", list);
	make_database(&c, STORAGE, TABLES ALONE);
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), 0);
	containers_expect(&c, "listed", NULL);
	scratch_write(c.dir, STORAGE "/db.sql", "no database at all");
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), 0);
	containers_expect(&c, "listed", NULL);
	assert_int_equal(containers_ask(&c, ID_B, "podman", 0), -ENOENT);
	containers_close(&c);
}

static void test_refuses(void **state)
{
	static const struct {
		const char *sql;
		int error;
	} cases[] = {
		{ "CREATE TABLE t(x);", -EBADMSG },
		{ TABLES, -ENOENT },
		{ TABLES "INSERT INTO ContainerConfig VALUES('" ID_A "', '', NULL, '{}');",
		  -ENOENT },
		{ TABLES "INSERT INTO ContainerConfig VALUES('" ID_A "', x'1b5b', NULL, '[');",
		  -ENOENT },
		{ TABLES "INSERT INTO ContainerConfig VALUES('" ID_A "', char(27), NULL, 7);",
		  -ENOENT },
		/* views can do what costs for ever */
		{ "CREATE TABLE PodConfig(ID, Name); CREATE VIEW ContainerConfig AS WITH RECURSIVE"
		  " n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT '" ID_A "' AS ID,"
		  " 'evil' AS Name, NULL AS PodID, '{}' AS JSON FROM n WHERE i < 0;",
		  -EBADMSG },
	};
	struct containers c;
	size_t i;

	containers_open(&c, &watt_meta_podman);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[PATH_MAX], data[65536];
		ssize_t len;
		int fd;

		make_database(&c, STORAGE, cases[i].sql);
		snprintf(path, sizeof(path), "%s/" STORAGE "/db.sql", c.dir);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		len = read(fd, data, sizeof(data));
		close(fd);
		assert_true(len > 0);
		assert_int_equal(watt_libpod_parse(data, (size_t)len, ID_A, &c.answer),
				 cases[i].error);
		assert_int_equal(watt_libpod_parse(data, 50, ID_A, &c.answer), -EBADMSG);
	}
	containers_close(&c);
}

/* A pod of another kind of id could be anybody's. */
static void test_odd_pod(void **state)
{
	struct containers c;

	containers_open(&c, &watt_meta_podman);
	make_database(&c, STORAGE,
		      TABLES "INSERT INTO PodConfig VALUES('" POD_UID "', 'theirs', '{}');"
			     "INSERT INTO ContainerConfig VALUES('" ID_A "', 'mine', '" POD_UID
			     "', '{}');");
	assert_int_equal(containers_ask(&c, ID_A, "podman", 0), 0);
	containers_expect(&c, "mine", NULL);
	assert_null(c.answer.container.pod_uid);
	assert_null(c.answer.container.pod_name);
	containers_close(&c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pods),           cmocka_unit_test(test_places),
		cmocka_unit_test(test_list_beside_it), cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_odd_pod),
	};

	return cmocka_run_group_tests_name("libpod", tests, NULL, NULL);
}
