#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`wattribute report` on recordings that `wattribute record` made here: text, JSON, page and
comparison say the same, and the same as the replay."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from command import LOAD, PROGRAM, TOP, Skip, equal, main, near, one_line, run, true, validate  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix='wattribute-report-')
MADE = {}


def path(name):
    return os.path.join(FOLDER.name, name)


def recording(name, *args):
    """Records once for all tests; skips where there are no recordings."""
    if name not in MADE:
        made = run('record', '-q', '-o', path(name), *args)
        if 'built without' in made.err:
            raise Skip('missing: ' + made.err.strip())
        equal(made.status, 0, f'record said {made.err!r}')
        MADE[name] = path(name)
    return MADE[name]


def synth():
    return recording('synth.watt', '--sources', 'synth', '--usage', 'synth', '--slice', '20ms', '--for', '5')


def phases():
    """A command of three phases on this machine, with estimated power."""
    script = (f'"{PROGRAM}" mark wait; sleep 0.5; "{PROGRAM}" mark work; "{LOAD}" hog 0 1; '
              f'"{PROGRAM}" mark "<wait>"; sleep 0.5')
    return recording('phases.watt', '--sources', 'estimate', '--', 'sh', '-c', script)


def report(*args):
    done = run('report', '--json', *args)
    equal(done.status, 0, f'status (it said {done.err!r})')
    document = done.json()
    validate(document, 'wattribute-report-1')
    return document


def check_sums(document):
    whole = document['total']['energy_nj']
    equal(sum(e['energy_nj'] for e in document['entities']), whole, 'sum over entities')
    equal(document['total']['attributed_nj'] + document['total']['idle_nj'] + document['total']['unattributed_nj'],
          whole, 'what became of it')
    equal(sum(d['energy_nj'] or 0 for d in document['domains'] if d['is_partition']), whole, 'sum over the partition')
    equal(document['conservation']['failures'] + document['conservation']['window_failures'], 0, 'failed checks')
    true(document['conservation']['window_checks'] >= document['recording']['windows'], 'windows were checked')
    if document['phases']:
        equal(sum(p['energy_nj'] or 0 for p in document['phases']), whole, 'sum over phases')
        equal(sum(p['windows'] for p in document['phases']), document['recording']['windows'], 'windows of phases')


def test_everything_adds_up():
    document = report(synth())
    check_sums(document)
    true(document['recording']['windows'] > 100, 'there are many windows')
    near(document['recording']['duration_s'], 5, 0.1, 'duration')
    equal(document['total']['origin'], 'simulated')
    for group in ('name', 'container', 'pod', 'unit', 'user', 'cgroup'):
        check_sums(report('-g', group, synth()))
    for window in ('20ms', '100ms', '1s', '1h'):
        again = report('--window', window, synth())
        check_sums(again)
        equal([d['energy_nj'] for d in again['domains']], [d['energy_nj'] for d in document['domains']],
              f'energy in windows of {window}')


def test_agrees_with_replay():
    document = report(synth())
    replay = run('replay', '--json', '--window', '1h', synth())
    equal(replay.status, 0, f'status (it said {replay.err!r})')
    last = json.loads(replay.out.splitlines()[-1])
    energies = {d['path']: d for d in last['domains']}
    for domain in document['domains']:
        found = json.dumps(energies[domain['path']])
        true(str(domain['energy_nj']) in found, f"{domain['path']}: {domain['energy_nj']} is not in {found[:300]}")


def test_phases():
    document = report(phases())
    check_sums(document)
    equal([p['label'] for p in document['phases'] if p['label']], ['wait', 'work', '<wait>'], 'labels')
    wait, work, _ = [p for p in document['phases'] if p['label']]
    true(work['command_nj'] > 5 * (wait['command_nj'] or 0), 'the command works in its phase')
    true(work['duration_s'] > 0.9, 'the phase is as long as the work in it')
    equal(sum(p['command_nj'] or 0 for p in document['phases']), document['total']['command_nj'], 'energy of the command')
    true(0 < document['total']['command_nj'] <= document['total']['attributed_nj'], 'the command is a part')
    true(any(e['comm'] == 'load' or 'load hog' in e['name'] for e in document['entities']), 'the load is listed')


def test_a_part():
    whole, part = report(synth()), report('--from', '1s', '--to', '3s', synth())
    check_sums(part)
    # it ends with slices, which a busy machine ends late
    near(part['recording']['duration_s'], 2, 0.25, 'duration of the part')
    near(part['total']['power_w'], whole['total']['power_w'], 0.5, 'power of the part')
    rest = [report('--to', '1s', synth()), report('--from', '3s', synth())]
    equal(part['total']['energy_nj'] + sum(r['total']['energy_nj'] for r in rest), whole['total']['energy_nj'],
          'three parts are the whole')


def test_policies_change_the_answer():
    separate = report('--idle-policy', 'separate', phases())
    proportional = report('--idle-policy', 'proportional', phases())
    check_sums(proportional)
    equal(separate['total']['energy_nj'], proportional['total']['energy_nj'], 'what was used does not change')
    none = report('--share-key', 'none', phases())
    check_sums(none)
    equal(none['total']['attributed_nj'], 0, 'nothing is shared')


def test_text():
    done = run('report', phases())
    equal((done.status, done.err), (0, ''), 'status and errors')
    for words in ('the machine', 'attributed', 'the command with all its descendants', 'estimated', 'Domains', 'Phases',
                  '<wait>', 'Processes', 'Conservation', 'all hold to the nJ', 'Losses:', 'Quality'):
        true(words in done.out, f'no {words!r} in the summary')
    # A machine that stood still for a while has gaps: then nothing says that all is there.
    document = report(phases())
    is_whole = not document['losses']['list'] and not any(d['gap_s'] for d in document['domains'])
    equal('Losses: none' in done.out, is_whole, f'what is said of losses in {done.out}')
    for group, title in (('container', 'Containers'), ('user', 'Users'), ('name', 'Processes by name')):
        true('\n' + title + '\n' in run('report', '-g', group, phases()).out, f'no title for {group}')
    few = run('report', '-n', '1', phases()).out
    true('more with' in few and len(few) < len(done.out), '-n says what it leaves out')
    true('\033' not in done.out, 'no escape sequence in a pipe')


def embedded(page):
    with open(page, encoding='utf-8') as file:
        text = file.read()
    begin = text.index('id="data">') + len('id="data">')
    return text, json.loads(text[begin:text.index('</script>', begin)])


def test_page():
    page = path('page.html')
    done = run('report', '-o', page, phases())
    if 'built without' in done.err:
        true(not os.path.exists(page), 'nothing is left where there is no page')
        raise Skip('missing: ' + done.err.strip())
    equal(done.status, 0, f'status (it said {done.err!r})')
    true('wrote' in done.err and not done.out, 'it says what it wrote')
    text, data = embedded(page)
    equal(data['report'], report(phases()), 'the document in the page')
    for address in ('http://', 'https://', '//cdn', 'src=', 'href="h'):
        true(address not in text.replace('https://opensource.org', '').partition('id="data">')[0],
             f'{address} in the page: it must not ask for anything')
    users = [e for e in data['series']['entities'] if e['kind'] in ('process', 'vm', 'exited', 'kthread', 'irq', 'softirq')]
    partition = [d for d, doc in zip(data['series']['domains'], data['report']['domains']) if doc['is_partition']]
    for w in range(len(data['series']['t'])):
        shared = 0
        for entity in users:
            at = 0
            for step, energy in zip(entity['w'], entity['e']):
                at += step
                shared += energy if at == w else 0
        equal(shared + sum((d['idle'][w] or 0) + (d['rest'][w] or 0) for d in partition),
              sum(d['energy'][w] or 0 for d in partition), f'window {w} of the page')
    one_line(run('report', '-o', page, phases()), 1, 'is there already', '--force')
    equal(run('report', '-f', '-o', page, phases()).status, 0, '--force')
    one_line(run('report', '-o', '/nowhere/page.html', phases()), 1, '/nowhere/page.html')


def test_what_is_shown_adds_up():
    text = run('report', synth()).out
    rows = {name: (float(joules), float(watts)) for joules, watts, name in
            re.findall(r'^ +([\d.]+) +J +([\d.]+) +W  (the machine|attributed|idle|unattributed)', text, re.M)}
    whole = rows.pop('the machine')
    true(len(rows) >= 2, text)
    for i, unit in enumerate('JW'):
        near(sum(part[i] for part in rows.values()), whole[i], 1e-4, f'{unit} of {rows}')


def table_of(text, title):
    return columns_of(re.search(rf'^{title}.*\n((?:.+\n)+)', text, re.M).group(1).splitlines())


def columns_of(lines):
    """Of a table by their heading; what is below a step, or not known, is 0."""
    columns = {}
    for heading in re.finditer(r'\S+(?: \S+)*', lines[0]):
        cells = []
        for line in lines[1:]:
            number = re.search(r'(\S+)$', line[:heading.end()])
            if not line.startswith('('):
                cells.append(float(number.group(1)) if number and re.fullmatch(r'-?[\d.]+', number.group(1)) else 0.0)
        columns[heading.group()] = cells
    return columns


def test_tables_add_up_to_the_machine():
    """Each to the last decimal that is shown, which is one for each quantity of a page."""
    text = run('report', '-n', '0', phases()).out
    whole_j, whole_w = re.search(r'^ +([\d.]+) +J +([\d.]+) +W  the machine', text, re.M).groups()
    processes = table_of(text, 'Processes')
    for shown, numbers in ((whole_j, processes['J']), (whole_w, processes['W']), (whole_j, table_of(text, 'Phases')['J']),
                           ('100.0', processes['%'])):
        steps = 10 ** len(shown.partition('.')[2])
        equal(sum(round(number * steps) for number in numbers), round(float(shown) * steps), f'{numbers} of {shown}')
    cut = run('report', '-n', '3', phases()).out
    rest = re.search(r'more with ([\d.]+) J together', cut).group(1)
    steps = 10 ** len(whole_j.partition('.')[2])
    equal(round((float(rest) + sum(table_of(cut, 'Processes')['J'])) * steps), round(float(whole_j) * steps), 'with the rest')


def test_the_best_total_is_the_headline():
    """A laptop on battery: what the battery says is the machine, and the estimate a part of it."""
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, 'battery.watt')
        result = run('record', '-o', recording, f'--sysfs-root={TOP}/tests/fixtures/laptop-battery/sys', '--usage=procfs',
                     '--', 'sleep', '3')
        equal(result.status, 0, result.err)
        document = json.loads(run('report', '--json', recording).out)
        validate(document, 'wattribute-report-1')
        text = run('report', recording).out
    total = document['total']
    true(total['outside'].startswith('supply-bat0'), f'{total}')
    true(48 < total['outside_power_w'] < 50 and 0 < total['power_w'] < total['outside_power_w'], f'{total}')
    rows = re.findall(r'^ +([\d.]+) +J +([\d.]+) +W  (.*)$', text, re.M)[:3]
    true(rows[0][2].startswith('the machine, measured (supply-bat0') and rows[2][2] == 'told apart', text)
    for column in (0, 1):
        whole, rest, inside = (round(float(row[column]) * 10 ** len(row[column].partition('.')[2])) for row in rows)
        equal(rest + inside, whole, text)


def test_comparison():
    document = report('--vs', synth(), synth())
    total = document['comparison']['total']
    equal((total['difference_w'], total['is_significant'] or False), (0, False), 'difference to itself')
    equal(total['before'], total['now'], 'both sides')
    equal({d['name'] for d in document['comparison']['domains']}, {d['path'] for d in document['domains']}, 'domains')
    equal((total['energy_j'], total['is_energy_significant'] or False), (0, False), 'energy of itself')
    text = run('report', '--vs', phases(), synth()).out
    for words in ('The machine used ', ' energy, in ', ' instead of ', 'Compared with another recording', 'before: ', 'WHOLE', 'gone', 'new'):
        true(words in text, f'no {words!r} in the comparison')
    whole, domains = (columns_of(re.search(rf'^{title} .*\n(?:.+\n)+', text, re.M).group().splitlines())
                      for title in ('WHOLE', r'DOMAIN +J BEFORE'))
    for column in ('J BEFORE', 'J NOW', 'W BEFORE', 'W NOW'):
        near(sum(domains[column]), whole[column][0], 1e-9, f'{column} of the domains')


def test_missing_is_not_zero():
    """So short that slow sensors had no time to answer, and a sensor that does say 0."""
    document = report(recording('short.watt', '--sources', 'synth', '--usage', 'synth', '--for', '1ms'))
    for domain in document['domains']:
        equal(domain['energy_nj'] is None, domain['known_s'] == 0, f"{domain['path']}: no energy where none is known")
        equal(domain['power_w'] is None, domain['known_s'] == 0, f"{domain['path']}: no power where none is known")
    zero = report(recording('null.watt', '--sources', 'null', '--for', '1'))
    equal((zero['total']['energy_nj'], zero['total']['power_w']), (0, 0), 'a sensor that says 0')
    equal({e['share_ratio'] for e in zero['entities']}, {None}, 'no share of nothing')


def test_mistakes():
    one_line(run('report'), 2, 'which recording')
    one_line(run('report', 'a', 'b'), 2, "unexpected 'b'")
    one_line(run('report', path('none.watt')), 1, 'none.watt')
    one_line(run('report', '/etc/hostname'), 1, 'is no recording')
    one_line(run('report', '-g', 'planet', synth()), 2, 'planet', 'container')
    one_line(run('report', '-n', 'few', synth()), 2, 'few')
    one_line(run('report', '--window', 'wide', synth()), 2, 'wide')
    one_line(run('report', '--from', '1h', synth()), 1, '--from')
    one_line(run('report', '--vs', path('none.watt'), synth()), 1, 'none.watt')
    help_text = run('report', '--help')
    equal((help_text.status, help_text.err), (0, ''), 'help')


def test_damaged_files():
    """Whatever is cut off or changed, there is a report of the rest or a sentence, never a crash."""
    with open(synth(), 'rb') as file:
        data = file.read()
    for size in (0, 100, 4096, len(data) // 2, len(data) - 1000):
        with open(path('cut.watt'), 'wb') as file:
            file.write(data[:size])
        done = run('report', path('cut.watt'))
        true(done.status in (0, 1), f'{size} bytes: status {done.status}')
        true(done.status == 0 or done.err, f'{size} bytes: it must say why')


def test_without_a_page_it_is_said():
    """The build goes on without npm, and the command says what is missing."""
    with tempfile.TemporaryDirectory() as folder:
        top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        output = os.path.join(folder, 'template.c')
        build = [sys.executable, os.path.join(top, 'web', 'report', 'build.py'), output, os.path.join(folder, 'npm')]
        done = subprocess.run(build, capture_output=True, text=True, check=False)
        equal(done.returncode, 0, 'without npm the build goes on')
        true('there is no npm' in done.stderr, 'it says why')
        done = subprocess.run(build + ['/bin/false'], capture_output=True, text=True, check=False)
        equal(done.returncode, 0, 'without network the build goes on')
        true('tried again' in done.stderr, 'it says that it tries again')
        equal(os.stat(output).st_mtime, 0, 'the next build tries again')
        with open(output, encoding='utf-8') as file:
            true('watt_html_template_size = 0' in file.read(), 'the page is empty')


main([
    test_everything_adds_up,
    test_agrees_with_replay,
    test_phases,
    test_a_part,
    test_policies_change_the_answer,
    test_text,
    test_page,
    test_what_is_shown_adds_up,
    test_tables_add_up_to_the_machine,
    test_the_best_total_is_the_headline,
    test_comparison,
    test_missing_is_not_zero,
    test_mistakes,
    test_damaged_files,
    test_without_a_page_it_is_said,
])
