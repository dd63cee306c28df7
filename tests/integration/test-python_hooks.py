#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the Python package has for others' programs: pytest, CodeCarbon's file, training loops."""
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
import types

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import Skip, equal, main, true  # noqa: E402
from python_package import SITE, SYNTH, TOOLS, fails, has_module, install  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix='watt-hooks-')


def test_package():
    install()
    sys.path.insert(0, SITE)


def run_pytest(text, *options):
    """What pytest says of a file, with the plugin as the wheel names it."""
    if not has_module('pytest'):
        raise Skip('missing: pytest for Python')
    path = os.path.join(FOLDER.name, 'test_it.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    done = subprocess.run([sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', *options, path],
                          cwd=FOLDER.name, env={**os.environ, 'PYTHONPATH': SITE, 'PYTHONDONTWRITEBYTECODE': '1'},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


TESTS = '''
import pytest, sys

def test_works():
    sum(range(100000))

@pytest.mark.energy(max_j=1000000)
def test_may():
    pass

def test_fails():
    assert 'mine' == 'other'
'''


def test_pytest_tells_joules():
    deadline = time.monotonic() + 60
    while True:
        code, said = run_pytest(TESTS, '--energy')
        equal(code, 1, said)
        true('1 failed, 2 passed' in said and "'mine' == 'other'" in said, said)
        # On a busy machine sensors may be too late; it says so then.
        if not re.search('not measured: |the energy is not known', said) or time.monotonic() > deadline:
            break
    true(re.search(r' \d+\.\d{6} J +\d+\.\d{3} s +test_it\.py::test_works', said), said)
    true('J in all 3 tests' in said, said)


def test_pytest_without_it():
    code, said = run_pytest(TESTS.replace("'other'", "'mine'"), '--strict-markers')
    equal(code, 0, said)
    true('3 passed' in said and ' J ' not in said, said)


def test_pytest_refuses_what_is_no_energy():
    code, said = run_pytest(TESTS, '--energy-max=many')
    equal(code, 4, said)
    true("--energy-max: 'many' is no energy such as 5J" in said, said)


def result(own_j, uncertainty_ratio=None, elapsed_s=2.0):
    return types.SimpleNamespace(own_energy_j=own_j, uncertainty_ratio=uncertainty_ratio, elapsed_s=elapsed_s,
                                 origin='measured')


def test_limits():
    """What is surely too much, and nothing else."""
    if not has_module('pytest'):
        raise Skip('missing: pytest for Python')
    from wattribute import pytest_plugin
    equal(pytest_plugin.parse_energy('200mJ'), 0.2, '200mJ')
    fails(ValueError, lambda: pytest_plugin.parse_energy('5 W'), 'no energy')
    true('used 5 J, more than the 1 J' in pytest_plugin.excess(result(5.0), 1), 'too much')
    for own_j, ratio in ((1.0, None), (None, None), (1.5, 0.5), (99, 1.5)):
        equal(pytest_plugin.excess(result(own_j, ratio), 1), None, f'{own_j} J, {ratio}')
    lines = pytest_plugin.summary([('a', result(1.0)), ('b', result(3.0)), ('c', result(None))], 1)
    true('3.000000 J' in lines[0] and lines[0].endswith('  b'), lines)
    true('4.000000 J in all 2 tests' in lines[1] and 'of 1 tests' in lines[2], lines)


def rows_of(path):
    with open(path, encoding='utf-8', newline='') as file:
        return list(csv.DictReader(file))


def test_emissions():
    from wattribute.emissions import COLUMNS, EmissionsTracker
    for name in ('one', 'two'):
        with EmissionsTracker(name, grid_g_per_kwh=400, price_per_kwh=0.5, pue=1.5, output_dir=FOLDER.name,
                              **SYNTH) as tracker:
            time.sleep(0.05)
    rows = rows_of(os.path.join(FOLDER.name, 'emissions.csv'))
    equal([tuple(row) for row in rows], [COLUMNS] * 2, 'columns')
    equal([row['project_name'] for row in rows], ['one', 'two'], 'runs')
    for row in rows:
        kwh, seconds = float(row['energy_consumed']), float(row['duration'])
        true(kwh > 0 and abs(float(row['emissions']) - kwh * 0.4) <= 1e-9 * kwh, row)
        true(abs(float(row['emissions_rate']) * seconds - kwh * 0.4) <= 1e-9 * kwh, row)
        # The machine's is the sum of its domains; PUE is of the machine alone.
        true(0 < float(row['cpu_energy']) <= kwh / 1.5 * (1 + 1e-9), row)
        true(row['country_name'] == '' and row['pue'] == '1.5', row)
    equal(tracker.price, tracker.energy_kwh * 0.5, 'price')


def test_emissions_of_a_process():
    from wattribute.emissions import EmissionsTracker
    tracker = EmissionsTracker(tracking_mode='process', grid_g_per_kwh=100, save_to_file=False, **SYNTH)
    tracker.result = types.SimpleNamespace(energy_j=3.6e8, own_energy_j=7.2e6)
    equal((tracker.energy_kwh, tracker.emissions_kg), (2.0, 0.2), 'of 7.2 MJ')
    tracker.result.own_energy_j = None
    equal((tracker.energy_kwh, tracker.emissions_kg), (None, None), 'of nothing that is known')


def test_emissions_that_are_unknown():
    from wattribute.emissions import EmissionsTracker
    path = os.path.join(FOLDER.name, 'other.csv')
    with open(path, 'w', encoding='utf-8') as file:
        file.write('energy_consumed,project_name,mine,emissions\n')
    with EmissionsTracker('a,b', output_dir=FOLDER.name, output_file='other.csv', **SYNTH) as tracker:
        pass
    equal((tracker.emissions_kg, tracker.price), (None, None), 'without a grid and a price')
    row, = rows_of(path)
    equal((row['project_name'], row['mine'], row['emissions']), ('a,b', '', ''), 'a line of other columns')
    fails(ValueError, lambda: EmissionsTracker(grid_g_per_kwh=-1), 'grid_g_per_kwh')
    fails(ValueError, lambda: EmissionsTracker(pue=0.9), 'pue')
    fails(ValueError, lambda: EmissionsTracker(tracking_mode='all'), "'all'")


def test_epochs():
    from wattribute.callbacks import EpochEnergy
    energy = EpochEnergy(**SYNTH)
    seen = []
    for epoch in energy.epochs(range(2)):
        time.sleep(0.05)
        seen.append((epoch, list(energy.steps('abc'))))
    equal(seen, [(0, ['a', 'b', 'c']), (1, ['a', 'b', 'c'])], 'what the loop saw')
    equal([(done['epoch'], done['steps']) for done in energy.epochs_done], [(0, 3), (1, 3)], 'epochs')
    true(all(done['energy_j'] > 0 and done['origin'] == 'simulated' for done in energy.epochs_done), energy.epochs_done)
    for _ in energy.epochs(range(5)):
        break
    equal(len(energy.epochs_done), 2, 'an epoch that was left is none')


def test_each_step():
    from wattribute.callbacks import EpochEnergy, KerasEnergy
    energy = EpochEnergy(each_step=True, **SYNTH)
    for _ in energy.epochs(range(2)):
        for _ in energy.steps('ab'):
            time.sleep(0.02)
    keras = KerasEnergy(each_step=True, **SYNTH)
    keras.on_epoch_begin(0)
    for batch in range(2):
        keras.on_train_batch_begin(batch)
        time.sleep(0.02)
        keras.on_train_batch_end(batch)
    keras.on_train_batch_begin(2)  # an error ends it
    keras.on_epoch_end(0, {})
    for done in energy.epochs_done + keras.epochs_done:
        equal((len(done['step_energy_j']), len(done['step_own_energy_j'])), (2, 2), 'steps')
        true(0 < min(done['step_energy_j']) and sum(done['step_energy_j']) <= done['energy_j'] * (1 + 1e-9), done)


def test_energy_per_step():
    from wattribute.callbacks import _logs
    took = types.SimpleNamespace(energy_j=9.0, own_energy_j=6.0, elapsed_s=1.0, origin='measured')
    equal(_logs(took, 5, 3)['own_energy_per_step_j'], 2.0, 'per step')
    equal(_logs(took, 5, 0)['own_energy_per_step_j'], None, 'without steps')
    took.own_energy_j = None
    equal(_logs(took, 5, 3)['own_energy_per_step_j'], None, 'not known')


def test_keras():
    from wattribute.callbacks import KerasEnergy
    callback = KerasEnergy(**SYNTH)
    callback.set_params({})
    callback.set_model(None)
    callback.on_train_begin()
    logs = {'loss': 1}
    callback.on_epoch_begin(4)
    callback.on_train_batch_begin(0)
    time.sleep(0.05)
    callback.on_train_batch_end(0, {})
    callback.on_epoch_end(4, logs)
    callback.on_train_end()
    true(logs['energy_j'] > 0 and logs['loss'] == 1, logs)
    equal([(done['epoch'], done['steps']) for done in callback.epochs_done], [(4, 1)], 'epochs')
    fails(AttributeError, lambda: callback.nothing)


def test_nothing_is_loaded_that_is_not_used():
    said = subprocess.run(
        [sys.executable, '-c', 'import sys, wattribute.emissions, wattribute.callbacks\n'
         'print([name for name in ("pytest", "numpy", "pandas", "keras", "torch", "IPython") if name in sys.modules])'],
        env={**os.environ, 'PYTHONPATH': SITE}, capture_output=True, text=True, check=True).stdout
    equal(said, '[]\n', 'modules')


ALL = [test_package, test_pytest_tells_joules, test_pytest_without_it, test_pytest_refuses_what_is_no_energy,
       test_limits, test_emissions, test_emissions_of_a_process, test_emissions_that_are_unknown, test_epochs,
       test_each_step, test_energy_per_step, test_keras, test_nothing_is_loaded_that_is_not_used]
try:
    # Without a wheel there is nothing to test: the first one says why.
    main(ALL if all(has_module(name) for name in TOOLS) else ALL[:1])
finally:
    FOLDER.cleanup()
