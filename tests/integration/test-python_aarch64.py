#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package for aarch64: a wheel around a library that was cross-built, used by emulation.

usage: WATT_BUILD=build-aarch64 WATT_ARM64=LIBRARIES:PYTHON test-python_aarch64.py

Both are folders that tools/fetch-arm64 made: with the library's own libraries, and with a Python.
"""
import glob
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import TOP, Skip, equal, main, true  # noqa: E402
from python_package import LIBRARY, SITE, install, true_tag  # noqa: E402

# As a user's program: the library answers, and numbers are those of the simulation.
PROGRAM = '''
import platform, sys
import wattribute
from wattribute import fastnvmetrics
assert platform.machine() == 'aarch64' and 'numpy' not in sys.modules
with wattribute.Session(sources='synth', usage='synth', slice=0.02) as session:
    for window in session.windows(period_s=0.2, count=2):
        assert window.energy_j > 0 and window.processes, window
with wattribute.measure(sources='synth', usage='synth') as m:
    sum(range(100000))
assert m.elapsed_s > 0, m.result
assert wattribute.board(sysfs_root=sys.argv[1] + '/sys')['name'] == 'Jetson AGX Orin'
assert [rail.label for rail in fastnvmetrics.detect_board(sysfs_root=sys.argv[1] + '/sys').power_rails][0] == 'VDD_GPU_SOC'
try:
    wattribute.Session(sources='none-such')
except ValueError as error:
    print('fine:', error)
'''


def libraries(root):
    return ':'.join(path for path in (os.path.join(root, 'usr/lib/aarch64-linux-gnu'), os.path.join(root, 'lib/aarch64-linux-gnu')))


def test_wheel():
    # what this machine is taken for: nothing is compiled, the library is there
    os.environ['_PYTHON_HOST_PLATFORM'] = 'linux-aarch64'
    wheel, names = install()
    true_tag(wheel, 'aarch64')
    true(LIBRARY in names, names)


def test_import():
    if not os.environ.get('WATT_ARM64'):
        raise Skip('needs folders with libraries and a Python for aarch64; tools/run-tests has them')
    root, python = (os.path.join(os.path.abspath(folder), 'root') for folder in os.environ['WATT_ARM64'].split(':'))
    interpreter = max(glob.glob(os.path.join(python, 'usr/bin/python3.*[0-9]')))
    done = subprocess.run(
        ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu', '-E', f'LD_LIBRARY_PATH={libraries(python)}:{libraries(root)}',
         '-E', f'PYTHONHOME={python}/usr', '-E', f'PYTHONPATH={SITE}:{python}/usr/lib/python3/dist-packages', interpreter, '-B',
         '-c', PROGRAM, os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    equal((done.returncode, 'fine:' in done.stdout), (0, True), done.stdout + done.stderr)


main([test_wheel, test_import])
