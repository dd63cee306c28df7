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
from command import LOAD, PROGRAM, Skip, equal, main, true, validate  # noqa: E402


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


def stat(words, *options, cpu_s='0.5'):
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
        document = stat(words, '--usage=procfs')
    one = document['runs'][0]
    true(document['quality']['unseen_cpu_s'] > 0, 'nobody was unseen')
    true(one['energy_nj'] > 0, 'no energy for half a second of work')
    share = one['energy_nj'] / (one['energy_nj'] + one['unattributed_nj'])
    print(f'    share of the command: {share:.3f}')
    true(share < 0.9, f'the command got {share} of what everybody used')


if __name__ == '__main__':
    main([test_who_is_not_seen_pays])
