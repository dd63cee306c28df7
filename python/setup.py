# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel: the binding from the public headers, and the C library beside it.

The library comes from WATTRIBUTE_LIBRARY, a libwattribute.so that was built before; without it
Meson builds one, which needs what tools/install-deps lists for the build.
"""
import os
import re
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, HERE)
import declarations  # noqa: E402

LIBRARY = 'libwattribute.so.0'
# e_machine of ELF
MACHINES = {62: 'x86_64', 183: 'aarch64'}


def version():
    with open(os.path.join(TOP, 'meson.build'), encoding='utf-8') as file:
        return re.search(r"version: '([^']+)'", file.read()).group(1)


def build_library(folder):
    """The library alone, by Meson."""
    if not os.path.exists(os.path.join(folder, 'build.ninja')):
        subprocess.run(['meson', 'setup', folder, TOP, '-Dbuildtype=release', '-Dtests=disabled',
                        '-Dtop=disabled', '-Dpage=disabled', '-Dagent=disabled'], check=True)
    subprocess.run(['ninja', '-C', folder, 'lib/' + LIBRARY], check=True)
    return os.path.join(folder, 'lib', LIBRARY)


def machine_of(library):
    """As the names of wheels have it; None: another one."""
    with open(library, 'rb') as file:
        head = file.read(20)
    return MACHINES.get(int.from_bytes(head[18:20], 'little')) if head[:4] == b'\x7fELF' else None


class BuildPy(build_py):
    """Python files, and what is made of the rest of the tree."""

    def run(self):
        super().run()
        package = os.path.join(self.build_lib, 'wattribute')
        os.makedirs(package, exist_ok=True)
        declarations.write_module(os.path.join(TOP, 'include'), os.path.join(package, '_watt.py'))
        library = os.environ.get('WATTRIBUTE_LIBRARY')
        if not library:
            temporary = self.get_finalized_command('build').build_temp
            library = build_library(os.path.abspath(os.path.join(temporary, 'meson')))
        shutil.copyfile(library, os.path.join(package, LIBRARY))


class Wheel(bdist_wheel):
    """For any Python 3, and for the machines that the library is for: it may have been cross-built."""

    def get_tag(self):
        own = super().get_tag()[2]
        built = os.path.join(self.get_finalized_command('build').build_lib, 'wattribute', LIBRARY)
        machine = machine_of(built) if os.path.exists(built) else None
        return ('py3', 'none', f'linux_{machine}' if machine and not own.endswith(machine) else own)


class Binary(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=Binary, cmdclass={'build_py': BuildPy, 'bdist_wheel': Wheel})
