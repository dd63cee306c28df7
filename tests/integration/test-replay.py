#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a recording says when it is asked again: the bytes of the live run, whatever was measured
and however the recorder ended; and other answers that are as exact."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import (LOAD, PROGRAM, TOP, Skip, equal, main, nj, one_line, run,  # noqa: E402
                     true, validate)

SYNTH = ['--sources=synth', '--usage=synth']
USERS = {'process', 'vm', 'kthread', 'exited', 'irq', 'softirq'}


def fixture(machine):
    return ['--sysfs-root', os.path.join(TOP, 'tests', 'fixtures', machine, 'sys'),
            '--procfs-root', os.path.join(TOP, 'tests', 'fixtures', machine, 'proc')]


class Recording:
    """A recording in a folder of its own, and what the live run printed."""

    def __init__(self, *args):
        self.folder = tempfile.mkdtemp(prefix='watt-test-')
        self.path = os.path.join(self.folder, 'run.watt')
        self.args = args
        self.live = ''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def record(self, *more, status=0):
        result = run('record', '--json', '-q', '-o', self.path, *self.args, *more)
        if result.status != status and 'without SQLite' in result.err:
            raise Skip('missing: built without recordings')
        equal(result.status, status, result.err)
        self.live = result.out
        true(self.live, 'the live run said nothing')
        return self

    def start(self, *more):
        """In the background; what it prints goes into a file."""
        self.file = open(os.path.join(self.folder, 'live.json'), 'w+', encoding='utf-8')
        return subprocess.Popen([PROGRAM, 'record', '--json', '-q', '-o', self.path, *self.args,
                                 *more], stdout=self.file, stdin=subprocess.DEVNULL)

    def stop(self, process, number):
        process.send_signal(number)
        process.wait(30)
        self.file.seek(0)
        self.live = self.file.read()
        self.file.close()

    def replay(self, *args, path=None):
        result = run('replay', '--json', *args, path or self.path)
        equal(result.status, 0, result.err)
        return result

    def lines(self, *args, path=None):
        return [json.loads(line) for line in self.replay(*args, path=path).out.splitlines()]


def check_same(recording):
    true(recording.replay().out == recording.live, first_difference(recording))
    documents = [json.loads(line) for line in recording.live.splitlines()]
    for document in documents:
        check_conserved(document)
    return documents


def first_difference(recording):
    replayed = recording.replay().out.splitlines()
    live = recording.live.splitlines()
    for i, (a, b) in enumerate(zip(live, replayed)):
        if a != b:
            at = next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
            return f'line {i + 1}: live ...{a[max(0, at - 90):at + 40]}...\n' \
                   f'    replayed ...{b[max(0, at - 90):at + 40]}...'
    return f'{len(live)} lines live, {len(replayed)} replayed'


def check_conserved(document):
    equal(document['quality']['check_failures'], 0, 'failed checks')
    equal(document['quality']['sum_failures'], 0, 'failed checks of sums')
    for i, domain in enumerate(document['domains']):
        rows = [row for row in document['rows'] if row['is_in_sum']]
        equal(sum(row['domain_window_nj'][i] for row in rows), domain['window_nj'] or 0,
              f'{domain["path"]}: windows of the rows')
        equal(sum(nj(row['domain_energy'][i]) for row in rows), nj(domain['energy']) or 0,
              f'{domain["path"]}: energies of the rows')


def test_simulated_machine():
    with Recording(*SYNTH, '--rate=1kHz') as recording:
        documents = check_same(recording.record('--for=4s'))
        for document in documents:
            validate(document, 'wattribute-snapshot-1')
        equal(recording.replay().out, recording.replay().out, 'the same twice')


def test_captured_machines():
    """Two packages of two dies, boards with power rails, and no sensor at all."""
    for args in (fixture('xeon-2s-2die'), fixture('jetson-orin-nx'), fixture('laptop-battery'),
                 ['--sources=null', '--usage=synth'], ['--sources=estimate']):
        with Recording(*args) as recording:
            check_same(recording.record('--for=1.5s'))


def test_processes_of_all_kinds():
    """Real usage: births and deaths by hundreds, threads, a daemon, pids that come again."""
    with Recording('--sources=estimate,synth', '--rate=200Hz') as recording:
        script = (f'exec > /dev/null; {LOAD} storm 400; {LOAD} threads 4 0.3; '
                  f'{LOAD} daemon 0 0.3; {LOAD} tree 3 0.2; {LOAD} reuse 3 0.05')
        documents = check_same(recording.record('--', 'sh', '-c', script))
        rows = [row for row in documents[-1]['rows'] if row['kind'] == 'tracked']
        equal(len(rows), 1, 'tracked sets')
        true(rows[0]['count'] > 400, f'{rows[0]["count"]} processes are tracked')


def test_threads():
    """They are the same in replay; recordings by BPF have them without having been asked."""
    script = f'exec > /dev/null; {LOAD} workers 3 0.1'
    with Recording('--sources=synth') as recording:
        documents = check_same(recording.record('--threads', '--', 'sh', '-c', script))
        rows = [row for document in documents for row in document['rows']]
        names = {row['name'] for row in rows if row['kind'] == 'thread'}
        if not names >= {'worker-1', 'worker-2', 'worker-3'}:
            raise Skip('without BPF threads that end between two sweeps are not seen')
        text = run('replay', '-H', '-g', 'tree', recording.path).out
        true('{worker-3}' in text or 'ended threads' in text, text)
        validate(documents[-1], 'wattribute-snapshot-1')
        text = run('report', '-n', '0', '-g', 'thread', recording.path).out
        true('worker-3, a thread of' in text, text)
        report = run('report', '--json', '-g', 'thread', recording.path).json()
        validate(report, 'wattribute-report-1')
        equal(report['group'], 'thread', 'group of the report')
        text = run('export', '--kinds=process,thread', recording.path).out
        true(',thread,worker-3,' in text, text[:2000])
        text = run('replay', recording.path).out
        true('{worker' not in text and 'ended threads' not in text, text)
    with Recording('--sources=synth') as recording:
        for document in check_same(recording.record('--', 'sh', '-c', script)):
            true(all(row['kind'] != 'thread' for row in document['rows']), 'nobody asked for any')
        rows = [row for document in recording.lines('-H') for row in document['rows']]
        true(any(row['kind'] == 'thread' for row in rows), 'no threads')
        for document in recording.lines('-H'):
            check_conserved(document)


def test_counts():
    """What was counted at context switches is recorded, too."""
    with Recording('--sources=synth', '--precise', '--share-key=learned') as recording:
        recording.record('--for=2s')
        check_same(recording)
    with Recording('--sources=synth', '--share-key=cycles') as recording:
        result = run('record', '-q', '-o', recording.path, *recording.args, '--for=200ms')
        true('needs precise mode' in result.err, result.err)


def test_marks():
    with Recording('--sources=synth') as recording:
        script = (f'{PROGRAM} mark load; sleep 0.4; {PROGRAM} mark solve; sleep 0.7; '
                  f'{PROGRAM} mark --end; sleep 0.3; {PROGRAM} mark solve; sleep 0.4')
        documents = check_same(recording.record('--', 'sh', '-c', script))
        phases = [document['phase'] for document in documents]
        for phase in ('load', 'solve', None):
            true(phase in phases, f'no {phase} in {phases}')
        # Each phase for itself, cut where the live run cut it.
        solve = recording.lines('--phase=solve')
        equal(len(solve), 2, 'phases called solve')
        for line in solve:
            check_conserved(line)
            equal(line['phase'], 'solve', 'phase')
        # The last one goes on to the end of the recording, which the command does not see.
        mine = sum(document['machine']['window_nj'] for document in documents
                   if solve[0]['window_start_s'] <= document['window_start_s'] < solve[0]['t_s'])
        equal(solve[0]['machine']['window_nj'], mine, 'energy of the phase')
        one_line(run('replay', '--phase=nothing', recording.path), 1, "'nothing'", 'load, solve')


def disturb(root, is_over):
    """Counters that count, vanish, come back, restart and show nonsense."""
    files = sorted(glob.glob(os.path.join(root, 'class/powercap/*/energy_uj'))) or \
        sorted(glob.glob(os.path.join(root, 'devices/**/energy_uj'), recursive=True))
    true(files, 'no counter in the fixture')
    n = 0
    while not is_over.wait(0.02):
        n += 1
        for i, path in enumerate(files):
            text = f'{1000000 + n * 7000 * (i + 1)}\n'
            if i == 0 and n % 40 in range(10, 15):
                text = 'nonsense\n'
            if i == 1 and n % 30 in range(8, 11):  # long enough to be read on a busy machine
                text = '12\n'
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
        if n % 50 == 0:
            os.rename(files[-1], files[-1] + '.away')
        elif n % 50 == 20 and not os.path.exists(files[-1]):
            os.rename(files[-1] + '.away', files[-1])


def test_sensors_that_fail():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(TOP, 'tests', 'fixtures', 'xeon-2s-2die'), folder,
                        symlinks=True, dirs_exist_ok=True)
        args = ['--sysfs-root', os.path.join(folder, 'sys'),
                '--procfs-root', os.path.join(folder, 'proc'), '--usage=synth', '--rate=100Hz']
        is_over = threading.Event()
        thread = threading.Thread(target=disturb, args=(os.path.join(folder, 'sys'), is_over))
        with Recording(*args) as recording:
            thread.start()
            try:
                recording.record('--for=4s')
            finally:
                is_over.set()
                thread.join()
            last = check_same(recording)[-1]
            true(any(domain['errors'] for domain in last['domains']), 'no error was read')
            true(any(domain['resets'] or domain['wraps'] for domain in last['domains']),
                 'no counter stepped back')


def test_killed():
    """What is there is a prefix of what was said, and hardly less."""
    with Recording(*SYNTH, '--rate=1kHz') as recording:
        process = recording.start()
        time.sleep(4.5)
        recording.stop(process, signal.SIGKILL)
        result = run('replay', '--json', recording.path)
        equal(result.status, 0, result.err)
        true('was not finished' in result.err, f'not told: {result.err!r}')
        live, replayed = recording.live.splitlines(), result.out.splitlines()
        true(replayed, 'nothing is left')
        equal(replayed, live[:len(replayed)], 'not a prefix')
        true(len(live) - len(replayed) <= 2, f'{len(replayed)} of {len(live)} snapshots')


def test_interrupted():
    with Recording(*SYNTH) as recording:
        process = recording.start()
        time.sleep(2.5)
        recording.stop(process, signal.SIGINT)
        equal(process.returncode, 0, 'exit status')
        check_same(recording)


def test_while_it_is_written():
    with Recording(*SYNTH) as recording:
        process = recording.start()
        time.sleep(3.5)
        early = run('replay', '--json', recording.path)
        recording.stop(process, signal.SIGTERM)
        equal(early.status, 0, early.err)
        true(early.out and recording.live.startswith(early.out), 'not a prefix')


def check_part(documents, live, path):
    """Once a domain has begun, a part knows what the live run knew, but for what is less than
    1 nJ where its curve begins."""
    for before, document in zip([None] + documents, documents):
        check_conserved(document)
        same = [one for one in live if one['t_s'] == document['t_s']]
        equal(len(same), 1, f'{path}: snapshots at {document["t_s"]} s')
        if not before:
            continue
        for was, ours, theirs in zip(before['domains'], document['domains'], same[0]['domains']):
            true(was['t_s'] != before['t_s'] or abs(ours['window_nj'] - theirs['window_nj']) <= 1,
                 f"{path}: {ours['path']}: {ours['window_nj']} nJ, live {theirs['window_nj']}")


def test_rotated():
    """The first file is the beginning; each later one can be read alone."""
    with Recording(*SYNTH, '--rotate-time=2s') as recording:
        recording.record('--for=7s')
        files = [recording.path] + [os.path.join(recording.folder, f'run-{i}.watt')
                                    for i in range(2, 9)]
        files = [path for path in files if os.path.exists(path)]
        true(len(files) >= 3, f'{len(files)} files')
        first = recording.replay().out
        true(first and recording.live.startswith(first), 'not a prefix')
        live = [json.loads(line) for line in recording.live.splitlines()]
        for path in files:
            documents = recording.lines(path=path)
            true(documents, f'{path}: no snapshot')
            check_part(documents, live, path)


def test_policy_of_the_live_run():
    with Recording('--sources=estimate', '--idle-policy=proportional') as recording:
        documents = check_same(recording.record('--for=2s'))
        true(nj(documents[-1]['machine']['shared_idle']) > 0, 'nothing is shared')
        separate = recording.lines('--idle-policy=separate')
        for ours, theirs in zip(separate, documents):
            check_conserved(ours)
            equal(ours['idle_policy'], 'separate', 'policy')
            equal(ours['machine']['energy'], theirs['machine']['energy'], 'energy')
            equal(nj(ours['machine']['idle']),
                  nj(theirs['machine']['idle']) + nj(theirs['machine']['shared_idle']), 'idle')


def test_other_answers():
    with Recording(*SYNTH, '--rate=100Hz') as recording:
        recording.record('--for=4s')
        usual = recording.lines()
        for args in (['--idle-policy=proportional'], ['--idle-policy=requests'], ['--share-key=none'],
                     ['--share-key=package-0=none,sine=cpu_time'],
                     ['--sensor-delay=synth/*=30', '--idle-policy=proportional']):
            documents = recording.lines(*args)
            equal(len(documents), len(usual), 'snapshots')
            for document in documents:
                check_conserved(document)
            equal(recording.replay(*args).out, recording.replay(*args).out, f'{args} twice')
        for row in recording.lines('--share-key=none')[-1]['rows']:
            if row['kind'] in USERS:
                equal(nj(row['energy']), 0, row['name'])
        one_line(run('replay', '--share-key=gpu=none', recording.path), 2, 'package-0')
        one_line(run('replay', '--idle-policy=fair', recording.path), 2, 'requests')
        one_line(run('replay', '--sensor-delay=x*=1', recording.path), 2, 'synth/package-0')


def test_windows():
    """Whatever their length, they meet, and add up to the whole."""
    with Recording(*SYNTH, '--rate=200Hz') as recording:
        recording.record('--for=4s')
        whole = recording.lines('--window=1h')
        equal(len(whole), 1, 'windows of an hour')
        for length in ('50ms', '300ms', '1s'):
            windows = recording.lines(f'--window={length}')
            equal(recording.replay(f'--window={length}').out,
                  recording.replay(f'--window={length}').out, 'twice')
            sums = [0] * len(whole[0]['domains'])
            for before, window in zip([None] + windows, windows):
                check_conserved(window)
                if before:
                    equal(window['window_start_s'], before['t_s'], 'a gap between windows')
                for i, domain in enumerate(window['domains']):
                    sums[i] += domain['window_nj'] or 0
            equal(sums, [nj(domain['energy']) or 0 for domain in whole[0]['domains']], length)


def test_part():
    with Recording(*SYNTH) as recording:
        recording.record('--for=3s')
        begin = recording.lines('--window=1h')[0]['start_s']
        part = recording.lines('--from=1', '--to=2.5s')
        equal(len(part), 1, 'lines')
        check_conserved(part[0])
        true(0 <= part[0]['window_start_s'] - begin - 1 < 0.2, 'begin of the part')
        true(0 <= part[0]['t_s'] - begin - 2.5 < 0.2, 'end of the part')
        true(part[0]['machine']['window_nj'] < nj(part[0]['machine']['energy']), 'window')
        start = part[0]['realtime_s'] - part[0]['t_s'] + begin
        same = recording.lines(f'--from=@{start + 1:.6f}', f'--to=@{start + 2.5:.6f}')
        equal(same[0]['domains'], part[0]['domains'], 'by the clock')
        for args, status, words in ((['--from=1h'], 1, ['after the beginning']),
                                    (['--from=2', '--to=1'], 2, ['--to is not after']),
                                    (['--from=1970-01-02T00:00Z'], 1, ['before the beginning'])):
            one_line(run('replay', *args, recording.path), status, *words)


def test_for_people():
    with Recording(*SYNTH) as recording:
        recording.record('--for=2s')
        table = run('replay', recording.path)
        equal((table.status, table.err), (0, ''), 'table')
        true(' = attributed ' in table.out and 'COMMAND' in table.out, table.out[:300])
        equal(run('replay', '-g', 'user', '-s', 'name', '-D', recording.path).status, 0, 'groups')
        lines = run('replay', '--window=500ms', recording.path)
        equal(lines.status, 0, lines.err)
        true(4 <= lines.out.count('\n') - 2 <= 6, lines.out)


def test_mistakes():
    for args, words in (([], ['give its file']), (['a', 'b'], ["unexpected 'b'"]),
                        (['--from=soon', 'a'], ['--from', "'soon'"]),
                        (['--window=0', 'a'], ['--window']), (['--phase=', 'a'], ['--phase']),
                        (['--group=x', 'a'], ['--group']), (['--usage=bpf', 'a'], ['--usage'])):
        one_line(run('replay', *args), 2, *words)
    one_line(run('replay', '/nowhere/run.watt'), 1, '/nowhere/run.watt', 'No such file')
    one_line(run('replay', PROGRAM), 1, PROGRAM)
    one_line(run('replay', '/'), 1, '/')


def test_damaged():
    """What is left is attributed, and the loss is said."""
    try:
        import sqlite3
    except ImportError as error:
        raise Skip('missing: sqlite3 for Python') from error
    with Recording(*SYNTH) as recording:
        recording.record('--for=5s')
        db = sqlite3.connect(recording.path)
        ids = [row[0] for row in db.execute('SELECT id FROM chunks ORDER BY id')]
        true(len(ids) >= 4, f'{len(ids)} chunks')
        data = bytearray(db.execute('SELECT data FROM chunks WHERE id = ?',
                                    (ids[2],)).fetchone()[0])
        data[len(data) // 2] ^= 0x55
        db.execute('UPDATE chunks SET data = ? WHERE id = ?', (bytes(data), ids[2]))
        db.commit()
        db.close()
        result = run('replay', '--json', recording.path)
        equal(result.status, 0, result.err)
        true('damaged' in result.err, f'not told: {result.err!r}')
        true(result.out, 'nothing is left')
        for line in result.out.splitlines():
            check_conserved(json.loads(line))
        equal(run('replay', '--json', '--window=1s', recording.path).status, 0, 'windows')


main([value for name, value in sorted(globals().items()) if name.startswith('test_')])
