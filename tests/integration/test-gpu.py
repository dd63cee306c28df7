#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPUs in the command, by a driver that is not there: what they take, who used them, and what a
driver that hangs does to everything else."""
import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
from agent import PATIENCE_S, Agent  # noqa: E402
from command import BUILD, PROGRAM, Skip, equal, machine_pids, main, run, true  # noqa: E402
from metrics import Metrics  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix='watt-gpu-')
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
DRIVER = os.path.join(BUILD, 'tests', 'fake', 'libfake_nvml.so')
GPU = 'gpu GPU-8c2b 00000000:0D:00.0 NVIDIA H100 80GB HBM3\npower 0 300000\n'
DOMAIN = 'gpu-0000:0d:00_0'
# Pids as this test sees them, whatever namespace it runs in.
USUAL = ('--nvml-lib', DRIVER, '--usage=procfs')


def path(name):
    return os.path.join(FOLDER, name)


def with_gpu(script, *args, **more):
    """Runs the command on a machine with the GPUs of a script."""
    with open(path('script'), 'w', encoding='utf-8') as file:
        file.write(script)
    return run(args[0], *USUAL, *args[1:], env={'FAKE_NVML_SCRIPT': path('script')}, **more)


@contextlib.contextmanager
def processes(n):
    """Some that do nothing but be there, by pids that a driver would have for them."""
    machine_pids()
    started = [subprocess.Popen(['sleep', '600']) for _ in range(n)]
    try:
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()


def record(script, seconds, *options):
    """The report of a recording of a machine with those GPUs."""
    result = with_gpu(script, 'record', '-f', '-q', '-o', path('gpu.watt'), f'--for={seconds}s', *options)
    if 'without recordings' in result.err:
        raise Skip('missing: built without recordings')
    equal(result.status, 0, f'status of record (it said {result.err!r})')
    return run('report', '--json', '-n', '0', path('gpu.watt')).json()


def test_shown():
    result = with_gpu(GPU + 'memory 40000\n', 'sources', '--json', '--sources=nvml')
    equal(result.status, 0, f'status (it said {result.err!r})')
    equal([(domain['path'], domain['share_key']) for domain in result.json()['domains']],
          [(DOMAIN, 'gpu_time'), (DOMAIN + '/memory', 'none')], 'domains')
    helps = {channel['name']: channel['helps'] for channel in result.json()['channels'] if channel['helps']}
    equal(helps, {f'nvml/{DOMAIN}/instant': f'nvml/{DOMAIN}'}, 'what is read for the sake of another')
    result = with_gpu(GPU, 'doctor', '--json')
    found = [source for source in result.json()['sources'] if source['source'] == 'nvml']
    equal([source['state'] for source in found], ['available'] * 2, 'of its power and its processes')
    true('driver 575.57.08, 1 GPU' in found[0]['why'], f'what doctor says: {found[0]}')
    result = with_gpu('error nvmlInit_v2 0 18\nerror nvmlInitWithFlags 0 18\n', 'doctor')
    true('upgraded' in result.out and 'reboot' in result.out, 'no word of the upgrade')
    script = 'error nvmlInit_v2 0 18\nerror nvmlInitWithFlags 0 18\n'
    for words in ('sources',), ('stat', 'true'):
        out = with_gpu(script, *words)
        true('Broken' in out.out + out.err and 'nvml' in out.out + out.err, f'{words}: nothing of what is broken: {out.out}{out.err}')


def test_what_it_was_like():
    """Temperatures, clocks, limit and what held it back are in what top and a recording tell."""
    script = GPU + 'temperature 61 74\nclock 1750 2619\nlimit 700000\ncard_mb 80000\nheld 0 4\n'
    out = with_gpu(script, 'top', '--once', '-d', '1', '--sources=nvml').out
    titles, line = (line.split() for line in out.splitlines() if line.startswith(('GPU ', DOMAIN)))
    equal(titles, 'GPU POWER LIMIT LOAD MEMORY TEMP CLOCK MEM CLOCK HELD BY MODEL'.split(), 'titles')
    shown = ' '.join(line)
    for value in ('700 W', '61 C', '1.75 GHz', '2.62 GHz power NVIDIA H100 80GB HBM3'):
        true(value in shown, f'no {value} in {shown}')
    true(f'{DOMAIN}/' not in out, f'told twice: {out}')
    report = record(script, 3, '--sources=nvml')
    lines = run('replay', '--json', path('gpu.watt')).out.splitlines()
    values = {gauge['name']: gauge['value'] for gauge in json.loads(lines[0])['gauges']}
    equal(values.get(f'nvml/{DOMAIN}/memory_temperature'), 74, f'in the recording: {values}')
    equal(values.get(f'nvml/{DOMAIN}/power_limit'), 700, f'in the recording: {values}')
    equal([domain['path'] for domain in report['domains']], [DOMAIN], 'domains: a limit is none')


def test_calibration():
    """What a sensor does is found by a load, kept, and used: window, delay and coverage."""
    script = 'age 30000\n' + GPU + 'lacks energy\nperiod_ms 80\nwindow_ms 30\ndelay_ms 40\n'
    with tempfile.TemporaryDirectory() as state:
        with open(path('script'), 'w', encoding='utf-8') as file:
            file.write(script)
        env = {'FAKE_NVML_SCRIPT': path('script'), 'STATE_DIRECTORY': state}
        before = run('doctor', *USUAL, env=env).out
        true('calibrate gpu' in before, f'doctor does not say what could be done: {before}')
        result = run('calibrate', 'gpu', '--for=6s', '--nvml-lib', DRIVER, '--cuda-lib', DRIVER, env=env)
        equal(result.status, 0, f'status (it said {result.err!r})')
        found = {line.split()[0]: [float(part.split()[-2]) for part in line.split(':')[0].replace(' late', '').split(',')]
                 for line in result.out.splitlines()[1:]}
        equal(sorted(found), ['average', 'instant', 'usage'], f'readings: {result.out}')
        for reading, wanted in (('instant', 30), ('average', 1000)):
            period, window, delay = found[reading]
            true(abs(period / 80 - 1) <= 0.02, f'period: {result.out}')
            true(abs(delay - 40) <= 10 and abs(window - wanted) <= 10, f'window and delay: {result.out}')
        window = found['instant'][1]
        channels = run('sources', '--json', '--sources=nvml', *USUAL, env=env).json()['channels']
        power, = (channel for channel in channels if channel['name'] == f'nvml/{DOMAIN}')
        true(abs(power['window_s'] * 1e3 - window) < 0.1, f'not used: {power}')
        kept, = os.listdir(f'{state}/gpu')
        with open(f'{state}/gpu/{kept}', 'a', encoding='utf-8') as file:
            file.write('instant 1\n')
        said = run('sources', '--sources=nvml', *USUAL, env=env).err
        true(kept in said and 'calibrate gpu' in said, f'a damaged one is left without a word: {said!r}')
        os.truncate(f'{state}/gpu/{kept}', os.path.getsize(f'{state}/gpu/{kept}') - len('instant 1\n'))
        why = [source['why'] for source in run('doctor', '--json', *USUAL, env=env).json()['sources']]
        true(any('calibrated: instant power every' in text for text in why), f'not in doctor: {why}')
    result = run('calibrate', 'gpu', '--redfish-url=https://bmc.example')
    true(result.status == 2 and 'unknown option' in result.err, f'an option that nobody reads: {result.err}')
    result = run('calibrate', 'gpu', '--for=2s', '--nvml-lib', DRIVER, '--cuda-lib', '/nowhere.so', env=env)
    true(result.status == 1 and 'libcuda' in result.err, f'no library: {result.err!r}')


def test_who_used_it():
    """Two that have it 60 and 30 percent of the time: what they are said to have taken is within 2 %
    of the truth, and so is what a process that the machine does not know has taken."""
    with processes(2) as (first, second):
        report = record(GPU + f'process {first} 0 60\nprocess {second} 0 30\nprocess 4194303 0 10\n',
                        5, '--sources=nvml')
    domain, = (domain for domain in report['domains'] if domain['path'] == DOMAIN)
    equal(domain['share_key'], 'gpu_time', 'key')
    total = domain['energy_nj']
    true(total > 0, 'no energy')
    taken = {entity['pid']: entity['energy_nj'] for entity in report['entities'] if entity['kind'] == 'process'}
    # until its list of processes came, all that the GPU had taken is nobody's
    known = taken.get(first, 0) + taken.get(second, 0)
    true(known > 0, f'nobody used it: {domain}')
    for pid, share in (first, 2 / 3), (second, 1 / 3):
        true(abs(taken.get(pid, 0) / known - share) <= 0.02, f'{taken} instead of {share}')
    true(domain['unattributed_nj'] >= known / 9 * 0.95, f'of whom nobody knows: {domain}')
    given = sum(entity['domains_nj'].get(DOMAIN, 0) for entity in report['entities'])
    equal(given, total, 'sum of all, nobody included')


def test_other_pids():
    """A driver calls processes by the machine's numbers. In a pid namespace of its own somebody else may
    have such a number: he gets nothing, all is unattributed, and it is said why."""
    words = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']
    try:
        done = subprocess.run([*words, 'true'], capture_output=True, text=True, check=False, timeout=60)
    except FileNotFoundError as error:
        raise Skip('missing: unshare') from error
    if done.returncode:
        raise Skip(f'no pid namespace can be made here: {done.stderr.strip()}')
    shell = ('sleep 600 & { cat; echo "process $! 0 80"; } > "$FAKE_NVML_SCRIPT"; '
             '"$@" stat --json -o stat.json --sources=nvml --nvml-lib "$DRIVER" --usage=procfs sleep 3; '
             '"$@" sources --sources=nvml --nvml-lib "$DRIVER" --usage=procfs > sources.txt; '
             '"$@" top --once -d 3 --sources=nvml --nvml-lib "$DRIVER" --usage=procfs > top.txt; '
             '"$@" record -f -q -o gpu.watt --for=4s --sources=nvml --nvml-lib "$DRIVER" --usage=procfs && '
             '"$@" doctor --json --nvml-lib "$DRIVER"; kill $!')
    done = subprocess.run([*words, 'sh', '-c', shell, 'sh', PROGRAM], input=GPU, capture_output=True, text=True,
                          check=False, timeout=120, cwd=FOLDER,
                          env={**os.environ, 'FAKE_NVML_SCRIPT': path('script'), 'DRIVER': DRIVER})
    if 'without recordings' in done.stderr:
        raise Skip('missing: built without recordings')
    true('pids of its own' in done.stderr and 'unattributed' in done.stderr, f'the log: {done.stderr!r}')
    who, = (source for source in json.loads(done.stdout)['sources']
            if source['source'] == 'nvml' and 'processes' in (source['why'] or ''))
    true('unattributed' in who['why'] and 'hostPID' in who['hint'], f'doctor: {who}')
    with open(path('stat.json'), encoding='utf-8') as file:
        domain, = (domain for domain in json.load(file)['runs'][0]['domains'] if domain['path'] == DOMAIN)
    equal(domain['users_status'], 'forbidden', 'of stat')
    with open(path('sources.txt'), encoding='utf-8') as file:
        true(f'Who uses {DOMAIN} is told by pids of another namespace' in file.read(), 'no word of it in sources')
    with open(path('top.txt'), encoding='utf-8') as file:
        true('pids of another namespace' in file.read(), 'no word of it in top')
    report = run('report', '--json', '-n', '0', path('gpu.watt')).json()
    domain, = (domain for domain in report['domains'] if domain['path'] == DOMAIN)
    taken = {entity['name']: entity['domains_nj'][DOMAIN] for entity in report['entities']
             if entity['kind'] == 'process' and entity['domains_nj'].get(DOMAIN)}
    equal(taken, {}, 'processes that are said to have used the GPU')
    true(domain['energy_nj'] > 0 and domain['unattributed_nj'] + domain['idle_nj'] == domain['energy_nj'], f'{domain}')


def test_instances():
    """What instances take is modelled: 80 % of 3 slices beside 50 % of 2 is 12 to 5, within 2 %. One
    that comes joins the tree; instances, idle and nobody's are the GPU, to the nJ."""
    with processes(3) as pids:
        script = GPU + 'gpm\ncard_mb 80000\nmemory 40000\nmig 1 0 3 MIG-a\nmig 2 0 2 MIG-b\nmig 3 0 1 MIG-c 3\n'
        for pid, percent, n in zip(pids, (80, 50, 100), (1, 2, 3)):
            script += f'process {pid} 0 {percent}\nplace {pid} {n} 0\nbytes {pid} {n}0000000000\n'
        report = record(script, 7, '--sources=nvml', f'--share-key={DOMAIN}/memory=gpu_memory')
        said = with_gpu(script, 'doctor', '--json').json()
    why = [source['why'] for source in said['sources'] if source['source'] == 'nvml']
    true(any('2 instances (MIG), modelled by GPM' in text for text in why), f'doctor: {why}')
    domains = {domain['path']: domain for domain in report['domains']}
    instances = [domains[f'{DOMAIN}/mig-{n}-0'] for n in (1, 2, 3)]
    equal([(domain['kind'], domain['origin']) for domain in instances], [('gpu_instance', 'estimated')] * 3, 'modelled')
    rest = sum(entity['domains_nj'].get(DOMAIN, 0) for entity in report['entities']
               if entity['kind'] in ('idle', 'unattributed'))
    equal(sum(domain['energy_nj'] for domain in instances) + rest, domains[DOMAIN]['energy_nj'], 'all and the rest')
    taken = [entity['domains_nj'] for pid in pids for entity in report['entities'] if entity.get('pid') == pid]
    for process, instance in zip(taken, instances):
        true(instance['energy_nj'] > 0, f'nothing was taken in {instance}')
        equal(process[instance['path']], instance['energy_nj'], 'of an instance with one process')
        equal(process[DOMAIN], instance['energy_nj'], 'and of the GPU')
    first, second = taken[0][DOMAIN], taken[1][DOMAIN]
    true(abs(first / (first + second) - 12 / 17) <= 0.02, f'{first} to {second} instead of 12 to 5')
    first, second = (process[DOMAIN + '/memory'] for process in taken[:2])
    true(abs(second / (first + second) - 2 / 3) <= 0.02, f'by memory {first} to {second} instead of 1 to 2')
    look_at_instances([f'{DOMAIN}/mig-{n}-0' for n in (1, 2, 3)])


def look_at_instances(paths):
    """The page of that recording stacks them to their GPU, and tells who used each."""
    if not chromium.find():
        return
    equal(run('report', '-f', '-o', path('gpu.html'), path('gpu.watt')).status, 0, 'status of report')
    with chromium.Browser() as browser:
        page = browser.open('file://' + path('gpu.html'))
        page.settle()
        shown = page.eval('[...document.querySelectorAll("#legend-domain span")].map((e) => e.textContent.trim()).filter(Boolean)')
        equal(sorted(name for name in shown if name in paths), paths, f'of the chart: {shown}')
        true(DOMAIN not in shown, f'the GPU is there twice: {shown}')
        headings = page.eval('[...document.querySelectorAll("#gpus-table tbody.group th")].map((e) => e.textContent)')
        equal([text.partition(': ')[0] for text in headings], [DOMAIN, *paths], 'who used which')
        equal(page.problems, [], 'problems')


def test_agent():
    """Metrics and page know a GPU: who used it, what it is like, and what is read for its sake."""
    if not os.path.exists(os.path.join(os.path.dirname(PROGRAM), '..', 'agent', 'wattribute-agent')):
        raise Skip('missing: the agent was not built')
    with processes(3) as (first, second, third):
        with open(path('script'), 'w', encoding='utf-8') as file:
            file.write(GPU + f'temperature 61 74\nprocess {first} 0 60\nprocess {second} 0 30\n'
                       'gpu GPU-9999 00000000:0E:00.0 NVIDIA H100 80GB HBM3\npower 0 300000\ngpm\n'
                       f'mig 1 0 3 MIG-a\nprocess {third} 0 80\nplace {third} 1 0\n')
        with Agent('--sources=nvml', '--min-age=0s', '--level-domains=all', *USUAL,
                   env={'FAKE_NVML_SCRIPT': path('script')}) as agent:
            def look():
                with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}/metrics', timeout=60) as answer:
                    found = Metrics(answer.read().decode(), False)
                    taken = {int(labels['pid']): float(value) for name, labels, value in found.samples
                             if name == 'wattribute_process_joules_total' and labels.get('domain') == DOMAIN and 'pid' in labels}
                    return (found, taken) if taken.get(second, 0) > 100 else None
            found, taken = agent.wait_for(look, 'nobody used the GPU')
            true(abs(taken[first] / (taken[first] + taken[second]) - 2 / 3) <= 0.02, f'{taken} instead of 2 to 1')
            told = [(labels['sensor'], value) for name, labels, value in found.samples if name == 'wattribute_context_celsius']
            known = float(dict(told).get(f'nvml/{DOMAIN}/temperature', 0))
            true(abs(known - 61) < 0.001, f'temperatures: {told}')
            with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}/api/v1/status', timeout=60) as answer:
                status = json.load(answer)
            look_at_agent(agent, 'gpu-0000:0e:00_0')
    helping = [sensor['name'] for sensor in status['sensors'] if sensor['is_helping']]
    equal(helping, [f'nvml/{DOMAIN}/instant', 'nvml/gpu-0000:0e:00_0/instant'], 'what is read for its sake')


def look_at_agent(agent, divided):
    """Its page stacks an instance to its GPU, and tells what each user takes of GPUs."""
    if not chromium.find():
        return
    with chromium.Browser() as browser:
        page = browser.open(f'http://127.0.0.1:{agent.port}/')
        page.wait(f'[...document.querySelectorAll("#legend span")].some((e) => e.textContent === "{divided}/mig-1-0")', PATIENCE_S)
        columns = page.eval('[...document.querySelectorAll("#users th")].map((e) => [e.textContent, e.hidden])')
        true(['GPU W', False] in columns, f'columns: {columns}')
        rows = page.eval('[...document.querySelectorAll("#users tbody tr")].map((r) => r.children.length)')
        true(rows and all(n == len(columns) for n in rows), f'cells {rows} under {columns}')
        names = page.eval('[...document.querySelectorAll("#domains tbody td:first-child")].map((e) => [e.textContent, e.title])')
        true(['mig-1-0', f'{divided}/mig-1-0'] in names, f'domains: {names}')
    with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}/api/v1/history', timeout=60) as answer:
        history = json.load(answer)
    gpu, instance = (history['domains'].index(name) for name in (divided, f'{divided}/mig-1-0'))
    both = [(point['power_w'][gpu], point['power_w'][instance]) for point in history['points']]
    both = [pair for pair in both if None not in pair]
    true(both and all(part <= whole * (1 + 1e-5) for whole, part in both), f'a part that is more than its whole: {both}')


def test_hang():
    """A driver that does not come back: the rest is measured, and its own energy is not made up."""
    report = record(GPU + 'hang * 2 60\n', 6, '--sources=nvml,null')
    said = with_gpu(GPU + 'error * 2 15\n', 'record', '-f', '-o', path('lost.watt'), '--for=4s', '--sources=nvml')
    said = said.out + said.err
    # of a beginning that took so long nothing is known at all
    true(f'nothing is known of {DOMAIN}' in said or 'No energy is known' in said, f'of a GPU that is lost: {said}')
    true('on average' not in said, f'a mean over what is not known: {said}')
    true(said.count('fallen off the bus') <= 1, f'told of twice: {said}')
    domains = {domain['path']: domain for domain in report['domains']}
    true(domains['package-0']['known_s'] > 4, f"the other: {domains['package-0']}")
    known_s = domains[DOMAIN]['known_s'] if DOMAIN in domains else 0
    true(known_s < 3, f'of what was not read: {known_s}')


def stat(script, seconds):
    """What stat says of a sleep beside that GPU, and the run in it."""
    document = with_gpu(script, 'stat', '--json', '--sources=nvml', '--', 'sleep', str(seconds)).json()
    run, = document['runs']
    return document, run


def test_stat_has_all_of_it():
    """Of a GPU that takes 300 W all the time, whoever has it open: a run that is no longer than the
    driver is late has all that it took from its beginning to its end."""
    with processes(1) as (one,):
        for script in GPU, GPU + f'process {one} 0 60\n':
            document, run = stat(script, 1)
            true(run['machine_energy_j'] >= 0.95 * 300 * run['elapsed_s'], f'some is missing: {run}')
            true(abs(run['machine_power_w'] / 300 - 1) <= 0.05, f"power {run['machine_power_w']}")
            true(document['is_complete'], f'not complete: {run}')


def test_stat_tells_what_it_lacks():
    document, run = stat(GPU + 'hang * 1.5 60\n', 3)
    gpu, = run['domains']
    true(gpu['gap_s'] > 0.5 and not document['is_complete'], f'nothing is said to be missing: {run}')


def test_the_rest_has_it():
    """Of a GPU that is lost within a node that is measured no energy is missing, and that is said."""
    usual = ('--sources=nvml,null,meter', "--meter=exec:while echo 'W 500'; do sleep 0.2; done")
    said = with_gpu(GPU + 'error * 3 15\n', 'record', '-f', '-o', path('rest.watt'), *usual, '--',
                    PROGRAM, 'stat', *USUAL, *usual, '--', 'sleep', '6')
    if 'without recordings' in said.err:
        raise Skip('missing: built without recordings')
    said = said.out + said.err
    for words in f'{DOMAIN} told nothing for ', f'nothing is known of {DOMAIN}: ':
        lines = [line for line in said.splitlines() if words in line]
        equal([line.partition(': ')[2] for line in lines], ['what it took is in node/residual.'], f'{words!r}: {said}')
    true('No energy is known' not in said and 'on average (' in said, f'all energy is known: {said}')


main([test_stat_has_all_of_it, test_stat_tells_what_it_lacks, test_the_rest_has_it, test_shown, test_what_it_was_like, test_calibration, test_who_used_it, test_other_pids, test_instances,
      test_agent, test_hang])
