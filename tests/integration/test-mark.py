#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Marks, from whoever may tell them to whoever listens, and phases in `wattribute stat`."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import (BUILD, PATIENCE_S, PROGRAM, Skip, equal, for_anybody, main, near, one_line, run,  # noqa: E402
                     true, validate)

MARKER = os.path.join(BUILD, 'tests', 'integration', 'marker')
# What this test is run under must not get its marks.
os.environ.pop('WATTRIBUTE_MARKS', None)


def measure(*command, options=()):
    """The only run in the JSON report of a command, and what the command printed."""
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        result = run('stat', '--json', '-o', report.name, *options, '--', *command)
        equal(result.status, 0, f'status of stat (it said {result.err!r})')
        document = json.load(report)
    validate(document, 'wattribute-stat-1')
    for one in document['runs']:
        check_sums(one)
    return document, result.out


def check_sums(one):
    """All phases together are the run."""
    if not one['phases']:
        return
    for key in ('energy_nj', 'machine_energy_nj'):
        equal(sum(phase[key] for phase in one['phases']), one[key], f'phases: {key}')
    for key in ('elapsed_s', 'cpu_s'):
        error = sum(phase[key] for phase in one['phases']) - one[key]
        true(abs(error) < 1e-6, f'phases: {key}: {error} s are too many')
    for phase in one['phases']:
        for key in ('energy_nj', 'machine_energy_nj'):
            parts = [domain[key] for domain in phase['domains']
                     if domain['is_partition'] and domain[key] is not None]
            equal(sum(parts), phase[key], f'domains of a phase: {key}')


def phases_of(document, number=0):
    return {phase['label']: phase for phase in document['runs'][number]['phases']}


def labels_of(document):
    return [phase['label'] for phase in document['runs'][0]['phases']]


class Measuring:
    """A `wattribute top` that somebody can tell marks, and the snapshots it prints."""

    def __init__(self, *options):
        self.process = subprocess.Popen(
            [PROGRAM, 'top', '--json', '-d', '0.2', *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.snapshot = json.loads(self.process.stdout.readline())
        self.pid = self.process.pid

    def wait_for_phase(self, label):
        for _ in range(50):
            self.snapshot = json.loads(self.process.stdout.readline())
            if self.snapshot['phase'] == label:
                return
        raise AssertionError(f'no snapshot has phase {label!r}, but {self.snapshot["phase"]!r}')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=PATIENCE_S)


# A slice ends a moment after the mark, when the measuring program gets a CPU: by so much the next
# phase is short. What is exact whenever that is, the sums, is compared exactly.
LATE_S = 0.1


def test_program_in_c():
    document, output = measure(MARKER, 'load', '0.2', 'solve', '0.4', 'sleep', '0.3', 'load', '0.1')
    equal(output.split(), ['0'] * 5, 'what watt_mark() returned')
    phases = phases_of(document)
    equal(labels_of(document), [None, 'load', 'solve', 'sleep'], 'phases')
    equal([phases[label]['count'] for label in ('load', 'solve', 'sleep')], [2, 1, 1], 'counts')
    if document['usage'] == 'bpf':
        for label, truth_s in ('load', 0.3), ('solve', 0.4):
            error_s = phases[label]['cpu_s'] - truth_s
            true(abs(error_s) < LATE_S, f'{label}: {error_s:+.4f} s of CPU time')
        true(phases['sleep']['cpu_s'] < LATE_S, f"sleeping took {phases['sleep']['cpu_s']} s")
    true(phases['sleep']['elapsed_s'] >= 0.3 - LATE_S, 'the sleep is too short')
    true(phases['solve']['energy_nj'] > phases['sleep']['energy_nj'], 'work costs less than sleep')


def test_nobody_listens():
    done = subprocess.run([MARKER, 'load', '0.01'], capture_output=True, text=True, check=True)
    equal(done.stdout.split(), [str(-107)] * 2, 'what watt_mark() returned')  # ENOTCONN
    document, _ = measure('true')
    equal(document['runs'][0]['phases'], [], 'phases without a mark')
    equal(document['summary']['phases'], [], 'phases in the summary without a mark')


def test_shell_script():
    script = '\n'.join([
        f'mark() {{ {PROGRAM} mark "$@" || exit; }}',
        'mark load', 'sleep 0.2', 'mark "größer als 1"', 'sleep 0.1', 'mark --end', 'sleep 0.1'])
    document, _ = measure('sh', '-c', script)
    equal(labels_of(document), [None, 'load', 'größer als 1'], 'phases')
    equal(phases_of(document)[None]['count'], 2, 'stretches in no phase')
    true(phases_of(document)['load']['elapsed_s'] >= 0.19, 'the phase is too short')
    report = run('stat', '-d', '--', 'sh', '-c', script).err
    lines = [line for line in report.splitlines() if line.strip()]
    first = next(i for i, line in enumerate(lines) if 'PHASE' in line)
    true(any('größer als 1' in line for line in lines[first:]), f'no phase in {report!r}')
    true(any('(in no phase)' in line for line in lines[first:]), f'no rest in {report!r}')


def test_marks_of_the_last_moment():
    document, _ = measure('sh', '-c', f'exec {PROGRAM} mark last')
    equal(labels_of(document), [None, 'last'], 'phases')


def test_repeats():
    document, _ = measure(MARKER, 'work', '0.05', options=('-r', '3'))
    summary = {one['label']: one for one in document['summary']['phases']}
    equal(set(summary), {None, 'work'}, 'phases')
    energies = [phases_of(document, i)['work']['energy_j'] for i in range(3)]
    near(summary['work']['energy_mean_j'], sum(energies) / 3, 1e-9, 'mean of the phase')
    equal(summary['work']['runs'], 3, 'runs that had the phase')


def test_intervals_with_marks():
    script = f'for i in 1 2 3 4 5 6; do {PROGRAM} mark $i; sleep 0.1; done'
    document, _ = measure('sh', '-c', script, options=('-I', '50'))
    one = document['runs'][0]
    equal(sum(part['energy_nj'] for part in one['intervals']), one['energy_nj'], 'intervals')
    true(len(one['intervals']) >= 4, f"only {len(one['intervals'])} intervals")
    equal(labels_of(document), [None] + list('123456'), 'phases')


def test_datagram_as_documented():
    script = '''
import os, socket, struct, time
address = os.environ['WATTRIBUTE_MARKS']
data = struct.pack('=8sIIQ64s', b'WATTMARK', 1, 0, time.monotonic_ns(), 'Python'.encode())
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
    s.setblocking(False)
    s.sendto(data, address.replace('@', '\\0', 1) if address[0] == '@' else address)
time.sleep(0.1)
'''
    document, _ = measure(sys.executable, '-c', script)
    equal(labels_of(document), [None, 'Python'], 'phases')


def test_another_user():
    if os.geteuid() != 0:
        raise Skip('only root can become another user')
    with for_anybody(MARKER) as marker:
        document, output = measure('setpriv', '--reuid=12345', '--regid=12345', '--clear-groups',
                                   marker, 'other', '0.02')
    equal(output.split(), ['0', '0'], 'what watt_mark() returned')
    equal(labels_of(document), [None, 'other'], 'phases')


def test_who_is_told():
    equal(run('mark', '-q', 'x').status, 0, 'status of a quiet mark') if not sessions() else None
    with Measuring() as first:
        if len(sessions()) != 1:
            raise Skip('somebody else measures on this machine')
        equal(run('mark', 'only').status, 0, 'status with one session')
        first.wait_for_phase('only')
        with Measuring() as second:
            one_line(run('mark', 'which'), 1, 'choose one', str(first.pid), str(second.pid))
            equal(run('mark', f'--pid={second.pid}', 'second').status, 0, 'status by pid')
            second.wait_for_phase('second')
        equal(run('mark', '--end').status, 0, 'status of the end')
        first.wait_for_phase(None)
    one_line(run('mark', f'--pid={first.pid}', 'x'), 1, 'does not measure')


def sessions():
    """Pids that `mark` would find."""
    found = []
    for folder in ('/run/wattribute', f'/run/user/{os.geteuid()}/wattribute'):
        if os.path.isdir(folder) and os.access(folder, os.R_OK):
            found += [name.split('-')[0] for name in os.listdir(folder)]
    return [pid for pid in found if os.path.exists(f'/proc/{pid}')]


def test_top_names_the_phase():
    process = subprocess.Popen([PROGRAM, 'top', '--plain', '-d', '0.2'], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.stdout.readline()
        equal(run('mark', f'--pid={process.pid}', 'solve').status, 0, 'status of mark')
        lines = []
        while not any("in phase 'solve'" in line for line in lines):
            lines.append(process.stdout.readline())
            true(len(lines) < 100000, f'no phase in {lines[:10]!r}')
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)


def test_descendants_find_their_session():
    # As sudo would, env takes the variable away; the process's ancestors are known all the same.
    script = f'env -u WATTRIBUTE_MARKS {PROGRAM} mark --pid=$$ found'
    document, _ = measure('sh', '-c', script)
    equal(labels_of(document), [None, 'found'], 'phases')


def test_killed_session_leaves_nothing():
    with Measuring() as first:
        first.process.kill()
        first.process.wait()
    with Measuring():
        true(str(first.pid) not in sessions(), 'the socket of a killed session is still there')
        for folder in ('/run/wattribute', f'/run/user/{os.geteuid()}/wattribute'):
            if os.path.isdir(folder):
                true(not [name for name in os.listdir(folder)
                          if name.startswith(f'{first.pid}-')], f'{folder} has its folder')


def test_flood_harms_nobody():
    script = '''
import os, socket, struct, time
address = os.environ['WATTRIBUTE_MARKS']
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.setblocking(False)
end = time.monotonic() + 0.5
while time.monotonic() < end:
    try:
        s.sendto(b'x' * 88, address.replace('@', '\\0', 1) if address[0] == '@' else address)
    except BlockingIOError:
        pass
'''
    document, _ = measure(sys.executable, '-c', script)
    equal(document['runs'][0]['phases'], [], 'phases of nonsense')
    equal(document['quality']['check_failures'], 0, 'failed conservation checks')
    equal(document['quality']['sum_failures'], 0, 'failed checks of sums')


def test_mistakes():
    one_line(run('mark'), 2, 'missing', '--help')
    one_line(run('mark', 'a', 'b'), 2, 'quotes')
    one_line(run('mark', '--end', 'a'), 2, 'exclude')
    one_line(run('mark', '--pid=0', 'a'), 2, '--pid')
    one_line(run('mark', '--pid=1', '--recording=x', 'a'), 2, 'exclude')
    one_line(run('mark', 'x' * 64), 2, 'too long')
    one_line(run('mark', '--recording=/nowhere', 'a'), 1, '/nowhere')
    one_line(run('mark', f'--recording={__file__}', 'a'), 1, 'nobody writes')
    one_line(run('mark', 'a', env={'WATTRIBUTE_MARKS': '/nowhere'}), 1, 'has ended')
    equal(run('mark', '-q', 'a', env={'WATTRIBUTE_MARKS': '/nowhere'}).status, 0, 'quiet')
    one_line(run('mark', 'a', env={'WATTRIBUTE_MARKS': 'relative'}), 1, 'no address')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'socket')
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as somebody:
            somebody.bind(path)
            one_line(run('mark', 'a\nb', env={'WATTRIBUTE_MARKS': path}), 2, 'control characters')
            equal(run('mark', 'fine', env={'WATTRIBUTE_MARKS': path}).status, 0, 'status')
            magic, version, lost, t_ns, label = struct.unpack('=8sIIQ64s', somebody.recv(100))
            equal((magic, version, lost, label.rstrip(b'\0')), (b'WATTMARK', 1, 0, b'fine'),
                  'datagram')
            true(0 <= time.monotonic_ns() - t_ns < 60e9, 'time of the datagram')


main([
    test_program_in_c,
    test_nobody_listens,
    test_shell_script,
    test_marks_of_the_last_moment,
    test_repeats,
    test_intervals_with_marks,
    test_datagram_as_documented,
    test_another_user,
    test_who_is_told,
    test_top_names_the_phase,
    test_descendants_find_their_session,
    test_killed_session_leaves_nothing,
    test_flood_harms_nobody,
    test_mistakes,
])
