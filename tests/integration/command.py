# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command have in common: run it, read it, judge it, count."""
import contextlib
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
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get('WATT_BUILD', os.path.join(TOP, 'build'))
PROGRAM = os.path.join(BUILD, 'cli', 'wattribute')
LOAD = os.path.join(BUILD, 'tests', 'integration', 'load')


class Skip(Exception):
    """This machine can't show it."""


def machine_pids():
    """Skips where pids are not those that a driver has for processes, which knows of no namespace."""
    try:
        name = os.readlink('/proc/self/ns/pid')
    except OSError:
        return
    if name != 'pid:[4026531836]':
        raise Skip('in a pid namespace of its own nobody is found on a GPU')


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    def json(self):
        return json.loads(self.out)


# For what hangs: a machine with ten times more to do than CPUs takes minutes for seconds of work.
PATIENCE_S = 600


def run(*args, timeout=PATIENCE_S, env=None, stdin=subprocess.DEVNULL, **more):
    """Runs `wattribute ARGS`."""
    done = subprocess.run([PROGRAM, *map(str, args)], stdin=stdin, capture_output=True, text=True,
                          errors='surrogateescape', timeout=timeout, check=False,
                          env={**os.environ, 'LC_ALL': 'C.UTF-8', **(env or {})}, **more)
    return Result(done)


@contextlib.contextmanager
def for_anybody(program):
    """A copy of a program of the build that any user can run: the build may lie in a private home."""
    with tempfile.TemporaryDirectory(prefix='watt-program-', dir='/tmp') as folder:
        for path in [program] + glob.glob(os.path.join(BUILD, 'lib', '*.so*')):
            to = os.path.join(folder, os.path.relpath(path, BUILD))
            if os.path.isfile(path):
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copyfile(path, to)
        subprocess.run(['chmod', '-R', 'u=rwx,go=rx', folder], check=True)
        yield os.path.join(folder, os.path.relpath(program, BUILD))


def equal(found, expected, what=''):
    if found != expected:
        raise AssertionError(f'{what}: {found!r} is not {expected!r}')


def true(condition, what):
    if not condition:
        raise AssertionError(what)


def one_line(result, status, *words):
    """The command failed with exactly one line, which has all the words."""
    equal(result.status, status, f'status (it said {result.err!r})')
    equal(result.err.count('\n'), 1, f'lines in {result.err!r}')
    for word in words:
        true(word in result.err, f'no {word!r} in {result.err!r}')


def near(found, truth, tolerance, what):
    """found is within tolerance (a ratio) of truth."""
    error = found / truth - 1
    print(f'    {what}: {found:.6f}, truth {truth:.6f}, {error * 100:+.3f} %')
    if not abs(error) <= tolerance:
        raise AssertionError(f'{what}: {found} is {error * 100:+.2f} % from {truth}, more than '
                             f'{tolerance * 100} %')


@contextlib.contextmanager
def looking_at(path, *options, env=None):
    """`top --json` while something happens; gives what waits until the domain satisfies a condition."""
    with subprocess.Popen([PROGRAM, 'top', '--json', *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})}, text=True) as process:
        watchdog = threading.Timer(200, process.kill)
        watchdog.start()

        def wait_for(condition, what):
            deadline = time.monotonic() + 60
            for line in process.stdout:
                domains = [d for d in json.loads(line).get('domains', []) if d['path'] == path]
                if domains and condition(domains[0]):
                    return
                found = [(domain['status'], domain['power_w']) for domain in domains]
                true(time.monotonic() < deadline, f'{what}: it is {found}')
            true(False, f'{what}: it ended')
        try:
            yield wait_for
        finally:
            watchdog.cancel()
            process.terminate()


def nj(energy):
    """An energy since the start, {"j": ..., "nj": ...}, or null, as integer nJ."""
    return energy and energy['j'] * 1000000000 + energy['nj']


def validate(document, schema):
    """Against docs/schema."""
    try:
        import jsonschema
    except ImportError as error:
        raise Skip('missing: jsonschema for Python') from error
    with open(os.path.join(TOP, 'docs', 'schema', schema + '.json'), encoding='utf-8') as file:
        try:
            jsonschema.validate(document, json.load(file))
        except jsonschema.ValidationError as error:  # one test fails by it, and those behind it are run
            raise AssertionError(error) from error


def hear_signals():
    """Whoever runs the tests may ignore signals (nohup, a shell's background job), and programs
    inherit that: give them back what a terminal would."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def verdict(test):
    """Runs a function and prints a line for it; 'ok', 'skipped' or 'FAILED'."""
    try:
        test()
        print(f'ok      {test.__name__}', flush=True)
        return 'ok'
    except Skip as reason:
        print(f'skipped {test.__name__}: {reason}', flush=True)
        return 'skipped'
    except (AssertionError, subprocess.TimeoutExpired, KeyError, ValueError) as error:
        print(f'FAILED  {test.__name__}: {type(error).__name__}: {error}', flush=True)
        return 'FAILED'


VERDICTS = ['ok', 'skipped', 'FAILED']


def verdict_of_child(test, said):
    """Runs a function in this process, which ends with it, and which nobody else is to clean up after."""
    status = VERDICTS.index('FAILED')
    try:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
        status = VERDICTS.index(verdict(test))
    except BaseException:  # whatever it is, it is told, and ends here
        traceback.print_exc()
        print(f'FAILED  {test.__name__}: see above')
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def verdicts_at_once(tests, at_once):
    """Runs functions side by side, each in a process of its own, and prints what they said in one piece."""
    waiting, running = list(tests), {}
    while waiting or running:
        while waiting and len(running) < at_once:
            test, said = waiting.pop(0), tempfile.TemporaryFile()
            sys.stdout.flush()
            pid = os.fork()
            if not pid:
                verdict_of_child(test, said)
            running[pid] = test, said
        pid, status = os.wait()
        test, said = running.pop(pid)
        with said:
            said.seek(0)
            print(said.read().decode(errors='replace'), end='')
        if os.WIFSIGNALED(status):
            print(f'FAILED  {test.__name__}: signal {os.WTERMSIG(status)}')
        sys.stdout.flush()
        yield 'FAILED' if os.WIFSIGNALED(status) else VERDICTS[os.WEXITSTATUS(status)]


def main(tests, at_once=1):
    """Runs functions; prints a line for each; exit status 0, 1, or 77 if all were skipped.

    at_once: so many run side by side, which is for those that wait for most of their time, measure no
    CPU time and share nothing.
    """
    hear_signals()
    wanted = sys.argv[1:]
    tests = [test for test in tests if not wanted or test.__name__ in wanted]
    found = list(verdicts_at_once(tests, at_once) if at_once > 1 else map(verdict, tests))
    failed, skipped = found.count('FAILED'), found.count('skipped')
    print(f'{len(tests) - failed - skipped} passed, {failed} failed, {skipped} skipped')
    sys.exit(1 if failed else 77 if skipped == len(tests) else 0)
