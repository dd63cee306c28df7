#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package with the packages that it works with, the real ones: each where it is installed.

Most are large, and no part of what the tests need. With all of them it is

    python3 -m venv VENV
    VENV/bin/pip install cffi meson-python meson ninja numpy pandas polars pyarrow ipykernel nbclient torch keras codecarbon mypy
    WATT_BUILD=build VENV/bin/python tests/integration/test-python_frameworks.py
"""
import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import Skip, equal, main, true  # noqa: E402
from python_package import SITE, SYNTH, TOOLS, has_module, install  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix='watt-frameworks-')


# What tools/install-deps installs; the others are too large to be asked for.
SMALL = ('numpy', 'IPython')


def need(*names):
    for name in names:
        if not has_module(name):
            raise Skip(f'missing: {name} for Python' if name in SMALL else f'only with {name} for Python')


def test_package():
    install()
    sys.path.insert(0, SITE)


def tables():
    """What is known in one is not in another, and one of them is empty."""
    import wattribute
    some = wattribute.Table({'name': ['a', 'b\udcff'], 'pid': [5, None], 'container': [None, None],
                             'energy_j': [1.5, None], 'uncertainty_j': [None, None], 't_before_ns': [2**60, 1]})
    other = wattribute.Table({'name': ['c'], 'pid': [6], 'container': ['x'], 'energy_j': [2], 'uncertainty_j': [0.25],
                              't_before_ns': [3]})
    return some, other, wattribute.Table({name: [] for name in some.columns})


def test_numpy():
    need('numpy')
    some, other, _ = (table.to_numpy() for table in tables())
    equal([str(one['energy_j'].dtype) for one in (some, other)], ['float64', 'float64'], 'types of energy')
    true(math.isnan(some['energy_j'][1]) and some['t_before_ns'][0] == 2**60, some)


def test_trace_as_arrays():
    need('numpy')
    import numpy
    from wattribute import fastnvmetrics
    equal(fastnvmetrics._array(b'\1\0\2\0\3\0\4\0', 'H', 4, 0, 2, 2).tolist(), [[1, 2], [3, 4]], 'columns')
    true(isinstance(fastnvmetrics._array(b'\1\0', 'H', 2, 0, 1, None), numpy.ndarray), 'is an array')


def test_pandas():
    need('pandas')
    import pandas
    frames = [table.to_pandas() for table in tables()]
    for frame in frames[:2]:
        equal([str(frame[name].dtype) for name in ('pid', 't_before_ns', 'uncertainty_j')], ['Int64', 'Int64', 'float64'], 'types')
    both = pandas.concat(frames[:2])
    equal((len(both), both['energy_j'].sum(), both['pid'].isna().sum()), (3, 3.5, 1), 'rows, energy, without a pid')


def test_polars():
    need('polars')
    import polars
    both = polars.concat([table.to_polars() for table in tables()])
    equal((both.shape, both['energy_j'].sum(), both['container'].null_count()), ((3, 6), 3.5, 2), 'all')
    equal(both['name'].to_list(), ['a', 'b\ufffd', 'c'], 'names')


def test_arrow():
    need('pyarrow')
    import pyarrow
    import pyarrow.parquet
    whole = pyarrow.concat_tables([table.to_arrow() for table in tables()])
    equal(whole.column('energy_j').to_pylist(), [1.5, None, 2.0], 'energy')
    path = os.path.join(FOLDER.name, 'table.parquet')
    tables()[0].to_parquet(path)
    equal(pyarrow.parquet.read_table(path).column('t_before_ns').to_pylist(), [2**60, 1], 'of a file')


def test_a_recording_as_tables():
    """All columns that there are, by whatever is here."""
    import wattribute
    path = os.path.join(FOLDER.name, 'run.watt')
    with wattribute.Session(record=path, slice=0.02, **SYNTH) as session:
        windows = list(session.windows(period_s=0.05, count=2))
    with wattribute.Recording(path) as recording:
        found = [windows[0].table(), recording.table(), recording.samples()]
    for module, how in (('pandas', 'to_pandas'), ('polars', 'to_polars'), ('pyarrow', 'to_arrow'), ('numpy', 'to_numpy')):
        for table in found if has_module(module) else ():
            made = getattr(table, how)()
            equal(len(made['status' if 'status' in table else 'energy_j']), len(table), f'rows by {module}')
    need('pandas', 'polars', 'pyarrow', 'numpy')


CELLS = '''
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic('load_ext', 'wattribute')
shell.run_cell('%%wattribute training\\nx = sum(range(100000))')
cell = shell.user_ns['_']
assert str(cell).startswith('training: ') and '<b>training' in cell._repr_html_(), cell
assert shell.user_ns['x'] == 4999950000
shell.run_cell('%wattribute y = 1')
line = shell.user_ns['_']
assert line is not cell and line.elapsed_s > 0 and shell.user_ns['y'] == 1, line
print('fine')
'''


def test_ipython():
    need('IPython')
    done = subprocess.run([sys.executable, '-c', CELLS],
                          env={**os.environ, 'PYTHONPATH': SITE, 'IPYTHONDIR': os.path.join(FOLDER.name, 'ipython')},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120)
    true(done.returncode == 0 and done.stdout.endswith('fine\n'), done.stdout + done.stderr)


def test_notebook():
    need('nbclient', 'nbformat', 'ipykernel')
    import nbclient
    import nbformat
    cells = ('%load_ext wattribute', '%%wattribute training\nx = 1', 'x')
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    os.environ['PYTHONPATH'] = SITE
    nbclient.NotebookClient(notebook, timeout=120, kernel_name='python3').execute()
    shown = notebook.cells[1].outputs[0]['data']
    true(shown['text/plain'].startswith('training: ') and '<table>' in shown['text/html'], shown)
    equal(notebook.cells[2].outputs[0]['data']['text/plain'], '1', 'what the cell did')


def expect_epochs(energy, count, steps):
    equal([(done['epoch'], done['steps']) for done in energy.epochs_done], [(i, steps) for i in range(count)], 'epochs')
    for done in energy.epochs_done:
        true(done['energy_j'] > 0 and done['origin'] == 'simulated', done)


def test_torch():
    need('torch')
    import torch
    from wattribute.callbacks import EpochEnergy
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 1)), batch_size=16)
    energy = EpochEnergy(**SYNTH)
    for _ in energy.epochs(range(2)):
        for x, y in energy.steps(loader):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
    expect_epochs(energy, 2, 4)


def test_keras():
    need('keras', 'numpy')
    backend = next((name for name in ('torch', 'jax', 'tensorflow') if has_module(name)), None)
    if not backend:
        raise Skip('only with torch for Python, which keras trains with')
    os.environ['KERAS_BACKEND'] = backend
    import keras
    import numpy
    from wattribute.callbacks import KerasEnergy
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile('sgd', 'mse')
    energy = KerasEnergy(**SYNTH)
    x, y = numpy.ones((64, 4)), numpy.ones((64, 1))
    done = model.fit(x, y, epochs=2, batch_size=16, verbose=0, callbacks=[energy])
    expect_epochs(energy, 2, 4)
    equal(done.history['energy_j'], [epoch['energy_j'] for epoch in energy.epochs_done], 'logs')
    # others that it is called for
    model.evaluate(x, y, verbose=0, callbacks=[energy])
    model.predict(x, verbose=0, callbacks=[energy])
    equal(len(energy.epochs_done), 2, 'epochs')


def test_codecarbon():
    """It takes a file for one of its own that has its columns, and puts away any other."""
    need('codecarbon')
    import dataclasses
    from codecarbon.output_methods.emissions_data import EmissionsData
    from wattribute.emissions import COLUMNS
    equal([field.name for field in dataclasses.fields(EmissionsData)], list(COLUMNS), 'columns')


TYPED = '''
from typing import List, Optional
import wattribute

with wattribute.measure('section') as section:
    pass
energy: Optional[float] = section.energy_j
length: float = section.result.elapsed_s

@wattribute.measure
def one(n: int) -> int:
    return n

@wattribute.measure('two')
def two() -> str:
    return ''

number: int = one(1)
text: str = two()
results: List[wattribute.Result] = one.results
with wattribute.Session(slice=0.02) as session:
    for window in session.windows(period_s=0.1, count=1):
        watts: Optional[float] = window.power_w
wrong: str = section.energy_j
'''


def test_types():
    """What a type checker knows: all but the last line is right."""
    need('mypy')
    path = os.path.join(FOLDER.name, 'typed.py')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(TYPED)
    done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--cache-dir', FOLDER.name, path],
                          env={**os.environ, 'MYPYPATH': SITE, 'PYTHONPATH': SITE}, capture_output=True, text=True,
                          check=False, timeout=300)
    lines = [line for line in done.stdout.splitlines() if 'typed.py:' in line]
    true(len(lines) == 1 and f'typed.py:{len(TYPED.splitlines())}: error: Incompatible types' in lines[0], done.stdout)


ALL = [test_package, test_numpy, test_trace_as_arrays, test_pandas, test_polars, test_arrow, test_a_recording_as_tables,
       test_ipython, test_notebook, test_torch, test_keras, test_codecarbon, test_types]
try:
    # Without a wheel there is nothing to test: the first one says why.
    main(ALL if all(has_module(name) for name in TOOLS) else ALL[:1])
finally:
    FOLDER.cleanup()
