/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file entity.h
 * @brief An entity: who can use energy. And the identity that makes its name.
 *
 * Entities are owned by the snapshot that they were read from. Immutable; any thread may read.
 */
#ifndef WATTRIBUTE_ENTITY_H
#define WATTRIBUTE_ENTITY_H

#include <wattribute/types.h>

WATT_BEGIN_DECLS

/** What kind of user of energy it is. */
enum watt_entity_kind {
	WATT_ENTITY_PROCESS = 0,      /**< one user process */
	WATT_ENTITY_KTHREAD = 1,      /**< one kernel thread */
	WATT_ENTITY_EXITED = 2,       /**< all processes of one name that are gone */
	WATT_ENTITY_IRQ = 3,          /**< interrupt handlers, where the kernel counts them */
	WATT_ENTITY_SOFTIRQ = 4,      /**< softirqs, where the kernel counts them */
	WATT_ENTITY_IDLE = 5,         /**< what the machine takes when nothing runs */
	WATT_ENTITY_UNATTRIBUTED = 6, /**< measured, and no honest owner found */
	WATT_ENTITY_CGROUP = 7,       /**< sum of the processes in one cgroup */
	WATT_ENTITY_CONTAINER = 8,    /**< sum of the cgroups of one container */
	WATT_ENTITY_UNIT = 9,         /**< sum of the cgroups of one systemd unit */
	WATT_ENTITY_USER = 10,        /**< sum of the processes of one user */
	WATT_ENTITY_TRACKED = 11, /**< a process and all its descendants: watt_session_track() */
	WATT_ENTITY_KERNEL = 12,  /**< sum of the kernel threads, irq and softirq */
	WATT_ENTITY_VM = 13,      /**< a process that runs a virtual machine */
	WATT_ENTITY_POD = 14,     /**< sum of the containers of one pod */
	/** One thread of a process, or what its ended threads used together. Only where threads are
	 *  asked for: those of a process are the process, to the nJ. Kernel threads have none. */
	WATT_ENTITY_THREAD = 15,
	WATT_ENTITY_JOB = 16, /**< sum of the cgroups of one job of a batch scheduler */
};

/** Bits of watt_identity.missing and watt_entity.missing: what could not be read. */
enum watt_identity_field {
	WATT_IDENTITY_EXE = 1u << 0,
	WATT_IDENTITY_CMDLINE = 1u << 1,
	WATT_IDENTITY_CGROUP = 1u << 2,
	WATT_IDENTITY_UID = 1u << 3,
};

/** Who a process is. Strings are NULL where `missing` says so. */
struct watt_identity {
	size_t sz; /**< sizeof(struct watt_identity), the library's */
	/** Thread group id in the pid namespace of procfs; 0: all who are outside of that. */
	uint32_t pid;
	uint32_t parent_pid; /**< 0: none or unknown */
	uint64_t start_ns;   /**< CLOCK_BOOTTIME of its start; with pid, its name for ever */
	uint32_t uid;
	uint32_t missing; /**< enum watt_identity_field */
	char comm[16];
	const char *exe;        /**< absolute path; ends in " (deleted)" as the kernel says it */
	const char *cmdline;    /**< arguments joined by one space, at most 4,095 bytes */
	const char *vm_name;    /**< the virtual machine that it runs; NULL: it runs none */
	const char *hypervisor; /**< "qemu", "xen", "virtualbox", ...; NULL: it runs none */
	uint32_t tid;           /**< of a thread, in the pid namespace of procfs; of a process 0 */
	uint32_t reserved;
};

/** What a cgroup is. Strings are NULL where the path does not tell. */
struct watt_cgroup {
	size_t sz;             /**< sizeof(struct watt_cgroup), the library's */
	uint64_t id;           /**< inode number of the directory */
	const char *path;      /**< "/system.slice/ssh.service"; NULL: unknown (it is gone) */
	const char *runtime;   /**< "docker", "containerd", "cri-o", "podman", "lxc", ... */
	const char *container; /**< id of the container, or its name for lxc and nspawn */
	const char *pod_uid;   /**< with dashes as Kubernetes writes it */
	const char *unit;      /**< "ssh.service", "session-3.scope" */
	const char *user_unit; /**< unit of a user's own systemd, "foot.service" */
	uint32_t v1;           /**< 1: the path is of a v1 hierarchy */
	uint32_t reserved;
	const char *job; /**< a batch job, its scheduler first: "slurm:4711", "pbs:12.server" */
};

/** One label of a container or pod. Never NULL; it never grows. */
struct watt_label {
	const char *key;
	const char *value;
};

/** What a container or pod is called. Strings are NULL where nobody tells. */
struct watt_container {
	size_t sz;                 /**< sizeof(struct watt_container), the library's */
	const char *id;            /**< as watt_cgroup.container; NULL: it tells of a pod alone */
	const char *runtime;       /**< "docker", "podman", "containerd", "cri-o" */
	const char *name;          /**< what people call it: "web-1" */
	const char *image;         /**< "nginx:1.25" */
	const char *pod_uid;       /**< as watt_cgroup.pod_uid */
	const char *pod_name;      /**< "web-7d4b9c6f5-x2x9k" */
	const char *pod_namespace; /**< "default" */
	const struct watt_label *labels;
	uint32_t n_labels;
	uint32_t reserved;
};

/** One user of energy. */
struct watt_entity {
	size_t sz; /**< sizeof(struct watt_entity), the library's */
	/** Unique in its session, and never another's; below 2^53. A recording of it gives the same
	 *  entity the same one, however it is looked at. */
	uint64_t id;
	/** Entity that it is in, and is summed into: a thread is in its process, that in its cgroup,
	 *  that in its container, pod or unit, a container in its pod or else its unit. 0: none. */
	uint64_t parent_id;
	enum watt_entity_kind kind;
	uint32_t count; /**< processes summed into it so far; 1 for a process; of a thread, threads */
	uint32_t alive;   /**< 1: it can still use energy */
	uint32_t missing; /**< enum watt_identity_field */
	const char *name; /**< short, never NULL: comm, path, name or id, unit, user name */
	/** Of a process, thread, kernel thread or VM; else NULL, and of threads that have ended. */
	const struct watt_identity *identity;
	const struct watt_cgroup *cgroup; /**< its cgroup, where it has one and it is known */
	/** What a container or pod is called, once somebody has told; else NULL. */
	const struct watt_container *container;
	uint64_t tracked_id; /**< of a process or thread: the set it was tracked in last; 0: none */
};

/** "process", "container", ...; never NULL. Thread-safe. */
WATT_API const char *watt_entity_kind_name(enum watt_entity_kind kind);

WATT_END_DECLS

#endif
