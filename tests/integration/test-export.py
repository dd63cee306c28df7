#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`wattribute export` and `wattribute plot`: one recording in every format, the same joules in
each, read back by other programs."""
import atexit
import collections
import csv
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import (PROGRAM, TOP, Skip, equal, main, near, one_line, run, true,  # noqa: E402
                     validate)
import nvmt_trace  # noqa: E402
import perfetto_trace  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix='watt-export-')
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
LABEL = 'a,"b\' <c>&'
FORMATS = ('csv', 'json', 'jsonl', 'perfetto', 'emon', 'snapshot')
PIDS = 4194304
kept = {}


def once(function):
    """What takes a while is made when the first test needs it."""
    def get():
        if function.__name__ not in kept:
            kept[function.__name__] = function()
        return kept[function.__name__]
    return get


def path(name):
    return os.path.join(FOLDER, name)


def record(name, seconds, marks=(), options=()):
    recorder = subprocess.Popen([PROGRAM, 'record', '-q', '-o', path(name), f'--for={seconds}s',
                                 *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)
    for after_s, label in marks:
        time.sleep(after_s)
        done = run('mark', '--recording', path(name), *([label] if label else ['--end']))
        equal(done.status, 0, f'mark {label!r} (it said {done.err!r})')
    _, errors = recorder.communicate(timeout=60)
    if 'without recordings' in errors:
        raise Skip('missing: built without recordings')
    equal(recorder.returncode, 0, f'record (it said {errors!r})')
    return path(name)


@once
def recording():
    """A simulated machine: packages, memory, three signals, many processes that come and go."""
    return record('run.watt', 6, [(1.2, 'load'), (1.5, LABEL), (1.7, None)],
                  ['--sources=synth', '--usage=synth'])


@once
def hostile():
    """A real process whose name wants to break readers."""
    program = path('x",\n\t<&\'\x1b\udcff')
    shutil.copy('/bin/sh', os.fsencode(program))
    hog = subprocess.Popen([program, '-c', 'while :; do :; done'])
    try:
        return record('hostile.watt', 2, (), ['--sources=synth', '--usage=procfs'])
    finally:
        hog.kill()
        hog.wait()


def export(*args, file=None, **more):
    done = run('export', *args, file or recording(), **more)
    equal(done.status, 0, f'export {args} (it said {done.err!r})')
    return done.out


def rows(*args, **more):
    return list(csv.DictReader(io.StringIO(export(*args, **more), newline=''), strict=True))


def lines(**more):
    return [json.loads(line) for line in export('-f', 'jsonl', **more).splitlines()]


@once
def document():
    return json.loads(export('-f', 'json'))


@once
def truth():
    """Total nJ of each domain, by another command."""
    done = run('replay', '--json', '--window=1000s', recording())
    equal(done.status, 0, f'replay (it said {done.err!r})')
    last = json.loads(done.out.splitlines()[-1])
    equal(last['quality']['check_failures'], 0, 'failed checks')
    return {domain['path']: domain['energy']['j'] * 10**9 + domain['energy']['nj']
            for domain in last['domains']}


def nj(text):
    """Exactly: what is not a whole number of nJ is an error."""
    whole, _, rest = text.partition('.')
    true(len(rest) <= 9, f'{text} J is finer than a nJ')
    value = int(whole.lstrip('-') + rest.ljust(9, '0'))
    return -value if text.startswith('-') else value


# ---- the same joules everywhere ----

def test_csv_has_all_joules():
    sums = collections.Counter()
    for row in rows():
        if row['energy_j']:
            sums[row['domain']] += nj(row['energy_j'])
    equal(dict(sums), truth(), 'energy by entity')
    sums = collections.Counter()
    for row in rows('--what=domains'):
        equal(row['energy_j'] == '', row['status'] != 'ok', f'{row}')
        if row['energy_j']:
            sums[row['domain']] += nj(row['energy_j'])
    equal(dict(sums), truth(), 'energy by domain')


def test_csv_says_how_sure():
    """By the key that learns; CPU time alone, which is chosen here, tells nothing of it."""
    last = {}
    for row in rows('--share-key=learned'):
        last.setdefault((row['kind'], row['domain']), []).append(row['uncertainty_j'])
    told = [float(text) for (kind, domain), texts in last.items() for text in texts
            if kind == 'process' and domain == 'package-0' and text]
    true(told and all(value >= 0 for value in told) and max(told) > 0, f'{told[:10]}')
    true(all(not text for (kind, _), texts in last.items() for text in texts
             if kind in ('idle', 'unattributed')), 'nobody guesses those')
    doc = json.loads(export('-f', 'json', '--share-key=learned'))
    package = [domain['path'] for domain in doc['domains']].index('package-0')
    kinds = {entity['id']: entity['kind'] for entity in doc['entities']}
    most = max(entity['uncertainty_j'][package] or 0 for window in doc['windows']
               for entity in window['entities'] if kinds[entity['id']] == 'process')
    true(abs(most - max(told)) <= 1e-6 * most, f'JSON has {most}, CSV {max(told)}')
    equal({row['uncertainty_j'] for row in rows('--share-key=cpu_time')}, {''}, 'CPU time')


def test_json_has_all_joules():
    doc = document()
    names = [domain['path'] for domain in doc['domains']]
    for i, name in enumerate(names):
        of_domains = sum(window['domains'][i]['energy_nj'] or 0 for window in doc['windows'])
        equal(of_domains, truth()[name], f'{name} by domain')
        for window in doc['windows']:
            if window['domains'][i]['energy_nj'] is None:
                continue
            by_entity = sum(entity['energy_nj'][i] for entity in window['entities'])
            equal(by_entity, window['domains'][i]['energy_nj'], f'{name} in a window')


def test_jsonl_says_what_json_says():
    doc, parts = document(), lines()
    equal(parts[0]['type'], 'recording', 'the first line')
    equal(parts[-1], {'type': 'end', 'windows': len(doc['windows'])}, 'the last line')
    for kind, key in (('channel', 'channels'), ('domain', 'domains'), ('mark', 'marks'),
                      ('loss', 'losses'), ('window', 'windows')):
        found = [{k: v for k, v in part.items() if k != 'type'} for part in parts
                 if part['type'] == kind]
        equal(found, doc[key], key)
    newest = {part['id']: part for part in parts if part['type'] == 'entity'}
    for entity in doc['entities']:
        equal({k: v for k, v in newest[entity['id']].items() if k != 'type'}, entity, 'an entity')
    known = set()
    for part in parts:
        if part['type'] == 'entity':
            known.add(part['id'])
        if part['type'] == 'window':
            unknown = {entity['id'] for entity in part['entities']} - known
            true(not unknown, f'entities {unknown} are not told before')


def test_perfetto_has_all_joules():
    trace = perfetto_trace.Trace(trace_bytes())
    counters = trace.group('power')
    equal(set(counters), set(truth()), 'counters of domains')
    end_ns = max(t_ns for values in trace.counters.values() for t_ns, _ in values)
    sums = 0
    doc = document()
    for i, domain in enumerate(doc['domains']):
        # A counter has a power: known energy over known time, held for the whole window.
        expected = sum(window['domains'][i]['power_w'] * (window['to_s'] - window['from_s'])
                       for window in doc['windows']
                       if window['domains'][i]['power_w'] is not None)
        near(trace.energy_j(counters[domain['path']], end_ns), expected, 1e-9, domain['path'])
        if domain['is_partition']:
            sums += expected
    of_entities = sum(trace.energy_j(uuid, end_ns) for uuid in trace.counters
                      if uuid not in counters.values())
    near(of_entities, sums, 1e-9, 'over all processes and the rest')


def test_emon_has_all_joules():
    for cpu in json.loads(export('-f', 'emon'))['cpus']:
        total = sum(use['usage'] for pid in cpu['pid_usage'] for use in pid['usage'])
        near(total * 1e3, truth()[f"package-{cpu['id']}"], 1e-6, f"package-{cpu['id']}")


# ---- windows, phases, ranges ----

def ids(document):
    """By who it is: the ids under which a document tells of it."""
    found = collections.defaultdict(set)

    def walk(value):
        if isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, dict):
            if 'kind' in value and value.get('id') is not None:
                pid = value.get('pid') or (value.get('process') or {}).get('pid')
                # what has ended is told of with their number
                name = None if pid else re.sub(r' \(\d+ ended\)$', '', value['name'])
                found[value['kind'], pid, name].add(value['id'])
            for one in value.values():
                walk(one)
    walk(document)
    return found


def test_an_entity_has_one_id_everywhere():
    """Whatever the format and the length of windows, and whoever else is told apart."""
    documents = [ids(json.loads(text)) for text in (
        export('-f', 'json'), export('-f', 'json', '--window=50ms'),
        run('report', '--json', recording()).out, run('report', '--json', '-g', 'thread', recording()).out,
        run('replay', '--json', '--window=1000s', recording()).out.splitlines()[-1])]
    ended = [[who for who in document if who[0] == 'exited'] for document in documents]
    true(any(ended), 'nothing has ended')
    for i, one in enumerate(documents):
        true(len(one) > 5, f'document {i}: only {len(one)} entities')
        for other in documents[:i]:
            for who in set(one) & set(other):
                # a number can have been used twice, and one of them be in a rest
                true(one[who] <= other[who] or other[who] <= one[who],
                     f'{who} is {one[who]} and {other[who]}')


def test_windows_end_at_marks():
    doc = document()
    equal([mark['label'] for mark in doc['marks']], ['load', LABEL, ''], 'marks')
    slice_s = doc['recording']['slice_s']
    for before, after in zip(doc['windows'], doc['windows'][1:]):
        equal(before['to_s'], after['from_s'], 'windows follow each other')
    for mark in doc['marks']:
        true(any(0 <= window['to_s'] - mark['t_s'] <= slice_s for window in doc['windows']),
             f"no window ends at the mark at {mark['t_s']} s")
    phases = [window['phase'] for window in doc['windows']]
    first = [phases.index('load'), phases.index(LABEL)]
    true(0 < first[0] < first[1], f'{phases}')
    equal(phases[-1], None, 'the phase after the end of the last one')
    true(phases.index(LABEL) > 0 and None in phases[first[1]:], f'{phases}')


def test_a_part_of_the_time():
    doc = json.loads(export('-f', 'json', '--from=2s', '--to=4s', '--window=500ms'))
    slice_s = doc['recording']['slice_s']
    # windows end with slices, which a busy machine ends late
    true(0 <= doc['windows'][0]['from_s'] - 2 <= 4 * slice_s, f"{doc['windows'][0]['from_s']}")
    true(0 <= doc['windows'][-1]['to_s'] - 4 <= 4 * slice_s, f"{doc['windows'][-1]['to_s']}")
    true(4 <= len(doc['windows']) <= 8, f"{len(doc['windows'])} windows")
    for row in rows('--what=samples', '--from=2s', '--to=4s'):
        true(2 <= float(row['t_s']) <= 4, row['t_s'])


def test_ranges_without_data():
    one_line(run('export', '--from=100s', recording()), 1, '--from', 'run.watt')
    one_line(run('export', '--from=3s', '--to=2s', recording()), 2, '--to')
    one_line(run('plot', '--from=100s', recording()), 1, '--from')


def test_kinds():
    kinds = {row['kind'] for row in rows()}
    true('idle' in kinds and 'process' in kinds, f'{kinds}')
    true(not kinds & {'container', 'user', 'cgroup', 'kernel'}, f'sums are among {kinds}')
    equal({row['kind'] for row in rows('--kinds=idle,unattributed')}, {'idle', 'unattributed'},
          'chosen kinds')
    true(len(rows('--zeros')) > len(rows()), 'zeros')
    one_line(run('export', '--kinds=colour', recording()), 2, '--kinds', 'colour')


# ---- each format by its own rules ----

def test_json_by_the_schema():
    validate(document(), 'wattribute-export-1')
    for part in lines():
        validate(part, 'wattribute-export-1')


def test_samples_are_all_there():
    found = rows('--what=samples')
    with sqlite3.connect(f'file:{recording()}?mode=ro', uri=True) as base:
        n = base.execute('SELECT sum(n_samples) FROM chunks').fetchone()[0]
    equal(len(found), n, 'samples')
    channels = {channel['name']: channel for channel in document()['channels']}
    for row in found:
        channel = channels[row['channel']]
        true(int(row['t_after_ns']) >= int(row['t_before_ns']), f'{row}')
        equal(row['raw'] == '', row['status'] != 'ok', f'{row}')
        if row['raw']:
            value = int(row['raw']) * channel['scale_num'] / channel['scale_den']
            value /= 1e9 if row['unit'] == 'J' else 1e6
            true(abs(float(row['value']) - value) <= 1e-12 * abs(value), f'{row}')
    equal({row['unit'] for row in found}, {'J', 'W'}, 'units')


def test_context():
    """Temperatures, a GPU's load, clocks and memory of a board, beside its rails."""
    machine = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')
    file = record('context.watt', 1, (), [f'--sysfs-root={machine}/sys', f'--procfs-root={machine}/proc',
                                          '--sources=hwmon,context', '--usage=synth'])
    units = {row['channel']: (row['value'], row['unit']) for row in rows('--what=samples', file=file)}
    equal(units['context/cpu-thermal/temperature'], ('48.218', 'C'), 'a temperature')
    equal(units['context/gpu/load'], ('0.523', '1'), 'the load of the GPU')
    equal(units['context/policy0/clock'], ('2201600000', 'Hz'), 'a clock')
    equal(units['context/memory/available'], (str(28764180 * 1024), 'B'), 'memory')
    true(units['hwmon/1-0040/vdd_cpu_cv'][1] == 'W', 'a power beside them')
    # Nobody is accounted for it.
    domains = {row['domain'] for row in rows('--what=domains', file=file)}
    true(domains and not [domain for domain in domains if 'thermal' in domain or 'context' in domain], domains)
    trace_path = path('context.nvmt')
    export('-f', 'nvmt', '--window=100ms', '-o', trace_path, file=file)
    trace = nvmt_trace.read(trace_path)
    equal((trace['zones'], trace['emc']), (2, 1), 'zones, EMC')
    # they begin with the first reading
    true(0 < len(trace['slow']) <= len(trace['fast']), f'{len(trace["slow"])} of {len(trace["fast"])} slow samples')
    true(all(48 < sample[1] < 49 for sample in trace['slow']), trace['slow'])
    # not the last one: its window may be so short that means of it are coarse
    middle = len(trace['fast']) // 2
    fast, slow = trace['fast'][middle], trace['slow'][middle]
    equal(fast[1], 523, 'GPU')
    # means of a window: they may be rounded the other way
    true(abs(fast[19] - (31413836 - 28764180)) <= 1 and abs(fast[20] - 28764180) <= 1,
         f'memory used {fast[19]}, available {fast[20]}')
    true(abs(fast[21] - 100 * 425984 / 2133000) < 1e-3, f'EMC {fast[21]} %')
    trace = perfetto_trace.Trace(trace_bytes('--window=100ms', file=file))
    counters = trace.group('context')
    equal({name: unit for name, unit in ((name, trace.tracks[uuid]['counter']['unit_name'])
                                         for name, uuid in counters.items())},
          {row['channel']: row['unit'] or '1' for row in rows('--what=samples', file=file) if row['channel'].startswith('context/')},
          'tracks of context')
    for name, value in (('context/gpu/load', 0.523), ('context/tboard-thermal/temperature', -4.5)):
        near(trace.counters[counters[name]][len(trace.counters[counters[name]]) // 2][1], value, 1e-3, name)
    told = {one['name']: one for one in run('report', '--json', file).json()['context']}
    for name, value, unit in (('context/gpu/load', 0.523, '1'), ('context/tboard-thermal/temperature', -4.5, 'C'),
                              ('context/policy0/clock', 2201600000, 'Hz')):
        equal((told[name]['unit'], told[name]['status']), (unit, 'ok'), name)
        for what in 'least', 'mean', 'greatest':
            near(told[name][what], value, 1e-3, f'{what} of {name}')
    text = run('report', file).out
    true(re.search(r'^ *context/tboard-thermal/temperature +-4\.5 C +-4\.5 C +-4\.5 C +ok', text, re.M), text)
    # And back: the trace has channels of context, too.
    back = {row['channel']: (row['value'], row['unit'], row['status'])
            for row in rows('--what=samples', file=trace_path)}
    for channel, value, unit, within in (('gpu/load', 0.523, '1', 0.002),
                                         ('0-cpu_thermal/temperature', 48.218, 'C', 0.05),
                                         ('memory/available', 28764180 * 1024, 'B', 1e6)):
        equal(back[f'nvmt/{channel}'][1:], (unit, 'ok'), f'{channel}, back')
        true(abs(float(back[f'nvmt/{channel}'][0]) - value) <= within, f'{channel}: {back}')
    equal(back['nvmt/memory/emc'][1:], ('1', 'ok'), 'EMC, back')
    true(abs(slow[1] - 48.218) < 1e-4 and abs(slow[2] + 4.5) < 1e-4, f'temperatures {slow}')


def test_marks_as_csv():
    found = rows('--what=marks')
    equal([row['label'] for row in found], ['load', LABEL, ''], 'labels')
    equal([float(row['t_s']) for row in found], [mark['t_s'] for mark in document()['marks']],
          'times')


def test_no_locale_changes_a_number():
    found = subprocess.run(['locale', '-a'], capture_output=True, text=True,
                           check=False).stdout.split()
    commas = [name for name in found if name.startswith(('de_', 'fr_', 'ru_', 'da_'))]
    for name in commas[:1] or ['C', 'de_DE.UTF-8']:
        for fmt in ('csv', 'json', 'emon'):
            equal(export('-f', fmt, env={'LC_ALL': name}), export('-f', fmt), f'{fmt} in {name}')


def trace_bytes(*args, file=None):
    out = path('run.pftrace')
    export('-f', 'perfetto', '--force', '-o', out, *args, file=file)
    with open(out, 'rb') as trace:
        return trace.read()


def test_perfetto_by_its_rules():
    trace = perfetto_trace.Trace(trace_bytes())
    start = document()['recording']
    times = {clock['clock_id']: clock['timestamp'] for clock in trace.clocks['clocks']}
    equal(trace.clocks['primary_trace_clock'], perfetto_trace.MONOTONIC, 'primary clock')
    near(times[perfetto_trace.MONOTONIC] / 1e9, start['start_monotonic_s'], 1e-12, 'start')
    near(times[1] / 1e9, start['start_realtime_s'], 1e-12, 'start, CLOCK_REALTIME')
    phases = [uuid for uuid, track in trace.tracks.items() if track.get('name') == 'phases']
    equal([name for _, _, name in trace.slices[phases[0]]], ['load', LABEL], 'phases')
    processes = [track for track in trace.tracks.values() if 'process' in track]
    true(len(processes) > 3, 'no processes')
    for process in processes:
        below = [track for track in trace.tracks.values()
                 if track.get('parent_uuid') == process['uuid']]
        true(below and all(track['counter']['unit_name'] == 'W' for track in below), f'{process}')
    equal(len({track['process']['pid'] for track in processes}), len(processes), 'pids')


def test_perfetto_by_its_own_messages():
    messages = perfetto_trace.official()
    trace = messages.Trace()
    data = trace_bytes()
    trace.ParseFromString(data)
    # Its own writer orders fields by number, and needs as many bytes for them.
    equal(len(trace.SerializeToString()), len(data), 'bytes that Perfetto writes of it')
    before = len(data)
    trace.DiscardUnknownFields()
    equal(len(trace.SerializeToString()), before, 'bytes without fields that Perfetto has not')
    equal(len(trace.packet), sum(1 for _ in perfetto_trace.packets(data)), 'packets')
    kinds = collections.Counter(packet.WhichOneof('data') for packet in trace.packet)
    equal(set(kinds), {'clock_snapshot', 'system_info', 'track_descriptor', 'track_event'},
          'kinds of packets')


def test_perfetto_in_its_trace_processor():
    shell = os.environ.get('TRACE_PROCESSOR') or shutil.which('trace_processor_shell')
    if not shell:
        raise Skip("no trace_processor_shell: it is in no package, and the package 'perfetto' "
                   'fetches it from elsewhere')
    trace_bytes()
    query = path('query.sql')
    with open(query, 'w', encoding='utf-8') as file:
        file.write('SELECT count(*) AS n FROM counter JOIN counter_track '
                   'ON counter.track_id = counter_track.id;\n')
    done = subprocess.run([shell, '-q', query, path('run.pftrace')], capture_output=True,
                          text=True, check=False)
    equal(done.returncode, 0, done.stderr)
    trace = perfetto_trace.Trace(trace_bytes())
    equal(int(done.stdout.split()[-1]), sum(map(len, trace.counters.values())), 'counter values')


def test_emon_is_what_its_plots_read():
    """Bins of power over time, the ten greatest pids and the total, as its analysis makes them."""
    text = export('-f', 'emon')
    equal(json.dumps(json.loads(text), indent=4).count('\n'), text.count('\n') - 1,
          'lines of an indentation of 4')
    data = json.loads(text)
    equal(list(data), ['cpus'], 'keys')
    first_us = min(use['time'] for cpu in data['cpus'] for pid in cpu['pid_usage']
                   for use in pid['usage'])
    start = document()['recording']['start_realtime_s']
    true(0 < first_us / 1e6 - start < 3, 'time is not in us since the epoch')
    for cpu in data['cpus']:
        equal(list(cpu), ['id', 'pid_usage'], 'keys of a CPU')
        totals, bins = {}, collections.defaultdict(lambda: [0.0] * 100)
        for pid in cpu['pid_usage']:
            equal(list(pid), ['pid', 'usage'], 'keys of a pid')
            true(isinstance(pid['pid'], int) and 0 <= pid['pid'] < 1 << 32, f"{pid['pid']}")
            true(pid['pid'] not in totals, f"pid {pid['pid']} twice")
            times = [use['time'] for use in pid['usage']]
            equal(times, sorted(set(times)), 'times in order')
            for use in pid['usage']:
                equal(list(use), ['time', 'usage'], 'keys of a usage')
                number = struct.unpack('f', struct.pack('f', use['usage']))[0]
                true(abs(number - use['usage']) <= 1e-6 * abs(number), 'more than a float holds')
                at_s = (use['time'] - first_us) / 1e6
                bins[pid['pid']][min(99, int(at_s / 300 * 100))] += use['usage'] / 1e6 / 3
            totals[pid['pid']] = sum(use['usage'] for use in pid['usage']) / 1e6
        top = sorted(totals, key=totals.get, reverse=True)[:10]
        true(len(top) == 10, f'only {len(top)} pids')
        total_w = [sum(values) for values in zip(*bins.values())]
        near(sum(total_w) * 3, sum(totals.values()), 1e-6, f"bins of CPU {cpu['id']}")
        # A simulated package takes 10 W and more.
        true(max(total_w) * 3 > 10, 'the total is no power of a package')
        # What has no pid lies above all pids.
        real = {entity['process']['pid'] for entity in document()['entities']
                if entity['process']}
        true(all(pid in real or pid == 0 or pid > PIDS for pid in totals), 'a pid of nobody')


# ---- names ----

def test_hostile_names():
    name = 'x",\\n\\t<&'
    doc = json.loads(export('-f', 'json', file=hostile()))
    comms = [entity['process']['comm'] for entity in doc['entities'] if entity['process']]
    found = [comm for comm in comms if comm.startswith('x",')]
    true(found, f'no process {name!r} among {comms[:20]}')
    names = {row['name'] for row in rows(file=hostile())}
    true(any(one.startswith('x",') for one in names), f'{names}')
    for row in rows(file=hostile()):
        true(None not in row and None not in row.values(), f'a row with other columns: {row}')
    export('-f', 'perfetto', '--force', '-o', path('hostile.pftrace'), file=hostile())
    with open(path('hostile.pftrace'), 'rb') as file:
        trace = perfetto_trace.Trace(file.read())
    true(any(track['process']['process_name'].startswith('x",')
             for track in trace.tracks.values() if 'process' in track), 'not in the trace')
    drawn = run('plot', '--what=processes', '--top=100', hostile())
    equal(drawn.status, 0, drawn.err)
    true('x",' in texts(drawn.out), 'not in the picture')


# ---- files ----

def test_files_are_whole_or_not_there():
    file = path('out.csv')
    export('-o', file)
    with open(file, encoding='utf-8') as whole:
        equal(whole.read(), export(), 'the file and standard output')
    one_line(run('export', '-o', file, recording()), 1, 'out.csv', '--force')
    equal(run('export', '-o', file, '--force', '-f', 'json', recording()).status, 0, '--force')
    with open(file, encoding='utf-8') as whole:
        json.load(whole)
    one_line(run('export', '-o', path('no/such/folder'), recording()), 1, 'no/such/folder')
    if os.path.exists('/dev/full'):
        one_line(run('export', '-o', '/dev/full', recording()), 1, '/dev/full')
    # What fails leaves nothing, whatever was there.
    before = os.listdir(FOLDER)
    equal(run('export', '-f', 'emon', '-o', path('none.json'), '/etc/passwd').status, 1, 'status')
    equal(sorted(os.listdir(FOLDER)), sorted(before), 'files')


def test_a_killed_export_leaves_no_name():
    recording()
    before = sorted(os.listdir(FOLDER))
    process = subprocess.Popen([PROGRAM, 'export', '--window=50ms', '--zeros', '--kinds=all', '-o',
                                path('killed.csv'), recording()])
    time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if process.returncode == 0:
        raise Skip('it was done before it could be killed')
    true(not os.path.exists(path('killed.csv')), 'half a file under its name')
    left = sorted(set(os.listdir(FOLDER)) - set(before))
    true(all(name.startswith('killed.csv.') for name in left), f'{left}')


def test_mistakes():
    one_line(run('export'), 2, 'recording')
    one_line(run('plot'), 2, 'recording')
    one_line(run('export', recording(), 'more'), 2, 'more')
    one_line(run('export', '-f', 'xml', recording()), 2, '--format', 'xml')
    one_line(run('export', '-f', 'json', '-w', 'samples', recording()), 2, '--what', 'json')
    one_line(run('export', '-w', 'colours', recording()), 2, '--what', 'colours')
    one_line(run('export', '--window=x', recording()), 2, '--window')
    one_line(run('export', '/does/not/exist'), 1, '/does/not/exist')
    one_line(run('export', '/etc/passwd'), 1, '/etc/passwd')
    one_line(run('plot', '-o', 'run.gif', recording()), 2, '.png')
    one_line(run('plot', '--size=big', recording()), 2, '--size')
    one_line(run('plot', '--size=10x10', recording()), 2, '--size')
    one_line(run('plot', '--top=0', recording()), 2, '--top')
    one_line(run('plot', '-w', 'colours', recording()), 2, '--what')
    one_line(run('export', '--share-key=magic', recording()), 2, 'magic')


def test_help_fits_a_screen():
    for name in ('export', 'plot'):
        text = run(name, '--help').out.splitlines()
        true(len(text) <= 24, f'{name}: {len(text)} lines')
        true(max(map(len, text)) <= 80, f'{name}: too wide')


# ---- pictures ----

def texts(svg):
    root = xml.etree.ElementTree.fromstring(svg)
    return ' '.join(node.text or '' for node in root.iter('{http://www.w3.org/2000/svg}text'))


def test_pictures_say_what_they_show():
    for what, words in (('package', ['package-0', 'total', 'others']),
                        ('processes', ['machine', 'total']),
                        ('domains', ['package-0', 'dram-0', 'sine', 'machine'])):
        for more in ((), ('--stacked',), ('--lines',), ('--dark',)):
            done = run('plot', '-w', what, *more, recording())
            equal(done.status, 0, done.err)
            equal(done.err, '', 'messages')
            shown = texts(done.out)
            for word in words + ['simulated', 'load', 'run.watt', 'power (W)']:
                true(word in shown, f'{what}: no {word!r} in {shown!r}')


def test_colours_are_those_of_the_page():
    """A person who has both before them finds a process in the same colour."""
    with open(os.path.join(TOP, 'web', 'report', 'report.css'), encoding='utf-8') as file:
        css = file.read()
    with open(os.path.join(TOP, 'lib', 'sink', 'palette.h'), encoding='utf-8') as file:
        header = file.read()
    themes = re.findall(r'--c0:.*?--rest: #\w{6}', css, re.S)
    palettes = re.findall(r'\.others =.*?\};', header, re.S)
    equal((len(themes), len(palettes)), (2, 2), 'light and dark')
    for theme, palette in zip(themes, palettes):
        page = dict(re.findall(r'--(\w+): (#\w{6})', theme))
        series = re.findall(r'#\w{6}', palette.split('.series')[1])
        equal(series[:8], [page[f'c{i}'] for i in range(8)], 'series')
        for name, key in (('others', 'other'), ('idle', 'idle'), ('unattributed', 'rest')):
            equal(re.search(rf'\.{name} = "(#\w+)"', palette).group(1), page[key], name)


def png(data):
    """Width, height and the colours of a PNG."""
    equal(data[:8], b'\x89PNG\r\n\x1a\n', 'signature')
    at, body, size = 8, b'', None
    while at < len(data):
        length, kind = struct.unpack_from('>I4s', data, at)
        part = data[at + 8:at + 8 + length]
        equal(struct.unpack_from('>I', data, at + 8 + length)[0], zlib.crc32(kind + part), 'crc')
        if kind == b'IHDR':
            size = struct.unpack_from('>II', part)
        if kind == b'IDAT':
            body += part
        at += 12 + length
    return (*size, len(set(zlib.decompress(body))))


def test_png():
    file = path('run.png')
    done = run('plot', '-o', file, '--size=900x500', recording())
    if done.status == 1 and 'librsvg' in done.err:
        raise Skip('missing: built without librsvg')
    equal(done.status, 0, done.err)
    with open(file, 'rb') as picture:
        width, height, n_values = png(picture.read())
    equal((width, height), (900, 500), 'size')
    true(n_values > 50, f'only {n_values} values: nothing is drawn')


main([
    test_csv_has_all_joules,
    test_csv_says_how_sure,
    test_json_has_all_joules,
    test_jsonl_says_what_json_says,
    test_perfetto_has_all_joules,
    test_emon_has_all_joules,
    test_an_entity_has_one_id_everywhere,
    test_windows_end_at_marks,
    test_a_part_of_the_time,
    test_ranges_without_data,
    test_kinds,
    test_json_by_the_schema,
    test_samples_are_all_there,
    test_context,
    test_marks_as_csv,
    test_no_locale_changes_a_number,
    test_perfetto_by_its_rules,
    test_perfetto_by_its_own_messages,
    test_perfetto_in_its_trace_processor,
    test_emon_is_what_its_plots_read,
    test_hostile_names,
    test_files_are_whole_or_not_there,
    test_a_killed_export_leaves_no_name,
    test_mistakes,
    test_help_fits_a_screen,
    test_pictures_say_what_they_show,
    test_colours_are_those_of_the_page,
    test_png,
])
