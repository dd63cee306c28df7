# SPDX-License-Identifier: Apache-2.0
"""How modules are built for a kernel that a kernel.json tells of."""
import os
import subprocess

CROSS = {'arm64': ['ARCH=arm64', 'CROSS_COMPILE=aarch64-linux-gnu-', 'CROSS_COMPILE_COMPAT=']}
# Folders keep their names in there, and the mounts go with the namespace.
ENTER = '''root=$1; shift
while [ "$1" != -- ]; do mkdir -p "$root$1" && mount --rbind "$1" "$root$1" || exit 1; shift; done
shift; exec chroot "$root" "$@"'''


def may_enter():
    """Whether inside() works here."""
    return not os.geteuid() and subprocess.run(['unshare', '--mount', 'true'], check=False,
                                               stderr=subprocess.DEVNULL).returncode == 0


def inside(root, folders, argv):
    """A command that runs in another release's root, where these folders can be seen too."""
    return ['unshare', '--mount', 'sh', '-c', ENTER, 'sh', root, '/proc', '/dev', *folders, '--', *argv]


def command(kernel, arch, folder, *more):
    """Builds the modules of a folder; warnings are errors."""
    headers = kernel['headers']
    argv = ['make', '-s', '-j2', '-C', headers, f'M={folder}', 'KCFLAGS=-Werror',
            *CROSS.get(arch, []), *more, 'modules']
    if 'chroot' not in kernel:
        return argv
    # The headers' programs lie two folders above: usr/src/NAME and usr/lib.
    usr = os.path.dirname(os.path.dirname(headers))
    return inside(kernel['chroot'], [usr, os.path.dirname(os.path.dirname(folder))], argv)
