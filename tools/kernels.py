# SPDX-License-Identifier: Apache-2.0
"""Folders with a kernel for the guests, made once: FOLDER/kernel.json says what is in there.

  release   as uname -r tells it
  image     what QEMU boots: on amd64 the unpacked ELF, which saves seconds of emulation
  modules   the folder lib/modules/RELEASE with modules.dep made
  headers   for `make -C`; its programs run on this machine, whatever the architecture is
  chroot    of another Debian release: the root in which those programs run, with their compiler
  needs     packages that the headers' own depend on: programs of theirs build modules
  config    of a debug kernel: the tests/guest/debug.config that it was built from
"""
import json
import os
import shutil

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Where they are kept.
CACHE = os.environ.get('WATT_KERNELS', os.path.join(TOP, 'build-kernels'))


def read(folder):
    """What kernel.json says, or None where that or something that it names is not there."""
    note = os.path.join(folder, 'kernel.json')
    if not os.path.exists(note):
        return None
    with open(note, encoding='utf-8') as file:
        kernel = json.load(file)
    paths = [path for key, path in kernel.items() if key not in ('release', 'needs')]
    return kernel if all(os.path.exists(path) for path in paths) else None


def once(folder, make, *args):
    """Has a function make what kernel.json says, unless it is there."""
    if read(folder):
        return
    shutil.rmtree(folder, ignore_errors=True)
    kernel = make(folder, *args)
    with open(os.path.join(folder, 'kernel.json'), 'w', encoding='utf-8') as file:
        json.dump(kernel, file, indent=2)
