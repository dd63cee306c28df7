/* SPDX-License-Identifier: Apache-2.0 */
/* Meta as a whole: opens and closes it, and names users. Its parts are in files of their own. */
#include "source/meta/meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "source/meta/user.h"

#define PASSWD_MAX (4u << 20)

/* Of a hybrid machine, ids of v1 cgroups are of the hierarchy that tells most apart. */
static const char *choose_v1_main(const struct watt_root *procfs)
{
	char text[4096];

	if (watt_root_read(procfs, "cgroups", text, sizeof(text)) < 0)
		return NULL;
	return watt_cgroup_main_controller(text);
}

int watt_meta_open(const struct watt_env *env, struct watt_meta **ret)
{
	struct watt_meta *meta = calloc(1, sizeof(*meta));

	if (!meta)
		return -ENOMEM;
	meta->env = env;
	meta->hz = sysconf(_SC_CLK_TCK);
	watt_cgroupfs_init(&meta->cgroupfs, &env->sysfs);
	meta->v1_main = choose_v1_main(&env->procfs);
	*ret = meta;
	return 0;
}

struct watt_meta *watt_meta_close(struct watt_meta *meta)
{
	if (!meta)
		return NULL;
	watt_cgroups_done(meta);
	free(meta);
	return NULL;
}

/* The passwd file of the machine whose procfs this is lies beside it: /proc, /etc. */
static int read_passwd(const struct watt_root *procfs, char **ret)
{
	struct watt_root machine = WATT_ROOT_INIT;
	size_t len;
	int r;

	machine.fd = openat(procfs->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (machine.fd < 0)
		return -errno;
	r = watt_root_slurp(&machine, "etc/passwd", PASSWD_MAX, ret, &len);
	watt_root_close(&machine);
	return r;
}

int watt_meta_user_name(struct watt_meta *meta, uint32_t uid, char *buf, size_t size)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = read_passwd(&meta->env->procfs, &text);
	return r < 0 ? r : watt_passwd_find(text, uid, buf, size);
}
