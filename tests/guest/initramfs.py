# SPDX-License-Identifier: Apache-2.0
"""An initramfs for one boot: busybox, the tests, the programs with their libraries, modules."""
import lzma
import os
import re
import stat
import subprocess


class Missing(Exception):
    """Something that has to be in there does not exist; the text says what."""


class Cpio:
    """An archive as the kernel unpacks it (newc), written without being root."""

    def __init__(self):
        self.parts = []
        self.names = set()
        self.folder('')

    def entry(self, name, mode, data=b'', rdev=(0, 0)):
        if name in self.names:
            return
        self.names.add(name)
        if name and name != 'TRAILER!!!':
            self.folder(os.path.dirname(name))
        path = (name or '.').encode() + b'\0'
        fields = (len(self.names), mode, 0, 0, 1, 0, len(data), 0, 0, *rdev, len(path), 0)
        header = b'070701' + b''.join(b'%08X' % field for field in fields)
        self.parts += [header + path, b'\0' * (-len(header + path) % 4), data,
                       b'\0' * (-len(data) % 4)]

    def folder(self, name):
        self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, path, mode=None):
        with open(path, 'rb') as file:
            data = file.read()
        self.entry(name, stat.S_IFREG | (mode or stat.S_IMODE(os.stat(path).st_mode) | 0o444), data)

    def text(self, name, text, mode=0o644):
        self.entry(name, stat.S_IFREG | mode, text.encode())

    def device(self, name, major, minor):
        self.entry(name, stat.S_IFCHR | 0o600, rdev=(major, minor))

    def write(self, path):
        self.entry('TRAILER!!!', 0)
        with open(path, 'wb') as file:
            file.write(b''.join(self.parts))


def linked(path):
    """The interpreter and the libraries that an ELF file names; nothing for other files."""
    with open(path, 'rb') as file:
        if file.read(4) != b'\x7fELF':
            return []
    said = subprocess.run(['readelf', '-ld', path], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, 'LC_ALL': 'C'}).stdout
    return (re.findall(r'program interpreter: (.+?)\]', said) +
            re.findall(r'\(NEEDED\).*\[(.+?)\]', said))


def own_folders():
    """Where this machine's linker looks."""
    said = subprocess.run(['ldconfig', '-p'], stdout=subprocess.PIPE, text=True, check=True,
                          env={**os.environ, 'PATH': os.environ['PATH'] + ':/sbin:/usr/sbin'}).stdout
    return sorted({os.path.dirname(path) for path in re.findall(r'=> (/.+)', said)})


class Initramfs(Cpio):
    """ROOTS: folders with libraries, searched in this order."""

    def __init__(self, library_folders):
        super().__init__()
        self.library_folders = library_folders
        self.device('dev/console', 5, 1)
        self.device('dev/null', 1, 3)
        self.device('dev/kmsg', 1, 11)

    def find_library(self, name):
        for folder in self.library_folders:
            path = os.path.join(folder, os.path.basename(name))
            if os.path.exists(path):
                return path
        raise Missing(f'missing: library {name}, which is in none of: {" ".join(self.library_folders)}')

    def program(self, name, path):
        """A program, and all that it is linked with."""
        if not os.path.exists(path):
            raise Missing(f'missing: {path} is not built')
        self.file(name, path)
        todo = linked(path)
        while todo:
            library = todo.pop()
            inside = library.lstrip('/') if '/' in library else f'lib/{library}'
            if inside not in self.names:
                found = self.find_library(library)
                self.file(inside, found, 0o755)
                todo += linked(found)

    def stock_modules(self, kernel, wanted):
        """Modules of the kernel's package and what they need, for modprobe."""
        source = kernel['modules']
        inside = f"lib/modules/{kernel['release']}"
        with open(f'{source}/modules.dep', encoding='utf-8') as file:
            needs = {line.split(':')[0]: line.split(':')[1].split() for line in file}
        paths = {os.path.basename(path).split('.')[0].replace('-', '_'): path for path in needs}
        with open(f'{source}/modules.builtin', encoding='utf-8') as file:
            builtin = {os.path.basename(line.strip()).split('.')[0].replace('-', '_')
                       for line in file}
        lines = []
        for name in (name.replace('-', '_') for name in wanted):
            if name in builtin:
                continue
            if name not in paths:
                raise Missing(f"missing: module {name} of {kernel['release']}")
            for path in [paths[name]] + needs[paths[name]]:
                self.stock_module(f'{source}/{path}', f"{inside}/{path.removesuffix('.xz')}")
            lines.append(' '.join([paths[name] + ':'] + needs[paths[name]]).replace('.ko.xz', '.ko'))
        self.text(f'{inside}/modules.dep', ''.join(line + '\n' for line in sorted(set(lines))))

    def stock_module(self, path, inside):
        if not path.endswith('.xz'):
            self.file(inside, path)
            return
        with lzma.open(path) as file:
            self.entry(inside, stat.S_IFREG | 0o644, file.read())
