# SPDX-License-Identifier: Apache-2.0
"""Debian packages of any architecture, unpacked into a folder, without installing anything.

A private apt state takes the machine's own package sources; the machine's apt and dpkg know
nothing of it. It does not matter which form the sources have, which architectures they are for,
or whether somebody ran `apt-get update`.
"""
import glob
import os
import re
import shutil
import subprocess
import time


class Missing(Exception):
    """What was asked for can't be had here; the text says why."""


class Unable(Missing):
    """It is there, but this machine can't do what it is for."""


def codename():
    with open('/etc/os-release', encoding='utf-8') as file:
        found = re.search(r'^VERSION_CODENAME=(\w+)', file.read(), re.M)
    if not found:
        raise Missing('/etc/os-release names no Debian release')
    return found.group(1)


def native():
    """Debian's name of this machine's architecture."""
    try:
        return subprocess.run(['dpkg', '--print-architecture'], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        raise Missing('this is no Debian') from error


def stanzas(release):
    """The machine's deb822 sources of this release, without a choice of architecture."""
    for name in sorted(glob.glob('/etc/apt/sources.list.d/*.sources')):
        with open(name, encoding='utf-8') as file:
            for stanza in re.split(r'\n\s*\n', file.read()):
                lines = [line for line in stanza.splitlines() if not line.startswith('#')]
                suites = ' '.join(line for line in lines if line.startswith('Suites:'))
                if release in suites and any(line.startswith('Types: deb') for line in lines):
                    yield '\n'.join(line for line in lines
                                    if not line.lower().startswith(('architectures:', 'enabled:')))


def one_liners(release):
    """The same for the older form."""
    for name in ['/etc/apt/sources.list'] + sorted(glob.glob('/etc/apt/sources.list.d/*.list')):
        if not os.path.exists(name):
            continue
        with open(name, encoding='utf-8') as file:
            for line in file:
                found = re.match(r'deb\s+(?:\[([^]]*)\]\s+)?(\S+\s+(\S+)\s+.*\bmain\b.*)', line)
                if found and found.group(3).split('-')[0].split('/')[0] == release:
                    options = ' '.join(o for o in (found.group(1) or '').split()
                                       if not o.startswith('arch='))
                    yield f"deb {'[' + options + '] ' if options else ''}{found.group(2)}"


def of_suites(suites):
    """Other suites, from where this machine gets its own release."""
    release = codename()
    for stanza in stanzas(release):
        if re.search(rf'^Suites:.*\b{release}(\s|$)', stanza, re.M):
            return re.sub(r'^Suites:.*', 'Suites: ' + ' '.join(suites), stanza, flags=re.M), []
    for line in one_liners(release):
        found = re.match(rf'(deb (?:\[[^]]*\] )?\S+ ){release} ', line)
        if found:
            return '', [f'{found.group(1)}{suite} main' for suite in suites]
    raise Missing(f'this machine has no package source for {release}')


class Debs:
    """Packages for one architecture; FOLDER is scratch space of its own.

    Without suites they are those of this machine's release. What packages there are is asked again
    when the answer is an hour old.
    """

    def __init__(self, folder, arch, suites=()):
        if not shutil.which('apt-get') or not shutil.which('dpkg'):
            raise Missing('this is no Debian')
        self.folder = os.path.abspath(folder)
        self.arch = arch
        self.suites = suites
        self.prepare()
        self.update()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def prepare(self):
        release = codename()
        if self.suites:
            deb822, lines = of_suites(self.suites)
        else:
            deb822 = '\n\n'.join(stanzas(release))
            lines = list(one_liners(release))
        if not deb822 and not lines:
            raise Missing(f'this machine has no package source for {release}')
        for part in ('state/lists/partial', 'cache/archives/partial', 'parts', 'debs'):
            os.makedirs(self.path(part), exist_ok=True)
        with open(self.path('status'), 'w', encoding='utf-8'):
            pass
        with open(self.path('sources.list'), 'w', encoding='utf-8') as file:
            file.write(''.join(line + '\n' for line in lines))
        with open(self.path('parts/own.sources'), 'w', encoding='utf-8') as file:
            file.write(deb822 + '\n')

    def update(self):
        stamp = self.path('state/updated')
        if os.path.exists(stamp) and time.time() - os.path.getmtime(stamp) < 3600:
            return
        self.run('apt-get', 'update')
        with open(stamp, 'w', encoding='utf-8'):
            pass

    def run(self, tool, *args):
        """What a tool of apt's prints in the private state."""
        done = subprocess.run(
            [tool, '-q', '-o', f"Dir::State={self.path('state')}",
             '-o', f"Dir::State::status={self.path('status')}",
             '-o', f"Dir::Cache={self.path('cache')}",
             '-o', f"Dir::Etc::sourcelist={self.path('sources.list')}",
             '-o', f"Dir::Etc::sourceparts={self.path('parts')}",
             '-o', f'APT::Architecture={self.arch}', '-o', f'APT::Architectures={self.arch}',
             '-o', 'APT::Sandbox::User=root', *args],
            cwd=self.path('debs'), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise Missing(f'{tool} {args[0]} fails: {done.stdout.strip().splitlines()[-1:]}')
        return done.stdout

    def names(self, prefix):
        """Names of all packages that begin so."""
        return sorted(self.run('apt-cache', 'pkgnames', prefix).split())

    def depends(self, package):
        """Names that a package depends on, alternatives included."""
        return re.findall(r'^[ |]*(?:Pre)?Depends: <?([^\s>]+)',
                          self.run('apt-cache', 'depends', package), re.M)

    def unpack(self, root, packages):
        """Downloads packages and unpacks them below root."""
        self.run('apt-get', 'download', *packages)
        self.unpack_files(root, self.path('debs'))

    def unpack_with_all(self, root, packages):
        """The same with all that they depend on."""
        self.run('apt-get', 'install', '-y', '--download-only', '--no-install-recommends',
                 *packages)
        self.unpack_files(root, self.path('cache/archives'))

    @staticmethod
    def unpack_files(root, downloaded):
        # As where it would be installed: some packages still know of two folders.
        for folder in ('bin', 'lib', 'lib64', 'sbin'):
            os.makedirs(os.path.join(root, 'usr', folder), exist_ok=True)
            if not os.path.lexists(os.path.join(root, folder)):
                os.symlink(f'usr/{folder}', os.path.join(root, folder))
        for package in sorted(glob.glob(os.path.join(downloaded, '*.deb'))):
            with subprocess.Popen(['dpkg', '--fsys-tarfile', package],
                                  stdout=subprocess.PIPE) as data:
                subprocess.run(['tar', '-x', '-C', root, '--no-same-owner',
                                '--keep-directory-symlink'], stdin=data.stdout, check=True)
            os.unlink(package)

    def remove(self):
        shutil.rmtree(self.folder)
