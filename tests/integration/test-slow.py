#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A device that opens late, and one that does not come back from its first reading: what every output
says of them meanwhile. Never that all is well, and never 0."""
import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from agent import PATIENCE_S, Agent  # noqa: E402
from command import BUILD, PROGRAM, TOP, equal, main, run, true, validate  # noqa: E402
from metrics import Metrics  # noqa: E402

FOLDER = tempfile.mkdtemp(prefix='watt-slow-')
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
DRIVER = os.path.join(BUILD, 'tests', 'fake', 'libfake_nvml.so')
GPU = """gpu GPU-8c2b 00000000:0D:00.0 NVIDIA H100 80GB HBM3
power 0 300000
lacks energy
lacks instant
lacks average
"""
DOMAIN = 'gpu-0000:0d:00_0'
# Every call takes so long at first; those that begin later do not.
OPENS_LATE = 'hang * 0 8\nerror * 7 0\n' + GPU
# The first is made to see whether it can be read at all.
HANGS_IN_A_READING = 'hang nvmlDeviceGetPowerUsage 0 600 1\n' + GPU
HANGS = 'hang * 0 600\n' + GPU
# From there on what takes long hangs. It begins after the command does.
HUNG_S = 5
# Of a machine whose zones answer at once: nobody has to wait for the GPU, and nobody named it.
BESIDE = (f'--sysfs-root={TOP}/tests/fixtures/laptop-client/sys', f'--nvml-lib={DRIVER}', '--usage=procfs')
ALONE = ('--sources=nvml', *BESIDE)


def script(name, text):
    """The variables of a command on a machine with such a GPU."""
    path = os.path.join(FOLDER, name)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return {'FAKE_NVML_SCRIPT': path}


def is_early(status, since):
    """It is on its way; whoever asks late may find that it hangs, and nothing else."""
    passed_s = time.monotonic() - since
    true(status == 'pending' or (status == 'stale' and passed_s >= HUNG_S),
         f'{status} after {passed_s:.1f} s')


def status_of(document, name='nvml'):
    found = [source['status'] for source in document['sources'] if source['name'] == name]
    equal(len(found), 1, f'times that {name} is listed')
    return found[0]


def ask(agent, path):
    with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}{path}', timeout=PATIENCE_S) as answer:
        return answer.read().decode()


def ask_status(agent):
    return json.loads(ask(agent, '/api/v1/status'))


def ask_metrics(agent):
    return Metrics(ask(agent, '/metrics'), False)


def run_since(env, name, *args):
    since = time.monotonic()
    return since, run(name, *BESIDE, *args, env=env)


def test_commands_meanwhile():
    """Each waits for 3 s, and then says whom it lacks."""
    env = script('late', OPENS_LATE)
    with ThreadPoolExecutor(max_workers=5) as pool:
        done = [pool.submit(run_since, env, *args) for args in (
            ('sources', '--json'), ('sources',), ('stat', '--json', '--', 'true'), ('stat', '--', 'true'),
            ('top', '--once', '--delay=0.1s'))]
        sources, listed, stat, told, top = [one.result() for one in done]
    for since, result in (sources, listed, stat, told, top):
        equal(result.status, 0, result.err)
        true('not open yet: nvml (' in result.err, result.err)
    validate(sources[1].json(), 'wattribute-sources-1')
    for since, result in (sources, stat):
        is_early(status_of(result.json()), since)
    equal([c['name'] for c in sources[1].json()['channels'] if c['source'] == 'nvml'], [], 'channels')
    for (since, result), word in ((listed, 'Not open yet: nvml ('), (told, 'not in the numbers: nvml ('),
                                  (top, 'no word yet of: nvml (')):
        said = result.out + result.err
        true(word in said, f'no {word!r} in {said}')
        is_early(said.split(word)[1].split(')')[0], since)
        true(DOMAIN not in said, f'a domain of what is not open: {said}')


def test_the_end_does_not_wait():
    """Whoever hangs is left behind; a busy machine may take its time, but not each time."""
    took_s = []
    while len(took_s) < 3:
        with subprocess.Popen([PROGRAM, 'sources', *BESIDE], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True,
                              env={**os.environ, **script('hangs', HANGS)}) as process:
            true([line for line in process.stdout if line.startswith('Not open yet')], 'it is not missed')
            since = time.monotonic()
            equal(process.wait(PATIENCE_S), 0, 'status')
            took_s.append(time.monotonic() - since)
        if took_s[-1] < 1:
            return
    raise AssertionError(f'the end takes {took_s} s')


def test_agent_until_it_is_open():
    """Pending, then stale, then all right, and its energy counts from there on."""
    since = time.monotonic()
    with Agent(*BESIDE, env=script('late', OPENS_LATE)) as agent:
        is_early(status_of(ask_status(agent)), since)
        metrics = ask_metrics(agent)
        info, = metrics.get('wattribute_source_info', source='nvml')
        is_early(info[1]['status'], since)
        equal(metrics.value('wattribute_source_up', source='nvml'), 0, 'whether it is open')
        equal(metrics.value('wattribute_source_up', source='powercap'), 1, 'the other')
        equal(metrics.get('wattribute_node_joules_total', domain=DOMAIN), [], 'energy of it')
        agent.wait_for(lambda: status_of(ask_status(agent)) == 'stale', 'it is not stale')
        agent.wait_for(lambda: status_of(ask_status(agent)) == 'ok', 'it does not come')
        agent.wait_for(lambda: ask_metrics(agent).sum('wattribute_node_joules_total', domain=DOMAIN) > 0,
                       'it takes no energy')
        metrics = ask_metrics(agent)
        equal(metrics.value('wattribute_source_up', source='nvml'), 1, 'whether it is open')
        equal(metrics.value('wattribute_conservation_errors_total'), 0, 'conservation')
        # 300 W since it opened, and not since the beginning, when nobody could know
        energy_j = metrics.value('wattribute_node_joules_total', domain=DOMAIN)
        passed_s = time.monotonic() - since
        true(energy_j < 301 * (passed_s - 8), f'{energy_j} J after {passed_s:.1f} s')


def statuses_of_top(env):
    """Of the domain, as top tells of it, until nobody reads any more."""
    with subprocess.Popen([PROGRAM, 'top', '--json', '--delay=0.2s', *BESIDE], env={**os.environ, **env},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout:
                domains = [d for d in json.loads(line)['domains'] if d['path'] == DOMAIN]
                for domain in domains:
                    yield domain
        finally:
            process.kill()


def test_a_first_reading_that_hangs():
    """It is open, and there is a domain; of which nobody knows anything."""
    env = script('reading', HANGS_IN_A_READING)
    with Agent(*BESIDE, env=env) as agent:
        agent.wait_for(lambda: status_of(ask_status(agent)) == 'stale', 'it is not stale')
        status = ask_status(agent)
        sensors = [sensor for sensor in status['sensors'] if sensor['source'] == 'nvml']
        true(sensors, 'no sensors')
        metrics = ask_metrics(agent)
        for sensor in sensors:
            equal((sensor['status'], sensor['age_s']), ('stale', None), sensor['name'])
            equal(metrics.value('wattribute_sensor_up', sensor=sensor['name']), 0, 'whether it is read')
        end = time.monotonic() + PATIENCE_S
        for domain in statuses_of_top(env):
            true(domain['status'] in ('pending', 'stale'), f'of what was never read: {domain}')
            equal((domain['energy_j'], domain['window_j'], domain['power_w']), (None, None, None), 'energy')
            if domain['status'] == 'stale':
                break
            true(time.monotonic() < end, 'top does not find it stale')
        domain, = [d for d in ask_status(agent)['domains'] if d['path'] == DOMAIN]
        equal((domain['energy_j'], domain['power_w']), (None, None), 'of its energy')
        equal(ask_metrics(agent).get('wattribute_node_joules_total', domain=DOMAIN), [], 'energy of it')


def test_nothing_else_measures():
    """Nobody knows what the machine takes: that is not 0."""
    env = script('hangs', HANGS)
    with ThreadPoolExecutor(max_workers=3) as pool, Agent(*ALONE, '--compat=scaphandre', env=env) as agent:
        stat = pool.submit(run, 'stat', '--json', *ALONE, '--', 'true', env=env)
        told = pool.submit(run, 'stat', *ALONE, '--', 'true', env=env)
        top = pool.submit(run, 'top', '--once', '--json', '--delay=0.1s', *ALONE, env=env)
        status = ask_status(agent)
        equal((status['machine_w'], status['machine_j']), (None, None), 'the machine')
        metrics = ask_metrics(agent)
        for name in ('wattribute_machine_joules_total', 'wattribute_machine_watts', 'scaph_host_energy_microjoules',
                     'scaph_host_power_microwatts'):
            equal(metrics.get(name), [], name)
        one, = stat.result().json()['runs']
        equal((one['energy_nj'], one['machine_energy_nj'], one['power_w']), (None, None, None), 'of the command')
        said = told.result().err
        true('not known, shared by nothing' in said and ' 0        J' not in said, said)
        machine = top.result().json()['machine']
        true(machine['status'] in ('pending', 'stale'), machine)
        equal((machine['energy'], machine['power_w']), (None, None), 'of the machine')


main([test_commands_meanwhile, test_the_end_does_not_wait, test_agent_until_it_is_open, test_a_first_reading_that_hangs,
      test_nothing_else_measures])
