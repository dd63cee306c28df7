#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/device/run itself, on a GPU that is not there: it says so, or measures the stand-in."""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), 'integration'))
from command import BUILD, Skip, equal, machine_pids, main, true  # noqa: E402

DRIVER = os.path.join(BUILD, 'tests', 'fake', 'libfake_nvml.so')
SCRIPT = """age 60000
gpu GPU-8c2b 00000000:0D:00.0 NVIDIA H100 80GB HBM3
power 0 300000
kernel 200000
temperature 61 74
clock 1750 2619
limit 700000
process @PID@ 0 95
"""


OTHER_PIDS = 'unshare', '--pid', '--fork', '--kill-child', '--mount-proc'


def device(*args, script=SCRIPT, before=()):
    with tempfile.NamedTemporaryFile('w', suffix='.script') as file:
        file.write(script)
        file.flush()
        return subprocess.run([*before, os.path.join(HERE, 'run'), f'--build={BUILD}', '--seconds=4',
                               f'--script={file.name}', *args], capture_output=True, text=True,
                              timeout=170, check=False)


def test_no_gpu():
    done = device('--nvml-lib=/nowhere/libnvidia-ml.so.1')
    equal(done.returncode, 77, f'status: {done.stderr}')
    true('no NVIDIA GPU' in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr)
    equal(done.stdout, '', 'a report of nothing')


def test_on_a_stand_in():
    """One that shows its processes, and one that shows none, whose shares can't be right."""
    machine_pids()
    libraries = f'--nvml-lib={DRIVER}', f'--cuda-lib={DRIVER}'
    with concurrent.futures.ThreadPoolExecutor() as pool:
        good = pool.submit(device, *libraries)
        bad = pool.submit(device, *libraries, script=SCRIPT.replace('process @PID@ 0 95\n', ''))
        good, bad = good.result(), bad.result()
    equal(good.returncode, 0, f'{good.stdout}{good.stderr}')
    for words in ('## NVIDIA H100 80GB HBM3, driver 575.57.08', '`gpu-0000:0d:00_0` | energy counter',
                  'instant  every', 'who took most is the load | gpu_load', '0 in '):
        true(words in good.stdout, f'no {words!r} in {good.stdout}')
    equal(bad.returncode, 1, f'{bad.stdout}{bad.stderr}')
    true('device: failed: stat: part of it' in bad.stderr, bad.stderr)


def test_other_pids():
    """Where the driver's pids are those of another namespace, who used it can't be checked: it is
    said, and all else is."""
    try:
        subprocess.run([*OTHER_PIDS, 'true'], capture_output=True, check=True, timeout=60)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Skip(f'no pid namespace can be made here: {error}') from error
    done = device(f'--nvml-lib={DRIVER}', f'--cuda-lib={DRIVER}', before=OTHER_PIDS)
    equal(done.returncode, 0, f'{done.stdout}{done.stderr}')
    for what in "stat: part of it that is the load's, or idle", 'record: who took most is the load':
        true(f'| {what} | not checked: ' in done.stdout, f'{what} in {done.stdout}')
        true(f'device: not checked: {what}: ' in done.stderr, done.stderr)
    true('0 in ' in done.stdout and '**no**' not in done.stdout, done.stdout)


main([value for name, value in list(globals().items()) if name.startswith('test_')])
