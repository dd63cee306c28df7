#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What was learned of programs: shown live, of recordings and files, kept, and known the next time."""
import json
import os
import sqlite3
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import TOP, equal, main, near, one_line, run, true, validate  # noqa: E402

# A model of the CPUs is there on every machine, and knows its idle power from the start.
MODEL = ('--sources=estimate', '--share-key=learned')
# Two programs by turns, for as many seconds as asked.
LOAD = 'end=$(($(date +%s) + {})); while [ $(date +%s) -lt $end ]; do ' \
       'timeout 0.2 sha256sum /dev/zero; timeout 0.2 dd if=/dev/zero of=/dev/null 2>/dev/null; done; true'


def learn(*args):
    result = run('learn', '--json', *args)
    equal(result.status, 0, result.err)
    document = result.json()
    validate(document, 'wattribute-profile-1')
    return document['domains'][0]


def programs(domain):
    """By name, of what has the same name that which used most: an executable is known a moment late."""
    return {os.path.basename(one['name']): one for one in reversed(domain['programs'])}


def test_a_command_teaches_what_it_runs():
    found = programs(learn(*MODEL, '--', 'sh', '-c', LOAD.format(4)))
    for name in ('sha256sum', 'dd'):
        true(name in found, f'{name} is not among {sorted(found)}')
        true(found[name]['cpu_s'] > 0.2 and found[name]['n_slices'] > 4, found[name])
        true(found[name]['uncertainty_w'] > 0, found[name])
    result = run('learn', *MODEL, '--', 'sh', '-c', 'exit 7')
    equal(result.status, 7, result.err)


def test_what_was_kept_is_known_again():
    with tempfile.TemporaryDirectory() as folder:
        kept, recording = os.path.join(folder, 'kept.json'), os.path.join(folder, 'run.watt')
        result = run('learn', *MODEL, '-o', kept, '--', 'sh', '-c', LOAD.format(4))
        equal(result.status, 0, result.err)
        before = programs(learn(kept))
        one_line(run('learn', *MODEL, '-o', kept, '--seconds=1'), 1, 'kept.json')
        # who does not run stays, and in the recording is what it began with
        result = run('record', '-q', *MODEL, '--prior', kept, '-o', recording, '--', 'sleep', '2')
        equal(result.status, 0, result.err)
        after = programs(learn(recording))
        equal(after['sha256sum']['cpu_s'] >= before['sha256sum']['cpu_s'], True, 'it is forgotten')
        with sqlite3.connect(recording) as db:
            prior = db.execute("SELECT value FROM meta WHERE key = 'prior'").fetchone()[0]
        with open(kept, encoding='utf-8') as file:
            equal(json.loads(prior), json.load(file), 'prior')
        with open(kept, 'a', encoding='utf-8') as file:
            file.write('{')
        one_line(run('stat', *MODEL, '--prior', kept, '--', 'true'), 1, 'profile')
        one_line(run('stat', *MODEL, '--prior', kept + '2', '--', 'true'), 2, 'kept.json2')


def test_later_files_go_on_with_it():
    """A replay that begins in the middle knows what was learned before."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'run.watt')
        result = run('record', '-q', *MODEL, '--rotate-time=4s', '-o', path, '--', 'sh', '-c', LOAD.format(9))
        equal(result.status, 0, result.err)
        first, second = (learn(part) for part in (path, os.path.join(folder, 'run-2.watt')))
        with sqlite3.connect(os.path.join(folder, 'run-2.watt')) as db:
            t0, t1 = db.execute('SELECT min(t0_ns), max(t1_ns) FROM chunks').fetchone()
        own = (t1 - t0) / 5e7  # slices that the file has
        true(first['n_slices'] > 40, first['n_slices'])
        true(second['n_slices'] > own + 20, f'{second["n_slices"]} slices, of {own} in it')
        for name in ('sha256sum', 'dd'):
            true(programs(second)[name]['cpu_s'] > programs(first)[name]['cpu_s'], name)


def test_reports_tell_how_sure_rows_are():
    """Of the whole recording as one, as its last snapshot has it; the page has the bands of windows."""
    with tempfile.TemporaryDirectory() as folder:
        path, page = os.path.join(folder, 'run.watt'), os.path.join(folder, 'run.html')
        result = run('record', '-q', *MODEL, '-o', path, '--', 'sh', '-c', LOAD.format(5))
        equal(result.status, 0, result.err)
        report = run('report', '--json', path).json()
        rows = {row['pid']: row for row in report['entities'] if row['pid'] and row['energy_j'] > 0.001}
        true(sum(bool(row['uncertainty_j']) for row in rows.values()) > 3, rows)
        last = json.loads(run('export', '-f', 'snapshot', path).out.splitlines()[-1])
        told = {row['process']['pid']: row for row in last['rows'] if row['process']}
        ratios = []
        for pid in rows.keys() & told.keys():
            ratio = told[pid]['energy_j'] / rows[pid]['energy_j']
            if rows[pid]['is_alive'] and abs(ratio - 1) < 0.01:  # nothing came behind the last snapshot
                ratios.append(told[pid]['uncertainty_j'] / rows[pid]['uncertainty_j'])
        # A snapshot tells what was not told yet by what is known then, so each row may differ as the
        # learner does from second to second, which is much in its first ones.
        true(ratios and 1 / 3 < min(ratios) and max(ratios) < 3, ratios)
        near(statistics.median(ratios), 1, 0.2, 'the usual one')
        true('\u00b1J' in run('report', path).out, 'no column of it')
        result = run('report', '-o', page, path)
        equal(result.status, 0, result.err)
        with open(page, encoding='utf-8') as file:
            true('"u":[' in file.read(), 'no bands')


def test_mistakes():
    # who is told so need not wait for the end of a command, and can help themselves
    result = run('learn', '--sources=estimate', '--', 'sh', '-c', 'echo ran')
    one_line(result, 1, '--share-key=learned')
    true('doctor' in result.err and 'ran' not in result.out, result.err + result.out)
    machine = (f'--sysfs-root={TOP}/tests/fixtures/jetson-agx-orin/sys', '--sources=hwmon')
    result = run('learn', *machine, '--share-key=cpu_time', '--seconds=1')
    one_line(result, 1, '=learned learns of that')
    equal(run('learn', *machine, '--share-key=' + result.err.split('--share-key=')[1].split()[0], '--seconds=1').status, 0,
          'what it says is to be done')
    one_line(run('learn', '--rows=some'), 2, '--rows')
    one_line(run('learn', '/nowhere'), 1, '/nowhere')


main([test_a_command_teaches_what_it_runs, test_what_was_kept_is_known_again, test_later_files_go_on_with_it,
      test_reports_tell_how_sure_rows_are, test_mistakes])
