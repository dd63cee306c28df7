/* SPDX-License-Identifier: Apache-2.0 */
/* lib/source/meta/vm.c */
#include "unit.h"

#include "base/util.h"
#include "source/meta/vm.h"

#define QEMU "/usr/bin/qemu-system-x86_64"
#define ARGS(text) text, sizeof(text) - 1

static void test_found(void **state)
{
	static const struct {
		const char *exe, *comm, *argv;
		size_t len;
		const char *hypervisor, *name;
	} cases[] = {
		{ QEMU, "x", ARGS("qemu\0-name\0guest=web,debug-threads=on\0-S\0"), "qemu", "web" },
		{ QEMU, "x",
		  ARGS("qemu\0-m\0"
		       "1G\0-name\0web 1\0"),
		  "qemu", "web 1" },
		{ QEMU, "x", ARGS("qemu\0-name\0web,process=q\0"), "qemu", "web" },
		{ QEMU, "x", ARGS("qemu\0-name\0process=q,guest=a,,b,debug-threads=on\0"), "qemu",
		  "a,b" },
		{ QEMU, "x", ARGS("qemu\0--name\0web\0"), "qemu", "web" },
		{ QEMU, "x", ARGS("qemu\0-name=web\0"), "qemu", "web" },
		{ QEMU, "x", ARGS("qemu\0-uuid\0u-1\0"), "qemu", "u-1" },
		{ QEMU, "x", ARGS("qemu\0-name\0process=q\0-uuid\0u-1\0"), "qemu", "u-1" },
		{ QEMU, "x", ARGS("qemu\0-name\0"), "qemu", "qemu-42" },
		{ QEMU, "x", ARGS("qemu\0-name"), "qemu", "qemu-42" },
		{ QEMU, "x", ARGS(""), "qemu", "qemu-42" },
		/* the program's own name is no option */
		{ QEMU, "x", ARGS("-name\0x\0-uuid\0u\0"), "qemu", "u" },
		{ QEMU " (deleted)", "x", ARGS("q\0-name\0web\0"), "qemu", "web" },
		{ "/usr/libexec/qemu-kvm", "x", ARGS("q\0-name\0web\0"), "qemu", "web" },
		{ "/usr/bin/kvm", "x", ARGS("q\0-name\0web\0"), "qemu", "web" },
		/* exe of another user's process can't be read */
		{ NULL, "qemu-system-aar", ARGS("x\0-name\0web\0"), "qemu", "web" },
		{ NULL, "worker", ARGS("/usr/bin/qemu-system-x86_64\0-name\0web\0"), "qemu",
		  "web" },
		{ NULL, "qemu-system-x86", ARGS(""), "qemu", "qemu-42" },
		{ "/firecracker", "x", ARGS("/firecracker\0--id\0vm-7\0--api-sock\0/a\0"),
		  "firecracker", "vm-7" },
		{ "/firecracker", "x", ARGS("firecracker\0--id=vm-7\0"), "firecracker", "vm-7" },
		{ "/firecracker", "x", ARGS("firecracker\0--api-sock\0/a.sock\0"), "firecracker",
		  "firecracker-42" },
		{ "/usr/bin/cloud-hypervisor", "x",
		  ARGS("c\0--api-socket\0path=/run/vms/web.sock,fd=3\0"), "cloud-hypervisor",
		  "web" },
		{ "/usr/bin/cloud-hypervisor", "x", ARGS("c\0--api-socket\0/run/web-2.sock\0"),
		  "cloud-hypervisor", "web-2" },
		{ "/usr/bin/cloud-hypervisor", "x",
		  ARGS("c\0--platform\0num_pci_segments=1,uuid=u-9\0--api-socket\0/run/a\0"),
		  "cloud-hypervisor", "u-9" },
		{ NULL, "cloud-hyperviso", ARGS("c\0"), "cloud-hypervisor", "cloud-hypervisor-42" },
		{ "/usr/lib/virtualbox/VBoxHeadless", "x",
		  ARGS("VBoxHeadless\0--comment\0web 1\0--startvm\0u-1\0--vrde\0config\0"),
		  "virtualbox", "web 1" },
		{ "/usr/lib/virtualbox/VirtualBoxVM", "x", ARGS("V\0--startvm\0u-1\0"),
		  "virtualbox", "u-1" },
		{ NULL, "VBoxHeadless", ARGS(""), "virtualbox", "virtualbox-42" },
		{ "/usr/lib/vmware/bin/vmware-vmx", "x",
		  ARGS("vmware-vmx\0-s\0vmx.noUIBuildNumberCheck=TRUE\0-#\0product=1\0"
		       "/vms/web/web.vmx\0"),
		  "vmware", "web" },
		{ "/usr/lib/vmware/bin/vmware-vmx", "x", ARGS("vmware-vmx\0"), "vmware",
		  "vmware-42" },
		{ "/usr/lib/xen/bin/qemu-system-i386", "x",
		  ARGS("q\0-xen-domid\0"
		       "5\0-name\0web\0"),
		  "xen", "web" },
		{ QEMU, "x",
		  ARGS("q\0-xen-domid\0"
		       "5\0-xen-attach\0"),
		  "xen", "xen-42" },
		{ "/usr/lib/xen/bin/qemu-dm", "x", ARGS("q\0-domain-name\0web\0"), "xen",
		  "xen-42" },
		{ "/usr/sbin/bhyve", "x",
		  ARGS("bhyve\0-c\0"
		       "2\0-U\0u-1\0web\0"),
		  "bhyve", "web" },
		{ "/usr/bin/crosvm", "x", ARGS("crosvm\0run\0--name\0web\0-s\0/run/a.sock\0"),
		  "crosvm", "web" },
		{ "/usr/bin/crosvm", "x", ARGS("crosvm\0run\0-s\0/run/a.sock\0"), "crosvm", "a" },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_vm vm;

		assert_int_equal(watt_vm_find(cases[i].exe, cases[i].comm, cases[i].argv,
					      cases[i].len, 42, &vm),
				 0);
		assert_string_equal(vm.hypervisor, cases[i].hypervisor);
		assert_string_equal(vm.name, cases[i].name);
	}
}

static void test_none(void **state)
{
	static const struct {
		const char *exe, *comm, *argv;
		size_t len;
	} cases[] = {
		{ "/bin/bash", "bash", ARGS("bash\0") },
		{ NULL, "bash", ARGS("bash\0") },
		{ NULL, "bash", ARGS("") },
		/* it emulates a program, not a machine */
		{ "/usr/bin/qemu-aarch64-static", "x", ARGS("/bin/ls\0") },
		{ "/usr/bin/qemu-img", "x", ARGS("qemu-img\0-name\0x\0") },
		{ "/usr/bin/qemu-nbd", "x", ARGS("") },
		/* only calls itself one */
		{ "/bin/bash", "qemu-system-x86", ARGS("qemu-system-x86_64\0-name\0web\0") },
		{ "/bin/kvmtool", "x", ARGS("") },
	};
	size_t i;

	for (i = 0; i < WATT_ARRAY_SIZE(cases); i++) {
		struct watt_vm vm;

		assert_int_equal(watt_vm_find(cases[i].exe, cases[i].comm, cases[i].argv,
					      cases[i].len, 42, &vm),
				 -ENOENT);
	}
}

static void test_long_name(void **state)
{
	char argv[1024], name[600];
	struct watt_vm vm;
	int len;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	len = snprintf(argv, sizeof(argv), "q%c-name%cguest=%s", 0, 0, name);
	assert_int_equal(watt_vm_find(QEMU, "x", argv, (size_t)len, 1, &vm), 0);
	assert_int_equal(strlen(vm.name), WATT_VM_NAME_MAX - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests_name("vm", tests, NULL, NULL);
}
