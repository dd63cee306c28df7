#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes wrong around the command while it measures: docs/faults.md says what is promised."""
import contextlib
import csv
import errno
import fcntl
import functools
import io
import json
import os
import re
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import BUILD, PROGRAM, equal, main, nj, run, true  # noqa: E402

SHIM = os.path.join(BUILD, 'tests', 'integration', 'libfault_shim.so')
SYNTH = ('--sources=synth', '--usage=synth')
# What a command used can't be simulated.
COUNTED = ('--sources=synth', '--usage=procfs')
HOUR_NS = 3600 * 10 ** 9
FOLDER = tempfile.TemporaryDirectory(prefix='watt-faults-')
PATIENCE_S = 120


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
        true(abs(off_s) < 5, f'the mark after a step of {step_ns} ns is off by {off_s} s')
    true(all(0 < seconds(snapshot) < 60 for snapshot in recorder.snapshots), 'length of a window')
    equal({snapshot['quality']['check_failures'] for snapshot in recorder.snapshots}, {0}, 'checks')
    equal({domain['gap_s'] for domain in recorder.snapshots[-1]['domains']}, {0}, 'gaps')
    told = run('export', '--format=csv', '--what=marks', recorder.path)
    equal(told.status, 0, f'status of export ({told.err!r})')
    for row in csv.DictReader(io.StringIO(told.out)):
        off_s = float(row['realtime_s']) - (int(row['t_ns']) - offsets[row['label']]) / 1e9
        true(abs(off_s) < 5, f"{row['label']!r} is exported {off_s} s late")
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
    true(abs(int(slept_ns) - HOUR_NS) < 10 ** 9, f'slept for {slept_ns} ns')
    (before, after), = [[t_ns - realtime_ns for t_ns, realtime_ns in
                         query(recorder.path, 'SELECT t_ns, realtime_ns FROM marks ORDER BY id')]]
    true(abs(before - after - HOUR_NS) < 5 * 10 ** 9, 'clock of the marks')
    report = ' '.join(run('report', recorder.path).out.split())
    true('the machine slept for' in report, f'not in the report: {report!r}')
    same = run('replay', recorder.path, '--json').out.splitlines()
    equal([json.loads(line) for line in same], recorder.snapshots, 'the replay')


# ---- readers that don't read ----

def unread_pipe():
    """A pipe that takes next to nothing."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    return reader, writer


def bytes_in(reader):
    return struct.unpack('i', fcntl.ioctl(reader, termios.FIONREAD, b'    '))[0]


def wait_until_full(reader):
    """Behind that, what writes there is kept waiting."""
    wait_until(lambda: bytes_in(reader) > 4096 - 100, 'a full pipe')


def test_nobody_reads_the_report_of_stat():
    """Lines of intervals fill the pipe; a signal for the command still gets there, and ends us too."""
    for option in ('-I10ms', '--json'):
        reader, writer = unread_pipe()
        begun = os.path.join(new_folder(), 'begun')
        process = subprocess.Popen([PROGRAM, 'stat', option, *COUNTED, '--',
                                    'sh', '-c', f'echo >{begun}; exec sleep 100'],
                                   stdin=subprocess.DEVNULL, stdout=writer, stderr=writer)
        os.close(writer)
        wait_until(functools.partial(os.path.exists, begun), 'the command')
        if option != '--json':
            wait_until_full(reader)
        process.send_signal(signal.SIGTERM)
        try:
            equal(process.wait(60), 128 + signal.SIGTERM, f'{option}: status')
        finally:
            process.kill()
            os.close(reader)


def test_the_report_of_stat_is_read_late():
    """No interval is lost for a reader that comes later: they add up to the whole."""
    reader, writer = unread_pipe()
    process = subprocess.Popen([PROGRAM, 'stat', '-I10ms', '--slice=10ms', *COUNTED, '--', 'sleep', '6'],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer)
    os.close(writer)
    wait_until_full(reader)
    time.sleep(1)
    with open(reader, encoding='utf-8') as pipe:
        text = pipe.read()
    equal(process.wait(60), 0, f'status ({text[-500:]!r})')
    rows = re.findall(r'^ *([\d.]+) s +([\d.]+) +J .* J machine', text, re.M)
    ends = [float(end) for end, _ in rows]
    equal(ends, sorted(ends), 'times of the lines')
    true(len(text) > 4096, f'no more than the pipe held: {len(rows)} lines')


def test_nobody_reads_the_snapshots():
    """The recording goes on meanwhile, with every sample; windows that nobody had time for are one."""
    reader, writer = unread_pipe()
    path = os.path.join(new_folder(), 'run.watt')
    process = subprocess.Popen([PROGRAM, 'record', '--json', '-o', path, *SYNTH],
                               stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    wait_until_full(reader)
    (before,), = query(path, 'SELECT count(*) FROM chunks')
    rss_kib = resident_kib(process.pid)
    wait_until(lambda: query(path, 'SELECT count(*) FROM chunks')[0][0] > before + 6, 'more chunks')
    true(resident_kib(process.pid) < rss_kib + 8192, 'memory grows')
    with open(reader, encoding='utf-8') as pipe:
        lines = [pipe.readline()]
        process.send_signal(signal.SIGINT)
        lines += pipe.readlines()
    err = process.communicate(timeout=60)[1]
    equal(process.returncode, 0, f'status ({err!r})')
    snapshots = [json.loads(line) for line in lines]
    for last, one in zip(snapshots, snapshots[1:]):
        equal(one['window_start_s'], last['t_s'], 'begin of a window')
    equal(snapshots[-1]['quality']['lost_samples'], 0, 'samples lost')
    equal(query(path, 'SELECT * FROM losses'), [], 'losses')


def resident_kib(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        return int(re.search(r'VmRSS:\s+(\d+)', file.read()).group(1))


# ---- memory ----

def test_memory_runs_out():
    """Of the process, by a limit of its own: told, the end, and what was recorded can be read."""
    recorder = Recorder(*SYNTH)
    end_ns = int(recorder.snapshots[-1]['t_s'] * 1e9)
    # What is kept by then is what can be kept: at most a second is not.
    wait_until(lambda: query(recorder.path, 'SELECT max(t0_ns) FROM chunks')[0][0] > end_ns, 'a chunk behind it')
    recorder.fault(HAS_NO_MEMORY, 1)
    out, err = recorder.process.communicate(timeout=60)
    equal(recorder.process.returncode, 1, f'status ({err!r})')
    true('memory' in err.lower(), f'it is not told: {err!r}')
    lines = run('replay', recorder.path, '--json')
    equal(lines.status, 0, f'status of replay ({lines.err!r})')
    equal([json.loads(line) for line in lines.out.splitlines()][:2], recorder.snapshots, 'what was recorded')


# ---- disks ----

def test_a_disk_that_fails():
    """As a quota does, or a file system of a network that has trouble: told, and it goes on behind it."""
    for number, why in ((errno.EDQUOT, 'disk quota exceeded'), (errno.EIO, 'disk error')):
        recorder = Recorder('--rate=100Hz', *SYNTH)
        recorder.fault(DISK_ERRNO, number)
        recorder.next_snapshots(3)
        recorder.fault(DISK_ERRNO, 0)
        (before,), = query(recorder.path, 'SELECT count(*) FROM chunks')
        wait_until(lambda: query(recorder.path, 'SELECT count(*) FROM chunks')[0][0] > before + 1, 'more chunks')
        recorder.process.send_signal(signal.SIGINT)
        out, err = recorder.process.communicate(timeout=60)
        true(why in err, f'no {why!r} in {err!r}')
        equal(recorder.process.returncode, 1, f'status ({err!r})')
        losses = query(recorder.path, 'SELECT t1_ns - t0_ns, why FROM losses')
        true([reason for _, reason in losses] == [why] and 0 < losses[0][0] < 60 * 10 ** 9, f'losses {losses}')
        equal(query(recorder.path, 'PRAGMA integrity_check'), [('ok',)], 'integrity')
        equal(run('replay', recorder.path).status, 0, 'status of replay')


def test_a_disk_that_hangs():
    """Samples are dropped and counted; who wants to end it needs not wait for the disk."""
    recorder = Recorder('--rate=100Hz', *SYNTH)
    recorder.fault(DISK_HANGS, 1)
    recorder.next_snapshots(3)
    recorder.process.send_signal(signal.SIGINT)
    # A slow machine may have said before that the disk is too slow.
    lines = []
    while not lines or 'does not answer' not in lines[-1]:
        lines.append(recorder.process.stderr.readline())
        true(lines[-1], f'it is not told why it does not end: {lines}')
    recorder.process.send_signal(signal.SIGINT)
    out, err = recorder.process.communicate(timeout=60)
    equal(recorder.process.returncode, 1, f'status ({err!r})')
    true('could not be written' in err, f'it is not told: {err!r}')
    equal(run('replay', recorder.path).status, 0, 'status of replay')


main([test_the_clock_is_set, test_the_machine_sleeps, test_nobody_reads_the_report_of_stat,
      test_the_report_of_stat_is_read_late, test_nobody_reads_the_snapshots, test_memory_runs_out,
      test_a_disk_that_fails, test_a_disk_that_hangs])
