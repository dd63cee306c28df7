#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An AGX Orin of files that are rewritten all the time, each as slow to read as the real one.

Loads at 1 kHz and rails at 100 Hz meet 99 % of their deadlines, and those that are missed are counted.
Where the machine has other things to do, a bare loop that reads the same file at the same time says how
many could be met at all: no less than that, but for 1 %, is wanted then.
"""
import csv
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

# A copy of this file lies beside the other benchmarks of a build: <build>/tests/bench.
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOP = os.getcwd() if os.path.exists('tests/fixtures') else os.path.dirname(BUILD)
PROGRAM = os.path.join(BUILD, 'cli', 'wattribute')
BARE = os.path.join(BUILD, 'tests', 'bench', 'bare_loop')
SHIM = os.path.join(BUILD, 'tests', 'bench', 'libslow_sysfs.so')
FIXTURE = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')
# Microseconds for a read on an AGX Orin with JetPack 6. /proc is the machine's own.
LATENCIES = 'in1_input=554 in2_input=554 in3_input=554 curr1_input=554 curr2_input=554 curr3_input=554 ' \
            'gpu/load=322 thermal=80'
LENGTH_S = 5
WANTED = {'context/gpu/load': 1000, 'hwmon/1-0040/vdd_gpu_soc': 100, 'hwmon/1-0041/vddq_vdd2_1v8ao': 100,
          'context/cpu-thermal/temperature': 10}
LEAST = {'context/gpu/load': 322, 'hwmon/1-0040/vdd_gpu_soc': 2 * 554, 'context/cpu-thermal/temperature': 80}


def rewrite(tree, is_over):
    """The load is a saw of 1,000 steps: whoever reads it sees another value each time."""
    load = os.open(os.path.join(tree, 'sys/devices/platform/bus@0/17000000.gpu/load'), os.O_WRONLY)
    rail = os.open(os.path.join(tree, 'sys/class/hwmon/hwmon3/curr1_input'), os.O_WRONLY)
    step = 0
    while not is_over.wait(0.002):
        step += 1
        os.pwrite(load, b'%-4d' % (step % 1000), 0)
        os.pwrite(rail, b'%-5d' % (10000 + step % 1000), 0)


def main():
    with tempfile.TemporaryDirectory(prefix='watt-orin-') as folder:
        tree, file = os.path.join(folder, 'machine'), os.path.join(folder, 'run.watt')
        shutil.copytree(FIXTURE, tree, symlinks=True)
        is_over = threading.Event()
        writer = threading.Thread(target=rewrite, args=(tree, is_over))
        writer.start()
        try:
            recorder = subprocess.Popen(
                [PROGRAM, 'record', '-o', file, '--rate=context=1000,hwmon=100', '--usage=procfs',
                 '--sources=hwmon,context', f'--sysfs-root={tree}/sys', f'--procfs-root={tree}/proc'],
                env={**os.environ, 'LD_PRELOAD': SHIM, 'WATT_TEST_LATENCIES': LATENCIES},
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            bare = subprocess.run([BARE, os.path.join(tree, 'sys/devices/platform/bus@0/17000000.gpu/load'), '1000', str(LENGTH_S)],
                                  env={**os.environ, 'LD_PRELOAD': SHIM, 'WATT_TEST_LATENCIES': LATENCIES}, check=True,
                                  capture_output=True, text=True)
            recorder.send_signal(signal.SIGINT)
            said, _ = recorder.communicate(timeout=60)
        finally:
            is_over.set()
            writer.join()
        samples = subprocess.run([PROGRAM, 'export', '--what=samples', file], check=True, capture_output=True,
                                 text=True).stdout
    found = {}
    for row in csv.DictReader(io.StringIO(samples)):
        found.setdefault(row['channel'], []).append(row)
    failed, possible = 0, float(bare.stdout)
    print('\t'.join(('bench', 'orin bare loop', f'{100 * possible:.2f}', '% of deadlines', '-', '-',
                     '1000 Hz: clock_nanosleep and pread alone, at the same time')), flush=True)
    for channel, hz in WANTED.items():
        rows = found[channel]
        begun = [int(row['t_before_ns']) for row in rows]
        took = sorted(int(row['t_after_ns']) - int(row['t_before_ns']) for row in rows)[len(rows) // 2] / 1e3
        met = (len(rows) - 1) / ((begun[-1] - begun[0]) / 1e9 * hz)
        values = len({row['raw'] for row in rows})
        is_good = met >= min(0.99, possible - 0.01) and took >= LEAST.get(channel, 0)
        failed += not is_good
        print('\t'.join(('bench', f'orin {channel.rsplit("/", 1)[-1]}', f'{100 * met:.2f}', '% of deadlines', '>= 99',
                         'met' if is_good else 'missed',
                         f'{hz} Hz, a reading takes {took:.0f} us, {values} values')), flush=True)
    print('#', said.strip().splitlines()[0])
    sys.exit(1 if failed else 0)


main()
