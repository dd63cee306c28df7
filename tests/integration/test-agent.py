#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`wattribute agent`: what it serves, to whom, and how it begins and ends."""
import base64
import contextlib
import glob
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402
from agent import PATIENCE_S, Agent as Process  # noqa: E402
from command import (BUILD, PROGRAM, TOP, Skip, equal, for_anybody, main, near,  # noqa: E402
                     one_line, run, true, validate)
from metrics import LEVELS, Metrics, check_sums  # noqa: E402

RIGHTS = {'cap_bpf': 39, 'cap_perfmon': 38, 'cap_dac_read_search': 2, 'cap_sys_ptrace': 19}
SIMULATED = ('--sources=synth', '--usage=synth', '--min-age=1s')  # all are told of soon
OPEN = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5'


class Agent(Process):
    """What is asked of it."""

    def ask(self, path, method='GET', headers=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request(method, path, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()

    def metrics(self, is_open=False):
        status, headers, text = self.ask('/metrics', headers={'Accept': OPEN} if is_open else None)
        equal(status, 200, 'status of /metrics')
        equal(headers['Content-Type'].split(';')[0],
              'application/openmetrics-text' if is_open else 'text/plain', 'media type')
        return Metrics(text, is_open)

    def wait_for_energy(self):
        """Metrics of a time when processes have used energy."""
        def used():
            found = self.metrics()
            return found if found.sum('wattribute_process_joules_total', kind='process') else None
        return self.wait_for(used, 'no process used energy')


def test_help_and_settings():
    result = run('agent', '--help')
    equal(result.status, 0, 'status of --help')
    printed = run('agent', '--print-config')
    equal(printed.status, 0, f'status of --print-config ({printed.err})')
    names = re.findall(r'^(\w+): ', printed.out, re.M)
    true(len(names) > 15, printed.out)
    for name in names:
        true(f"--{name.replace('_', '-')} " in result.out, f'{name} is not in --help')
    one_line(run('agent', '--bogus'), 2, '--bogus', 'wattribute agent')
    one_line(run('agent', '--top'), 2, '--top', 'needs a value')
    one_line(run('agent', 'what'), 2, "'what'")
    one_line(run('agent', '--top=0'), 2, 'flag: top', "'0'", '1 to 10000')
    one_line(run('agent', '--listen=localhost'), 1, "'localhost'", 'ADDRESS:PORT')
    one_line(run('agent', '--check-config', env={'WATTRIBUTE_TOPP': '1'}), 2, 'WATTRIBUTE_TOPP')


def test_precedence():
    """Flags over the environment over the file, and each says where it comes from."""
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write('top: 11\nmin_age: 1s\nkeep_ended: 2s\n')
        file.flush()
        env = {'WATTRIBUTE_TOP': '12', 'WATTRIBUTE_MIN_AGE': '3s'}
        result = run('agent', f'--settings={file.name}', '--top=13', '--print-config', env=env)
        equal(result.status, 0, result.err)
        for text in ('# from: flag\ntop: 13\n', 'from: environment WATTRIBUTE_MIN_AGE\nmin_age: 3s\n',
                     f'from: {file.name}:3\nkeep_ended: 2s\n'):
            true(text in result.out, f'no {text!r} in {result.out}')
        file.write('bottom: 1\n')
        file.flush()
        one_line(run('agent', f'--settings={file.name}', '--check-config'), 2,
                 f'{file.name}:4', "'bottom'")
    one_line(run('agent', '--settings=/nowhere/agent.yaml'), 2, '/nowhere/agent.yaml')


def test_own_settings():
    """A user's file is found by itself, wherever that user keeps such; root has the machine's alone."""
    def told(env, user):
        return subprocess.run([*user, program, '--print-config'], env={**os.environ, **env}, capture_output=True,
                              text=True, timeout=PATIENCE_S, check=False)
    with tempfile.TemporaryDirectory(prefix='watt-home-') as home, for_anybody(os.path.join(BUILD, 'agent', 'wattribute-agent')) as program:
        os.chmod(home, 0o755)
        nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] if not os.getuid() else []
        for folder, env in (('.config', {'HOME': home}), ('x', {'HOME': '/nowhere', 'XDG_CONFIG_HOME': f'{home}/x'})):
            path = os.path.join(home, folder, 'wattribute', 'agent.yaml')
            os.makedirs(os.path.dirname(path))
            with open(path, 'w', encoding='ascii') as file:
                file.write('top: 17\n')
            if not os.getuid():
                true('top: 17' not in told(env, []).stdout, "root's")
            found = told(env, nobody)
            true(f'# from: {path}:1\ntop: 17\n' in found.stdout, f'{found.stdout} {found.stderr}')
            with open(path, 'a', encoding='ascii') as file:
                file.write('bottom: 1\n')
            true(f'{path}:2' in told(env, nobody).stderr, 'what is wrong, and where')
        if not os.getuid():
            os.chmod(home, 0o700)
            equal(told(env, nobody).returncode, 0, 'a home that is somebody else\'s')


def test_manual():
    """The page has every setting with its default, and the guide every metric."""
    with open(os.path.join(TOP, 'docs/man/wattribute-agent.1'), encoding='utf-8') as file:
        page = file.read()
    for name, value in re.findall(r'^(\w+): (.*)$', run('agent', '--print-config').out, re.M):
        flag = name.replace('_', '-')
        found = re.search(rf'^\.It Fl -{re.escape(flag)} .*\n((?:[^.].*\n|\.(?!It|El).*\n)*)', page,
                          re.M)
        true(found, f'{name} is not in the page')
        value = value.strip('"')
        if value:
            true(f'Default: {value}.' in found.group(1).replace('\\&', ''),
                 f'the page has another default of {name}: {found.group(1)!r}')
    with open(os.path.join(TOP, 'docs/agent.md'), encoding='utf-8') as file:
        told = set(re.findall(r'`(wattribute_\w+)`', file.read()))
    with Agent(*SIMULATED) as agent:
        metrics = agent.wait_for_energy()
    served = {re.sub('wattribute_(process|container|pod|unit|user|vm)_', 'wattribute_LEVEL_', name)
              for name in metrics.families}
    equal(sorted(served - told), [], 'metrics that docs/agent.md does not tell of')


def test_metrics():
    with Agent(*SIMULATED) as agent:
        first = agent.wait_for_energy()
        check_sums(first)
        second = agent.wait_for(
            lambda: (lambda new: new.value('wattribute_agent_refreshes_total') >
                     first.value('wattribute_agent_refreshes_total') + 5 and new)(agent.metrics()),
            'it does not go on')
        check_sums(second)
        before = {Metrics.key(sample): sample[2] for sample in first.samples}
        counters = {name for name, family in second.families.items()
                    if family['TYPE'] == 'counter'}
        for sample in second.samples:
            if sample[0] in counters:
                true(sample[2] >= before.get(Metrics.key(sample), 0), f'{sample} went back')
        true(second.value('wattribute_machine_joules_total') >
             first.value('wattribute_machine_joules_total'), 'the machine takes nothing')
        equal({sample[1]['origin'] for sample in second.get('wattribute_domain_info')},
              {'simulated'}, 'origin')
        for sample in second.get('wattribute_process_joules_total'):
            true('method' not in sample[1], 'a changed method would be another series')


def test_a_total_below_its_parts():
    """The machine is what the library says it is: the sum of the parts, in every document."""
    files = {'hwmon0/name': 'power_meter', 'hwmon0/power1_average': '100000000',
             'hwmon1/name': 'fam15h_power', 'hwmon1/power1_input': '250000000'}
    with tempfile.TemporaryDirectory(prefix='watt-machine-') as folder:
        for path, text in files.items():
            path = os.path.join(folder, 'class', 'hwmon', path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='ascii') as file:
                file.write(text + '\n')
        with Agent('--sources=hwmon', '--usage=synth', f'--sysfs-root={folder}',
                   '--compat=scaphandre,tycho') as agent:
            def told():
                found = json.loads(agent.ask('/api/v1/status')[2])
                known = [domain for domain in found['domains'] if domain['power_w'] is not None]
                return found if len(known) == 3 else None
            status = agent.wait_for(told, 'no power is known')
            metrics = agent.metrics()
        whole = [domain for domain in status['domains'] if domain['is_summed']]
        near(whole[0]['power_w'], 100, 1e-6, 'the total that is not believed')
        equal(metrics.value('tycho_residual_window_usable'), 0, 'what is left of it')
        near(status['machine_w'], 250, 1e-6, 'the page')
        near(status['machine_j'], sum(domain['energy_j'] for domain in status['domains']
                                      if domain['is_partition']), 1e-9, 'energy on the page')
        equal((status['machine_origin'], status['machine_why']), ('measured', ''), 'trust')
        near(float(metrics.value('wattribute_machine_watts')), 250, 1e-6, 'Prometheus')
        near(float(metrics.value('scaph_host_power_microwatts')), 250e6, 1e-6, 'Scaphandre')
        equal(metrics.value('wattribute_machine_missing_domains'), 0, 'missing')
        equal(metrics.value('wattribute_machine_joules_total'),
              sum(metrics.value('wattribute_node_joules_total', domain=sample[1]['domain'])
                  for sample in metrics.get('wattribute_domain_info')
                  if sample[1]['partition'] == 'true'), 'energy')


def test_the_best_total_is_the_headline():
    """A laptop on battery: what the battery says is the machine, and the estimate a part of it."""
    with Agent(f'--sysfs-root={TOP}/tests/fixtures/laptop-battery/sys', '--usage=procfs') as agent:
        def told():
            found = json.loads(agent.ask('/api/v1/status')[2])
            return found if found['outside_w'] is not None and found['machine_w'] is not None else None
        status = agent.wait_for(told, 'the battery says nothing')
        true(status['outside'].startswith('supply-bat0'), status['outside'])
        near(status['outside_w'], 49, 0.02, 'the page')
        true(0 < status['machine_w'] < status['outside_w'], f"{status['machine_w']} W are a part of it")
        near(float(agent.metrics().value('wattribute_machine_outside_watts')), 49, 0.02, 'Prometheus')
        if chromium.find():
            with chromium.Browser() as browser:
                page = browser.open(f'http://127.0.0.1:{agent.port}/', width=1200, height=900)
                page.wait('document.getElementById("machine-note").textContent.includes("measured by supply-bat0")',
                          PATIENCE_S)
                power, unit = page.eval('document.getElementById("machine-w").textContent').split('\u202f')
                near(float(power) / {'W': 1, 'mW': 1000}[unit], 49, 0.02, 'the page')
                page.close()


def check_exemplars(metrics):
    """One that was there took most of what is above idle, no more than all of it, just now."""
    for name, labels, value, at in metrics.exemplars:
        true(name.startswith('wattribute_node_dynamic_joules_total{domain="'), name)
        true(int(labels['pid']) > 0 and labels['comm'], labels)
        domain = re.search(r'domain="(.*)"', name).group(1)
        true(0 < value <= metrics.value('wattribute_node_dynamic_joules_total', domain=domain), f'{labels} {value}')
        true(0 <= time.time() - float(at) < 60, f'{at} is not now')


def test_openmetrics():
    with Agent(*SIMULATED) as agent:
        agent.wait_for_energy()
        metrics = agent.metrics(is_open=True)
        check_sums(metrics)
        for name, family in metrics.families.items():
            for unit in ('joules', 'watts', 'seconds', 'ratio'):
                if name.endswith('_' + unit):
                    equal(family.get('UNIT'), unit, name)
        counters = [name for name, family in metrics.families.items() if family['TYPE'] == 'counter']
        true(len(counters) > 30, counters)
        now = time.time()
        for name in counters:
            created = metrics.get(f'{name}_created')
            equal(sorted(str(sample[1]) for sample in created),
                  sorted(str(sample[1]) for sample in metrics.get(f'{name}_total')), f'{name}: created')
            for sample in created:
                true(now - 3600 < sample[2] <= now, f'{sample} was not created lately')
        check_exemplars(agent.wait_for(lambda: (lambda now: now.exemplars and now)(agent.metrics(is_open=True)),
                                       'no exemplar'))
    with Agent(*SIMULATED, '--created=false') as agent:
        agent.wait_for_energy()
        true('_created' not in agent.ask('/metrics', headers={'Accept': OPEN})[2], 'created')


def test_promtool():
    """Prometheus' own tool has nothing to say against it."""
    if not shutil.which('promtool'):
        raise Skip('missing: promtool')
    with Agent(*SIMULATED) as agent:
        agent.wait_for_energy()
        done = subprocess.run(['promtool', 'check', 'metrics'], input=agent.ask('/metrics')[2],
                              capture_output=True, text=True, check=False)
    equal((done.returncode, done.stdout + done.stderr), (0, ''), 'promtool check metrics')


def test_other_meters_names():
    """Under Kepler's and Scaphandre's names there is the same energy."""
    with Agent(*SIMULATED, '--compat=kepler,scaphandre') as agent:
        metrics = agent.wait_for_energy()
        text = agent.ask('/metrics')[2]
    zones = {sample[1]['zone'] for sample in metrics.get('kepler_node_cpu_joules_total')}
    true('package' in zones, f'zones {zones}')
    packages = [sample[1]['domain'] for sample in metrics.get('wattribute_domain_info')
                if sample[1]['kind'] == 'package']
    whole = sum(metrics.value('wattribute_node_joules_total', domain=name) for name in packages)
    dynamic = sum(metrics.value('wattribute_node_dynamic_joules_total', domain=name)
                  for name in packages)
    lost = sum(metrics.value('wattribute_node_unattributed_joules_total', domain=name) +
               metrics.value('wattribute_process_ended_joules', domain=name) for name in packages)
    equal(metrics.sum('kepler_node_cpu_joules_total', zone='package'), whole, 'whole')
    equal(metrics.sum('kepler_node_cpu_active_joules_total', zone='package'), dynamic, 'active')
    for level in ('process', 'container', 'pod', 'vm'):
        if level == 'process':
            equal(metrics.sum('kepler_process_cpu_joules_total', zone='package') + lost, dynamic,
                  'processes')
        true(metrics.sum(f'kepler_{level}_cpu_joules_total', zone='package') <= dynamic, level)
    for sample in metrics.get('kepler_process_cpu_seconds_total'):
        true('state' not in sample[1] and 'node_name' in sample[1], sample)
    watts = [sample for sample in metrics.get('kepler_process_cpu_watts')
             if sample[1]['zone'] == 'package']
    true(watts and all(sample[2] >= 0 for sample in watts), watts)
    host = float(metrics.value('scaph_host_power_microwatts'))
    ours = float(metrics.value('wattribute_machine_watts'))
    true(abs(host / 1e6 - ours) <= 1e-6 * max(ours, 1), f'{host} uW is not {ours} W')
    true(float(metrics.sum('scaph_process_power_consumption_microwatts')) <= host * 1.01, 'processes')
    if shutil.which('promtool'):
        done = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True,
                              text=True, check=False)
        bad = [line for line in done.stdout.splitlines() + done.stderr.splitlines()
               if not line.startswith('scaph_')]
        equal(bad, [], 'promtool check metrics')


def test_tychos_names():
    """The same energy in millijoules; workloads add up to what the processors took."""
    with Agent(*SIMULATED, '--compat=tycho') as agent:
        metrics = agent.wait_for_energy()
    packages = [sample[1]['domain'] for sample in metrics.get('wattribute_domain_info')
                if sample[1]['kind'] == 'package']
    ended = sum(metrics.value('wattribute_container_ended_joules', domain=name) for name in packages)
    for part, family in ('total', 'node'), ('idle', 'node_idle'), ('dynamic', 'node_dynamic'):
        whole = sum(metrics.value(f'wattribute_{family}_joules_total', domain=name) for name in packages)
        told = metrics.value('tycho_rapl_energy_mj', domain='pkg', kind=part, source='rapl')
        true(abs(float(told) / 1e3 - float(whole)) <= 1e-6 * float(whole), f'{part}: {told} mJ, {whole} J')
        if part != 'total':
            shared = metrics.sum('tycho_workload_rapl_energy_mj', domain='pkg', kind=part)
            less = ended if part == 'dynamic' else 0
            true(abs(float(shared) / 1e3 - float(whole - less)) <= 1e-6 * float(whole),
                 f'workloads, {part}: {shared} mJ of {whole} J')
    powers = [float(metrics.value('tycho_rapl_power_mw', domain='pkg', kind='total', source='rapl')) / 1e3,
              float(sum(metrics.value('wattribute_node_watts', domain=name) for name in packages))]
    true(abs(powers[0] - powers[1]) <= 1e-6 * powers[1], f'{powers} W')
    ratios = [float(metrics.value(f'tycho_bpf_cpu_{part}_ratio')) for part in ('active', 'idle', 'irq', 'softirq')]
    true(min(ratios) >= 0 and ratios[0] > 0 and abs(sum(ratios) - 1) <= 1e-6, f'CPUs: {ratios}')
    told = sum(metrics.value('wattribute_container_cpu_seconds_total', **sample[1])
               for sample in metrics.get('wattribute_container_cpu_seconds_total'))
    shared = metrics.sum('tycho_workload_bpf_process_run_us_total')
    true(told > 0 and abs(float(shared) / 1e6 - float(told)) <= 1e-6 * float(told), f'{shared} us of {told} s')


def test_context():
    """What a board was like, in the units that Prometheus wants; in no sum."""
    machine = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')
    wanted = {('ratio', 'context/gpu/load'): 0.523, ('ratio', 'context/memory/emc'): 425984 / 2133000,
              ('celsius', 'context/cpu-thermal/temperature'): 48.218,
              ('celsius', 'context/tboard-thermal/temperature'): -4.5,
              ('hertz', 'context/policy0/clock'): 2201600000,
              ('bytes', 'context/memory/available'): 28764180 * 1024}
    with Agent(f'--sysfs-root={machine}/sys', f'--procfs-root={machine}/proc', '--sources=+context',
               '--usage=procfs') as agent:
        def told():
            metrics = agent.metrics()
            return metrics if metrics.get('wattribute_context_celsius') else None
        metrics = agent.wait_for(told, 'nothing of context')
    for (unit, sensor), value in wanted.items():
        found = metrics.value(f'wattribute_context_{unit}', sensor=sensor)
        true(abs(float(found) - value) <= 1e-4 * abs(value), f'{sensor} is {found}, not {value}')


def test_cpus():
    """Beside context, what each CPU did; without it, nothing of that."""
    with Agent('--sources=synth,context', '--usage=synth') as agent:
        def told():
            metrics = agent.metrics()
            busy = metrics.get('wattribute_cpu_busy_seconds_total')
            return metrics if busy and sum(sample[2] for sample in busy) > 0 else None
        metrics = agent.wait_for(told, 'no CPU does anything')
    online = {sample[1]['cpu']: sample[2] for sample in metrics.get('wattribute_cpu_online_seconds_total')}
    busy = {sample[1]['cpu']: sample[2] for sample in metrics.get('wattribute_cpu_busy_seconds_total')}
    equal(sorted(busy), sorted(online), 'CPUs')
    for cpu, busy_s in busy.items():
        true(0 <= busy_s <= online[cpu], f'CPU {cpu} worked {busy_s} of {online[cpu]} s')
    with Agent(*SIMULATED) as agent:
        true(not agent.wait_for_energy().get('wattribute_cpu_busy_seconds_total'), 'nobody asked for it')


def test_levels():
    with Agent(*SIMULATED, '--levels=process,user', '--top=3') as agent:
        metrics = agent.wait_for_energy()
        families = set(metrics.families)
        true('wattribute_user_joules_total' in families, 'no users')
        true('wattribute_pod_joules_total' not in families, 'a level that is off')
        named = {tuple(sorted(sample[1].items())) for sample in
                 metrics.get('wattribute_process_cpu_seconds_total') if sample[1]['kind'] != 'other'}
        true(len(named) <= 6, f'{len(named)} processes are told of by name')


def test_real_machine():
    """Without any option but where: this machine, and the agent on it."""
    if run('doctor').status != 0:
        raise Skip('nothing can be measured here')
    with Agent() as agent:
        metrics = agent.wait_for_energy()
        check_sums(metrics)
        true(agent.wait_for(
            lambda: agent.metrics().get('wattribute_process_joules_total', pid=str(agent.child.pid)),
            'it does not tell of itself'), 'itself')
        # By then all that opening took has been given back.
        late = agent.wait_for(
            lambda: (lambda new: new.value('wattribute_agent_refreshes_total') > 60 and
                     new)(agent.metrics()), 'it does not go on')
        memory = late.value('wattribute_agent_resident_memory_bytes')
        true(0 < memory < 16 << 20, f'{memory} bytes of memory')


def usage_of(agent):
    return agent.wait_for_energy().get('wattribute_build_info')[0][1]['usage']


def test_least_rights():
    """A user of its own with the rights that the unit gives sees what root sees."""
    with open('/proc/self/status', encoding='ascii') as file:
        rights = int(re.search(r'^CapEff:\s*(\w+)$', file.read(), re.M).group(1), 16)
    with open(os.path.join(TOP, 'deploy/systemd/wattribute-agent.service.in'), encoding='utf-8') as file:
        names = re.search(r'^AmbientCapabilities=(.*)$', file.read(), re.M).group(1).lower().split()
    if os.geteuid() != 0 or any(not rights >> RIGHTS[name] & 1 for name in names):
        raise Skip('only root can give rights away, and only those that it has')
    if run('doctor').status != 0:
        raise Skip('nothing can be measured here')
    with Agent() as agent:
        whole = usage_of(agent)
    given = ','.join(['-all'] + [name.replace('cap_', '+') for name in names])
    with for_anybody(os.path.join(BUILD, 'agent', 'wattribute-agent')) as program:
        with Agent(command=['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                            f'--inh-caps={given}', f'--ambient-caps={given}',
                            f'--bounding-set={given}', program]) as agent:
            equal(usage_of(agent), whole, 'who tells what ran')
            named = agent.metrics().get('wattribute_process_cpu_seconds_total', kind='process')
            true(any('exe' in sample[1] for sample in named), 'it sees no program of others')


def rights_of(pid):
    """What each thread of a process may, and which filter it is under."""
    found = []
    for thread in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{thread}/status', encoding='ascii', errors='replace') as file:
            found.append(dict(line.rstrip('\n').split(':\t', 1) for line in file if ':\t' in line))
    return found


def test_rights_are_given_up():
    """Started by root it goes on with what it needs, in every thread, and as whom it was told."""
    if os.geteuid() != 0:
        raise Skip('only root has rights to give up')
    most = sum(1 << number for number in RIGHTS.values())
    for options, user in (((), '0'), (('--user=nobody',), '65534')):
        with Agent(*SIMULATED, *options) as agent:
            agent.wait_for_energy()
            threads = rights_of(agent.child.pid)
            true(len(threads) > 2, f'only {len(threads)} threads')
            for thread in threads:
                for kind in ('CapEff', 'CapPrm', 'CapBnd', 'CapInh'):
                    equal(int(thread[kind], 16) & ~most, 0, f'{kind} of {thread["Name"]}')
                equal(int(thread['CapAmb'], 16), 0, 'CapAmb')
                equal(thread['NoNewPrivs'], '1', 'NoNewPrivs')
                true(thread.get('Seccomp', '2') == '2', f'Seccomp {thread.get("Seccomp")}')
                equal(set(thread['Uid'].split()), {user}, 'Uid')
    one_line(run('agent', *SIMULATED, '--user=nobody-has-this-name'), 1, 'nobody-has-this-name')


def test_short_lived_processes():
    """Many processes that live for a moment are no series of their own, and are accounted."""
    if run('doctor').status != 0:
        raise Skip('nothing can be measured here')
    with Agent('--top=20') as agent:
        agent.wait_for_energy()
        def ended():
            # Until they are told of: those who came first keep their places for half a minute.
            for _ in range(100):
                subprocess.run(['true'], check=True)
            metrics = agent.metrics()
            return metrics if metrics.get('wattribute_process_joules_total', kind='exited') else None
        for _ in range(200):
            subprocess.run(['true'], check=True)
        metrics = agent.wait_for(ended, 'nobody has ended')
        check_sums(metrics)
        named = metrics.get('wattribute_process_cpu_seconds_total')
        true(len(named) <= 41, f'{len(named)} series of 20 at most')


def make_certificates(folder):
    """An authority, and certificates of it for a server and a client."""
    def openssl(*args):
        done = subprocess.run(['openssl', *args], cwd=folder, capture_output=True, text=True,
                              check=False)
        equal(done.returncode, 0, f'openssl {args}: {done.stderr}')
    key = ('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes')
    openssl('req', '-x509', *key, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2',
            '-subj', '/CN=authority')
    for name, extensions in (('server', 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth'),
                             ('client', 'extendedKeyUsage=clientAuth')):
        with open(os.path.join(folder, 'ext'), 'w', encoding='ascii') as file:
            file.write(extensions)
        openssl('req', *key, '-keyout', f'{name}.key', '-out', f'{name}.csr', '-subj', f'/CN={name}')
        openssl('x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key',
                '-CAcreateserial', '-days', '2', '-extfile', 'ext', '-out', f'{name}.pem')


def ask_safely(agent, folder, user=None, client=None):
    """The status of /metrics over TLS."""
    context = ssl.create_default_context(cafile=os.path.join(folder, 'ca.pem'))
    if client:
        context.load_cert_chain(*(os.path.join(folder, f'{client}.{end}') for end in ('pem', 'key')))
    headers = {'Authorization': 'Basic ' + base64.b64encode(user.encode()).decode()} if user else {}
    connection = http.client.HTTPSConnection('127.0.0.1', agent.port, timeout=PATIENCE_S,
                                             context=context)
    with contextlib.closing(connection):
        connection.request('GET', '/metrics', headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status


def test_who_may_ask():
    """TLS, passwords and client certificates by the file of Prometheus' exporters."""
    if not shutil.which('openssl'):
        raise Skip('missing: openssl')
    tls = 'tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n'
    clients = '  client_ca_file: ca.pem\n  client_auth_type: RequireAndVerifyClientCert\n'
    with tempfile.TemporaryDirectory() as folder:
        make_certificates(folder)
        path = os.path.join(folder, 'web.yml')

        def say(text):
            with open(path, 'w', encoding='ascii') as file:
                file.write(text)
        say(f'{tls}basic_auth_users:\n  ann: {SECRET}\n')
        with Agent(*SIMULATED, f'--web-config={path}') as agent:
            equal(ask_safely(agent, folder), 401, 'nobody')
            equal(ask_safely(agent, folder, 'ann:wrong'), 401, 'a wrong password')
            equal(ask_safely(agent, folder, 'ann:secret'), 200, 'a right password')
            say(tls + clients)
            agent.child.send_signal(signal.SIGHUP)
            agent.wait_for(lambda: agent.said().count('settings read again') == 1, 'no reload')
            equal(ask_safely(agent, folder, 'ann:secret'), 403, 'without a certificate')
            equal(ask_safely(agent, folder, client='client'), 200, 'a client of the authority')
            equal(ask_safely(agent, folder, client='server'), 403, 'a certificate of no client')
            say('tls_server_config:\n  cert: x\n')
            agent.child.send_signal(signal.SIGHUP)
            agent.wait_for(lambda: agent.said().count('settings read again') == 2, 'no reload')
            true('stays as it was' in agent.said(), agent.said())
            equal(ask_safely(agent, folder), 403, 'after a file that is wrong')
            equal(ask_safely(agent, folder, client='client'), 200, 'a client, after that')
            equal(agent.end(), 0, 'status')
        one_line(run('agent', *SIMULATED, f'--web-config={path}'), 1, 'web.yml', 'cert')


def test_requests():
    with Agent(*SIMULATED) as agent:
        equal(agent.ask('/')[0], 200, '/')
        equal(agent.ask('/-/healthy')[0], 200, '/-/healthy')
        equal(agent.ask('/nothing')[0], 404, '/nothing')
        equal(agent.ask('/../etc/passwd')[0], 404, 'a path out of it')
        status, headers, _ = agent.ask('/metrics', method='POST')
        equal((status, headers['Allow']), (405, 'GET, HEAD'), 'POST')
        status, headers, text = agent.ask('/metrics', method='HEAD')
        equal((status, text), (200, ''), 'HEAD')
        equal(agent.ask('/metrics?name=x')[0], 200, 'a query')


def test_api():
    """Every path of the OpenAPI document answers as the document says."""
    try:
        import jsonschema
    except ImportError as error:
        raise Skip('missing: jsonschema for Python') from error
    with Agent(*SIMULATED) as agent:
        agent.wait_for_energy()
        agent.wait_for(lambda: json.loads(agent.ask('/api/v1/history')[2])['points'],
                       'no history')
        agent.wait_for(lambda: agent.ask('/api/v1/doctor')[0] == 200, 'no doctor')
        described = json.loads(agent.ask('/api/v1/openapi.json')[2])
        equal(sorted(described['paths']),
              ['/api/v1/doctor', '/api/v1/history', '/api/v1/openapi.json', '/api/v1/recordings',
               '/api/v1/recordings/{id}', '/api/v1/snapshot', '/api/v1/sources', '/api/v1/status',
               '/metrics'], 'paths')
        for path, methods in described['paths'].items():
            if path.startswith('/api/v1/recordings'):
                continue  # they are for who has a password: test_recordings
            (mime, content), = methods['get']['responses']['200']['content'].items()
            status, headers, text = agent.ask(path)
            equal((status, headers['Content-Type'].split(';')[0]), (200, mime), path)
            schema = {**content['schema'], 'components': described['components']}
            jsonschema.validate(json.loads(text) if mime == 'application/json' else text, schema)
        validate(json.loads(agent.ask('/api/v1/snapshot')[2]), 'wattribute-snapshot-1')
        validate(json.loads(agent.ask('/api/v1/sources')[2]), 'wattribute-sources-1')
        found = json.loads(agent.ask('/api/v1/doctor')[2])
        validate(found, 'wattribute-doctor-1')
        true('synth' in found['verdict'], found['verdict'])
        status = json.loads(agent.ask('/api/v1/status')[2])
        equal(status['quality']['conservation_errors'], 0, 'conservation')
        equal(sorted(status['levels']), sorted(LEVELS), 'levels')
        history = json.loads(agent.ask('/api/v1/history')[2])
        equal(history['domains'], [domain['path'] for domain in status['domains']], 'domains')
        for level in LEVELS:
            check_history_by(json.loads(agent.ask(f'/api/v1/history?level={level}')[2]), history, status, level)
        equal(agent.ask('/api/v1/history?level=thread')[0], 400, 'a level that is none')
    with Agent(*SIMULATED, '--levels=user') as agent:
        equal(agent.ask('/api/v1/history?level=pod')[0], 404, 'a level that is off')


def check_history_by(by_user, history, status, level):
    """Who took it, with what is idle and nobody's, is the power of the domains that make up the machine."""
    parts = [i for i, path in enumerate(history['domains'])
             if any(domain['path'] == path and domain['is_partition'] for domain in status['domains'])]
    times = {point['time_s']: sum(point['power_w'][i] or 0 for i in parts) for point in history['points']}
    equal(by_user['level'], level, 'level')
    true(set(times) <= {point['time_s'] for point in by_user['points']}, 'steps')
    for point in by_user['points']:
        if point['time_s'] in times and point['others_w'] is not None:
            near(point['idle_w'] + point['unattributed_w'] + point['others_w'] +
                 sum(watts for _, watts in point['users']), times[point['time_s']], 1e-3, f'power by {level}')
        true(all(by_user['users'][who] for who, _ in point['users']), 'a user without a name')


RECORDINGS = '/api/v1/recordings'
SECRET = '$2b$04$aaaaaaaaaaaaaaaaaaaaaOGY9KrC7e/pHj3EXQPxs8hKEBbvQhsvG'


def ask_recordings(agent, method='GET', path='', body=None, who='ann:secret', mime='application/json'):
    """Status and what it said; bytes of a recording."""
    headers = {'Authorization': f'Basic {base64.b64encode(who.encode()).decode()}'} if who else {}
    connection = http.client.HTTPConnection('127.0.0.1', agent.port, timeout=PATIENCE_S)
    with contextlib.closing(connection):
        connection.request(method, RECORDINGS + path, body=body, headers={'Content-Type': mime, **headers})
        answer = connection.getresponse()
        data = answer.read()
        kind = answer.getheader('Content-Type').split(';')[0]
        return answer.status, json.loads(data) if kind == 'application/json' else data


def listed(agent):
    return ask_recordings(agent)[1]['recordings']


def check_recording(agent, described):
    """Begun, listed, fetched, and readable; deleted."""
    import jsonschema
    status, made = ask_recordings(agent, 'POST', body='{"seconds": 2}')
    equal(status, 202, made)
    agent.wait_for(lambda: [one['state'] for one in listed(agent)] != ['running'], 'it does not end')
    status, answer = ask_recordings(agent)
    jsonschema.validate(answer, {**described['components']['schemas']['recordings']})
    one, = answer['recordings']
    equal((one['id'], answer['last_error']), (made['id'], None), 'list')
    true(time.time() - 3600 < one['began_s'] <= time.time(), one)
    status, data = ask_recordings(agent, path=f'/{one["id"]}')
    equal((status, len(data)), (200, one['bytes']), 'file')
    with tempfile.NamedTemporaryFile(suffix='.watt') as file:
        file.write(data)
        file.flush()
        told = run('replay', '--json', '--window=500ms', file.name)
        equal(told.status, 0, told.err)
        true('package' in told.out, told.out[:500])
        with contextlib.closing(sqlite3.connect(file.name)) as database:
            meta = dict(database.execute('SELECT key, value FROM meta'))
        true(int(meta['ended_ns']) > 0, 'it says where it ends')
    equal(ask_recordings(agent, 'DELETE', f'/{one["id"]}'), (200, {'id': one['id']}), 'delete')
    equal(listed(agent), [], 'after that')


def test_recordings():
    """On demand, for who has a password, bounded in number, time and size; no counter is disturbed."""
    try:
        import jsonschema  # noqa: F401
    except ImportError as error:
        raise Skip('missing: jsonschema for Python') from error
    with tempfile.TemporaryDirectory() as folder:
        web, kept = os.path.join(folder, 'web.yml'), os.path.join(folder, 'kept')
        with open(web, 'w', encoding='ascii') as file:
            file.write(f'basic_auth_users:\n  ann: {SECRET}\n')
        with Agent(*SIMULATED, f'--recordings={kept}') as agent:
            equal(ask_recordings(agent, who=None)[0], 403, 'where nobody shows who he is')
            equal(ask_recordings(agent, 'POST', body='{"seconds": 1}', who=None)[0], 403, 'the same')
            described = json.loads(agent.ask('/api/v1/openapi.json')[2])
        guarded = (*SIMULATED, f'--recordings={kept}', f'--web-config={web}', '--recordings-most=2')
        with Agent(*guarded) as agent:
            equal(ask_recordings(agent, who=None)[0], 401, 'nobody')
            equal(ask_recordings(agent, 'POST', body='{"seconds": 1}', who='ann:wrong')[0], 401, 'wrong')
            for body in ('', '{}', '[]', '{"seconds": 0}', '{"seconds": 3601}', '{"seconds": "1"}',
                         '{"seconds": 1, "seconds": 2}', '{"seconds": 1, "path": "/etc"}'):
                equal(ask_recordings(agent, 'POST', body=body)[0], 400, body)
            equal(ask_recordings(agent, 'POST', body=' ' * 5000)[0], 413, 'a long one')
            equal(ask_recordings(agent, 'POST', body='{"seconds": 1}', mime='text/plain')[0], 415, 'a form')
            for path in ('/0', '/x', '/../web.yml', '/17954550011230', '/'):
                equal(ask_recordings(agent, path=path)[0], 404, path)
                equal(ask_recordings(agent, 'DELETE', path=path)[0], 404, path)
            equal(ask_recordings(agent, 'PUT')[0], 405, 'PUT')
            equal(listed(agent), [], 'what was refused')
            check_recording(agent, described)
            # One that is not wanted any more ends, and is gone.
            made = ask_recordings(agent, 'POST', body='{"seconds": 3600}')[1]
            equal(ask_recordings(agent, 'GET', f'/{made["id"]}')[0], 409, 'one that runs')
            equal(ask_recordings(agent, 'POST', body='{"seconds": 1}')[0], 409, 'a second one')
            equal([one['state'] for one in listed(agent)], ['running'], 'the one that runs')
            equal(ask_recordings(agent, 'DELETE', f'/{made["id"]}')[0], 200, 'delete')
            agent.wait_for(lambda: not listed(agent) and not os.listdir(kept), 'it does not go')
            for name in ('1', '2'):
                with open(os.path.join(kept, f'{name}.watt'), 'wb') as file:
                    file.write(b'x')
            equal([one['id'] for one in listed(agent)], ['1', '2'], 'those of before')
            equal(ask_recordings(agent, 'POST', body='{"seconds": 1}')[0], 409, 'a third')
            equal(ask_recordings(agent, 'DELETE', '/1')[0], 200, 'delete')
            made = ask_recordings(agent, 'POST', body='{"seconds": 3600}')[1]
            path = os.path.join(kept, f'{made["id"]}.watt')
            agent.wait_for(lambda: os.path.exists(path) and os.path.getsize(path), 'no file')
            equal(agent.end(), 0, 'an end while it records')
        true(os.path.getsize(path), 'what was recorded until then')
        one_line(run('agent', *SIMULATED, f'--recordings={web}/x'), 1, 'recordings', 'web.yml')
    with Agent(*SIMULATED) as agent:
        equal(ask_recordings(agent, who=None)[0], 404, 'without a folder')


def test_page():
    """In a browser: it shows what the API says, asks nobody else, and names are only names."""
    if not chromium.find():
        raise Skip('missing: chromium')
    with Agent(*SIMULATED) as agent, chromium.Browser() as browser:
        agent.wait_for_energy()
        root = f'http://127.0.0.1:{agent.port}/'
        policy = agent.ask('/')[1]['Content-Security-Policy']
        true("default-src 'none'" in policy and 'unsafe' not in policy, policy)
        for width, scheme in ((1200, 'light'), (390, 'dark')):
            page = browser.open(root, width=width, height=900, scheme=scheme)
            page.settle()
            rows = page.eval('document.querySelectorAll("#users tbody tr").length')
            true(rows > 0, 'nobody is shown')
            status = json.loads(agent.ask('/api/v1/status')[2])
            equal(page.eval('document.querySelectorAll("#domains tbody tr").length'),
                  len(status['domains']), 'domains shown')
            equal(page.eval('document.querySelectorAll("#sensors tbody tr").length'),
                  len(status['sensors']), 'sensors shown')
            page.wait('document.getElementById("machine-w").textContent.endsWith("W")', PATIENCE_S)
            true('simulated' in page.eval('document.getElementById("machine-note").textContent'),
                 'it does not say that this is simulated')
            page.wait('document.querySelectorAll("#chart polygon").length', PATIENCE_S)
            page.eval('[...document.querySelectorAll("#by button")]'
                      '.find((b) => b.textContent === "process").click()')
            page.wait('[...document.querySelectorAll("#legend span")].some((e) => e.textContent === "all others")',
                      PATIENCE_S)
            page.wait('document.getElementById("verdict").textContent.includes("synth")', PATIENCE_S)
            page.eval('[...document.querySelectorAll("#levels button")]'
                      '.find((b) => b.textContent === "user").click()')
            equal(page.eval('document.querySelector("#levels [aria-pressed=true]").textContent'),
                  'user', 'level')
            true(page.eval('document.documentElement.scrollWidth') <= width, 'it is too wide')
            equal([problem for problem in page.problems
                   if not problem.startswith(f'request: {root}')], [], 'problems')
            page.close()


# Of one moment: the page asks again all the time.
READ = """(() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
  return {
    machine: texts('#machine-j')[0], machine_w: texts('#machine-w')[0], dynamic_w: texts('#dynamic-w')[0],
    units: texts('#users-energy, #domains-energy'), units_w: texts('#users-power, #domains-power'),
    users: texts('#users tbody td:nth-child(4)'), note: texts('#users-note')[0],
    domains: [...document.querySelectorAll('#domains tbody tr')].map((r) => [r.children[0].title, ...[...r.children].slice(1).map((c) => c.textContent)]),
    status: state.status.domains.map((d) => [d.path, d.parent, d.is_partition]) };
})()"""


def steps(text, decimals):
    """What is read, in steps of the last decimal; "<0.1" is none."""
    if text in ('\u2013', ) or text.startswith('<'):
        return 0
    equal(len(text.partition('.')[2]), decimals, f'decimals of {text}')
    return round(float(text.replace('\u2212', '-')) * 10 ** decimals)


def check_page_adds_up(read):
    whole, unit = read['machine'].split('\u202f')
    decimals = len(whole.partition('.')[2])
    equal(set(read['units']), {unit}, 'units of energy')
    note = re.findall(r': ([<\u2212\d.]+)\u202f(\w*J)', read['note'])
    true(len(note) >= 4 and {found[1] for found in note} == {unit}, read['note'])
    equal(sum(steps(text, decimals) for text in [*read['users'], *(found[0] for found in note)]),
          steps(whole, decimals), f'{read}')
    power, unit_w = read['machine_w'].split('\u202f')
    equal(set(read['units_w']), {unit_w}, 'units of power')
    parts = {path for path, _, is_partition in read['status'] if is_partition}
    for column, text in ((3, whole), (1, power)):
        decimals = len(text.partition('.')[2])
        equal(sum(steps(row[column], decimals) for row in read['domains'] if row[0] in parts),
              steps(text, decimals), f'domains: {read}')
        shown = {row[0]: steps(row[column], decimals) for row in read['domains']}
        for parent in parts:
            true(sum(shown[path] for path, above, _ in read['status'] if above == parent) <= shown[parent],
                 f'more in {parent} than it has: {read}')


def test_page_adds_up():
    """What is read on the page: users, and what nobody used, are the machine; so are its domains."""
    if not chromium.find():
        raise Skip('missing: chromium')
    with Agent(*SIMULATED) as agent, chromium.Browser() as browser:
        agent.wait_for_energy()
        page = browser.open(f'http://127.0.0.1:{agent.port}/')
        page.wait('document.getElementById("machine-w").textContent.endsWith("W")', PATIENCE_S)
        before = None
        for level in LEVELS:
            page.eval('[...document.querySelectorAll("#levels button")]'
                      f'.find((b) => b.textContent === "{level}").click()')
            before = page.eval(READ)
            check_page_adds_up(before)
        page.wait(f'document.getElementById("machine-j").textContent !== {json.dumps(before["machine"])}', PATIENCE_S)
        check_page_adds_up(page.eval(READ))
        page.close()


def spinner(uid):
    """A process that does something all the time, with a password among its arguments."""
    return subprocess.Popen(['/bin/sh', '-c', 'while sleep 0.01; do :; done', 'sh', '--password=hunter2'], user=uid,
                            cwd='/')


def told_by(agent, *pids):
    """The command lines that an agent tells of some processes, by their pids."""
    def known():
        rows = json.loads(agent.ask('/api/v1/snapshot')[2])['rows']
        found = {row['process']['pid']: row['process'] for row in rows if row['process']}
        return all(found.get(pid, {}).get('exe') for pid in pids) and found
    found = agent.wait_for(known, f'{pids} are not known')
    for path in ('/metrics', '/api/v1/status', '/api/v1/history'):
        text = agent.ask(path)[2]
        true('hunter2' not in text and '--password' not in text, f'{path} tells arguments')
    return [found[pid]['cmdline'] or '' for pid in pids]


def test_privacy():
    """As much of command lines as is allowed, which is that of one's own processes at first."""
    if os.geteuid() != 0:
        raise Skip('not root: nobody is another user')
    other = 65534
    with contextlib.ExitStack() as stack:
        mine, theirs = spinner(0), spinner(other)
        for child in (mine, theirs):
            stack.callback(lambda child=child: (child.kill(), child.wait()))
        real, sudo = ('--sources=synth', '--usage=procfs'), {'SUDO_UID': str(other), 'SUDO_GID': str(other)}
        told, secret = '--password=***', '--password=hunter2'
        for args, env, wanted in (
                ((), {}, (told, '')), (('--privacy=names', ), {}, ('', '')),
                ((), {'WATTRIBUTE_PRIVACY': 'users'}, (told, told)),
                (('--privacy=all', ), {}, (secret, secret)), ((), sudo, ('', told))):
            with Agent(*real, *args, env=env) as agent:
                lines = told_by(agent, mine.pid, theirs.pid)
            for line, text in zip(lines, wanted):
                true(line.endswith(text) if text else not line, f'{args} {env}: {lines}')
    one_line(run('agent', '--privacy=none', '--check-config'), 2, 'privacy', "'none'", 'names, own, users or all')


def test_rubbish():
    """What is no HTTP, or too much of it, ends that connection and nothing else."""
    with Agent(*SIMULATED) as agent:
        for data in (b'\0' * 1000, b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'\xff\xfe\r\n\r\n',
                     b'GET /' + b'a' * 100000 + b' HTTP/1.1\r\n\r\n',
                     b'GET / HTTP/1.1\r\n' + b'X: ' + b'y' * 100000 + b'\r\n\r\n',
                     b'POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n',
                     b'POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab'):
            with socket.create_connection(('127.0.0.1', agent.port), PATIENCE_S) as connection:
                with contextlib.suppress(OSError):
                    connection.sendall(data)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass
        check_sums(agent.wait_for_energy())


def test_slow_clients():
    """Who hangs costs a connection, for a time; everybody else is served."""
    with Agent(*SIMULATED, '--connection-timeout=1s') as agent, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(('127.0.0.1', agent.port), PATIENCE_S))
                for _ in range(50)]
        for connection in slow:
            connection.sendall(b'GET /metrics HTT')
        check_sums(agent.wait_for_energy())
        for connection in slow:
            with contextlib.suppress(ConnectionResetError):
                while connection.recv(4096):
                    pass


def test_many_connections():
    with Agent(*SIMULATED) as agent:
        agent.wait_for_energy()
        failures = []

        def scrape():
            try:
                check_sums(agent.metrics())
            except Exception as error:  # whatever it is, it is told below
                failures.append(repr(error))

        threads = [threading.Thread(target=scrape) for _ in range(100)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        equal(failures, [], 'of 100 scrapes at once')


def test_a_thousand_connections():
    """They hold what they were given; who asks is answered, and nothing that was measured is lost."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1200:
        raise Skip(f'this machine allows {hard} open files')
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    with Agent(*SIMULATED, '--connections=1100', '--period=1ms') as agent, contextlib.ExitStack() as stack:
        agent.wait_for_energy()
        before = agent.metrics()
        for i in range(1000):
            client = stack.enter_context(socket.create_connection(('127.0.0.1', agent.port), PATIENCE_S))
            if i % 2:  # half a request
                client.sendall(b'GET /metrics HTTP/1.1\r\nHost: a')
        def reads(metrics):
            return metrics.sum('wattribute_sensor_reads_total')

        # Sensors are read on, each 1,000 times a second: this many take a second, or somewhat more.
        wanted = reads(before) + 1000 * len(before.get('wattribute_sensor_reads_total'))
        after = agent.wait_for(lambda: (lambda now: reads(now) >= wanted and now)(agent.metrics()),
                               'the sensors are not read')
        check_sums(after)
        for name in ('lost_usage_records_total', 'lost_samples_total'):
            equal(after.value(f'wattribute_{name}'), before.value(f'wattribute_{name}'), name)


def test_end():
    for number in (signal.SIGTERM, signal.SIGINT):
        took_s = []
        # A second is enough; where others want the CPUs, it is for one of some.
        while not took_s or (min(took_s) >= 1 and len(took_s) < 5):
            with Agent(*SIMULATED) as agent:
                with socket.create_connection(('127.0.0.1', agent.port), PATIENCE_S):
                    begin_s = time.monotonic()
                    equal(agent.end(number), 0, f'status after {number.name}')
                    took_s.append(time.monotonic() - begin_s)
        true(min(took_s) < 1, f'{number.name} ends it in {took_s} s')


def test_counters_begin_anew():
    """After a restart they are 0 again, and say since when."""
    created, total = [], []
    for _ in range(2):
        began_s = time.time()
        with Agent(*SIMULATED, '--created=true') as agent:
            agent.wait_for_energy()
            text = agent.ask('/metrics', headers={'Accept': OPEN})[2]
            metrics = Metrics(text, True)
            created.append(metrics.value('wattribute_machine_joules_created'))
            total.append(metrics.value('wattribute_machine_joules_total'))
            true(began_s - 1 <= created[-1] <= time.time() + 1, f'begun {began_s}, created {created}')
            equal(agent.end(), 0, 'status')
            ended_s = time.time()
        true(total[-1] <= 400 * (ended_s - began_s), f'{total} J are more than it took since it began')
    true(created[1] > created[0], f'{created}')


def test_reload():
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write('created: true\n')
        file.flush()
        with Agent(*SIMULATED, f'--settings={file.name}') as agent:
            agent.wait_for_energy()
            true('_created' in agent.ask('/metrics', headers={'Accept': OPEN})[2], 'no _created')
            file.write('top: none\n')
            file.flush()
            agent.child.send_signal(signal.SIGHUP)
            agent.wait_for(lambda: f'{file.name}:2: top' in agent.said(), 'it takes a wrong file')
            file.seek(0)
            file.truncate()
            file.write('created: false\n')
            file.flush()
            agent.child.send_signal(signal.SIGHUP)
            agent.wait_for(lambda: '_created' not in
                           agent.ask('/metrics', headers={'Accept': OPEN})[2], 'nothing changed')


def test_address_in_use():
    with Agent(*SIMULATED) as agent:
        result = run('agent', f'--listen=127.0.0.1:{agent.port}', *SIMULATED)
        one_line(result, 1, f'127.0.0.1:{agent.port}', 'in use')


def command_lines_with(mark):
    """Of the shells that run here, not of the agents that were told it."""
    found = []
    for path in glob.glob('/proc/[0-9]*/cmdline'):
        try:
            with open(path, 'rb') as file:
                words = file.read().decode(errors='replace').split('\0')
        except OSError:
            continue
        found += [words] if words[0] == 'sh' and any(mark in word for word in words) else []
    return found


def test_many_sensors():
    """It is started with few open files allowed, as systemd does, and takes as many as it may have."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1024:
        raise Skip('this machine allows too few open files')
    with tempfile.TemporaryDirectory() as folder:
        for path, text in [('proc/stat', 'cpu 1 2 3 4\ncpu0 1 2 3 4\n')] + [
                (f'sys/class/hwmon/hwmon{number}/{name}', text) for number in range(400)
                for name, text in (('name', 'ina226\n'), ('power1_input', '1000000\n'))]:
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(folder, path), 'w', encoding='utf-8') as file:
                file.write(text)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        try:
            agent = Agent('--sysfs-root', f'{folder}/sys', '--procfs-root', f'{folder}/proc', '--sources=hwmon',
                          '--usage=procfs', command=(os.path.join(BUILD, 'agent', 'wattribute-agent'),))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        with agent:
            agent.wait_for(lambda: agent.metrics().sum('wattribute_sensor_up') == 400, 'not all sensors are read')


def test_node_by_an_instrument():
    """What a BMC or a meter says of the machine is a domain as others are."""
    mark = f'agent-meter-{os.getpid()}'
    with Agent('--sources=meter', '--usage=procfs',
               f'--meter=exec:while : {mark}; do echo W 300; sleep 0.1; done') as agent:
        agent.wait_for(lambda: 'domain="node"' in agent.ask('/metrics')[2], 'the node has no energy')
        true(command_lines_with(mark), 'the instrument does not run')
    end = time.monotonic() + 120
    while command_lines_with(mark):
        true(time.monotonic() < end, 'the instrument outlives the agent')
        time.sleep(0.05)


if not os.path.exists(os.path.join(os.path.dirname(PROGRAM), '..', 'agent', 'wattribute-agent')):
    print('missing: what the agent takes, it was not built')
    sys.exit(77)
main([test_a_total_below_its_parts, test_help_and_settings, test_precedence, test_own_settings, test_manual, test_metrics, test_the_best_total_is_the_headline, test_openmetrics,
      test_promtool, test_other_meters_names, test_tychos_names, test_context, test_cpus, test_levels, test_real_machine,
      test_least_rights, test_rights_are_given_up, test_short_lived_processes, test_who_may_ask, test_requests,
      test_api, test_recordings, test_page, test_page_adds_up, test_privacy, test_rubbish, test_slow_clients, test_many_connections, test_a_thousand_connections, test_end, test_counters_begin_anew, test_reload,
      test_address_in_use, test_many_sensors, test_node_by_an_instrument])
