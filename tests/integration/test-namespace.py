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


def test_own_namespace():
    """BPF would tell of the host's processes by the host's numbers: usage is by procfs, and says why."""
    document = stat(unshare('--mount-proc'))
    equal(document['usage'], 'procfs', 'who counts')
    why = document['usage_why']  # None in a build without BPF
    true(why is None or 'namespace' in why, why)
    # What is told is of the command, but for what it did after the last look at it.
    near(document['runs'][0]['cpu_s'], 1, 0.3, 'CPU time of the command')


def test_bpf_is_refused_in_a_namespace():
    done = subprocess.run([*unshare('--mount-proc'), PROGRAM, 'stat', '--usage=bpf',
                           '--sources=estimate', '--', 'true'],
                          capture_output=True, text=True, check=False, timeout=60)
    true(done.returncode in (1, 2), f'status {done.returncode} (it said {done.stderr!r})')
    # 2: a build without BPF knows no such source
    true(done.returncode == 2 or 'namespace' in done.stderr, done.stderr)


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
    main([test_who_is_not_seen_pays, test_own_namespace, test_bpf_is_refused_in_a_namespace,
          test_procfs_of_the_host, test_attached_by_a_number_of_ones_own,
          test_procfs_of_somebody_else, test_the_reason_is_told])
