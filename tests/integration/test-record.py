#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`wattribute record`: whatever happens to the recorder, what it wrote can be read."""
import contextlib
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import nvmt_trace  # noqa: E402
from command import (BUILD, PROGRAM, TOP, Skip, equal, for_anybody, main, near, nj, one_line,  # noqa: E402
                     run, true, validate)

MARKER = os.path.join(BUILD, 'tests', 'integration', 'marker')
# A command that prints may do so in the middle of a long line of ours.
SILENT = ('sh', '-c', 'exec "$0" "$@" >/dev/null')
SYNTH = ('--sources=synth', '--usage=synth')
os.environ.pop('WATTRIBUTE_MARKS', None)
# Every test has a folder of its own below this one.
FOLDER = tempfile.TemporaryDirectory(prefix='watt-record-')
numbers = iter(range(1000))


def new_path():
    folder = os.path.join(FOLDER.name, str(next(numbers)))
    os.mkdir(folder)
    return os.path.join(folder, 'run.watt')


def lines_of(text):
    snapshots = [json.loads(line) for line in text.splitlines()]
    for snapshot in snapshots[:2] + snapshots[-1:]:
        validate(snapshot, 'wattribute-snapshot-1')
    return snapshots


def replay(path):
    result = run('replay', path, '--json')
    equal(result.status, 0, f'status of replay (it said {result.err!r})')
    return result.out


def query(path, sql):
    with contextlib.closing(sqlite3.connect(f'file:{path}?mode=ro', uri=True)) as database:
        return database.execute(sql).fetchall()


def same_lines(found, expected):
    """Lines of a replay and of the live run; says where they part, not all of them."""
    if found == expected:
        return
    for number, (a, b) in enumerate(zip(found.splitlines(), expected.splitlines()), 1):
        i = next((i for i, (c, d) in enumerate(zip(a, b)) if c != d), None)
        if i is not None:
            raise AssertionError(f'line {number}: replay {a[max(i - 60, 0):i + 40]!r}, '
                                 f'live {b[max(i - 60, 0):i + 40]!r}')
    raise AssertionError(f'{found.count(chr(10))} lines of the replay, '
                         f'{expected.count(chr(10))} of the live run')


def record(*args, status=0, **more):
    """Records with --json; the path, the snapshots, and that replay says the same."""
    path = new_path()
    result = run('record', '--json', '-o', path, *args, **more)
    equal(result.status, status, f'status (it said {result.err!r})')
    same_lines(replay(path), result.out)
    return path, lines_of(result.out), result


def start(path, *args, **more):
    """A recorder that runs, and has written its first second."""
    process = subprocess.Popen([PROGRAM, 'record', '--json', '-o', path, *args],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, **more)
    line = process.stdout.readline()
    true(line, f'no first snapshot: {process.stderr.read() if process.poll() else ""!r}')
    return process


def check_windows(snapshots):
    """Windows follow each other, and their sums are the totals."""
    for before, after in zip(snapshots, snapshots[1:]):
        equal(after['window_start_s'], before['t_s'], 'begin of a window')
    for i, domain in enumerate(snapshots[-1]['domains']):
        known = [snapshot['domains'][i] for snapshot in snapshots
                 if snapshot['domains'][i]['window_nj'] is not None]
        if domain['energy'] is not None:
            equal(sum(one['window_nj'] for one in known), nj(domain['energy']),
                  f"windows of {domain['path']}")
    equal(snapshots[-1]['quality']['check_failures'], 0, 'failed conservation checks')
    equal(snapshots[-1]['quality']['sum_failures'], 0, 'failed checks of sums')


def check_report(path, snapshots):
    """The recording ends where record did, though sensors told more until it was closed."""
    total = run('report', '--json', path).json()['total']
    energy = snapshots[-1]['machine']['energy']
    if energy is not None:
        equal(total['energy_nj'], nj(energy), 'energy of the report and of the recorder')


def test_secrets_are_in_no_file():
    command = ('--', 'sh', '-c', 'sleep 1; : --password=hunter2 --token shazam')
    path, snapshots, _ = record('--sources=synth', '--usage=procfs', '--for=30', *command)
    with open(path, 'rb') as file:
        content = file.read()
    texts = query(path, "SELECT value FROM meta WHERE key = 'command'")
    true(b'hunter2' not in content and '--password=***' in str(texts), f'command: {texts}')
    told = {row['cmdline'] for row in snapshots[-1]['rows'] if 'sleep 1' in (row['cmdline'] or '')}
    true(told and all('hunter2' not in text and 'shazam' not in text for text in told), f'{told}')
    for others in ('report', 'export'):
        true('hunter2' not in run(others, path).out, others)
    path, snapshots, _ = record('--sources=synth', '--usage=procfs', '--privacy=names', '--for=30', *command)
    true(all(row['cmdline'] is None for row in snapshots[-1]['rows']), 'only names')
    # What was kept is told where it is asked for, and not otherwise.
    path = new_path()
    result = run('record', '-o', path, '--sources=synth', '--usage=procfs', '--privacy=all', '--for=30', *command)
    equal(result.status, 0, f'status (it said {result.err!r})')
    true('hunter2' not in run('replay', path, '--json').out, 'replay')
    true('hunter2' in run('replay', path, '--json', '--privacy=all').out, 'replay of all')


def test_for_some_time():
    begin = time.monotonic()
    path, snapshots, result = record('--for', '2500ms')
    true(2.4 < time.monotonic() - begin < 60, 'it took too short or too long')
    true(len(snapshots) >= 3, f'only {len(snapshots)} snapshots')
    check_windows(snapshots)
    check_report(path, snapshots)
    for word in ('Recorded', path, 'wattribute report', 'used'):
        true(word in result.err, f'no {word!r} in {result.err!r}')
    equal(query(path, 'PRAGMA integrity_check'), [('ok',)], 'integrity')
    equal(os.listdir(os.path.dirname(path)), ['run.watt'], 'files')


def test_views_of_much_energy():
    """107 days of 1 kW are more than int64 nJ: what the views add up must not fail there."""
    path, _, _ = record('--for', '1s', '--sources=synth', '--usage=synth')
    much_nj = 2 ** 63 - 1
    with contextlib.closing(sqlite3.connect(path)) as database:
        row = database.execute('SELECT entity, domain FROM energy JOIN domains ON domain = id '
                               'WHERE is_partition').fetchone()
        before = database.execute('SELECT joules FROM entity_joules WHERE id = ?',
                                  row[:1]).fetchone()[0]
        for window in (-1, -2):
            database.execute('INSERT INTO windows VALUES (?, 0, 1000000000, 0, NULL)', (window,))
            for table in ('energy', 'sums'):
                database.execute(f'INSERT INTO {table} VALUES (?, ?, ?, ?)',
                                 (window, *row, much_nj))
        views = [name for name, in
                 database.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        true(len(views) > 9, f'only {views}')
        for view in views:
            database.execute(f'SELECT * FROM {view}').fetchall()
        near(database.execute('SELECT joules FROM entity_joules WHERE id = ?', row[:1])
             .fetchone()[0], before + 2 * much_nj / 1e9, 1e-9, 'joules of much energy')


def test_rate():
    path, _, _ = record('--for', '2s', '--rate', '200Hz', *SYNTH)
    (n_channels,), = query(path, 'SELECT count(*) FROM channels')
    (n_samples,), = query(path, 'SELECT sum(n_samples) FROM chunks')
    true(n_samples > 100 * n_channels, f'{n_samples} samples of {n_channels} channels')
    equal(run('record', '-q', '--for', '1s', '--rate', '200Hz', '-o', new_path(), *SYNTH).err, '',
          'what a quiet recorder says')


def test_rate_of_a_source():
    path, _, _ = record('--for', '2s', '--rate', '10Hz,synth=200Hz', *SYNTH)
    (n_channels,), = query(path, 'SELECT count(*) FROM channels')
    (n_samples,), = query(path, 'SELECT sum(n_samples) FROM chunks')
    true(n_samples > 100 * n_channels, f'{n_samples} samples of {n_channels} channels')
    path = new_path()
    one_line(run('record', '--rate=hwmon=1kHz', '-o', path, *SYNTH), 2, 'hwmon', 'synth')
    one_line(run('record', '--rate=synth=2kHz', '-o', path, *SYNTH), 2, 'synth=2kHz')
    equal(os.listdir(os.path.dirname(path)), [], 'files of mistakes')


def ticks_of_cpus():
    """Ticks away (idle, waiting, stolen) and all, of each CPU that is online."""
    with open('/proc/stat', encoding='ascii') as file:
        lines = [line.split() for line in file if re.match(r'cpu\d', line)]
    numbers = {line[0]: list(map(int, line[1:9])) for line in lines}
    return {cpu: (ticks[3] + ticks[4] + ticks[7], sum(ticks)) for cpu, ticks in numbers.items()}


def test_cpus_of_context():
    """How busy each CPU was, as the kernel counts it too."""
    before = ticks_of_cpus()
    path, _, _ = record('--for', '2s', '--sources=synth,context', '--rate=context=500')
    after = ticks_of_cpus()
    gauges = {gauge['name']: gauge for gauge in run('report', '--json', path).json()['context']}
    for cpu in set(before) & set(after):
        away, whole = (b - a for a, b in zip(before[cpu], after[cpu]))
        gauge = gauges[f'context/{cpu}/busy']
        equal((gauge['quantity'], gauge['status']), ('ratio', 'ok'), cpu)
        true(0 <= gauge['least'] <= gauge['mean'] <= gauge['greatest'] <= 1, gauge)
        truth = 1 - away / whole
        true(abs(gauge['mean'] - truth) < 0.15, f'{cpu} was busy for {gauge["mean"]}, the kernel counts {truth}')


def test_phases_are_the_whole():
    path, snapshots, _ = record('--', *SILENT, MARKER, 'load', '0.3', 'solve', '0.4', 'sleep', '0.2')
    check_windows(snapshots)
    equal([phase for phase in dict.fromkeys(snapshot['phase'] for snapshot in snapshots)
           if phase], ['load', 'solve', 'sleep'], 'phases of the windows')
    check_report(path, snapshots)
    marks = query(path, 'SELECT label, t_ns FROM marks ORDER BY t_ns')
    equal([label for label, _ in marks], ['load', 'solve', 'sleep', ''], 'marks')
    # No window crosses a mark: each mark has a window that begins within the slice that it ended.
    begins = [snapshot['window_start_s'] for snapshot in snapshots] + [snapshots[-1]['t_s']]
    for label, t_ns in marks:
        late_s = min(begin - t_ns / 1e9 for begin in begins if begin >= t_ns / 1e9 - 1e-6)
        true(late_s < 0.25, f'the window of {label!r} begins {late_s} s after the mark')
    tracked = [row for row in snapshots[-1]['rows'] if row['kind'] == 'tracked']
    equal(len(tracked), 1, 'tracked commands')
    true(nj(tracked[0]['energy']) > 0, 'the command used nothing')


def test_marks_of_a_script():
    script = f'{PROGRAM} mark one; sleep 0.3; {PROGRAM} mark two; sleep 0.3; {PROGRAM} mark --end'
    path, snapshots, result = record('--', 'sh', '-c', script)
    equal([label for label, in query(path, 'SELECT label FROM marks ORDER BY t_ns')],
          ['one', 'two', ''], 'marks')
    true('3 marks' in result.err, f'no marks in {result.err!r}')
    check_windows(snapshots)


def test_mark_by_recording():
    path = new_path()
    process = start(path)
    equal(run('mark', '--recording', path, 'by file').status, 0, 'status of mark')
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    equal(query(path, 'SELECT label FROM marks'), [('by file',)], 'marks')


# Sends marks for two seconds as fast as they are taken, and writes down how many. On a machine that
# is busy each of them may wait for its turn, so no number is sure to be sent in any time.
FLOOD = """
import os, socket, struct, sys, time
end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
address = os.environ['WATTRIBUTE_MARKS']
end.connect('\\0' + address[1:] if address[0] == '@' else address)
sent, end_s = 0, time.monotonic() + 2
while sent < 200000 and time.monotonic() < end_s:
    label = f'label {sent}'.encode()
    end.send(struct.pack('=8sIIQ64s', b'WATTMARK', 1, 0, time.monotonic_ns(), label))
    sent += 1
with open(sys.argv[1], 'w') as file:
    file.write(str(sent))
"""


def test_a_flood_of_marks():
    """It costs marks, told once and written down, and nothing else."""
    number = new_path() + '.sent'
    path, snapshots, result = record('--sources=synth', '--usage=procfs', '--', sys.executable, '-c',
                                     FLOOD, number)
    with open(number, encoding='ascii') as file:
        sent = int(file.read())
    marks = query(path, 'SELECT count(*) FROM marks')[0][0]
    meta = dict(query(path, 'SELECT key, value FROM meta'))
    lost = int(meta['lost_marks'])
    equal(marks + lost, sent, 'marks taken and left out')
    true(marks >= min(sent, 1000), f'only {marks} marks')
    equal(result.err.count('a second are not taken'), int(lost > 0), f'lines of {result.err!r}')
    equal(query(path, 'SELECT why FROM losses'), [], 'losses')
    equal(int(meta['lost_samples']), 0, 'samples lost')
    check_windows(snapshots)
    report = run('report', path).out
    told = f'{lost} marks came too fast' in ' '.join(report.split())
    equal(told, lost > 0, f'lost marks in {report!r}')
    # What the recorder and every output say is what the file says.
    true(f' {marks:,} mark' in result.err, f'marks in {result.err!r}')
    equal(f'{lost:,} marks lost' in result.err, lost > 0, f'lost marks in {result.err!r}')
    equal(json.loads(run('report', '--json', path).out)['losses']['marks'], lost, 'report --json')
    equal(json.loads(run('export', '-f', 'json', path).out)['recording']['lost_marks'], lost, 'export')


def test_exit_status():
    path, _, _ = record('--', 'sh', '-c', 'exit 3', status=3)
    record('--', 'sh', '-c', 'kill -TERM $$', status=128 + 15)
    path = new_path()
    one_line(run('record', '-o', path, '--', 'nonesuch-command'), 127, 'nonesuch-command')
    one_line(run('record', '-o', path, '--', '/etc/passwd'), 126, '/etc/passwd')
    equal(os.listdir(os.path.dirname(path)), [], 'files of commands that could not be run')


def test_time_is_over_for_a_command():
    begin = time.monotonic()
    record('--for', '1s', '--', 'sleep', '100')
    true(time.monotonic() - begin < 60, 'the command was not ended')


def test_ctrl_c():
    path = new_path()
    process = start(path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    equal(process.returncode, 0, f'status ({err!r})')
    true('Recorded' in err, f'no summary in {err!r}')
    true(replay(path).endswith(out), 'the replay has other last lines')


def test_ctrl_c_with_a_command():
    path = new_path()
    process = start(path, '--', 'sleep', '100', start_new_session=True)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    equal(process.returncode, 128 + 2, 'status')
    replay(path)


def test_signals_are_passed_on():
    path = new_path()
    script = 'trap "exit 7" USR1; while :; do sleep 0.1; done'
    process = start(path, '--', 'sh', '-c', script)
    process.send_signal(signal.SIGUSR1)
    process.communicate(timeout=60)
    equal(process.returncode, 7, 'status')


ORIN = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')
TRACE = ('--format=nvmt', f'--sysfs-root={ORIN}/sys', '--usage=procfs')
WHOLE_TRACE = TRACE + (f'--procfs-root={ORIN}/proc',)


def check_trace(trace):
    equal((trace['rails'], trace['zones'], trace['emc']),
          (['VDD_GPU_SOC', 'VDD_CPU_CV', 'VIN_SYS_5V0', 'VDDQ_VDD2_1V8AO'], 2, 1), 'header')
    equal(set(trace['reserved']), {0}, 'reserved bytes')
    for tier, least in (('fast', 50), ('medium', 10), ('slow', 3)):
        times = [sample[0] for sample in trace[tier]]
        true(len(times) >= least and times == sorted(set(times)), f'{len(times)} times of {tier}')
    sample = trace['fast'][-1]
    equal((trace['cores'], sample[1]), (12, 523), 'cores, GPU')
    true(abs(sample[21] - 100 * 425984 / 2133000) < 1e-3, f'EMC {sample[21]}')
    true(all(2000 < sample[17] < 4000 for sample in trace['medium']), 'mW of VDD_GPU_SOC')
    equal([round(value, 3) for value in trace['slow'][-1][1:4]], [48.218, -4.5, 0], 'temperatures')


def test_trace():
    """Each tier as often as it is read, marks as sync points, and a header that counts them."""
    path = new_path()
    done = run('record', *TRACE, '-o', path, '--', 'sh', '-c', f'sleep 0.5; {PROGRAM} mark load; sleep 0.7')
    equal(done.status, 0, done.err)
    trace = nvmt_trace.read(path)
    check_trace(trace)
    (number, index), = trace['syncs'][:1]
    true(number == 1 and 0 <= index <= len(trace['fast']), trace['syncs'])
    true(trace['hz'][0] > trace['hz'][1] > trace['hz'][2] >= 5, f'rates {trace["hz"]}')
    true('no word for what is not known' in done.err, f'nothing said of cores without a value: {done.err}')
    # it is a recording like any other
    context = {one['name']: one['mean'] for one in run('report', '--json', path).json()['context']}
    true(abs(context['nvmt/gpu/load'] - 0.523) < 1e-6, context)
    equal(run('report', path).status, 0, 'report')
    # and again, sample by sample
    again = new_path()
    equal(run('export', '-f', 'nvmt', '-o', again, path).status, 0, 'export')
    with open(path, 'rb') as one, open(again, 'rb') as other:
        true(one.read() == other.read(), 'a copy of a trace is another one')
    for words in (['--rotate-time=1m'], ['--rotate-size=1M'], ['--format=toast']):
        one_line(run('record', *TRACE, '-o', new_path(), *words), 2, '--')
    one_line(run('record', *TRACE, '-o', path), 1, '--force')


def test_a_zone_that_is_off():
    """It answers EAGAIN: it has no value, which is no 0 degrees, and others have theirs."""
    path = new_path()
    shim = os.path.join(BUILD, 'tests', 'bench', 'libslow_sysfs.so')
    done = run('record', '-o', path, '--for=1s', '--sources=hwmon,context', *WHOLE_TRACE[1:],
               env={'LD_PRELOAD': shim, 'WATT_TEST_LATENCIES': 'thermal_zone0/temp=again'})
    equal((done.status, 'left out' in done.err), (0, False), done.err)
    context = {one['name']: (one['mean'], one['status']) for one in run('report', '--json', path).json()['context']}
    equal(context['context/cpu-thermal/temperature'], (None, 'no data'), 'off')
    mean, status = context['context/tboard-thermal/temperature']
    equal((round(mean, 3), status), (-4.5, 'ok'), 'on')


def test_killed_trace():
    """What was written until then is a trace as soon as somebody asks for one."""
    path, repaired = new_path(), new_path()
    process = subprocess.Popen([PROGRAM, 'record', '-o', path, *WHOLE_TRACE], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (os.path.exists(path) and os.path.getsize(path) > 60000):
        time.sleep(0.05)
    process.kill()
    process.communicate()
    info = run('report', '--json', path).json()['recording']
    equal(info['is_complete'], False, 'it is said to be whole')
    equal(run('export', '-f', 'nvmt', '-o', repaired, path).status, 0, 'export')
    trace = nvmt_trace.read(repaired)
    check_trace(trace)
    equal(trace['fast'][-1][19:21], (31413836 - 28764180, 28764180), 'memory')
    equal(run('report', '--json', repaired).json()['recording']['is_complete'], True, 'repaired')
    # cut in the middle of a sample, too
    os.truncate(path, os.path.getsize(path) - 17)
    equal(run('export', '-f', 'nvmt', '-o', repaired, '--force', path).status, 0, 'export')
    check_trace(nvmt_trace.read(repaired))


def test_killed():
    path = new_path()
    process = start(path)
    live = [process.stdout.readline() for _ in range(2)]
    time.sleep(0.5)
    killed_ns = time.monotonic_ns()
    process.kill()
    process.communicate()
    (newest_ns,), = query(path, 'SELECT max(t1_ns) FROM chunks')
    missing_s = (killed_ns - newest_ns) / 1e9
    print(f'    missing after kill -9: {missing_s:.3f} s')
    true(missing_s < 1.2, f'{missing_s} s are missing')
    text = replay(path)
    true(live[0] in text, 'a line of the live run is not in the replay')
    result = run('record', '-f', '-q', '--for', '1s', '-o', path)
    equal(result.status, 0, f'status of recording over it ({result.err!r})')


def fill(path):
    """Takes all the room that there is."""
    with contextlib.closing(os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT), 'wb', 0)) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(b'x' * 4096)


def test_full_disk():
    if os.geteuid() != 0:
        raise Skip('only root can make a small disk')
    folder = os.path.dirname(new_path())
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder],
                      capture_output=True, check=False).returncode:
        raise Skip('no disk can be mounted here')
    path = os.path.join(folder, 'run.watt')
    filler = os.path.join(folder, 'filler')
    process = None
    try:
        process = start(path, '--rate', '1kHz', *SYNTH)
        fill(filler)
        time.sleep(4)
        os.unlink(filler)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        equal(process.returncode, 1, f'status ({err!r})')
        true(re.search(r'disk|space', err), f'no reason in {err!r}')
        true('lost' in err, f'no loss in {err!r}')
        true(err.count('\n') < 8, f'a line for each failure: {err!r}')
        losses = query(path, 'SELECT t0_ns, t1_ns FROM losses')
        true(losses, 'the file does not say what is missing')
        (begin_ns, end_ns), = query(path, 'SELECT min(t0_ns), max(t1_ns) FROM chunks')
        true(begin_ns < losses[0][0] and losses[-1][1] < end_ns, 'nothing before or after the loss')
        true(len(replay(path).splitlines()) >= 2, 'nothing can be read')
    finally:
        if process:
            process.kill()
            process.wait()
        subprocess.run(['umount', folder], check=False)


def test_rotation():
    path = new_path()
    result = run('record', '--for', '5s', '--rotate-time', '1s', '--keep', '2', '-o', path)
    equal(result.status, 0, f'status ({result.err!r})')
    files = sorted(os.listdir(os.path.dirname(path)))
    equal(len(files), 2, f'files that were kept: {files}')
    true('more file' in result.err, f'no other files in {result.err!r}')
    true('not kept' in result.err, f'deleted files in {result.err!r}')
    newest = max((os.path.join(os.path.dirname(path), name) for name in files),
                 key=lambda name: int(query(name, "SELECT value FROM meta WHERE key = 'part'")[0][0]))
    equal(result.err.split()[-1], newest, 'the recording to look at')
    samples = sum(query(os.path.join(os.path.dirname(path), name), 'SELECT sum(n_samples) FROM chunks')[0][0]
                  for name in files)
    true(f'{samples:,} samples of' in result.err, f'{samples} samples in {result.err!r}')
    for name in files:
        replay(os.path.join(os.path.dirname(path), name))


def test_what_is_there_stays():
    path = new_path()
    with open(path, 'w', encoding='utf-8') as file:
        file.write('precious')
    one_line(run('record', '--for', '1s', '-o', path), 1, path, 'already', '--force')
    with open(path, encoding='utf-8') as file:
        equal(file.read(), 'precious', 'the file that was there')
    equal(run('record', '--for', '1s', '-q', '-f', '-o', path).status, 0, 'status with --force')
    replay(path)


def test_the_file_is_the_callers():
    """Only who records may read it: also where sudo made him root."""
    path = new_path()
    equal(run('record', '--for', '0.5s', '-q', *SYNTH, '-o', path).status, 0, 'status')
    equal(os.stat(path).st_mode & 0o7777, 0o600, 'mode')
    if os.geteuid() != 0:
        raise Skip('only root can give files away')
    path = new_path()
    equal(run('record', '--for', '0.5s', '-q', *SYNTH, '-o', path,
              env={'SUDO_UID': '12345', 'SUDO_GID': '54321'}).status, 0, 'status')
    found = os.stat(path)
    equal((found.st_uid, found.st_gid, found.st_mode & 0o7777), (12345, 54321, 0o600), 'owner')


def test_a_file_that_is_taken_away():
    """It is told, and the exit status says that something is missing."""
    path = new_path()
    process = start(path, *SYNTH)
    while not os.path.exists(path):
        true(process.poll() is None, 'it ended')
        time.sleep(0.02)
    os.unlink(path)
    words = process.stderr.readline()
    true('removed' in words and path in words, f'what is told: {words!r}')
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    equal(process.returncode, 1, f'status ({err!r})')
    true('lost' in err and 'nothing lost' not in err, f'the summary: {err!r}')
    true('Look at it' not in err, f'a file that is gone: {err!r}')


def test_a_command_that_cannot_be_run_costs_no_file():
    path = new_path()
    for command, status in (('/nonexistent', 127), ('/etc/passwd', 126), ('/', 126)):
        for old in (b'precious', None):
            if old:
                with open(path, 'wb') as file:
                    file.write(old)
            one_line(run('record', '-f', '-o', path, '--', command), status, command)
            equal(os.listdir(os.path.dirname(path)), ['run.watt'] if old else [], 'files')
            if old:
                with open(path, 'rb') as file:
                    equal(file.read(), old, 'what was there')
                os.unlink(path)
    for _ in range(2):
        equal(run('record', '-f', '-q', '-o', path, '--', 'true').status, 0, 'status')
        equal(os.listdir(os.path.dirname(path)), ['run.watt'], 'files')
        replay(path)


def test_bad_places():
    one_line(run('record', '--for', '1s', '-o', '/nowhere/run.watt'), 1, '/nowhere/run.watt')
    one_line(run('record', '--for', '1s', '-o', '/proc/run.watt'), 1, '/proc/run.watt')
    one_line(run('record', '--for', '1s', '-o', os.path.dirname(new_path())), 1)
    one_line(run('record', '--for', '1s', '-o', '-'), 2, 'standard output')


def test_name_of_its_own():
    folder = os.path.dirname(new_path())
    result = run('record', '--for', '1s', cwd=folder)
    equal(result.status, 0, f'status ({result.err!r})')
    (name,) = os.listdir(folder)
    true(re.fullmatch(r'wattribute-\d{8}-\d{6}\.watt', name), f'name {name!r}')
    true(name in result.err, 'the summary does not say where')


def test_reader_that_goes():
    path = new_path()
    process = start(path)
    process.stdout.close()
    process.wait(timeout=60)
    equal(process.returncode, 0, f'status ({process.stderr.read()!r})')
    equal(query(path, "SELECT value FROM meta WHERE key = 'complete'"), [(1,)],
          'the recording was not finished')
    replay(path)


def test_terminal():
    path = new_path()
    result = run('record', '--for', '1s', '-o', path)
    true('\r' not in result.err and '\033' not in result.err, f'{result.err!r} is not for a file')
    master, slave = pty.openpty()
    process = subprocess.Popen([PROGRAM, 'record', '-f', '--for', '2500ms', '-o', path],
                               stdin=slave, stdout=slave, stderr=slave,
                               env={**os.environ, 'TERM': 'xterm', 'LC_ALL': 'C.UTF-8'})
    os.close(slave)
    text = b''
    try:
        while True:
            part = os.read(master, 4096)
            if not part:
                break
            text += part
    except OSError:
        pass  # Linux says so that nobody writes any more
    process.wait(timeout=60)
    shown = text.decode()
    true('samples' in shown and 'nothing lost' in shown, f'no progress in {shown!r}')
    true('\r' in shown, 'the line does not change')
    # The line is gone before the summary is there.
    true(re.search(r'\r\033\[K Recorded', shown), f'no clean end in {shown!r}')


def test_another_user():
    if os.geteuid() != 0:
        raise Skip('only root can become another user')
    with for_anybody(MARKER) as marker:
        path, _, _ = record('--', *SILENT, 'setpriv', '--reuid=12345', '--regid=12345', '--clear-groups',
                            marker, 'other', '0.02')
    equal([label for label, in query(path, 'SELECT label FROM marks ORDER BY id')], ['other', ''],
          'marks')


def test_mistakes():
    path = new_path()
    for option, value in (('--rate', '1MHz'), ('--rate', '0'), ('--for', '5x'), ('--for', '0'),
                          ('--rotate-size', '1k'), ('--rotate-time', '1ms'), ('--keep', '0')):
        one_line(run('record', f'{option}={value}', '-o', path), 2, option, value)
    one_line(run('record', '--keep=3', '-o', path), 2, '--rotate')
    one_line(run('record', '--rate=2kHz', '--for=1s', '-o', path), 2, '--rate', '2kHz')
    equal(os.listdir(os.path.dirname(path)), [], 'files of mistakes')


main([
    test_for_some_time,
    test_views_of_much_energy,
    test_rate,
    test_rate_of_a_source,
    test_cpus_of_context,
    test_phases_are_the_whole,
    test_marks_of_a_script,
    test_mark_by_recording,
    test_a_flood_of_marks,
    test_exit_status,
    test_time_is_over_for_a_command,
    test_ctrl_c,
    test_ctrl_c_with_a_command,
    test_signals_are_passed_on,
    test_trace,
    test_a_zone_that_is_off,
    test_killed_trace,
    test_killed,
    test_full_disk,
    test_rotation,
    test_what_is_there_stays,
    test_the_file_is_the_callers,
    test_a_file_that_is_taken_away,
    test_a_command_that_cannot_be_run_costs_no_file,
    test_bad_places,
    test_name_of_its_own,
    test_reader_that_goes,
    test_terminal,
    test_another_user,
    test_mistakes,
])
