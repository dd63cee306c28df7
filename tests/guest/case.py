# SPDX-License-Identifier: Apache-2.0
"""What a test of the guest says of itself in the comment at its head."""
import fnmatch
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's kernels that there are guests of: architecture/series; and debug kernels made of them.
GUESTS = ('amd64/6.1', 'amd64/6.12', 'arm64/6.1', 'amd64/7.3', 'amd64/6.12-rt', 'amd64/6.1-debug',
          'amd64/6.12-debug')
# Where those come from that are not of this machine's release.
SUITES = {'amd64/7.3': 'trixie,trixie-backports'}
# Only tests that name them run there.
NAMED = (*SUITES, 'amd64/6.12-rt')
# Of what `make test` boots; of all that it could; of what is built for it.
TIERS = ('core', 'stock', 'debug')
# Everything is of the core here; elsewhere what says so in its head.
CORE = 'amd64/6.1'
LINE = re.compile(r'^# (guests|core|machine|clock|programs|modules|kmods|files|append|timeout|memory|emulator|alone|expect|'
                  r'complaint): *(.*)$', re.M)


def is_match(guest, pattern):
    return guest == pattern or (guest not in NAMED and fnmatch.fnmatch(guest, pattern))


def is_among(guest, patterns):
    """A pattern that begins with ! takes out again."""
    return (any(is_match(guest, one) for one in patterns if one[0] != '!') and
            not any(is_match(guest, one[1:]) for one in patterns if one[0] == '!'))


class Case:
    """One file in tests/, and where and with what it wants to run. README.md explains the keys."""

    def __init__(self, path):
        self.name = os.path.basename(path)
        self.path = path
        with open(path, encoding='utf-8') as file:
            lines = LINE.findall(file.read())
        keys = dict(lines)
        if not keys.get('guests'):
            raise SystemExit(f"{path}: no line '# guests: ...' says where it runs; there are: "
                             f"{' '.join(GUESTS)}")
        self.guests = [guest for guest in GUESTS if is_among(guest, keys['guests'].split())]
        if not self.guests:
            raise SystemExit(f"{path}: no guest is '{keys['guests']}'; there are: "
                             f"{' '.join(GUESTS)}")
        self.core = keys.get('core', '').split()
        self.machine = keys.get('machine', 'two-sockets')
        self.clock = keys.get('clock', 'host')
        self.programs = keys.get('programs', '').split()
        self.modules = keys.get('modules', '').split()
        self.kmods = keys.get('kmods', '').split()
        self.files = keys.get('files', '').split()
        self.append = keys.get('append', '')
        self.timeout_s = int(keys.get('timeout', '60'))
        self.memory_mib = int(keys.get('memory', '0'))
        self.is_newer = keys.get('emulator') == 'newer'
        self.is_alone = keys.get('alone', 'no') == 'yes'
        self.expect = keys.get('expect')  # of a fault: what the rig must say of it,
        self.complaints = [text for key, text in lines if key == 'complaint']  # and the kernel

    def is_of(self, tier, guest):
        """Whether it is run in a guest that it has by those who want no more than that."""
        is_debug = guest.endswith('-debug')
        if tier == 'core':
            return self.core != ['none'] and (guest == CORE or any(is_match(guest, one) for one in self.core))
        return tier is None or is_debug == (tier == 'debug')

    def boot_key(self):
        """Those that have it in common share one boot."""
        return self.machine, self.clock, self.append, self.memory_mib, self.is_newer, self.name if self.is_alone else ''


def load_all(folder):
    folder = os.path.join(HERE, folder)
    return [Case(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
