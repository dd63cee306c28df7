#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real container of runc, in a cgroup as the kubelet names it: meta must find pod and container,
# by the process and by the cgroup's number alone. usage: test-container.sh WHO

set -u
who=$1
pod=0f1e2d3c-1111-2222-3333-444455556666
id=8f1c2b3a4d5e6f708192a3b4c5d6e7f808192a3b4c5d6e7f8091a2b3c4d5e6f7
name=watt-test-$$
path=/kubepods/burstable/pod$pod/$id

skip() {
	echo "$1"
	exit 77
}

[ "$(id -u)" = 0 ] || skip 'only root can start containers'
command -v runc >/dev/null || skip 'missing: runc'
busybox=$(command -v busybox) || skip 'missing: busybox'
! ldd "$busybox" >/dev/null 2>&1 || skip 'missing: a static busybox (busybox-static)'

dir=$(mktemp -d) || exit 1

# Removes the cgroups that the container left, in every hierarchy, from the inside out.
remove_cgroups() {
	local group
	for group in "$path" "/kubepods/burstable/pod$pod" /kubepods/burstable /kubepods; do
		rmdir /sys/fs/cgroup"$group" /sys/fs/cgroup/*"$group" 2>/dev/null
	done
}

clean_up() {
	runc --root "$dir/run" delete --force "$name" >/dev/null 2>&1
	remove_cgroups
	rm -rf "$dir"
}
trap clean_up EXIT

mkdir -p "$dir/rootfs/bin" && cp "$busybox" "$dir/rootfs/bin/busybox" || exit 1
cat >"$dir/config.json" <<JSON
{
	"ociVersion": "1.0.2",
	"process": { "user": { "uid": 0, "gid": 0 }, "cwd": "/",
		"args": ["/bin/busybox", "sleep", "60"], "env": ["PATH=/bin"] },
	"root": { "path": "rootfs" },
	"mounts": [{ "destination": "/proc", "type": "proc", "source": "proc" }],
	"linux": { "cgroupsPath": "$path", "resources": {},
		"namespaces": [{ "type": "pid" }, { "type": "mount" }, { "type": "ipc" }] }
}
JSON
runc --root "$dir/run" run --detach --bundle "$dir" --pid-file "$dir/pid" "$name" \
	</dev/null >"$dir/log" 2>&1 || skip "runc can't start a container here: $(tail -n 1 "$dir/log")"

said=$("$who" "$(cat "$dir/pid")") || {
	echo "$who does not see the container's process"
	exit 1
}
status=0
expect() {
	if ! grep -qxF -- "$1" <<<"$said"; then
		echo "not said: $1"
		status=1
	fi
}
expect "path: $path"
expect "container: $id"
expect "pod: $pod"
expect 'comm: busybox'
expect 'exe: /bin/busybox'
expect 'cmdline: /bin/busybox sleep 60'
# a v2 cgroup is found by its number too
grep -qx 'v1: 1' <<<"$said" || expect "found: $path"
[ $status = 0 ] || printf 'said was:\n%s\n' "$said"
exit $status
