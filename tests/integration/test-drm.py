#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who is on GPUs of each driver that counts its clients: real trees of fdinfo, in which the numbers
of engines and of energy go on as those of a GPU that runs, and what `top` makes of them."""
import contextlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import TOP, equal, main, near, nj, run, true  # noqa: E402

FIXTURES = os.path.join(TOP, 'tests', 'fixtures')
WINDOW_S = 5
# xe counts cycles of this clock.
XE_HZ = 19200000


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


def replace(path, content):
    """As a kernel does it: whoever reads has the old one or the new one."""
    with open(path + '.new', 'wb') as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    os.rename(path + '.new', path)


def busier(text, engine, ns, dt_ns):
    """fdinfo of a client that had an engine for so long, of so much time."""
    def add(match):
        return f'{match[1]}{int(match[2]) + ns}{match[3]}'
    text = re.sub(rf'(drm-engine-{engine}:\s*)(\d+)( ns)', add, text)
    cycles = ns * XE_HZ // 1000000000
    text = re.sub(rf'(drm-cycles-{engine}:\s*)(\d+)()', lambda m: f'{m[1]}{int(m[2]) + cycles}', text)
    total = dt_ns * XE_HZ // 1000000000
    return re.sub(r'(drm-total-cycles-\w+:\s*)(\d+)', lambda m: f'{m[1]}{int(m[2]) + total}', text)


class Machine:
    """A copy of a fixture whose GPUs run: `use` has {(pid, descriptor): (engine, part of the time)},
    `energy` {file: (units a watt-second, watts)}, `table` the gpu_metrics of an AMD card and its watts."""

    def __init__(self, fixture, use, energy, table=None):
        self.folder = tempfile.mkdtemp(prefix='watt-drm-')
        self.use = use
        self.energy = energy
        self.table = table
        self.joules = 1000.0
        self.is_done = threading.Event()
        shutil.copytree(os.path.join(FIXTURES, fixture), self.folder, symlinks=True, dirs_exist_ok=True)
        self.open_devices()
        self.thread = threading.Thread(target=self.go_on)

    def open_devices(self):
        """The links of descriptors, which lead out of a captured machine and are in none."""
        for folder, _, files in os.walk(os.path.join(self.folder, 'proc')):
            if os.path.basename(folder) != 'fdinfo':
                continue
            os.mkdir(os.path.join(os.path.dirname(folder), 'fd'))
            for name in files:
                is_gpu = 'drm-driver' in read(os.path.join(folder, name))
                os.symlink('/dev/dri/renderD128' if is_gpu else '/dev/null',
                           os.path.join(os.path.dirname(folder), 'fd', name))

    def step(self, dt_ns):
        for (pid, fd), (engine, part) in self.use.items():
            path = os.path.join(self.folder, 'proc', str(pid), 'fdinfo', str(fd))
            replace(path, busier(read(path), engine, int(part * dt_ns), dt_ns))
        for path, (units, power_w) in self.energy.items():
            path = os.path.join(self.folder, 'sys', path)
            replace(path, f'{int(read(path)) + int(units * power_w * dt_ns / 1e9)}\n')
        if self.table:
            self.count(*self.table, dt_ns)

    def count(self, path, power_w, dt_ns):
        """Of revision 1.3: watts at 22, and the counter of 2^-16 J at 24."""
        path = os.path.join(self.folder, 'sys', path)
        self.joules += power_w * dt_ns / 1e9
        with open(path, 'rb') as file:
            table = bytearray(file.read())
        struct.pack_into('=HQ', table, 22, power_w, int(self.joules * 65536))
        replace(path, bytes(table))

    def go_on(self):
        last_ns = time.monotonic_ns()
        while not self.is_done.wait(0.02):
            now_ns = time.monotonic_ns()
            self.step(now_ns - last_ns)
            last_ns = now_ns

    def __enter__(self):
        self.step(0)  # or a counter of the fixture's would go down
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_done.set()
        self.thread.join()
        shutil.rmtree(self.folder)


def joules(document, path, key='gpu_time'):
    """What each process took of a domain; with idle and nobody it is the domain's energy, to the nJ."""
    at, domain = next((i, d) for i, d in enumerate(document['domains']) if d['path'] == path)
    rows = [row for row in document['rows'] if row['is_in_sum']]
    equal(sum(nj(row['domain_energy'][at]) for row in rows), nj(domain['energy']), f'the sum of {path}')
    equal(domain['used_key'], key, f'key of {path}')
    of = {row['name']: nj(row['domain_energy'][at]) for row in rows if row['kind'] == 'process'}
    return {name: energy for name, energy in of.items() if energy}


def check(fixture, use, energy, places, *options):
    """Runs a machine; `places` has {domain: {name: its part of what was attributed}}."""
    with Machine(fixture, use, energy) as machine:
        result = run('top', '--once', '--json', '-d', f'{WINDOW_S}s', '--usage=procfs',
                     '--sysfs-root', f'{machine.folder}/sys', '--procfs-root', f'{machine.folder}/proc',
                     *options)
    equal(result.status, 0, f'{fixture}: {result.err!r}')
    document = result.json()
    for path, parts in places.items():
        found = joules(document, path)
        equal(sorted(found), sorted(parts), f'who is on {path}')
        for name, part in parts.items():
            near(found[name] / sum(found.values()), part, 0.05, f'{fixture}, {path}: {name}')


AMD = 'devices/pci0000:00/0000:00:03.1/0000:0b:00.0/0000:0c:00.0/0000:0d:00.0'
INTEL = 'devices/pci0000:00/0000:00:01.1/0000:03:00.0'
ARC_ENERGY = {f'{INTEL}/hwmon/hwmon3/energy1_input': (1000000, 120),
              f'{INTEL}/hwmon/hwmon3/energy2_input': (1000000, 90)}
RAPL = 'devices/virtual/powercap/intel-rapl/intel-rapl:0'


def desktop():
    """AMD's card and graphics, and Intel's card. The client of the game is that of three descriptors
    in two processes, and counts once; two cards have a client of one number, and they are two."""
    game = {(1201, 12): ('gfx', 0.3), (1201, 13): ('gfx', 0.3), (1202, 12): ('gfx', 0.3),
            (1201, 17): ('gfx', 0.5)}
    check('desktop-amdgpu',
          {**game, (1203, 5): ('compute', 0.6), (1204, 9): ('rcs', 0.2), (1205, 9): ('ccs', 0.6)},
          ARC_ENERGY,
          {'gpu-0000:0d:00_0': {'game': 1 / 3, 'train': 2 / 3}, 'gpu-0000:0f:00_0': {'game': 1},
           'gpu-0000:03:00_0': {'encoder': 0.25, 'solver': 0.75}},
          '--sources=hwmon')


def accelerator():
    """The counter in a card's table goes before the power that hwmon shows, which is another here."""
    for _ in range(3):  # a counter that stands still while it is checked, as this thread may, is not used
        with Machine('desktop-amdgpu', {(1203, 5): ('compute', 0.6)}, {},
                     (f'{AMD}/gpu_metrics', 300)) as machine:
            result = run('top', '--once', '--json', '-d', f'{WINDOW_S}s', '--usage=procfs',
                         '--sources=amdgpu,hwmon', '--sysfs-root', f'{machine.folder}/sys',
                         '--procfs-root', f'{machine.folder}/proc')
        equal(result.status, 0, result.err)
        document = result.json()
        domain, = (d for d in document['domains'] if d['path'] == 'gpu-0000:0d:00_0')
        if domain['uncertainty_ratio']:  # hwmon's has none
            break
    near(domain['power_w'], 300, 0.1, 'watts by the counter of the table; hwmon says 28')
    equal(list(joules(document, domain['path'])), ['train'], 'who used it')


def laptop():
    """Graphics in an Intel chip are what RAPL calls uncore; two clients of a process are its sum."""
    check('laptop-client', {(2201, 8): ('render', 0.1), (2201, 9): ('render', 0.1),
                            (2202, 21): ('video', 0.6)},
          {f'{RAPL}/energy_uj': (1000000, 20), f'{RAPL}/intel-rapl:0:0/energy_uj': (1000000, 6),
           f'{RAPL}/intel-rapl:0:1/energy_uj': (1000000, 8)},
          {'package-0/uncore': {'compositor': 0.25, 'player': 0.75}}, '--sources=powercap')


@contextlib.contextmanager
def rail(device):
    """A configuration that says of the one rail of a board that it is the GPU's."""
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write(f'rails:\n  - label: 1-0040\n    domain: gpu-{device}\n    kind: gpu\n')
        file.flush()
        yield file.name


def board(fixture, device, engine):
    """Boards have no sensor of the GPU's own: a rail is said to be its."""
    with rail(device) as config:
        check(fixture, {(4201, 7): (engine, 0.2), (4202, 7): (engine, 0.6)}, {},
              {f'gpu-{device}': {'compositor': 0.25, 'game': 0.75}}, '--sources=hwmon', '--config', config)


def memory():
    """By memory: who holds three times as much pays three times as much, whatever he does."""
    with Machine('desktop-amdgpu', {(1201, 12): ('gfx', 0.9)}, {}) as machine:
        path = f'{machine.folder}/proc/1203/fdinfo/5'
        replace(path, read(path).replace('1265100 KiB', '3795300 KiB'))
        result = run('top', '--once', '--json', '-d', f'{WINDOW_S}s', '--usage=procfs', '--sources=hwmon',
                     '--share-key=gpu-0000:0d:00_0=gpu_memory', '--sysfs-root', f'{machine.folder}/sys',
                     '--procfs-root', f'{machine.folder}/proc')
    equal(result.status, 0, result.err)
    found = joules(result.json(), 'gpu-0000:0d:00_0', 'gpu_memory')
    equal(sorted(found), ['game', 'train'], 'who holds memory')
    near(found['train'] / sum(found.values()), 0.75, 0.02, 'by memory')


def left_out():
    """Nobody is asked who used it: what it takes is nobody's."""
    with Machine('desktop-amdgpu', {(1201, 12): ('gfx', 0.9)}, {}) as machine:
        result = run('top', '--once', '--json', '-d', '2s', '--usage=procfs', '--sources=hwmon,-drm',
                     '--sysfs-root', f'{machine.folder}/sys', '--procfs-root', f'{machine.folder}/proc')
    equal(result.status, 0, result.err)
    domain, = (d for d in result.json()['domains'] if d['path'] == 'gpu-0000:0d:00_0')
    true(nj(domain['energy']) > 0, f'no energy: {domain}')
    equal(nj(domain['energy']), nj(domain['idle']) + nj(domain['unattributed']), 'nobody')


def nouveau():
    """It counts no engines: what its card takes is nobody's, and is not given to anybody."""
    with Machine('desktop-nouveau', {}, {}) as machine:
        result = run('top', '--once', '--json', '-d', '2s', '--usage=procfs', '--sources=hwmon',
                     '--sysfs-root', f'{machine.folder}/sys', '--procfs-root', f'{machine.folder}/proc')
    equal(result.status, 0, result.err)
    domain, = result.json()['domains']
    true(nj(domain['energy']) > 0, f'no energy: {domain}')
    equal(nj(domain['energy']), nj(domain['idle']) + nj(domain['unattributed']), 'nobody')


def test_all_drivers():
    """All at once: they mostly wait."""
    failed = []

    def attempt(name, function, *args):
        try:
            function(*args)
        except (AssertionError, subprocess.SubprocessError, StopIteration) as error:
            failed.append(f'{name}: {error!r}')
    threads = [threading.Thread(target=attempt, args=args) for args in (
        ('amdgpu and xe', desktop), ('counter of amdgpu', accelerator), ('i915', laptop), ('nouveau', nouveau),
        ('memory', memory), ('without drm', left_out),
        ('msm', board, 'phone-msm', '3d00000_gpu', 'gpu'),
        ('panfrost', board, 'board-panfrost', 'ff9a0000_gpu', 'fragment'),
        ('v3d', board, 'board-v3d', '1002000000_v3d', 'render'))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    true(not failed, '\n'.join(failed))


main([value for name, value in list(globals().items()) if name.startswith('test_')])
