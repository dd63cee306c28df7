#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Energy where not everybody is visible: what nobody sees is given to nobody."""
import contextlib
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import LOAD, PROGRAM, Skip, equal, main, near, run, true, validate  # noqa: E402


def unshare(*options):
    """The words that run a command in a pid namespace of its own."""
    words = ['unshare', '--pid', '--fork', '--kill-child', *options]
    try:
        done = subprocess.run([*words, 'true'], capture_output=True, text=True, check=False,
                              timeout=60)
    except FileNotFoundError as error:
        raise Skip('missing: unshare') from error
    if done.returncode:
        raise Skip(f'no pid namespace can be made here: {done.stderr.strip()}')
    return words


@contextlib.contextmanager
def hogs():
    """Somebody who keeps each CPU busy, outside of every namespace that a test makes."""
    running = []
    try:
        for cpu in os.sched_getaffinity(0):
            # One that has begun to run is one whose shell has answered.
            hog = subprocess.Popen(['sh', '-c', 'echo; while :; do :; done'],
                                   stdout=subprocess.PIPE)
            running.append(hog)
            hog.stdout.readline()
            os.sched_setaffinity(hog.pid, {cpu})
        yield
    finally:
        for hog in running:
            hog.kill()
            hog.wait()
            hog.stdout.close()


def stat(words, *options, cpu_s='1'):
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        done = subprocess.run([*words, PROGRAM, 'stat', '--json', '-o', report.name,
                               '--sources=estimate', *options, '--', LOAD, 'workers', '1', cpu_s],
                              capture_output=True, text=True, check=False, timeout=120)
        equal(done.returncode, 0, f'status of stat (it said {done.stderr!r})')
        document = json.load(report)
    validate(document, 'wattribute-stat-1')
    equal(document['quality']['check_failures'], 0, 'failed conservation checks')
    return document


def test_who_is_not_seen_pays():
    """Inside there is one process at work, outside one on each CPU: it gets its share, no more."""
    words = unshare('--mount-proc')
    with hogs():
        document = stat(words, '--usage=procfs', cpu_s='0.5')
    one = document['runs'][0]
    true(document['quality']['unseen_cpu_s'] > 0, 'nobody was unseen')
    true(one['energy_nj'] > 0, 'no energy for a second of work')
    share = one['energy_nj'] / (one['energy_nj'] + one['unattributed_nj'])
    print(f'    share of the command: {share:.3f}')
    true(share < 0.9, f'the command got {share} of what everybody used')


def inside():
    """The words for a namespace in which BPF calls tasks by its numbers; where it can't, it says so."""
    words = unshare('--mount-proc')
    here = run('sources', '--json', '--sources=estimate').json()
    done = subprocess.run([*words, PROGRAM, 'sources', '--json', '--sources=estimate'],
                          capture_output=True, text=True, check=True, timeout=60)
    there = json.loads(done.stdout)
    if there['usage'] == 'bpf':
        return words
    equal(there['usage'], 'procfs', 'who counts in a namespace')
    if here['usage'] == 'bpf':
        true('namespace' in there['usage_why'], there['usage_why'])
        refused = subprocess.run([*words, PROGRAM, 'stat', '--usage=bpf', '--sources=estimate',
                                  '--', 'true'], capture_output=True, text=True, check=False,
                                 timeout=60)
        equal(refused.returncode, 1, f'status of stat by BPF (it said {refused.stderr!r})')
        true('namespace' in refused.stderr, refused.stderr)
    raise Skip(f"no BPF in a namespace: {there['usage_why']}")


def inside_top(words, *options):
    """The last of two looks from in there."""
    done = subprocess.run([*words, PROGRAM, 'top', '--json', '-n', '2', '-d', '0.5',
                           '--sources=estimate', *options], capture_output=True, text=True,
                          check=True, timeout=120)
    document = json.loads(done.stdout.splitlines()[-1])
    equal(document['quality']['check_failures'], 0, 'failed conservation checks')
    equal(document['quality']['sum_failures'], 0, 'sums that are not those of their parts')
    return document


def test_own_namespace():
    """Whoever is in there is called by the numbers in there, and told of to the ns."""
    document = stat(inside())
    one = document['runs'][0]
    equal(document['usage'], 'bpf', 'who counts')
    equal(document['quality']['lost_records'], 0, 'lost records')
    true(0 <= one['rusage_cpu_s'] - one['cpu_s'] < 0.05 or
         abs(one['cpu_s'] - one['rusage_cpu_s']) < 0.05,
         f"{one['cpu_s']} s, and by getrusage {one['rusage_cpu_s']} s")


def test_short_ones_in_a_namespace():
    """Processes that are over before anybody looks, and reaped before they are counted."""
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        done = subprocess.run([*inside(), PROGRAM, 'stat', '--json', '-o', report.name,
                               '--sources=estimate', '--', LOAD, 'storm', '300'],
                              capture_output=True, text=True, check=False, timeout=120)
        equal(done.returncode, 0, f'status of stat (it said {done.stderr!r})')
        document = json.load(report)
    one = document['runs'][0]
    equal(document['quality']['lost_records'], 0, 'lost records')
    near(one['cpu_s'], one['rusage_cpu_s'], 0.35, 'CPU time of short processes')


# Threads burn; the one that is not the leader takes its place, and goes on.
TAKEOVER = """
import os, sys, threading, time
def burn(seconds):
    while time.thread_time() < seconds:
        pass
def follow():
    burn(0.3)
    os.execv(sys.argv[1], [sys.argv[1], 'hog', '1', '0.3'])
threading.Thread(target=follow).start()
burn(0.3)
time.sleep(600)
"""


def test_a_thread_that_takes_the_lead_in_a_namespace():
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        done = subprocess.run([*inside(), PROGRAM, 'stat', '--json', '-o', report.name,
                               '--sources=estimate', '--', sys.executable, '-c', TAKEOVER, LOAD],
                              capture_output=True, text=True, check=False, timeout=120)
        equal(done.returncode, 0, f'status of stat (it said {done.stderr!r})')
        document = json.load(report)
    one = document['runs'][0]
    near(one['cpu_s'], one['rusage_cpu_s'], 0.05, 'CPU time of a process with a new leader')


OUTSIDE = 'outside this pid namespace'


def test_who_is_outside_is_one():
    """What the host's processes use is told, of nobody in particular, and given to nobody inside."""
    words = inside()
    with hogs():
        document = inside_top(words)
    rows = [row for row in document['rows'] if row['kind'] == 'process']
    outside = [row for row in rows if row['name'] == OUTSIDE]
    equal(len(outside), 1, f'rows of those outside of {[row["name"] for row in rows]}')
    equal(outside[0]['process']['pid'], 0, 'the number of those outside')
    equal(document['quality']['unseen_cpu_s'], 0, 'CPU time that nobody explains')
    all_s = sum(row['window_cpu_s'] for row in rows)
    share = outside[0]['window_cpu_s'] / all_s
    energy = outside[0]['window_nj'] / sum(row['window_nj'] for row in rows)
    print(f'    share of those outside: {share:.3f} of the CPU time, {energy:.3f} of the energy')
    true(share > 0.5, f'{share} for those outside, of whom somebody is on each CPU')
    true(abs(energy - share) < 0.1, f'{energy} of the energy for {share} of the CPU time')
    names = [row['name'] for row in rows if row is not outside[0]]
    true(set(names) <= {'wattribute'}, f'who is told of beside us: {names}')


def test_a_number_is_one_of_the_namespace():
    """-p names whom we see, and not the host's process of the same number."""
    words = inside()
    # The shell has the number 1 in there, which is somebody's on every host.
    script = f"""{PROGRAM} stat --json --sources=estimate -p 1 --seconds=1 -o "$1" & wait=$!
        while [ -e /proc/$wait ] && [ "$(cut -d')' -f2 /proc/$wait/stat | cut -d' ' -f2)" != Z ]
        do :; done
        wait $wait"""
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        done = subprocess.run([*words, 'sh', '-c', script, 'sh', report.name],
                              capture_output=True, text=True, check=False, timeout=120)
        equal(done.returncode, 0, f'status (it said {done.stderr!r})')
        document = json.load(report)
    equal(document['usage'], 'bpf', 'who counts')
    one = document['runs'][0]
    print(f"    the shell, in there 1: {one['cpu_s']} s in {one['elapsed_s']} s")
    true(0.001 < one['cpu_s'] < one['elapsed_s'] * (os.cpu_count() or 1) + 0.2,
         f"{one['cpu_s']} s in {one['elapsed_s']} s")


def test_procfs_of_the_host():
    """Whoever is in a namespace is found in the host's procfs by the host's number."""
    for usage in ('auto', 'procfs'):
        document = stat(unshare(), f'--usage={usage}')
        near(document['runs'][0]['cpu_s'], 1, 0.3, f'CPU time of the command by {usage}')


def test_attached_by_a_number_of_ones_own():
    """-p names a process as we call it, whatever number the host's procfs has for it."""
    script = f"""{LOAD} hog 0 600 & pid=$!
        {PROGRAM} stat --json --sources=estimate -p $pid --seconds=1 -o "$1"
        status=$?; kill $pid; exit $status"""
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        done = subprocess.run([*unshare(), 'sh', '-c', script, 'sh', report.name],
                              capture_output=True, text=True, check=False, timeout=120)
        equal(done.returncode, 0, f'status (it said {done.stderr!r})')
        document = json.load(report)
    one = document['runs'][0]
    true(0 < one['cpu_s'] < one['elapsed_s'] + 0.2, f"{one['cpu_s']} s in {one['elapsed_s']} s")


def child_of(parent):
    for name in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f'/proc/{name}/stat', encoding='ascii', errors='replace') as file:
                if int(file.read().rpartition(')')[2].split()[1]) == parent:
                    return int(name)
    raise AssertionError(f'{parent} has no child')


def test_procfs_of_somebody_else():
    """In a namespace in which nobody of ours is, a command of ours is not followed as another's."""
    words = unshare('--mount-proc')
    with subprocess.Popen([*words, 'sh', '-c', 'echo; cat'], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as inside:
        inside.stdout.readline()
        pid = child_of(inside.pid)
        done = subprocess.run([PROGRAM, 'stat', f'--procfs-root=/proc/{pid}/root/proc',
                               '--sources=estimate', '--', 'true'],
                              capture_output=True, text=True, check=False, timeout=60)
        inside.stdin.close()
    equal(done.returncode, 1, f'status (it said {done.stderr!r})')
    true('pid namespace' in done.stderr, done.stderr)


def test_somebody_elses_procfs_by_bpf():
    """A namespace that is not ours: who is in there is told of by its numbers, we are outside."""
    words = inside()
    with subprocess.Popen([*words, 'sh', '-c', 'echo; while :; do :; done'],
                          stdout=subprocess.PIPE, text=True) as within:
        within.stdout.readline()
        pid = child_of(within.pid)
        try:
            document = inside_top([], f'--procfs-root=/proc/{pid}/root/proc', '--usage=bpf')
        finally:
            within.kill()
    rows = {row['name']: row for row in document['rows'] if row['kind'] == 'process'}
    true(OUTSIDE in rows, f'nobody is outside: {list(rows)}')
    true('wattribute' not in rows, 'we are in there')
    true('sh' in rows, f'who runs in there is not told of: {list(rows)}')
    equal(rows['sh']['process']['pid'], 1, 'the number in there')
    true(rows['sh']['window_nj'] > 0, 'it runs, and uses nothing')


def test_the_reason_is_told():
    """Few open files are no reason to say that there are no hooks."""
    result = run('sources', '--json', '--sources=estimate')
    equal(result.status, 0, f'status (it said {result.err!r})')
    if result.json()['usage'] != 'bpf':
        true(result.json()['usage_why'], 'it is not the best source, and nothing says why')
        raise Skip('no BPF here: ' + result.json()['usage_why'])
    true(result.json()['usage_why'] is None, result.json()['usage_why'])
    for few in (28, 32):
        done = subprocess.run(['prlimit', f'--nofile={few}:{few}', PROGRAM, 'sources', '--json',
                               '--sources=estimate'], capture_output=True, text=True, check=False,
                              timeout=60)
        equal(done.returncode, 0, f'{few} files: status (it said {done.stderr!r})')
        true('no hook' not in done.stderr, f'{few} files: {done.stderr}')
        document = json.loads(done.stdout)
        print(f'    {few} open files: {document["usage"]}, {document["usage_why"]}')
        true(document['usage'] == 'bpf' or 'open files' in document['usage_why'],
             f'{few} files: {document["usage_why"]}')


if __name__ == '__main__':
    main([test_who_is_not_seen_pays, test_own_namespace, test_short_ones_in_a_namespace,
          test_a_thread_that_takes_the_lead_in_a_namespace, test_who_is_outside_is_one,
          test_a_number_is_one_of_the_namespace, test_procfs_of_the_host,
          test_attached_by_a_number_of_ones_own, test_procfs_of_somebody_else,
          test_somebody_elses_procfs_by_bpf, test_the_reason_is_told])
