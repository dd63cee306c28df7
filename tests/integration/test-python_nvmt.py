#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that were written for fastnvmetrics, on a board of files."""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import PROGRAM as PROGRAM_OF_BUILD, TOP, equal, main, true  # noqa: E402
from python_package import SITE, TOOLS, fails, has_module, install  # noqa: E402
import nvmt_trace  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix='watt-python-nvmt-')
FIXTURE = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')
ROOTS = {'sysfs_root': f'{FIXTURE}/sys', 'procfs_root': f'{FIXTURE}/proc'}
RAILS = ['VDD_GPU_SOC', 'VDD_CPU_CV', 'VIN_SYS_5V0', 'VDDQ_VDD2_1V8AO']
# A program as its guide has it: it knows nothing of this package.
PROGRAM = '''
import sys, time
from fastnvmetrics import NVMetrics, detect_board
with NVMetrics(output_path=sys.argv[1], fast_hz=500, medium_hz=50, slow_hz=10, board=BOARD) as metrics:
    time.sleep(0.2)
    assert metrics.sync() == 1 and metrics.is_running and metrics.sample_count > 0
    print('running', flush=True)
    time.sleep(float(sys.argv[2]))
'''.replace('BOARD', f'detect_board(**{ROOTS!r})')


def path(name):
    return os.path.join(FOLDER.name, name)


def start(*args):
    return subprocess.Popen([sys.executable, '-c', PROGRAM, *args], env={**os.environ, 'PYTHONPATH': SITE},
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)


def test_wheel():
    _, names = install()
    for name in ('fastnvmetrics.py', 'wattribute/fastnvmetrics.py', 'wattribute/_nvmt_sampler.py'):
        true(name in names, f'no {name} in {names}')
    sys.path.insert(0, SITE)


def number(name):
    with open(os.path.join(FIXTURE, 'sys', name), encoding='ascii') as file:
        return int(file.read())


def test_boards():
    from wattribute import fastnvmetrics
    board = fastnvmetrics.detect_board(**ROOTS)
    equal((board.board_name, board.num_cpu_cores > 1), ('agx_orin', True), 'board')
    equal([rail.label for rail in board.power_rails], RAILS, 'rails')
    equal([zone.name for zone in board.thermal_zones], ['cpu-thermal', 'tboard-thermal'], 'zones')
    true(board.emc_actmon_path.endswith('/cactmon/mc_all') and os.path.exists(board.emc_clk_path), board)
    # An iio board has its files, too.
    nano = fastnvmetrics.detect_board(sysfs_root=os.path.join(TOP, 'tests/fixtures/jetson-nano-iio/sys'))
    equal(nano.board_name, 'nano', 'name')
    for rail in nano.power_rails:
        true(os.path.exists(rail.voltage_path) and os.path.exists(rail.current_path), rail)
    whole = fastnvmetrics.get_board_config('agx_orin')
    equal((whole.num_cpu_cores, len(whole.power_rails), len(whole.thermal_zones)), (12, 4, 11), 'a whole board')
    fails(RuntimeError, lambda: fastnvmetrics.get_board_config('toaster'), 'Unknown board: toaster')
    fails(RuntimeError, lambda: fastnvmetrics.detect_board(sysfs_root=FOLDER.name, procfs_root=FOLDER.name), 'devicetree')


def test_board_of_this_machine():
    import wattribute
    told = wattribute.board(**ROOTS)
    equal((told['name'], told['is_configured']), ('Jetson AGX Orin', False), 'board')
    true('nvidia,p3701-0000' in told['compatible'], told)
    equal(wattribute.board(sysfs_root=FOLDER.name, procfs_root=FOLDER.name), None, 'no devicetree')
    fails(ValueError, lambda: wattribute.board(color='red'), 'color')


def test_renumbered():
    """Another number of hwmon is the same rail."""
    from wattribute import fastnvmetrics
    tree = path('renumbered')
    shutil.copytree(os.path.join(FIXTURE, 'sys'), tree, symlinks=True)
    chips = os.path.join(tree, 'class', 'hwmon')
    for before, after in (('hwmon3', 'x'), ('hwmon4', 'hwmon3'), ('x', 'hwmon4')):
        os.rename(os.path.join(chips, before), os.path.join(chips, after))
    board = fastnvmetrics.detect_board(sysfs_root=tree, procfs_root=ROOTS['procfs_root'])
    equal(sorted(rail.label for rail in board.power_rails), sorted(RAILS), 'rails')
    for rail in board.power_rails:
        label = rail.voltage_path.replace('_input', '_label')
        with open(label, encoding='ascii') as file:
            equal(file.read().strip(), rail.label, label)


def test_program():
    """What it wrote, read by the layout alone."""
    file = path('run.nvmt')
    program = start(file, '0.3')
    equal(program.wait(30), 0, 'status')
    trace = nvmt_trace.read(file)
    equal((trace['board'], trace['hz'], trace['rails'], trace['zones'], trace['emc']),
          ('agx_orin', (500, 50, 10), RAILS, 2, 1), 'header')
    chip = 'class/hwmon/hwmon3/'
    volts, amperes = number(chip + 'in1_input'), number(chip + 'curr1_input')
    for sample in trace['medium']:
        equal((sample[1], sample[9]), (volts, amperes), 'mV, mA')
        equal(sample[17], struct.unpack('f', struct.pack('f', volts * amperes / 1000))[0], 'mW')
    for sample in trace['fast']:
        equal((sample[1], sample[19], sample[20]), (523, 31413836 - 28764180, 28764180), 'GPU, memory')
        true(abs(sample[21] - 100 * 425984 / 2133000) < 1e-3, f'EMC {sample[21]}')
    equal([round(value, 3) for value in trace['slow'][0][1:4]], [48.218, -4.5, 0], 'temperatures')
    for tier in 'fast', 'medium', 'slow':
        times = [sample[0] for sample in trace[tier]]
        true(len(times) > 1 and times == sorted(set(times)), f'times of {tier}: {times[:5]}')
    (_, index), = trace['syncs']
    true(0 < index < len(trace['fast']), f'sync point at {index}')


def test_dies():
    """A program that is killed leaves a whole trace: who samples outlives it."""
    file = path('killed.nvmt')
    program = start(file, '60')
    equal(program.stdout.readline(), 'running\n', 'it runs')
    program.send_signal(signal.SIGKILL)
    program.wait(30)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            trace = nvmt_trace.read(file)
            break
        except AssertionError:
            time.sleep(0.05)
    true(trace['fast'] and trace['medium'] and len(trace['syncs']) == 1, 'what is in it')


def test_sampler_dies():
    """If the sampler is killed, export makes a trace of what it left."""
    from wattribute import fastnvmetrics
    file, whole = path('unfinished.nvmt'), path('whole.nvmt')
    program = start(file, '60')
    equal(program.stdout.readline(), 'running\n', 'it runs')
    children = subprocess.run(['ps', '--ppid', str(program.pid), '-o', 'pid='], capture_output=True, text=True, check=True)
    for pid in map(int, children.stdout.split()):
        os.kill(pid, signal.SIGKILL)
    program.kill()
    program.wait(30)
    fails(ValueError, lambda: fastnvmetrics.read_trace(file), 'wattribute export -f nvmt')
    done = subprocess.run([PROGRAM_OF_BUILD, 'export', '-f', 'nvmt', '-o', whole, file], capture_output=True, text=True, check=False)
    equal(done.returncode, 0, done.stderr)
    trace = nvmt_trace.read(whole)
    equal((trace['rails'], trace['zones'], len(trace['syncs'])), (RAILS, 2, 1), 'what is in it')
    for tier, least in (('fast', 5), ('medium', 2), ('slow', 1)):
        true(len(trace[tier]) >= least, f'{len(trace[tier])} samples of {tier}')
    equal(trace['fast'][-1][1], 523, 'GPU')


def test_own_board():
    """What can't be read is told, and is no other's value."""
    import logging
    from wattribute import fastnvmetrics as nv
    told = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(record.getMessage())
    logging.getLogger('wattribute').addHandler(handler)
    with open(path('ma'), 'w', encoding='ascii') as file:
        file.write('-20\n')
    with open(path('mv'), 'w', encoding='ascii') as file:
        file.write('5000\n')
    board = nv.BoardConfig('mine', 1, power_rails=[nv.PowerRailConfig('IN', path('mv'), path('ma')),
                                                   nv.PowerRailConfig('GONE', path('none'), path('none'))],
                           thermal_zones=[nv.ThermalZoneConfig('lid', path('mv'))])
    metrics = nv.NVMetrics(path('own.nvmt'), 200, 100, 100, board)
    metrics.start()
    fails(RuntimeError, metrics.start, 'already running')
    metrics.wait_for_warmup()
    equal([metrics.sync(), metrics.sync()], [1, 2], 'numbers')
    time.sleep(0.3)
    metrics.stop()
    logging.getLogger('wattribute').removeHandler(handler)
    true(any('no word for what is not known' in text for text in told), told)
    trace = nv.read_trace(path('own.nvmt'))
    equal([round(value) for value in trace['power_mw'][0]], [-100, 0], 'mW')
    equal((list(trace['current_ma'][0]), list(trace['temp_c'][0])), ([0, 0], [5]), 'mA, degrees')
    equal((trace['power_rail_names'], trace['thermal_zone_names']), (['IN', 'GONE'], ['lid']), 'names')
    true(trace['sync_id'][-1] in (0, 2) and len(trace['fast_time_s']) == len(trace['cpu_util']), 'sync points')
    for change in ({'fast_hz': 0}, {'board': nv.BoardConfig('x', 17)}, {'board': nv.BoardConfig('x', 0)},
                   {'board': nv.BoardConfig('x', 1, power_rails=9 * board.power_rails[:1])}):
        fails(ValueError, lambda some=change: nv.NVMetrics('x', **{'board': board, **some}), 'there must be')
    metrics = nv.NVMetrics(path('none/here.nvmt'), board=board)
    fails(RuntimeError, metrics.start, 'none/here.nvmt')
    true(not metrics.is_running, 'it runs')


def test_never_begun():
    """As with fastnvmetrics, what ends without a beginning leaves a trace without samples."""
    from wattribute import fastnvmetrics
    file = path('empty.nvmt')
    metrics = fastnvmetrics.NVMetrics(file, board=fastnvmetrics.detect_board(**ROOTS))
    metrics.wait_for_warmup()
    equal((metrics.sync(), metrics.is_running, metrics.sample_count), (1, False, 0), 'before it begins')
    metrics.stop()
    trace = fastnvmetrics.read_trace(file)
    equal((trace['board_name'], trace['fast_hz'], trace['power_rail_names'], len(trace['fast_time_s'])),
          ('agx_orin', 1000, RAILS, 0), 'header')


def test_missed_by_tier():
    from wattribute import fastnvmetrics
    with fastnvmetrics.NVMetrics(path('missed.nvmt'), 10000, 100, 10, fastnvmetrics.detect_board(**ROOTS)) as metrics:
        deadline = time.monotonic() + 30
        # no Python takes 10,000 samples in a second
        while not metrics.missed_by_tier[0] and time.monotonic() < deadline:
            time.sleep(0.01)
    true(metrics.missed_by_tier[0] > 0 and len(metrics.missed_by_tier) == 3, metrics.missed_by_tier)
    equal(metrics.missed_deadlines, sum(metrics.missed_by_tier), 'of all')


def test_bad_traces():
    from wattribute.fastnvmetrics import read_trace
    file = path('bad.nvmt')
    nvmt_trace.write(file, rails=['A', 'B'], fast=[(0.1, [50.0]), (0.2, [60.0]), (0.3, [70.0])],
                     medium=[(0.1, [(5000, 100, 500.0), (1, 2, 3.0)])], slow=[(0.1, [40.0])], zones=['z'], syncs=[(1, 1), (2, 9)])
    trace = read_trace(file)
    equal([list(row) for row in trace['power_mw']], [[500.0, 3.0]], 'mW')
    equal([list(row) for row in trace['cpu_util']], [[50.0], [60.0], [70.0]], 'CPU')
    # filled forward; a point behind the last sample is none
    equal(list(trace['sync_id']), [0, 1, 1], 'sync points')
    with open(file, 'rb') as good:
        data = good.read()
    for change, words in ((data[:100], 'File too small (100 bytes)'), (b'X' + data[1:], 'Bad magic: 0x'),
                          (data[:4] + b'\2' + data[5:], 'Unsupported version: 2'), (data[:-20], 'cut short'),
                          (data[:40] + b'\x11' + data[41:], '17 cores')):
        with open(file, 'wb') as out:
            out.write(change)
        fails(ValueError, lambda: read_trace(file), words)


TESTS = [test_wheel, test_boards, test_board_of_this_machine, test_renumbered, test_program, test_dies, test_sampler_dies, test_own_board, test_never_begun,
         test_missed_by_tier, test_bad_traces]
try:
    main(TESTS[:1] if any(not has_module(name) for name in TOOLS) else TESTS)
finally:
    FOLDER.cleanup()
