#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package, as a wheel that was built here, and what its guide shows."""
import ast
import asyncio
import contextlib
import glob
import io
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
import types

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import TOP, Skip, equal, main, true  # noqa: E402
from python_package import LIBRARY, SITE, SYNTH, TOOLS, fails, has_module, install, true_tag  # noqa: E402
import nvmt_trace  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix='watt-python-')


def run_python(text, **env):
    """A program of its own that uses the package; what it prints."""
    done = subprocess.run([sys.executable, '-c', text], env={**os.environ, 'PYTHONPATH': SITE, **env},
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    equal(done.returncode, 0, f'status of a program that said {done.stderr}')
    return done.stdout


def test_wheel():
    path, names = install()
    true_tag(path, platform.machine())
    for source in glob.glob(os.path.join(TOP, 'python', 'wattribute', '*.py')):
        true(f'wattribute/{os.path.basename(source)}' in names, f'no {source} in {names}')
    for name in ('wattribute/py.typed', 'wattribute/_watt.py', LIBRARY, 'fastnvmetrics.py'):
        true(name in names, f'no {name} in {names}')
    sys.path.insert(0, SITE)


def test_python_3_9_can_read_it():
    for path in glob.glob(os.path.join(TOP, 'python', '**', '*.py'), recursive=True):
        with open(path, encoding='utf-8') as file:
            ast.parse(file.read(), path, feature_version=(3, 9))


def test_measure():
    import wattribute
    told = []
    with wattribute.measure('sum', told.append, **SYNTH) as m:
        fails(AttributeError, lambda: m.energy_j, 'not ended')
        with wattribute.measure(**SYNTH) as inner:
            time.sleep(0.05)
    true(m.energy_j > inner.energy_j > 0, f'{m.energy_j} and {inner.energy_j} J')
    true(m.elapsed_s >= inner.elapsed_s >= 0.05, f'{m.elapsed_s} and {inner.elapsed_s} s')
    equal(told, [m.result], 'told')
    equal(m.origin, 'simulated', 'origin')
    true(str(m.result).startswith('sum: ') and 'simulated' in str(m.result), str(m.result))
    true('package-0' in m.domain_energy_j and 'package-0' in m.result._repr_html_(), m.domain_energy_j)
    fails(wattribute.WattributeError, wattribute.Meter(**SYNTH).end, 'was begun')
    fails(wattribute.WattributeError, lambda: wattribute.Meter(**SYNTH).measure().end(), 'not begun')


def test_what_the_code_raises_comes_out():
    import wattribute
    section = wattribute.measure(**SYNTH)

    def work():
        with section:
            raise KeyError('mine')
    fails(KeyError, work, 'mine')
    true(section.energy_j >= 0, section.energy_j)


def test_decorator():
    import wattribute

    @wattribute.measure(**SYNTH)
    def double(x):
        return 2 * x

    @wattribute.measure('job', **SYNTH)
    async def later(x):
        await asyncio.sleep(0)
        return x
    equal([double(2), double(x=3), asyncio.run(later(5))], [4, 6, 5], 'values')
    equal(len(double.results), 2, 'results')
    equal((double.__name__, later.results[0].label), ('double', 'job'), 'names')


def test_tasks_overlap():
    """Neither is inside the other."""
    import wattribute

    async def run():
        second_began, first_ended = asyncio.Event(), asyncio.Event()

        async def first():
            async with wattribute.measure('first', **SYNTH) as m:
                await second_began.wait()
            first_ended.set()
            return m.result

        async def second():
            async with wattribute.measure('second', **SYNTH) as m:
                second_began.set()
                await first_ended.wait()
            return m.result
        return await asyncio.wait_for(asyncio.gather(first(), second()), 60)
    equal([result.label for result in asyncio.run(run())], ['first', 'second'], 'labels')


def sum_nj(energies):
    return sum(round(energy * 1e9) for energy in energies)


def test_windows():
    import wattribute
    with wattribute.Session(**SYNTH) as session:
        true('package-0' in session.domains and session.usage == 'synth', session.domains)
        equal(len(session.channels), len({channel['name'] for channel in session.channels}), 'channels')
        windows = list(session.windows(0.1, 4))
    for before, after in zip(windows, windows[1:]):
        equal(after.start_ns, before.end_ns, 'where a window begins')
    for window in windows:
        true(window.energy_j > 0 and window.duration_s > 0 and window.time_s > 1e9, window)
        true(window.balance.is_exact and window.balance.origin == 'simulated', vars(window.balance))
        for i, domain in enumerate(window.domains):
            if not domain.is_known:
                continue
            users = sum(row._row.window_nj[i] for row in window.rows if row.is_user)
            equal(users + sum_nj([domain.idle_j, domain.unattributed_j]), sum_nj([domain.energy_j]), domain.path)
        table = window.table()
        equal(len(table), len(list(window.rows)), 'rows of the table')
        equal(table['energy_j'][0], next(iter(table))['energy_j'], 'energy')
        for row in window.processes:
            equal(window.find(row.id).name, row.name, 'name')
    fails(wattribute.WattributeError, lambda: session.domains, 'is closed')
    true(windows[0].energy_j > 0, 'a window outlives its session')


def test_uncertainty():
    import wattribute
    with wattribute.Session(**SYNTH, share_key='learned') as session:
        for window in session.windows(0.1, 300):
            rows = list(window.rows)
            unsure = [row for row in rows if row.uncertainty_j]
            if unsure:
                break
    true(unsure and all(row.uncertainty_j > 0 for row in unsure), 'somebody is unsure')
    true(not any(row.kind in ('idle', 'unattributed') for row in unsure), 'nobody guesses those')
    for row in unsure:
        parts = row.domain_uncertainty_j()
        equal(list(parts), list(row.domain_energy_j()), 'domains')
        true(any(parts.values()), parts)
    equal(window.table()['uncertainty_j'], [row.uncertainty_j for row in rows], 'column')
    with wattribute.Session(**SYNTH, share_key='cpu_time') as session:
        window = next(session.windows(0.1, 1))
    equal({row.uncertainty_j for row in window.rows if row.energy_nj}, {None}, 'CPU time tells nothing of it')


def test_asynchronous_windows():
    import wattribute

    async def run():
        with wattribute.Session(**SYNTH) as session:
            return [window.energy_j async for window in session.awindows(0.05, 2)]
    equal(len(asyncio.run(run())), 2, 'windows')


def test_others_run_while_it_waits():
    """In the middle of a call another thread has the interpreter."""
    import wattribute
    stamps, is_over = [], threading.Event()

    def stamp():
        while not is_over.wait(0.001):
            stamps.append(time.monotonic_ns())
    thread = threading.Thread(target=stamp)
    thread.start()
    try:
        with wattribute.Session(**SYNTH) as session, wattribute.session._Cursor(session) as cursor:
            deadline = time.monotonic() + 30
            while True:
                start = time.monotonic_ns()
                cursor.window_at(start + 150000000)
                length = time.monotonic_ns() - start
                if any(length // 4 < at - start < length * 3 // 4 for at in list(stamps)):
                    return
                true(time.monotonic() < deadline, 'no other thread ran meanwhile')
    finally:
        is_over.set()
        thread.join()


def test_stays_loaded():
    """An interpreter that ends unloads libraries; threads of sessions that are open still run then."""
    library = os.path.join(SITE, LIBRARY)
    equal(run_python('import _ctypes, ctypes\n'
                     f'_ctypes.dlclose(ctypes.CDLL({library!r})._handle)\n'
                     f'print({library!r} in open("/proc/self/maps").read())'), 'True\n', 'loaded')


def test_fork():
    print_ = ('import os, wattribute\n'
              's = wattribute.Session(sources="synth", usage="synth").start()\n'
              'with wattribute.measure(sources="synth", usage="synth"): pass\n'
              'if os.fork() == 0:\n'
              '    try: next(s.windows(0.01))\n'
              '    except wattribute.WattributeError as e: print(e, flush=True)\n'
              '    s.close()\n'
              '    with wattribute.measure(sources="synth", usage="synth") as m: pass\n'
              '    print(m.origin, flush=True)\n'
              '    os._exit(0)\n'
              'equal = os.wait()[1] == 0\n'
              'print(equal, next(s.windows(0.01)).end_ns > 0)\n')
    lines = run_python(print_).splitlines()
    true('does not survive fork()' in lines[0], lines)
    equal(lines[1:], ['simulated', 'True True'], 'what it said')


def test_errors():
    import wattribute
    fails(ValueError, lambda: wattribute.Session(sources='nope'), "'nope'", 'powercap')
    fails(ValueError, lambda: wattribute.Session(slice='5h'), 'slice', '5h')
    fails(ValueError, lambda: wattribute.Session(colour='red'), 'colour', 'idle-policy')
    fails(TypeError, lambda: wattribute.Session(slice=True), 'slice')
    error = fails(wattribute.WattributeError, lambda: wattribute.Session(config='/nonexistent'), '/nonexistent')
    equal(error.errno, 2, 'errno')
    fails(wattribute.WattributeError, lambda: wattribute.Recording(__file__), 'is no recording')
    fails(wattribute.WattributeError, lambda: wattribute.Session(record='/nonexistent/x', **SYNTH),
          "can't be recorded")
    fails(ValueError, lambda: wattribute.mark('a\nb') or wattribute.Recording('a\0b'), 'a')
    equal(wattribute.mark('nobody'), False, 'a mark that nobody hears')
    names = [source['source'] for source in wattribute.doctor(**SYNTH) if source['is_selected']]
    true('synth' in names, names)


def record(path):
    """A recording with a mark in it."""
    import wattribute
    with wattribute.Session(record=path, **SYNTH) as session:
        next(session.windows(0.2))
        said = run_python('import wattribute\nprint(wattribute.mark("solve"))',
                          WATTRIBUTE_MARKS=session.marks_address)
        equal(said, 'True\n', 'what the program said')
        next(session.windows(0.2))


def test_recording():
    import wattribute
    path = os.path.join(FOLDER.name, 'run.watt')
    record(path)
    with wattribute.Recording(path) as recording:
        equal([mark['label'] for mark in recording.marks], ['solve'], 'marks')
        equal(recording.info['n_cpus'] > 0 and recording.info['is_complete'], 1, 'what it says')
        windows = list(recording.windows(0.1))
        true({'solve', None} <= {window.phase for window in windows}, 'phases')
        whole = sum_nj(window.energy_j for window in windows)
        true(whole > 0, whole)
        others = list(recording.windows(0.05, idle_policy='proportional'))
        equal(sum_nj(window.energy_j for window in others), whole, 'energy by other rules')
        equal({window.idle_policy for window in windows}, {'separate'}, 'rule')
        equal({window.idle_policy for window in others}, {'proportional'}, 'other rule')
        samples = recording.samples()
        equal(len(samples), recording.info['samples'], 'samples')
        equal(len(recording.samples()), len(samples), 'samples, read again')
        for status, value in zip(samples['status'], samples['value']):
            equal(value is not None, status == 'ok', 'a value where there is one')
        equal(len(recording.table(0.1)), sum(len(list(window.rows)) for window in windows), 'rows')
        for name in ('csv', 'jsonl', 'perfetto'):
            recording.export(path + '.' + name, name)
            true(os.path.getsize(path + '.' + name) > 100, name)
        fails(ValueError, lambda: recording.export(path + '.x', 'x'), "'x'", 'csv')
        fails(ValueError, lambda: recording.export(path + '.csv', 'csv', what='nothing'), 'nothing')
    fails(wattribute.WattributeError, lambda: recording.info, 'is closed')
    fails(wattribute.WattributeError, lambda: wattribute.Session(record=path, **SYNTH), path)


def test_nvmt():
    """By a reader that knows nothing of ours, and back again."""
    import wattribute
    path = os.path.join(FOLDER.name, 'trace.watt')
    record(path)
    trace_path = path + '.nvmt'
    with wattribute.Recording(path) as recording:
        recording.export(trace_path, 'nvmt', window_s=0.05)
        windows = list(recording.windows(0.05))
        trace = nvmt_trace.read(trace_path)
        equal((len(trace['fast']), len(trace['medium'])), (len(windows), len(windows)), 'samples')
        equal(trace['cores'], min(recording.info['n_cpus'], 16), 'cores')
        equal([index for _, index in trace['syncs']],
              [next(i for i, window in enumerate(windows) if window.phase)], 'sync points')
        rail = trace['rails'].index('package-0')
        for window, row in zip(windows, trace['medium']):
            power_w = next(domain.power_w for domain in window.domains if domain.path == 'package-0')
            error_w = row[17 + rail] / 1000 - (power_w or 0)
            true(abs(error_w) <= 1e-6 * (power_w or 0), f'{row} and {power_w} W')
    with wattribute.Recording(trace_path) as back:
        equal((back.info['writer'], [mark['label'] for mark in back.marks]), ('NVMT 1', ['sync 1']), 'trace')
        equal(len(back.samples()), len(windows) * len(trace['rails']), 'samples')


def test_full_disk():
    import wattribute
    if not os.path.exists('/dev/full'):
        raise Skip('no /dev/full here')
    path = os.path.join(FOLDER.name, 'full.watt')
    record(path)
    with wattribute.Recording(path) as recording:
        fails(OSError, lambda: recording.export('/dev/full', 'perfetto'), 'No space left')


def test_tables():
    """What needs no other package, and what says which one it needs."""
    import wattribute
    table = wattribute.Table({'name': ['a', 'b\udcff'], 'energy_j': [1.5, None]})
    equal(list(table), [{'name': 'a', 'energy_j': 1.5}, {'name': 'b\udcff', 'energy_j': None}], 'rows')
    path = os.path.join(FOLDER.name, 'table.csv')
    table.to_csv(path)
    with open(path, 'rb') as file:
        equal(file.read(), b'name,energy_j\na,1.5\nb\xff,\n', 'CSV')
    kept = sys.modules.get('pandas')
    try:
        sys.modules['pandas'] = None
        fails(ImportError, table.to_pandas, 'pip install pandas')
    finally:
        sys.modules.pop('pandas')
        if kept:
            sys.modules['pandas'] = kept


class Shell:
    """As much of IPython's as the magic uses."""

    def __init__(self):
        self.magics = {}
        self.ran = []

    def register_magic_function(self, function, kind, name):
        self.magics[name] = (kind, function)

    def run_cell(self, text):
        self.ran.append(text)
        error = None
        try:
            exec(text, {})
        except ZeroDivisionError as found:
            error = found

        def raise_error():
            if error:
                raise error
        return types.SimpleNamespace(raise_error=raise_error)


def test_magic():
    import wattribute
    from wattribute import jupyter
    shell = Shell()
    wattribute.load_ipython_extension(shell)
    equal(shell.magics['wattribute'][0], 'line_cell', 'kind')
    sys.modules['IPython'] = types.SimpleNamespace(get_ipython=lambda: shell)
    try:
        result = shell.magics['wattribute'][1](' <b>fit</b>', 'x = 1')
    finally:
        del sys.modules['IPython']
    equal(shell.ran, ['x = 1'], 'what ran')
    true(result.label == '<b>fit</b>' and '&lt;b&gt;fit' in result._repr_html_(), result._repr_html_())
    fails(ZeroDivisionError, lambda: jupyter.run(shell, '1 / 0'))


def test_guide():
    """Every example on the page runs as it stands."""
    with open(os.path.join(TOP, 'docs', 'python.md'), encoding='utf-8') as file:
        examples = re.findall(r'^```python\n(.*?)^```$', file.read(), re.M | re.S)
    true(len(examples) >= 6, f'{len(examples)} examples')
    for example in examples:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(example, 'docs/python.md', 'exec'), {'__name__': 'example'})


TESTS = [test_wheel, test_python_3_9_can_read_it, test_measure, test_what_the_code_raises_comes_out,
         test_decorator, test_tasks_overlap, test_windows, test_uncertainty,
         test_asynchronous_windows, test_others_run_while_it_waits, test_stays_loaded, test_fork,
         test_errors, test_recording, test_nvmt, test_full_disk, test_tables,
         test_magic, test_guide]
try:
    # Without a wheel there is nothing to test: the first one says why.
    lacks_tools = any(not has_module(name) for name in TOOLS)
    main(TESTS[:2] if lacks_tools else TESTS)
finally:
    FOLDER.cleanup()
