#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`wattribute top` on terminals of many sizes, by tmux, and without a terminal."""
import fcntl
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import BUILD, LOAD, PROGRAM, Skip, equal, machine_pids, main, near, nj, run, true, validate  # noqa: E402

EQUATION = re.compile(r'(measured|estimated|simulated) ([\d.]+) ([WJ]) = attributed ([\d.]+)'
                      r'(?: \+ idle ([\d.]+))? \+ unattributed ([\d.]+) \3')


class Terminal:
    """A tmux server of its own with one window, in which a shell runs."""

    def __init__(self, columns=80, lines=24, term=None):
        if not shutil.which('tmux'):
            raise Skip('missing: tmux')
        # one before, of which the end was asked for, may still answer
        self.folder = tempfile.TemporaryDirectory(prefix='watt-top-', ignore_cleanup_errors=True)
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-x', str(columns), '-y', str(lines),
                  f"LC_ALL=C.UTF-8 PS1='prompt> ' {f'TERM={term} ' if term else ''}sh")
        self.wait('prompt>')

    def tmux(self, *args):
        socket = os.path.join(self.folder.name, 'socket')
        return subprocess.run(['tmux', '-S', socket, *args], capture_output=True, text=True, check=False).stdout

    def keys(self, *keys):
        self.tmux('send-keys', *keys)

    def type(self, text):
        self.tmux('send-keys', '-l', text)

    def run(self, *args):
        self.type(' '.join([PROGRAM, *args]))
        self.keys('Enter')

    def lines(self, *options):
        return self.tmux('capture-pane', '-p', *options).rstrip('\n').split('\n')

    def wait(self, pattern, seconds=60, scrolled=False):
        """The picture, as soon as the pattern is in it, or in that and in what has left it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lines = self.lines(*(['-S', '-'] if scrolled else []))
            if re.search(pattern, '\n'.join(lines)):
                return lines
            time.sleep(0.1)
        raise AssertionError(f'no {pattern!r} in\n' + '\n'.join(self.lines()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux('kill-server')
        self.folder.cleanup()


def check_equation(line):
    found = EQUATION.search(line)
    true(found, f'no equation in {line!r}')
    whole, *parts = (float(found.group(i) or 0) for i in (2, 4, 5, 6))
    decimals = len(found.group(2).partition('.')[2])
    true(abs(whole - sum(parts)) < 0.1 * 10 ** -decimals, f'{whole} is not the sum of {parts}')


def test_picture_at_80x24():
    with Terminal() as terminal:
        terminal.run('top')
        lines = terminal.wait(r'attributed[^$]*PID')
        equal(len(lines), 24, 'lines')
        true(re.match(r'[\d.]+ m?W (measured|estimated|simulated)', lines[0]), lines[0])
        check_equation(lines[1])
        check_equation(lines[2])
        true('shared by' in lines[3] and 'usage' in lines[3], lines[3])
        for title in ('PID', 'USER', 'CPU%', 'W', 'J', 'COMMAND'):
            true(title in lines[4], f'no {title} in {lines[4]!r}')
        for key in ('quit', 'help', 'group', 'filter'):
            true(key in lines[-1], f'no {key} in {lines[-1]!r}')
        terminal.keys('q')
        lines = terminal.wait(r'\nprompt>\s*$')
        true(any(EQUATION.search(line) for line in lines), 'no equation is left behind')
        terminal.type('stty -a | tr ";" "\\n" | grep -c "[^-]echo "')
        terminal.keys('Enter')
        terminal.wait(r'\n1\n')  # the terminal echoes again


def test_keys():
    with Terminal(100, 30) as terminal:
        terminal.run('top')
        terminal.wait('COMMAND')
        terminal.keys('h')
        terminal.wait('Any key goes back')
        terminal.keys('x')
        terminal.wait('COMMAND')
        terminal.keys('t')
        terminal.wait('TREE W')
        terminal.keys('w')
        terminal.wait('TREE J')
        terminal.keys('g')
        terminal.wait('CONTAINER')
        terminal.keys('g')
        terminal.wait('UNIT')
        terminal.keys('g')
        terminal.wait(r'PROCS.*USER')
        terminal.keys('g')
        terminal.wait('CGROUP')
        terminal.keys('g')
        terminal.wait('JOB')
        terminal.keys('g')
        terminal.wait('COMMAND')
        terminal.keys('d')
        terminal.wait(r'J +[\w/-]+-0|J +\S+.*COMMAND')
        terminal.keys('Space')
        terminal.wait('PAUSED')
        check_equation(terminal.lines()[1])


def workers_of(document, pid):
    """CPU seconds by the names of a load's threads, in a process that is their sum."""
    ours = [row for row in document['rows'] if row['kind'] == 'thread' and
            row['name'].startswith('worker-') and row['process']['pid'] == pid]
    for process in (row for row in document['rows'] if row['kind'] == 'process'):
        parts = [row for row in document['rows'] if row['kind'] == 'thread' and
                 row['parent_id'] == process['id']]
        for i in range(len(document['domains'])):
            equal(sum(nj(row['domain_energy'][i]) for row in parts),
                  nj(process['domain_energy'][i]), f'threads of {process["name"]}')
            equal(sum(row['domain_window_nj'][i] for row in parts),
                  process['domain_window_nj'][i], f'threads of {process["name"]}, window')
    true(len({row['parent_id'] for row in ours}) <= 1, 'threads of one process are below many')
    for row in ours:
        true(row['process']['tid'] != row['process']['pid'], row)
    return {row['name']: row['cpu_s'] for row in ours}


def check_threads(usage):
    """Three threads that work 1:2:3 are shown so; what each used is told by the kernel."""
    top = subprocess.Popen([PROGRAM, 'top', '--json', '-H', '-d', '0.2', '--sources=synth',
                            f'--usage={usage}'], stdout=subprocess.PIPE, text=True)
    load = None
    try:
        if not top.stdout.readline():
            raise Skip(f'missing: usage by {usage}')
        load = subprocess.Popen([LOAD, 'workers', '3', '0.1'], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        told = dict(load.stdout.readline().split() for _ in range(3))
        end = time.monotonic() + 60
        while True:
            document = json.loads(top.stdout.readline())
            validate(document, 'wattribute-snapshot-1')
            equal(document['quality']['sum_failures'], 0, 'failed checks of sums')
            found = workers_of(document, load.pid)
            if len(found) == 3 and all(cpu_s >= float(told[name]) - 0.0005
                                       for name, cpu_s in found.items()):
                break
            true(time.monotonic() < end, f'{found} where it is {told}')
        for name, cpu_s in found.items():
            near(cpu_s, float(told[name]), 0.02, name)
    finally:
        for process in (load, top):
            if process:
                process.kill()
                process.communicate()


def test_threads_by_bpf():
    check_threads('bpf')


def test_threads_by_procfs():
    check_threads('procfs')


def gpus(folder, pids):
    """Two GPUs of a driver that is not there, the first of which these processes use."""
    script = os.path.join(folder, 'script')
    with open(script, 'w', encoding='utf-8') as file:
        file.write('gpu A 00000000:0D:00.0 NVIDIA H100 80GB HBM3\npower 0 400000\ntemperature 61 74\n'
                   'clock 1750 2619\nlimit 700000\nheld 0 4\n' +
                   ''.join(f'process {pid} 0 {60 - 40 * i}\n' for i, pid in enumerate(pids)) +
                   'gpu B 00000000:1B:00.0 NVIDIA H100 80GB HBM3\npower 0 75000\n')
    return script


def test_gpus():
    """A line for each GPU, on request a bar for everybody on it, and a column of their power."""
    machine_pids()
    driver = os.path.join(BUILD, 'tests', 'fake', 'libfake_nvml.so')
    with tempfile.TemporaryDirectory() as folder, Terminal() as terminal:
        users = [subprocess.Popen(['sleep', '600']) for _ in range(2)]
        try:
            script = gpus(folder, [user.pid for user in users])
            terminal.type(f'export FAKE_NVML_SCRIPT={script}')
            terminal.keys('Enter')
            terminal.run('top', '--nvml-lib', driver, '--sources=nvml', '--usage=procfs')
            lines = terminal.wait(fr'{users[0].pid} +\S+ +[\d.]+ +[\d.]+ +[1-9][\d.]+ .*sleep')
            at, = (i for i, line in enumerate(lines) if line.startswith('GPU '))
            true(re.match(r'gpu-0000:0d:00_0 .* 700 W .* 61 C 1.75 GHz power$', lines[at + 1]),
                 lines[at + 1])
            true(lines[at + 2].startswith('gpu-0000:1b:00_0'), lines[at + 2])
            true(all(len(line) <= 80 for line in lines), lines)
            titles = lines[at + 3].split()
            column = titles.index('GPU')  # 'GPU W', behind W; the name is behind both
            row = next(line for line in lines if f'{users[0].pid} ' in line).split()
            near(float(row[column]), 300, 0.15, f'of the GPU: {row}')
            terminal.keys('u')
            lines = terminal.wait(r'sleep 600 +\S+ +\d+ % ')
            bars = [line.split() for line in lines if re.search(r'sleep 600 +\u2588', line)]
            equal(bars[0][:3], [str(users[0].pid), 'sleep', '600'], 'who took most is not first')
            near(float(bars[0][-4]), 75, 0.03, f'percent in {bars[0]}')
            near(float(bars[1][-4]), 25, 0.05, f'percent in {bars[1]}')
            true(not any('COMMAND' in line for line in lines), 'the table is still there')
            check_equation(lines[1])
            terminal.keys('u')
            lines = terminal.wait('COMMAND')
            true(not any(line.startswith('gpu-') for line in lines), 'nothing of GPUs was asked for')
            terminal.keys('U')
            terminal.keys('h')
            true(any('who is on them' in line for line in terminal.wait('Any key goes back')),
                 'no word of the key')
        finally:
            for user in users:
                user.kill()
                user.wait()


def test_nothing_of_gpus_where_there_is_none():
    with Terminal() as terminal:
        terminal.run('top', '--sources=synth', '--usage=synth')
        terminal.wait('COMMAND')
        terminal.keys('u')
        terminal.keys('U')
        terminal.keys('h')
        help_text = terminal.wait('Any key goes back')
        true(not any('who is on them' in line for line in help_text), 'a key without use')
        terminal.keys('x')
        lines = terminal.wait('COMMAND')
        true(not any('GPU' in line for line in lines), '\n'.join(lines))


def test_threads_on_a_screen():
    with Terminal(100, 40) as terminal:
        terminal.run('top', '--sources=synth')
        terminal.wait('COMMAND')
        terminal.keys('H')  # measures anew, with threads
        load = subprocess.Popen([LOAD, 'workers', '2', '60'], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL)
        try:
            lines = terminal.wait(r'(├─|└─)\{worker-1\}')
            check_equation(lines[1])
            check_equation(lines[2])
        finally:
            load.kill()
            load.wait()
        terminal.keys('q')
        terminal.wait(r'\nprompt>\s*$')


def test_filter():
    hog = subprocess.Popen([LOAD, 'hog', '0', '60'], stdout=subprocess.DEVNULL)
    try:
        with Terminal() as terminal:
            terminal.run('top', '-d', '0.5')
            terminal.wait('COMMAND')
            terminal.keys('/')
            terminal.type('load HOG')
            lines = terminal.wait(r'Filter: load HOG')
            terminal.keys('Enter')
            lines = terminal.wait(r"'load HOG': 1 rows")
            equal(sum('load hog' in line for line in lines), 1, 'rows')
            check_equation(lines[1])
            terminal.keys('Escape')
            terminal.wait('q quit')
    finally:
        hog.kill()
        hog.wait()


def test_sizes():
    """Any size does, and the equation is in the picture as far as it fits."""
    with Terminal(120, 40) as terminal:
        terminal.run('top', '-d', '0.2')
        terminal.wait('COMMAND')
        for columns, lines in ((80, 24), (200, 50), (40, 10), (20, 5), (10, 2), (80, 24)):
            terminal.tmux('resize-window', '-x', str(columns), '-y', str(lines))
            time.sleep(0.5)
            picture = terminal.lines()
            if lines > 2:
                true(re.match('measured|estimated|simulated', picture[1]) or
                     picture[1][:5] in ('measu', 'estim', 'simul'),
                     f'{columns}x{lines}: {picture}')
        check_equation(terminal.wait('COMMAND')[1])


def test_signals_restore_the_terminal():
    with Terminal() as terminal:
        for name in ('TERM', 'INT', 'HUP'):
            terminal.run('top')
            terminal.wait('COMMAND')
            found = subprocess.run(['pgrep', '-f', f'^{PROGRAM} top$'], capture_output=True,
                                   text=True, check=False).stdout.split()
            true(found, 'top does not run')
            for pid in found:
                os.kill(int(pid), getattr(signal, 'SIG' + name))
            terminal.wait(r'\nprompt>\s*$')
            terminal.type('echo the-$((40+2))')
            terminal.keys('Enter')
            terminal.wait('the-42')
            terminal.type('clear')
            terminal.keys('Enter')
            terminal.wait(r'^prompt>')


def test_a_stopped_terminal_stops_nothing():
    """Ctrl-S: nothing can be written, and all goes on; then a signal, or Ctrl-Q."""
    with Terminal() as terminal:
        terminal.run('top', '-d', '0.2')
        terminal.wait('COMMAND')
        terminal.keys('C-s')
        time.sleep(1)
        terminal.keys('C-q')
        terminal.keys('h')
        terminal.wait('Any key goes back')
        terminal.keys('h')
        terminal.wait('COMMAND')
        found = subprocess.run(['pgrep', '-f', f'^{PROGRAM} top -d 0.2$'], capture_output=True, text=True,
                               check=False).stdout.split()
        true(found, 'top does not run')
        terminal.keys('C-s')
        time.sleep(1)
        os.kill(int(found[0]), signal.SIGTERM)
        terminal.wait(r'\nprompt>\s*$')


def test_it_ends_by_itself():
    with Terminal() as terminal:
        for option in ('--seconds=1', '-n 2 -d 0.2', '--once'):
            terminal.run('top', option)
            terminal.wait(r'(?s)attributed.*prompt> *$', scrolled=True)
            terminal.type('clear')
            terminal.keys('Enter')
            terminal.wait(r'^prompt>')
            terminal.tmux('clear-history')


def test_dumb_terminal():
    with Terminal(100, 50, term='dumb') as terminal:
        terminal.run('top', '-n', '1', '-d', '0.3', '-f', 'wattribute')
        lines = terminal.wait(r'(?s)COMMAND.*prompt> *$')
        true(not any('[0m' in line or '[1m' in line for line in lines), 'escape sequences')


def test_pipe():
    began = time.monotonic()
    result = run('top', '-n', '3', '-d', '0.3')
    equal(result.status, 0, result.err)
    true(time.monotonic() - began >= 0.9, 'three refreshes of 0.3 s in less')
    equal(result.out.count(' since the start'), 3, 'refreshes')
    for line in result.out.splitlines():
        if ' = ' in line and 'attributed' in line:
            check_equation(line)
    began = time.monotonic()
    result = run('top', '--seconds', '1', '-d', '0.3')
    true(time.monotonic() - began >= 0.9, f'{time.monotonic() - began} s')
    equal(result.out.count(' since the start') in (3, 4), True, 'refreshes in a second')
    for group, title in (('container', 'CONTAINER'), ('unit', 'UNIT'), ('user', 'USER'),
                         ('cgroup', 'CGROUP'), ('tree', 'TREE W')):
        result = run('top', '--once', '-d', '0.2', '-g', group)
        true(title in result.out, f'{group}: {result.out}')
        true('idle' in result.out and 'unattributed' in result.out, f'{group}: {result.out}')


def test_rows_add_up_to_the_header():
    """As they are shown, and in steps of the last decimal: tenths are no binary numbers."""
    for group in ('process', 'user'):
        result = run('top', '-n', '3', '-d', '0.25', '-g', group, '--sources=synth', '--usage=synth')
        equal(result.status, 0, result.err)
        tables = result.out.strip().split('\n\n')
        true(len(tables) >= 6, result.out)
        for head, table in zip(tables[0::2], tables[1::2]):
            wholes = {found[2]: found[1] for found in EQUATION.findall(head)}
            lines = table.splitlines()
            ends = {unit: lines[0].index(f' {unit} ') + 2 for unit in 'WJ'}
            for unit, whole in wholes.items():
                decimals = len(whole.partition('.')[2])
                cells = [line[:ends[unit]].split()[-1] for line in lines[1:]]
                shown = [cell for cell in cells if cell[0] not in '<-']
                equal({len(cell.partition('.')[2]) for cell in shown}, {decimals}, f'decimals of {unit}')
                equal(sum(round(float(cell) * 10 ** decimals) for cell in shown),
                      round(float(whole) * 10 ** decimals), f'{unit} of\n{head}\n{table}')


def end_with_a_full_pipe(*args):
    """Sends SIGTERM when the pipe is full, or about to be; the exit status."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen([PROGRAM, *args], stdin=subprocess.DEVNULL, stdout=writer,
                               stderr=subprocess.DEVNULL)
    os.close(writer)
    try:
        end = time.monotonic() + 60
        while struct.unpack('i', fcntl.ioctl(reader, termios.FIONREAD, b'    '))[0] == 0:
            true(time.monotonic() < end and process.poll() is None, 
                 f'{args}: nothing in the pipe, status {process.poll()}')
            time.sleep(0.02)
        time.sleep(random.uniform(0, 0.8))  # whatever it does then, it ends
        process.send_signal(signal.SIGTERM)
        return process.wait(60)
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def test_columns_are_of_one_window():
    """Sensors tell late; CPU time and each domain's energy are of the same time all the same."""
    result = run('top', '--json', '-d', '0.25', '-n', '6', '--sources', 'synth', '--usage', 'synth')
    equal(result.status, 0, 'status')

    def is_one(document):
        length_s = document['t_s'] - document['window_start_s']
        return all(abs(domain['t_s'] - document['t_s']) < 1e-6 and abs(domain['window_s'] - length_s) < 1e-6
                   for domain in document['domains'] if domain['is_partition'] and domain['window_s'])

    # On a machine that starves a sensor, a refresh doesn't wait for ever.
    true(any([is_one(json.loads(line)) for line in result.out.splitlines()][1:]), 'each domain has a window of its own')


def test_it_hears_signals_while_nobody_reads():
    with tempfile.TemporaryDirectory() as folder:
        for args in (['top', '--json'], ['top'],
                     ['record', '--json', '-q', '-f', '-o', os.path.join(folder, 'x.watt')]):
            for _ in range(3):
                delay = ['-d', '0.1'] if args[0] == 'top' else []
                equal(end_with_a_full_pipe(*args, *delay, '--sources=synth'), 0, f'{args}')


def test_the_reader_gets_all_that_was_begun():
    """A slow reader, that does read, has whole documents, the last as well."""
    process = subprocess.Popen([PROGRAM, 'top', '--json', '-d', '0.1', '--sources=synth',
                                '--usage=synth'],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    first = process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    lines = [first] + process.stdout.readlines()
    equal(process.wait(60), 0, 'status')
    for line in lines:
        true(line.endswith('}\n'), f'cut: {line[-40:]!r}')


def test_the_terminal_of_another_job():
    """timeout in a script makes a job of its own that the terminal does not belong to."""
    with Terminal(100, 50) as terminal:
        terminal.type(f"sh -c 'timeout 3 {PROGRAM} top -d 0.2 --sources=synth; echo ended-$?'")
        terminal.keys('Enter')
        terminal.wait(r'ended-124')


def test_the_hog_is_on_top():
    hog = subprocess.Popen([LOAD, 'hog', '0', '60'], stdout=subprocess.DEVNULL)
    try:
        for args in ([], ['--usage=procfs']):
            result = run('top', '--once', '-d', '1', '-f', 'load hog', *args)
            found = re.search(rf'^ *{hog.pid} +\S+ +([\d.]+) +<?([\d.]+)', result.out, re.M)
            true(found, f'the hog is not in\n{result.out}')
            # On a busy machine it gets little.
            true(float(found.group(1)) > (15 if os.getloadavg()[0] < 2 * os.cpu_count() else 1),
                 f'{found.group(1)} % CPU')
            true(float(found.group(2)) > 0, f'{found.group(2)} W')
    finally:
        hog.kill()
        hog.wait()


main([value for name, value in list(globals().items()) if name.startswith('test_')])
