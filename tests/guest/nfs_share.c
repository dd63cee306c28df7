/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder of this machine, shared by NFS with this machine itself, without any tool of NFS: the
 * kernel's server is told what it would ask mountd for, and the client is mounted.
 *
 * usage: nfs_share FOLDER MOUNT
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT 2049
#define SERVER "/proc/fs/nfsd/"
#define CACHES "/proc/net/rpc/"
#define FOREVER 2147483647
/* include/uapi/linux/nfsd/export.h: insecure port, async, no subtree check, has a number (fsid) */
#define EXPORT_FLAGS (0x2 | 0x10 | 0x400 | 0x2000)
#define BY_NUMBER 1 /* FSID_NUM */

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* One line into a file of the kernel's, by one write(). */
__attribute__((format(printf, 2, 3))) static void tell(const char *path, const char *format, ...)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	char line[512];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (fd < 0 || len < 0 || write(fd, line, (size_t)len) != len)
		die(path);
	close(fd);
}

/* Who may have what; nobody answers when it asks for more. */
static void share(const char *folder)
{
	tell(CACHES "auth.unix.ip/channel", "nfsd 127.0.0.1 %d self\n", FOREVER);
	tell(CACHES "nfsd.export/channel", "self %s %d %d 65534 65534 0\n", folder, FOREVER,
	     EXPORT_FLAGS);
	tell(CACHES "nfsd.fh/channel", "self %d \\x00000000 %d %s\n", BY_NUMBER, FOREVER, folder);
}

static void serve(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, 16) < 0)
		die("socket");
	tell(SERVER "versions", "-3 +4\n");
	tell(SERVER "portlist", "%d\n", fd);
	tell(SERVER "threads", "2\n");
	tell(SERVER "v4_end_grace", "Y\n"); /* nobody had a lock before */
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	if (mount("nfsd", "/proc/fs/nfsd", "nfsd", 0, NULL) < 0)
		die("nfsd");
	share(argv[1]);
	serve();
	if (mount("127.0.0.1:/", argv[2], "nfs4", 0,
		  "vers=4.2,proto=tcp,addr=127.0.0.1,clientaddr=127.0.0.1") < 0)
		die(argv[2]);
	return 0;
}
