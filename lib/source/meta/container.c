/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a cgroup path into container, pod and unit. It knows the runtimes by the names they
 * give their cgroups, and nothing else of them: it reads no file and asks no runtime.
 */
#include "source/source.h"

#include <stdbool.h>
#include <string.h>

#include "base/parse.h"
#include "base/util.h"
#include "source/meta/unit.h"

#define ID_LEN 64 /* of a container's id, in hexadecimal digits */

/* What the components seen so far amount to; a deeper one takes precedence. */
struct scan {
	struct watt_span container;
	struct watt_span pod;
	const char *runtime;
	struct watt_span job; /* its scheduler's number */
	const char *scheduler;
	bool is_machine;  /* container is a name as systemd escapes it */
	bool in_kubepods; /* somewhere below the kubelet's cgroup */
	struct watt_span parent, grandparent;
	struct watt_span top; /* the first component */
	unsigned int depth;   /* of the component that is looked at */
	unsigned int told_at; /* of the deepest that told a container, a pod or a job; 0: none */
};

/* "<prefix>-<id>.scope", the same without ".scope", and "<slice>:<prefix>:<id>". */
static const struct {
	const char *prefix;
	const char *runtime;
} leaves[] = {
	{ "docker", "docker" },      { "cri-containerd", "containerd" },
	{ "nerdctl", "containerd" }, { "crio", "cri-o" },
	{ "libpod", "podman" },      { "libpod-payload", "podman" },
};

static bool is_lower_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool is_hex(struct watt_span span, size_t len)
{
	size_t i;

	if (span.len != len)
		return false;
	for (i = 0; i < len; i++)
		if (!is_lower_hex(span.p[i]))
			return false;
	return true;
}

static bool is_id(struct watt_span span)
{
	return is_hex(span, ID_LEN);
}

/* 8-4-4-4-12 digits with '-' or '_' between, or the 32 digits of a static pod. */
static bool is_pod_uid(struct watt_span span)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	if (is_hex(span, 32))
		return true;
	if (span.len != strlen(form))
		return false;
	for (i = 0; i < span.len; i++) {
		bool is_dash = span.p[i] == '-' || span.p[i] == '_';

		if (form[i] == '-' ? !is_dash : !is_lower_hex(span.p[i]))
			return false;
	}
	return true;
}

static void set_container(struct scan *scan, struct watt_span id, const char *runtime)
{
	scan->container = id;
	scan->runtime = runtime;
	scan->is_machine = false;
	scan->told_at = scan->depth;
}

static void set_job(struct scan *scan, struct watt_span id, const char *scheduler)
{
	scan->job = id;
	scan->scheduler = scheduler;
	scan->told_at = scan->depth;
}

static void set_pod(struct scan *scan, struct watt_span uid)
{
	scan->pod = uid;
	/* a container around the kubelet (kind) holds the node, not the pod */
	set_container(scan, (struct watt_span){ 0 }, NULL);
}

/* "kubepods[-burstable|-besteffort]-pod<uid>.slice", with any prefix. */
static bool scan_pod_slice(struct scan *scan, struct watt_span name)
{
	struct watt_span span;
	const char *kubepods, *pod;

	if (!watt_span_has_suffix(name, ".slice"))
		return false;
	span = watt_span_drop(name, strlen(".slice"));
	kubepods = memmem(span.p, span.len, "kubepods", strlen("kubepods"));
	if (!kubepods)
		return false;
	scan->in_kubepods = true;
	pod = memmem(kubepods, (size_t)(span.p + span.len - kubepods), "-pod", strlen("-pod"));
	if (!pod)
		return false;
	span = watt_span_skip(span, (size_t)(pod - span.p) + strlen("-pod"));
	if (!is_pod_uid(span))
		return false;
	set_pod(scan, span);
	return true;
}

static bool scan_pod(struct scan *scan, struct watt_span name)
{
	static const char podman[] = "libpod_pod_";
	struct watt_span span;
	const char *p;

	if (scan->in_kubepods && watt_span_has_prefix(name, "pod")) {
		span = watt_span_skip(name, strlen("pod"));
		if (is_pod_uid(span)) {
			set_pod(scan, span);
			return true;
		}
	}
	p = memmem(name.p, name.len, podman, strlen(podman));
	if (p && watt_span_has_suffix(name, ".slice")) {
		span = watt_span_skip(name, (size_t)(p - name.p) + strlen(podman));
		span = watt_span_drop(span, WATT_MIN(span.len, strlen(".slice")));
		if (is_id(span)) {
			set_pod(scan, span);
			return true;
		}
	}
	return scan_pod_slice(scan, name);
}

static const char *leaf_runtime(struct watt_span prefix)
{
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(leaves); i++)
		if (watt_span_is(prefix, leaves[i].prefix))
			return leaves[i].runtime;
	return NULL;
}

/* "<slice>:<prefix>:<id>": a runtime that took systemd's notation for a path. */
static bool scan_mismatch(struct scan *scan, struct watt_span name)
{
	const char *colon = memchr(name.p, ':', name.len);
	struct watt_span slice, prefix, id;
	const char *second;

	if (!colon)
		return false;
	second = memchr(colon + 1, ':', (size_t)(name.p + name.len - colon - 1));
	if (!second)
		return false;
	slice = (struct watt_span){ name.p, (size_t)(colon - name.p) };
	prefix = (struct watt_span){ colon + 1, (size_t)(second - colon - 1) };
	id = watt_span_skip(name, (size_t)(second - name.p) + 1);
	scan_pod(scan, slice);
	if (!is_id(id))
		return false;
	set_container(scan, id, leaf_runtime(prefix));
	return true;
}

static bool scan_leaf(struct scan *scan, struct watt_span name)
{
	struct watt_span span = name, prefix, id;
	const char *runtime;

	if (watt_span_has_suffix(span, ".scope"))
		span = watt_span_drop(span, strlen(".scope"));
	if (span.len < ID_LEN + 2)
		return false;
	prefix = watt_span_drop(span, ID_LEN + 1);
	id = watt_span_skip(span, span.len - ID_LEN);
	if (!is_id(id))
		return false;
	if (watt_span_is(prefix, "kata") && id.p[-1] == '_') {
		set_container(scan, id, "kata");
		return true;
	}
	runtime = leaf_runtime(prefix);
	if (!runtime || id.p[-1] != '-')
		return false; /* conmon and its kind watch a container and are not in it */
	set_container(scan, id, runtime);
	return true;
}

/* An id and nothing else: what runs it is told by the directory that it is in, or not at all. */
static bool scan_bare_id(struct scan *scan, struct watt_span name)
{
	static const struct {
		const char *parent;
		const char *runtime;
	} parents[] = {
		{ "docker", "docker" },
		{ "kata_overhead", "kata" },
		{ "k8s.io", "containerd" },
		{ "default", "containerd" }, /* what ctr calls its namespace */
		{ "buildkit", "buildkit" },
		{ "moby", "docker" },
	};
	const char *runtime = NULL;
	size_t i;

	if (!is_id(name))
		return false;
	if (watt_span_is(scan->parent, "libpod_parent")) {
		set_pod(scan, name);
		return true;
	}
	for (i = 0; i < WATT_ARRAY_SIZE(parents); i++)
		if (watt_span_is(scan->parent, parents[i].parent))
			runtime = parents[i].runtime;
	set_container(scan, name, runtime);
	return true;
}

/* Containers that have a name instead of an id. */
static bool scan_named(struct scan *scan, struct watt_span name)
{
	static const char payload[] = "lxc.payload.", nspawn[] = "systemd-nspawn@";

	if (watt_span_has_prefix(name, payload) && name.len > strlen(payload))
		set_container(scan, watt_span_skip(name, strlen(payload)), "lxc");
	else if (watt_span_is(scan->parent, "lxc") || watt_span_is(scan->parent, "lxc.payload"))
		set_container(scan, name, "lxc");
	else if (watt_span_is(scan->parent, "k8s.io") ||
		 (watt_span_is(scan->parent, "default") && scan->depth == 2))
		set_container(scan, name, "containerd");
	else if (watt_span_is(scan->parent, "garden"))
		set_container(scan, name, "garden");
	else if (scan->depth == 2 &&
		 (watt_span_is(scan->parent, "podruntime") || watt_span_is(scan->parent, "system")))
		set_container(scan, name, "talos");
	else if (watt_span_is(scan->grandparent, "libvirt") &&
		 (watt_span_is(scan->parent, "qemu") || watt_span_is(scan->parent, "lxc")))
		set_container(scan, name, "libvirt");
	else if (watt_span_has_prefix(name, nspawn) && watt_span_has_suffix(name, ".service") &&
		 name.len > strlen(nspawn) + strlen(".service"))
		set_container(scan,
			      watt_span_drop(watt_span_skip(name, strlen(nspawn)),
					     strlen(".service")),
			      "systemd-nspawn");
	else
		return false;
	scan->is_machine = watt_span_has_prefix(name, nspawn);
	return true;
}

static bool is_digits(struct watt_span span)
{
	size_t i;

	for (i = 0; i < span.len; i++)
		if (span.p[i] < '0' || span.p[i] > '9')
			return false;
	return span.len > 0;
}

/* "job_123" of Slurm, below "slurmstepd.scope" or "uid_1000". */
static bool scan_slurm(struct scan *scan, struct watt_span name)
{
	struct watt_span id;

	if (!watt_span_has_prefix(name, "job_") ||
	    (!watt_span_has_suffix(scan->parent, "slurmstepd.scope") &&
	     !watt_span_has_prefix(scan->parent, "uid_")))
		return false;
	id = watt_span_skip(name, strlen("job_"));
	if (!is_digits(id))
		return false;
	set_job(scan, id, "slurm");
	return true;
}

/* "oar-u1000-j123.slice" of OAR 3; "anna_123" below "oar" of OAR 2. */
static bool scan_oar(struct scan *scan, struct watt_span name)
{
	struct watt_span id = name;
	const char *mark;

	if (watt_span_has_suffix(id, ".slice"))
		id = watt_span_drop(id, strlen(".slice"));
	if (watt_span_has_prefix(id, "oar-u"))
		mark = memmem(id.p, id.len, "-j", 2);
	else
		mark = watt_span_is(scan->parent, "oar") ? memrchr(id.p, '_', id.len) : NULL;
	if (!mark)
		return false;
	id = watt_span_skip(id, (size_t)(mark - id.p) + (*mark == '-' ? 2 : 1));
	if (!is_digits(id))
		return false;
	set_job(scan, id, "oar");
	return true;
}

/* "123.server" or "123[7].server" below "pbs_jobs.service/jobid", and Torque's below "torque". */
static bool scan_pbs(struct scan *scan, struct watt_span name)
{
	bool is_pbs = (watt_span_is(scan->parent, "jobid") || watt_span_is(scan->parent, "jobs")) &&
		      watt_span_is(scan->grandparent, "pbs_jobs.service");

	if ((!is_pbs && !watt_span_is(scan->parent, "torque")) || name.p[0] < '0' ||
	    name.p[0] > '9')
		return false;
	set_job(scan, name, is_pbs ? "pbs" : "torque");
	return true;
}

static bool scan_job(struct scan *scan, struct watt_span name)
{
	return scan_slurm(scan, name) || scan_oar(scan, name) || scan_pbs(scan, name);
}

/* "ecstasks-<id>.slice" and, below "ecs", "<id>" with Fargate's "<id>-<number>" in it. */
static bool scan_ecs(struct scan *scan, struct watt_span name)
{
	static const char prefix[] = "ecstasks-";
	struct watt_span id = name;

	if (watt_span_has_prefix(name, prefix) && watt_span_has_suffix(name, ".slice")) {
		id = watt_span_drop(watt_span_skip(name, strlen(prefix)), strlen(".slice"));
		if (!is_pod_uid(id))
			return false;
		set_pod(scan, id);
		return true;
	}
	if (!watt_span_is(scan->top, "ecs") || scan->depth < 2)
		return false;
	if (is_pod_uid(id)) {
		set_pod(scan, id);
		return true;
	}
	if (id.len < 34 || id.p[32] != '-' || !is_hex((struct watt_span){ id.p, 32 }, 32) ||
	    !is_digits(watt_span_skip(id, 33)))
		return false;
	set_container(scan, id, "ecs");
	return true;
}

/*
 * "<allocation>.<task>.scope" below a slice of Nomad, "<allocation>[-.]<task>" below "nomad". Before
 * 1.7, a v1 hierarchy has an id of the executor's own there, which tells of no allocation.
 */
static bool scan_nomad(struct scan *scan, struct watt_span name)
{
	struct watt_span task = name;

	if (!watt_span_has_prefix(scan->top, "nomad") || scan->depth < 2)
		return false;
	if (watt_span_has_suffix(task, ".scope"))
		task = watt_span_drop(task, strlen(".scope"));
	if (task.len == 36 && is_pod_uid(task)) {
		set_container(scan, task, "nomad");
		return true;
	}
	if (task.len < 38 || !is_pod_uid((struct watt_span){ task.p, 36 }) ||
	    (task.p[36] != '.' && task.p[36] != '-'))
		return false;
	set_pod(scan, (struct watt_span){ task.p, 36 });
	set_container(scan, task, "nomad");
	return true;
}

/* What machined and libvirt register: "machine-<escaped name>.scope", "<name>.libvirt-qemu". */
static bool scan_machine(struct scan *scan, struct watt_span name)
{
	static const char *const libvirt[] = { ".libvirt-qemu", ".libvirt-lxc" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(libvirt); i++) {
		if (watt_span_has_suffix(name, libvirt[i]) && name.len > strlen(libvirt[i])) {
			set_container(scan, watt_span_drop(name, strlen(libvirt[i])), "libvirt");
			scan->is_machine = true;
			return true;
		}
	}
	if (!watt_span_has_prefix(name, "machine-") || !watt_span_has_suffix(name, ".scope") ||
	    name.len <= strlen("machine-.scope"))
		return false;
	name = watt_span_drop(watt_span_skip(name, strlen("machine-")), strlen(".scope"));
	set_container(scan, name, "systemd-nspawn");
	scan->is_machine = true;
	return true;
}

static void scan_component(struct scan *scan, struct watt_span name)
{
	scan->depth++;
	if (scan->depth == 1)
		scan->top = name;
	if (watt_span_is(name, "kubepods") || watt_span_has_suffix(name, "-kubepods"))
		scan->in_kubepods = true;
	if (!scan_mismatch(scan, name) && !scan_pod(scan, name) && !scan_leaf(scan, name) &&
	    !scan_bare_id(scan, name) && !scan_job(scan, name) && !scan_ecs(scan, name) &&
	    !scan_nomad(scan, name) && !scan_machine(scan, name))
		scan_named(scan, name);
	scan->grandparent = scan->parent;
	scan->parent = name;
}

static int hex_value(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* Copies to *storage and moves it on. NULL for nothing. */
static char *store(char **storage, struct watt_span span)
{
	char *text = *storage;

	if (!span.p)
		return NULL;
	memcpy(text, span.p, span.len);
	text[span.len] = '\0';
	*storage += span.len + 1;
	return text;
}

/* Undoes systemd's "\x2d" in place. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && text[1] == 'x' && is_lower_hex(text[2]) &&
		    is_lower_hex(text[3]) && (text[2] != '0' || text[3] != '0')) {
			*to++ = (char)(hex_value(text[2]) << 4 | hex_value(text[3]));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/* "qemu-3-web": libvirt's driver, its running number and the name. NULL: not of this form. */
static const char *libvirt_name(const char *machine)
{
	static const char *const drivers[] = { "qemu-", "lxc-", "ch-", "xen-", "bhyve-" };
	size_t i, digits;

	for (i = 0; i < WATT_ARRAY_SIZE(drivers); i++) {
		const char *p = machine + strlen(drivers[i]);

		if (strncmp(machine, drivers[i], strlen(drivers[i])) != 0)
			continue;
		digits = strspn(p, "0123456789");
		if (digits > 0 && p[digits] == '-' && p[digits + 1])
			return p + digits + 1;
	}
	return NULL;
}

static void store_machine(char **storage, const struct scan *scan, struct watt_cgroup *ret)
{
	char *text = store(storage, scan->container);
	const char *name;

	unescape(text);
	name = libvirt_name(text);
	if (name)
		ret->runtime = "libvirt";
	ret->container = name ? name : text;
}

static void store_pod(char **storage, const struct scan *scan, struct watt_cgroup *ret)
{
	char *text = store(storage, scan->pod), *p;

	ret->pod_uid = text;
	for (p = text; p && *p; p++)
		if (*p == '_')
			*p = '-';
}

/* "slurm:123" */
static const char *store_job(char **storage, const struct scan *scan)
{
	char *text = *storage;

	if (!scan->job.p)
		return NULL;
	*storage = stpcpy(stpcpy(text, scan->scheduler), ":");
	store(storage, scan->job);
	return text;
}

uint32_t watt_cgroup_find_user(const char *path)
{
	static const char slice[] = "user-";
	struct watt_span name;
	const char *p;
	uint64_t uid;

	while (watt_path_next(&path, &name)) {
		if (!watt_span_has_prefix(name, slice) || !watt_span_has_suffix(name, ".slice"))
			continue;
		p = name.p + strlen(slice);
		if (watt_scan_u64(&p, &uid) == 0 && uid < UINT32_MAX &&
		    p == name.p + name.len - strlen(".slice"))
			return (uint32_t)uid;
	}
	return 0;
}

size_t watt_cgroup_parse_size(const char *path)
{
	return 6 * (strlen(path) + 1) + sizeof("scheduler:");
}

static void scan_path(struct scan *scan, const char *path)
{
	struct watt_span name;

	*scan = (struct scan){ .parent = { "", 0 }, .grandparent = { "", 0 }, .top = { "", 0 } };
	while (watt_path_next(&path, &name))
		scan_component(scan, name);
}

/* Whether the first directory is one that systemd made, rather than a runtime or a scheduler. */
static bool is_of_systemd(struct watt_span top)
{
	static const char *const suffixes[] = { ".slice", ".scope", ".service" };
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(suffixes); i++)
		if (watt_span_has_suffix(top, suffixes[i]))
			return true;
	return top.len == 0;
}

unsigned int watt_cgroup_tells(const char *path)
{
	struct watt_span unit, user_unit;
	struct scan scan;

	scan_path(&scan, path);
	if (scan.told_at)
		return WATT_CGROUP_TELLS_CONTAINER + scan.told_at;
	if (!is_of_systemd(scan.top))
		return WATT_CGROUP_TELLS_NAME;
	watt_unit_find(path, &unit, &user_unit);
	return unit.p ? WATT_CGROUP_TELLS_UNIT : WATT_CGROUP_TELLS_NOTHING;
}

void watt_cgroup_parse(const char *path, char *storage, struct watt_cgroup *ret)
{
	struct watt_span unit, user_unit, whole = { path, strlen(path) };
	struct scan scan;

	scan_path(&scan, path);
	watt_unit_find(path, &unit, &user_unit);
	*ret = (struct watt_cgroup){ .path = store(&storage, whole), .runtime = scan.runtime };
	if (scan.is_machine)
		store_machine(&storage, &scan, ret);
	else
		ret->container = store(&storage, scan.container);
	store_pod(&storage, &scan, ret);
	ret->job = store_job(&storage, &scan);
	ret->unit = store(&storage, unit);
	ret->user_unit = store(&storage, user_unit);
}
