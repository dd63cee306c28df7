/* SPDX-License-Identifier: Apache-2.0 */
/* lib/base/redact.c */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/redact.h"

static const struct {
	const char *line, *told;
} lines[] = {
	/* options with long names */
	{ "x --password=hunter2 y", "x --password=*** y" },
	{ "x --password hunter2 y", "x --password *** y" },
	{ "x --db-password=a --x=b", "x --db-password=* --x=b" },
	{ "x -password hunter2", "x -password ***" },
	{ "x --api-key=12345", "x --api-key=***" },
	{ "x --apikey 12345", "x --apikey ***" },
	{ "x --token abc --verbose", "x --token *** --verbose" },
	{ "x --client-secret='a b' c", "x --client-secret=*** c" },
	{ "x \"--password=a b\" c", "x \"--password=***\" c" },
	{ "x --passphrase:abcd", "x --passphrase:***" },
	{ "openssl -passin pass:abcd -in x", "openssl -passin pass:*** -in x" },
	{ "java -Djavax.net.ssl.keyStorePassword=changeit A",
	  "java -Djavax.net.ssl.keyStorePassword=*** A" },
	/* letters, of programs that have them for it */
	{ "mysql -phunter2 -u root", "mysql -p*** -u root" },
	{ "/usr/bin/mysqldump -phunter2 db", "/usr/bin/mysqldump -p*** db" },
	{ "mysql -p db", "mysql -p db" }, /* it asks for it */
	{ "sshpass -p hunter2 ssh host", "sshpass -p *** ssh host" },
	{ "sshpass -phunter2 ssh -p 22 host", "sshpass -p*** ssh -p 22 host" },
	{ "sshpass -e scp -p a host:b", "sshpass -e scp -p a host:b" },
	/* letters that are it after one command alone */
	{ "docker login -u anna -p hunter2 registry", "docker login -u anna -p *** registry" },
	{ "podman login -phunter2 registry", "podman login -p*** registry" },
	{ "docker run -p 8080:80 -p8443:443 img", "docker run -p 8080:80 -p8443:443 img" },
	{ "podman run --rm -p 127.0.0.1:80:80 img", "podman run --rm -p 127.0.0.1:80:80 img" },
	{ "docker compose -p shop up", "docker compose -p shop up" },
	{ "docker exec db mysql -phunter2", "docker exec db mysql -p***" },
	{ "az webapp create -p plan", "az webapp create -p plan" },
	{ "az login -u anna -p hunter2", "az login -u anna -p ***" },
	{ "redis-cli -a hunter2 ping", "redis-cli -a *** ping" },
	{ "curl -u anna:hunter2 http://h/", "curl -u *** http://h/" },
	{ "ipmitool -H bmc -U admin -P hunter2 power", "ipmitool -H bmc -U admin -P *** power" },
	{ "ldapsearch -w hunter2 -b dc=x", "ldapsearch -w *** -b dc=x" },
	{ "sh -c 'mysql -phunter2 db'", "sh -c 'mysql -p*** db'" },
	{ "ssh -p 22 host", "ssh -p 22 host" },
	{ "cp -p a b", "cp -p a b" },
	{ "grep -a text file", "grep -a text file" },
	/* variables */
	{ "env TOKEN=abcdef prog", "env TOKEN=*** prog" },
	{ "env GITHUB_TOKEN=abcdef A=b prog", "env GITHUB_TOKEN=*** A=b prog" },
	{ "env AWS_SECRET_ACCESS_KEY=abc/def+g prog", "env AWS_SECRET_ACCESS_KEY=*** prog" },
	{ "env PGPASSWORD=x prog", "env PGPASSWORD=* prog" },
	{ "env DB_PASS=ab prog", "env DB_PASS=** prog" },
	{ "docker run -e MYSQL_ROOT_PASSWORD=abc img",
	  "docker run -e MYSQL_ROOT_PASSWORD=*** img" },
	/* URLs */
	{ "git clone https://anna:hunter2@host/x.git", "git clone https://anna:***@host/x.git" },
	{ "x postgres://u:p@/w@host:5432/db", "x postgres://u:***@host:5432/db" },
	{ "x redis://:hunter2@host", "x redis://:***@host" },
	{ "x --url=amqp://u:hunter2@h/v", "x --url=amqp://u:***@h/v" },
	{ "x https://h/?a=b&token=abc&c=d", "x https://h/?a=b&token=***&c=d" },
	{ "x https://user@host:8080/a", "x https://user@host:8080/a" },
	{ "x http://host:8080/a", "x http://host:8080/a" },
	/* the same without a scheme */
	{ "ftp anna:hunter2@host", "ftp anna:***@host" },
	{ "x anna:hunter2@host:3128/a", "x anna:***@host:3128/a" },
	{ "x --proxy=anna:hunter2@10.0.0.1:3128", "x --proxy=anna:***@10.0.0.1:3128" },
	{ "x 'anna:hunter2@host'", "x 'anna:***@host'" },
	{ "x anna:hu@nter/2@host", "x anna:***@host" },
	{ "x anna:hunter2@tcp(host:3306)/db", "x anna:***@tcp(host:3306)/db" },
	{ "x anna:hunter2@[::1]:80", "x anna:***@[::1]:80" },
	{ "git clone git@host:x/y.git", "git clone git@host:x/y.git" },
	{ "rsync -a host:/tank/x@daily b", "rsync -a host:/tank/x@daily b" },
	{ "docker run nginx:1.25@sha256:0123abcd", "docker run nginx:1.25@sha256:0123abcd" },
	{ "npm i lodash:x@4.17.21 npm:a@b", "npm i lodash:x@4.17.21 npm:a@b" },
	{ "x mailto:anna@host a:@host :b@host", "x mailto:anna@host a:@host :b@host" },
	{ "ssh -L 8080:localhost:80 anna@host", "ssh -L 8080:localhost:80 anna@host" },
	/* headers, documents */
	{ "curl -H \"Authorization: Bearer abc.def\" x", "curl -H \"Authorization: Bearer *** x" },
	{ "curl -H Authorization: Basic YTpi x", "curl -H Authorization: Basic *** x" },
	{ "curl -H X-Api-Key: abcd x", "curl -H X-Api-Key: *** x" },
	{ "curl -H X-Api-Key:abcd x", "curl -H X-Api-Key:*** x" },
	{ "x Bearer abcdef y", "x Bearer *** y" },
	{ "x {\"user\":\"a\",\"password\":\"b\"}", "x {\"user\":\"a\",\"password\":***" },
	/* forms that are secrets wherever they are */
	{ "x ghp_0123456789abcdefghijABCDEFGHIJ012345 y", "x *** y" },
	{ "x AKIAIOSFODNN7EXAMPLE y", "x *** y" },
	{ "x eyJhbGciOiJIUzI1NiJ9.e30.abcdef y", "x *** y" },
	/* what is none */
	{ "", "" },
	{ "nginx: worker process", "nginx: worker process" },
	{ "postgres: writer", "postgres: writer" },
	{ "x --token-file=/run/token --password-file /etc/p",
	  "x --token-file=/run/token --password-file /etc/p" },
	{ "x --compass=north --tokenizer=bpe --bypass-cache=1",
	  "x --compass=north --tokenizer=bpe --bypass-cache=1" },
	{ "x sk-learn --key-frames=3 a=b", "x sk-learn --key-frames=3 a=b" },
	{ "x /usr/share/password/x", "x /usr/share/password/x" },
	{ "x --password=", "x --password=" },
	{ "x --password", "x --password" },
	{ "  x   y  ", "  x   y  " },
};

static void test_lines(void **state)
{
	char text[256];
	size_t i, n;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		strcpy(text, lines[i].line);
		n = watt_redact(text, strlen(text));
		text[n] = '\0';
		assert_string_equal(text, lines[i].told);
		assert_int_equal(watt_redact(text, n), n);
		assert_string_equal(text, lines[i].told);
	}
}

/* As procfs has them: an argument that begins with a secret is one to its end. */
static const struct {
	const char *bytes;
	size_t len;
	const char *told;
	size_t told_len;
} arguments[] = {
#define BYTES(a, b) \
	{ \
		a, sizeof(a), b, sizeof(b) \
	}
	BYTES("x\0--password=a b c\0y", "x\0--password=***\0y"),
	BYTES("x\0--password\0a b c\0y", "x\0--password\0***\0y"),
	BYTES("mysql\0-pa b\0db", "mysql\0-p***\0db"),
	BYTES("sh\0-c\0mysql -pab db\0y", "sh\0-c\0mysql -p** db\0y"),
	BYTES("curl\0-H\0Authorization: Bearer abc", "curl\0-H\0Authorization: Bearer ***"),
	BYTES("curl\0-u\0a:b c", "curl\0-u\0***"),
	BYTES("env\0DB_PASSWORD=a b\0x", "env\0DB_PASSWORD=***\0x"),
	BYTES("x\0\0\0", "x\0\0\0"),
#undef BYTES
};

static void test_arguments(void **state)
{
	char bytes[128];
	size_t i;

	for (i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		memcpy(bytes, arguments[i].bytes, arguments[i].len);
		assert_int_equal(watt_redact(bytes, arguments[i].len), arguments[i].told_len);
		assert_memory_equal(bytes, arguments[i].told, arguments[i].told_len);
	}
}

static void test_none(void **state)
{
	char byte = 'x';

	assert_int_equal(watt_redact(NULL, 0), 0);
	assert_int_equal(watt_redact(&byte, 1), 1);
	assert_int_equal(byte, 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
