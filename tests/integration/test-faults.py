#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around the command while it measures: docs/faults.md says what is promised."""
import contextlib
import csv
import io
import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import BUILD, PROGRAM, equal, main, nj, run, true  # noqa: E402

SHIM = os.path.join(BUILD, 'tests', 'integration', 'libfault_shim.so')
SYNTH = ('--sources=synth', '--usage=synth')
HOUR_NS = 3600 * 10 ** 9
FOLDER = tempfile.TemporaryDirectory(prefix='watt-faults-')
PATIENCE_S = 30


def new_folder():
    return tempfile.mkdtemp(dir=FOLDER.name)


def query(path, sql):
    with contextlib.closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as database:
        return database.execute(sql).fetchall()


def wait_until(condition, what):
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        true(time.monotonic() < end_s, f'{what}: not within {PATIENCE_S} s')
        time.sleep(0.02)


# What fault_shim.c does, by the place of its number in the file.
REALTIME_NS, BOOTTIME_NS, HAS_NO_MEMORY, DISK_ERRNO, DISK_HANGS = range(5)


class Recorder:
    """`record --json` until it is ended, with faults that the test makes."""

    def __init__(self, *args):
        self.folder = new_folder()
        self.path = os.path.join(self.folder, 'run.watt')
        self.faults = os.path.join(self.folder, 'faults')
        with open(self.faults, 'wb') as file:
            file.write(bytes(64))
        env = {**os.environ, 'LC_ALL': 'C.UTF-8', 'LD_PRELOAD': SHIM, 'WATT_TEST_FAULTS': self.faults}
        self.process = subprocess.Popen([PROGRAM, 'record', '--json', '-o', self.path, *args], env=env,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.snapshots = []
        self.next_snapshots(2)

    def fault(self, which, value):
        fd = os.open(self.faults, os.O_WRONLY)
        os.pwrite(fd, struct.pack('=q', value), 8 * which)
        os.close(fd)

    @contextlib.contextmanager
    def frozen(self):
        """As a machine that sleeps does with its processes."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)
        yield
        self.process.send_signal(signal.SIGCONT)

    def next_snapshots(self, n):
        for _ in range(n):
            line = self.process.stdout.readline()
            true(line, 'the recorder ended')
            self.snapshots.append(json.loads(line))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=60)
        self.snapshots += [json.loads(line) for line in out.splitlines()]
        equal(self.process.returncode, 0, f'status ({err!r})')
        return err


def mark(path, label):
    equal(run('mark', '--recording', path, label).status, 0, f'status of mark {label!r}')
    wait_until(lambda: query(path, f"SELECT 1 FROM marks WHERE label = '{label}'"), f'mark {label!r}')


def seconds(document):
    return document['t_s'] - document['window_start_s']


def test_the_clock_is_set():
    """Times of the clock are right on both sides, and durations and energies do not know of it."""
    recorder = Recorder(*SYNTH)
    mark(recorder.path, 'before')
    for step_ns in (HOUR_NS, -3 * HOUR_NS):
        recorder.fault(REALTIME_NS, step_ns)
        recorder.next_snapshots(3)
        mark(recorder.path, f'after {step_ns}')
        recorder.next_snapshots(1)
    recorder.end()
    offsets = {label: t_ns - realtime_ns for label, t_ns, realtime_ns in
               query(recorder.path, 'SELECT label, t_ns, realtime_ns FROM marks')}
    for step_ns in (HOUR_NS, -3 * HOUR_NS):
        off_s = (offsets['before'] - offsets[f'after {step_ns}'] - step_ns) / 1e9
        true(abs(off_s) < 0.1, f'the mark after a step of {step_ns} ns is off by {off_s} s')
    true(all(0 < seconds(snapshot) < 60 for snapshot in recorder.snapshots), 'length of a window')
    equal({snapshot['quality']['check_failures'] for snapshot in recorder.snapshots}, {0}, 'checks')
    equal({domain['gap_s'] for domain in recorder.snapshots[-1]['domains']}, {0}, 'gaps')
    told = run('export', '--format=csv', '--what=marks', recorder.path)
    equal(told.status, 0, f'status of export ({told.err!r})')
    for row in csv.DictReader(io.StringIO(told.out)):
        off_s = float(row['realtime_s']) - (int(row['t_ns']) - offsets[row['label']]) / 1e9
        true(abs(off_s) < 0.1, f"{row['label']!r} is exported {off_s} s late")
    by_clock(recorder.path)


def by_clock(path):
    """A part that is asked for by the clock is the one in which it said so."""
    (t_ns, realtime_ns), = query(path, f"SELECT t_ns, realtime_ns FROM marks WHERE label = 'after {HOUR_NS}'")
    (start_ns,), = query(path, 'SELECT min(t0_ns) FROM windows')
    by_time = run('replay', path, '--json', f'--from=@{realtime_ns / 1e9:.6f}')
    equal(by_time.status, 0, f'status of replay ({by_time.err!r})')
    first = json.loads(by_time.out.splitlines()[0])
    off_s = first['window_start_s'] - t_ns / 1e9
    true(abs(off_s) < 1.5, f'it begins {off_s} s after the mark (the recording at {start_ns})')


def counter_tree(folder):
    """A machine with one counter of energy."""
    zone = os.path.join(folder, 'sys', 'class', 'powercap', 'intel-rapl:0')
    os.makedirs(zone)
    for name, text in {'name': 'package-0', 'energy_uj': '1000000000', 'enabled': '1',
                       'max_energy_range_uj': '262143328850'}.items():
        with open(os.path.join(zone, name), 'w', encoding='ascii') as file:
            file.write(text + '\n')
    return os.path.join(zone, 'energy_uj')


def test_the_machine_sleeps():
    """Told, a gap, and nothing of what was counted meanwhile is given to anybody."""
    folder = new_folder()
    counter = counter_tree(folder)
    recorder = Recorder(f'--sysfs-root={folder}/sys', '--sources=powercap', '--usage=procfs')
    mark(recorder.path, 'before')
    with recorder.frozen():
        # 100 J: so little that it would be believed.
        with open(counter, 'w', encoding='ascii') as file:
            file.write('1100000000\n')
        recorder.fault(REALTIME_NS, HOUR_NS)
        recorder.fault(BOOTTIME_NS, HOUR_NS)
    recorder.next_snapshots(3)
    mark(recorder.path, 'after')
    err = recorder.end()
    true('slept for 3600.0 s' in err, f'it is not told: {err!r}')
    domain, = (one for one in recorder.snapshots[-1]['domains'] if one['is_partition'])
    equal(nj(domain['energy']), 0, 'energy of a counter that went on only while the machine slept')
    true(0 < domain['gap_s'] < 60, f"gap of {domain['gap_s']} s")
    (slept_ns,), = query(recorder.path, "SELECT value FROM meta WHERE key = 'slept_ns'")
    true(abs(int(slept_ns) - HOUR_NS) < 10 ** 8, f'slept for {slept_ns} ns')
    (before, after), = [[t_ns - realtime_ns for t_ns, realtime_ns in
                         query(recorder.path, 'SELECT t_ns, realtime_ns FROM marks ORDER BY id')]]
    true(abs(before - after - HOUR_NS) < 10 ** 8, 'clock of the marks')
    report = ' '.join(run('report', recorder.path).out.split())
    true('the machine slept for' in report, f'not in the report: {report!r}')
    same = run('replay', recorder.path, '--json').out.splitlines()
    equal([json.loads(line) for line in same], recorder.snapshots, 'the replay')


main([test_the_clock_is_set, test_the_machine_sleeps])
