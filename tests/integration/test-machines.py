#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machines that nobody here has, as files show them: what the command makes of each."""
import os
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import TOP, equal, main, run, true, validate  # noqa: E402


class Machine:
    """A copy of a fixture that a test may change."""

    def __init__(self, name):
        self.folder = tempfile.TemporaryDirectory(prefix='watt-machine-')
        self.path = os.path.join(self.folder.name, name)
        shutil.copytree(os.path.join(TOP, 'tests', 'fixtures', name), self.path, symlinks=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def write(self, path, text):
        path = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def options(self):
        return ['--sysfs-root', os.path.join(self.path, 'sys'),
                '--procfs-root', os.path.join(self.path, 'proc'), '--usage=procfs']


def snapshot(machine):
    """What `top --json` shows of it once, and what it warns of: zones, CPUs."""
    result = run('top', '--once', '--json', '--delay=300ms', *machine.options())
    equal(result.status, 0, result.err)
    document = result.json()
    validate(document, 'wattribute-snapshot-1')
    lines = [line for line in result.err.splitlines() if 'powercap:' in line or 'topology:' in line]
    return document, lines


def eventually(condition, what):
    """A busy machine may not have read everything when it is asked first."""
    deadline = time.monotonic() + 30
    while not condition():
        true(time.monotonic() < deadline, what)


def test_sixteen_sockets():
    with Machine('xeon-16s') as machine:
        document, warnings = snapshot(machine)
        equal(warnings, [], 'warnings')
        equal([domain['path'] for domain in document['domains'] if domain['is_summed']],
              [f'package-{i}' for i in range(16)], 'what the total is the sum of')
        equal(document['machine']['is_complete'], True, 'complete')


def test_dropped_zone_makes_the_total_incomplete():
    with Machine('xeon-16s') as machine:
        machine.write('sys/class/powercap/intel-rapl:c/energy_uj', 'nonsense\n')
        _, warnings = snapshot(machine)
        true(len(warnings) == 1 and 'package-12' in warnings[0], warnings)
        eventually(lambda: not snapshot(machine)[0]['machine']['is_complete'], 'it is complete')
        eventually(lambda: 'incomplete: no energy of package-12 is known' in
                   run('top', '--once', '--delay=300ms', *machine.options()).out, 'nobody says so')


def test_padded_files():
    """A copy of sysfs by tar or cp has files of a page each: the rest is NULs."""
    with Machine('xeon-16s') as machine:
        for folder, _, names in os.walk(os.path.join(machine.path, 'sys')):
            for name in names:
                os.truncate(os.path.join(folder, name), 4096)
        document, warnings = snapshot(machine)
        equal(warnings, [], 'warnings')
        equal(sum(domain['is_summed'] for domain in document['domains']), 16, 'packages')
        equal(len(document['cpus']), 16, 'CPUs')


main([test_padded_files, test_sixteen_sockets, test_dropped_zone_makes_the_total_incomplete])
