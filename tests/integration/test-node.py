#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The node's total from a BMC that never was: what each maker tells, and whatever can be wrong."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import PROGRAM, TOP, equal, looking_at, main, near, run, true  # noqa: E402

sys.path.insert(0, os.path.join(TOP, 'tests', 'fake'))
from bmc import PASSWORD, USER, Bmc  # noqa: E402

LOGIN = {'WATTRIBUTE_REDFISH_USER': USER, 'WATTRIBUTE_REDFISH_PASSWORD': PASSWORD}
PIN = 'sha256//xoC6pkhxPedMMWE5WtSWv6XsCTVZkjg+6Xqp0TgU1no='


def ask(bmc, *options, env=None):
    """What doctor says of the source."""
    result = run('doctor', '--json', f'--redfish-url={bmc.url}', *options, env=LOGIN if env is None else env)
    found = [s for s in result.json()['sources'] if s['source'] == 'redfish']
    return found[0]


def channels(bmc, *options):
    """What the source shows, of the node first."""
    result = run('sources', '--json', '--sources=redfish', f'--redfish-url={bmc.url}', *options, env=LOGIN)
    equal(result.status, 0, result.err)
    return sorted(result.json()['channels'], key=lambda c: c['domain'])


def says(diag, state, *words):
    equal(diag['state'], state, diag)
    for word in words:
        true(word in diag['why'], f'no {word!r} in {diag["why"]!r}')


# ---- makers ----

MAKERS = [
    ('ilo', 'redfish/1/power', 'average', 'FastPowerMeter', 1),
    ('idrac', 'redfish/system_embedded_1/power', 'instant', 'PowerControl', 1),
    ('xcc', 'redfish/1/power', 'instant', 'the PowerControl of the chassis', 1),
    ('supermicro', 'redfish/1/power', 'instant', 'power supplies', 1),
    ('openbmc', 'redfish/chassis/power', 'instant', 'a sensor with the name', 1),
    ('timed', 'redfish/chassis/power', 'instant', 'says when it looked', 1),
    ('hgx', 'redfish/dgx/energy', 'counter', 'EnergyJoules', 3),
    ('fujitsu', 'redfish/0/power', 'instant', "ChassisPowerConsumption of Fujitsu's own", 1),
    ('inspur', 'redfish/1/power', 'instant', "TotalPower of Inspur's own", 1),
    ('huawei', 'redfish/1/power', 'instant', "PowerInputWatts of Huawei's own", 1),
    ('gigabyte', 'redfish/self/power', 'instant', 'its PowerControl', 1),
    ('sensing', 'redfish/chassis/power', 'average', 'a sensor with the name', 1),
]


def test_what_each_maker_tells():
    for maker, name, semantics, why, n in MAKERS:
        with Bmc(maker, lambda t: 321.0) as bmc:
            says(ask(bmc), 'available', why)
            found = channels(bmc)
            equal(len(found), n, maker)
            equal((found[0]['name'], found[0]['semantics'], found[0]['domain']), (name, semantics, 'node'), maker)
            equal(bmc.sessions, {}, f'{maker}: sessions that were left')
            true(bmc.n_sessions > 0, maker)


def test_a_period_that_nobody_tells():
    """Nobody is told that a BMC has something new each 10 s where nobody knows that."""
    with Bmc('openbmc') as bmc:
        result = run('doctor', f'--redfish-url={bmc.url}', env=LOGIN)
        true('asked every 1 s to find out how often it has a new value' in ' '.join(result.out.split()), result.out)
        result = run('sources', '--sources=redfish', f'--redfish-url={bmc.url}', env=LOGIN)
        true('unknown, asked each 1 s' in result.out, result.out)
        equal(channels(bmc)[0]['period_s'], None)
    with Bmc('xcc') as bmc:
        result = run('doctor', f'--redfish-url={bmc.url}', env=LOGIN)
        true('a value every 30 s' in ' '.join(result.out.split()), result.out)
        equal(channels(bmc)[0]['period_s'], 30)


def test_what_is_read():
    for maker in ('xcc', 'supermicro', 'timed', 'hgx', 'fujitsu', 'inspur', 'huawei', 'sensing'):
        with Bmc(maker, lambda t: 321.0, period_s=0.2, skew_s=7200.5) as bmc:
            deadline = time.monotonic() + 120
            watts = 0
            while not 310 < watts < 330:
                true(time.monotonic() < deadline, f'{maker}: {watts} W of 321')
                result = run('top', '--once', '--json', '--delay=3s', '--sources=redfish', '--usage=procfs',
                             f'--redfish-url={bmc.url}', env=LOGIN)
                equal(result.status, 0, result.err)
                node = [d for d in result.json()['domains'] if d['path'] == 'node'][0]
                watts = node['power_w'] or 0
            equal(bmc.sessions, {}, f'{maker}: sessions that were left')


def test_total_of_simulated_parts():
    """What is simulated is a part of what the BMC tells, and not added to it."""
    with Bmc('openbmc', lambda t: 321.0, period_s=0.2) as bmc:
        result = run('top', '--once', '--json', '--delay=3s', '--sources=redfish,synth', '--usage=procfs',
                     f'--redfish-url={bmc.url}', env=LOGIN)
    equal(result.status, 0, result.err)
    domains = {d['path']: d for d in result.json()['domains']}
    equal([path for path, d in domains.items() if d['is_summed']], ['node'])
    true(320 < domains['node']['power_w'] < 322, domains['node'])
    parts = sum(d['power_w'] for d in domains.values() if d['parent'] == 'node')
    # each in the newest window of its own, and some of them go up and down
    true(abs(parts - domains['node']['power_w']) < 2, f'parts of {parts} W: {domains}')
    equal((domains['node']['origin'], domains['node/residual']['origin']), ('measured', 'simulated'))


def test_picture_of_the_node():
    """Its parts and the residual upon each other, below the total."""
    with Bmc('openbmc', lambda t: 321.0, period_s=0.2) as bmc, tempfile.TemporaryDirectory(prefix='watt-node-') as folder:
        path = os.path.join(folder, 'node.watt')
        result = run('record', '-q', '-o', path, '--sources=redfish,synth', '--usage=procfs',
                     f'--redfish-url={bmc.url}', 'sleep', '3', env=LOGIN)
        equal(result.status, 0, result.err)
        result = run('plot', '--what=domains', '--stacked', path)
    equal(result.status, 0, result.err)
    legend = re.findall(r'>([^<>]+)</text>', result.out)
    for word in ('machine', 'package-0', 'dram-0', 'node/residual'):
        true(word in legend, f'no {word!r} in {legend}')
    # the machine's is the first
    watts = [float(word[:-2]) for word in legend if re.fullmatch(r'[\d.]+ W', word)]
    near(watts[0], 321.0, 0.002, 'the mean of the machine')


def test_power_of_a_late_beginning():
    """Where the meter begins to tell in the middle of a run, its power is not known, and never 0."""
    result = run('stat', '--json', '--sources=meter', '--usage=procfs',
                 '--meter=exec:while :; do echo W 200; sleep 0.1; done', 'sleep', '1')
    equal(result.status, 0, result.err)
    watts = result.json()['runs'][0]['machine_power_w']
    true(watts is None or 199 < watts < 201, f'{watts} W of 200')


def test_a_total_that_comes_to_an_estimate():
    """Numbers that were told don't change; somebody is told how to have it measured."""
    with Bmc('openbmc', lambda t: 321.0, answer_s=0.8) as bmc, subprocess.Popen(
            [PROGRAM, 'top', '--json', '--delay=500ms', '--sources=redfish,estimate', '--usage=procfs',
             f'--redfish-url={bmc.url}'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
            env={**os.environ, **LOGIN}, text=True) as process:
        try:
            for text in process.stdout:
                line = json.loads(text)
                domains = {d['path']: d for d in line['domains']}
                true(line['t_s'] - line['start_s'] < 60, f'it has not come: {sorted(domains)}')
                if domains.get('node', {}).get('power_w'):
                    break
        finally:
            process.terminate()
        equal(line['machine']['origin'], 'estimated')
        equal((domains['node']['origin'], domains['node']['is_summed']), ('measured', False))
        said = process.stderr.read()
        true('start again to have it measured' in said, f'it said {said!r}')


# ---- what is wrong ----

POWER = 'Chassis/1/Power'


def test_faults_have_words():
    for path, fault, state, words in [
            ('', 500, 'broken', ['500']), ('', 503, 'broken', ['503']), ('', 429, 'broken', ['429']),
            ('', 404, 'broken', ['404']), ('', 'garbage', 'broken', ['no JSON']),
            ('', 'text', 'broken', ['no JSON']), ('', 'list', 'broken', ['no JSON']),
            ('', 'deep', 'broken', ['no JSON']), ('', 'long', 'broken', ['longer than 4096 KiB']),
            ('', 'circle', 'broken', ['circles']), ('', 'elsewhere', 'broken', ['elsewhere']),
            ('', 'cut', 'broken', []), ('Chassis', 'licence', 'forbidden', ['LicenseKeyRequired']),
            (POWER, 403, 'forbidden', ['may not read']), (POWER, 500, 'broken', ['500']),
            (POWER, 404, 'broken', ['no chassis']), (POWER, 'licence', 'forbidden', ['LicenseKey']),
            (POWER, lambda doc: dict(doc, PowerControl=[]), 'broken', ['no chassis']),
            (POWER, lambda doc: dict(doc, PowerControl=[{'PowerConsumedWatts': 0}]), 'broken', ['no chassis']),
            (POWER, lambda doc: dict(doc, PowerControl=[{'PowerConsumedWatts': 'many'}]), 'broken',
             ['no chassis']),
            ('Chassis/1', 'slash', 'available', []), (POWER, 'slash', 'available', [])]:
        with Bmc('xcc') as bmc:
            bmc.fail(fault, path)
            says(ask(bmc), state, *words)
            equal(bmc.sessions, {}, f'{fault}: sessions that were left')


def test_a_report_is_the_total():
    """Where no chassis tells, a report of the telemetry service does."""
    with Bmc('idrac', lambda t: 250.0, period_s=0.1) as bmc:
        bmc.fail(404, 'Chassis/System.Embedded.1/Power')
        says(ask(bmc), 'available', 'a telemetry report is the node: none of 2 chassis has a power; SystemInputPower')
        with looking(bmc) as wait_for:
            wait_for(lambda node: 249 < (node['power_w'] or 0) < 251, '250 W by a report')


def test_who_may_ask():
    with Bmc('xcc') as bmc:
        says(ask(bmc, env={}), 'forbidden', 'it wants a user and a password')
        equal(bmc.n_sessions, 0, 'sessions of nobody')
        says(ask(bmc, env=dict(LOGIN, WATTRIBUTE_REDFISH_PASSWORD='x')), 'forbidden', 'refuses this user')
        # accounts are locked by those who try again and again: probe and session, once each
        true(bmc.count('POST') <= 2, f'{bmc.count("POST")} times')
    with Bmc('xcc', has_sessions=False) as bmc:  # then the password with each question
        says(ask(bmc), 'available')
    with Bmc('xcc', has_login=False) as bmc:
        says(ask(bmc, env={}), 'available')
        equal(bmc.count('POST'), 0, 'logins that nobody asked for')


def test_users_in_a_file():
    with Bmc('xcc') as bmc, tempfile.NamedTemporaryFile('w', suffix='.csv') as file:
        quoted = PASSWORD.replace('"', '""')
        file.write(f'other,x,y,http://127.0.0.1:9\n*,{USER},"{quoted}",{bmc.url}\n')
        file.flush()
        result = run('doctor', '--json', f'--redfish-auth={file.name}')
        says([s for s in result.json()['sources'] if s['source'] == 'redfish'][0], 'available')
        os.chmod(file.name, 0o644)
        says(ask(bmc, f'--redfish-auth={file.name}', env={}), 'forbidden', 'others may read')


def test_who_is_trusted():
    with Bmc('xcc', tls=True) as bmc:
        says(ask(bmc), 'forbidden', 'certificate')
        equal(bmc.asked, [], 'questions to somebody who is not trusted')
        certificate = os.path.join(TOP, 'tests', 'fake', 'bmc.pem')
        for trust in (certificate, PIN, 'insecure'):
            says(ask(bmc, f'--redfish-tls={trust}'), 'available')
        equal(ask(bmc, '--redfish-tls=sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=')['state'],
              'forbidden', 'another key')


def test_nobody_there():
    with Bmc('xcc') as bmc:
        bmc.server.socket.close()
        says(ask(bmc), 'broken', 'onnect')


@contextlib.contextmanager
def watching(bmc, *options):
    """`record` while something happens to the BMC; gives what stderr has so far."""
    with tempfile.TemporaryDirectory(prefix='watt-node-') as folder:
        log_path = os.path.join(folder, 'log')
        with open(log_path, 'wb') as log, subprocess.Popen(
                [PROGRAM, 'record', '-v', '-o', os.path.join(folder, 'node.watt'), '--sources=redfish', '--usage=procfs',
                 f'--redfish-url={bmc.url}', *options, 'sleep', '300'], stderr=log,
                stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env={**os.environ, **LOGIN}) as process:
            def wait_for(word):
                deadline = time.monotonic() + 120
                while True:
                    with open(log_path, encoding='utf-8') as file:
                        text = file.read()
                    if word in text:
                        return
                    true(time.monotonic() < deadline and process.poll() is None, f'no {word!r} in {text!r}')
                    time.sleep(0.05)
            try:
                yield wait_for
            finally:
                process.terminate()
                process.wait()


def wait_until(condition, what):
    deadline = time.monotonic() + 120
    while not condition():
        true(time.monotonic() < deadline, what)
        time.sleep(0.02)


def test_what_happens_while_it_is_read():
    with Bmc('xcc', period_s=0.1) as bmc, watching(bmc) as wait_for:
        wait_until(lambda: bmc.count('GET', POWER) >= 3, 'it is not read')
        bmc.forget_sessions()  # as after 30 minutes, or when the BMC begins again
        wait_until(lambda: bmc.n_sessions >= 2, 'no new session')
        bmc.fail(500, POWER)
        wait_for('it answers 500')
        bmc.fail('licence', POWER)
        wait_for('LicenseKeyRequired')
        bmc.fail(lambda doc: dict(doc, PowerControl=[{'MemberId': '0', 'PowerConsumedWatts': None}]), POWER)
        wait_for('null or 0 W')
        bmc.fail('garbage', POWER)
        wait_for('no JSON object')
        bmc.fail(None, POWER)
        asked = bmc.count('GET', POWER)
        wait_until(lambda: bmc.count('GET', POWER) > asked + 1, 'it is not read again')
    equal(bmc.sessions, {}, 'sessions that were left')


def test_a_slow_bmc_is_left_in_order():
    """It has few sessions: ours is ended though it takes a moment for each answer, and is asked at the end."""
    with Bmc('xcc', answer_s=0.3) as bmc:
        channels(bmc)
        equal(bmc.sessions, {}, 'sessions that `sources` left')
        begun = bmc.n_sessions
        with watching(bmc):
            wait_until(lambda: bmc.count('GET', POWER) >= 3, 'it is not read')
            asked = bmc.count('GET', POWER)
            wait_until(lambda: bmc.count('GET', POWER) > asked, 'it is not asked')
        true(bmc.n_sessions > begun, 'no session of `record`')
        equal(bmc.sessions, {}, 'sessions that `record` left')


def test_a_bmc_that_hangs_holds_nobody():
    with Bmc('xcc', period_s=0.1) as bmc, watching(bmc):
        wait_until(lambda: bmc.count('GET', POWER) >= 2, 'it is not read')
        bmc.fail('hang', POWER)
        asked = bmc.count('GET', POWER)
        wait_until(lambda: bmc.count('GET', POWER) > asked, 'it is not asked')
    # and the command has ended: else this is never reached


def looking(bmc):
    return looking_at('node', '--delay=500ms', '--slice=500', '--group=user', '--sources=redfish', '--usage=procfs',
                      f'--redfish-url={bmc.url}', env=LOGIN)


def tells(value):
    """The total is this, whatever that is."""
    return lambda doc: dict(doc, PowerControl=[{'MemberId': '0', 'PowerConsumedWatts': value}])


def test_the_status_of_each_fault():
    # of a maker whose period is not known: what one of 30 s says is shown 30 s later
    power = 'Chassis/Self/Power'
    with Bmc('gigabyte', lambda t: 250.0, period_s=0.1) as bmc, looking(bmc) as wait_for:
        def becomes(status):
            wait_for(lambda node: node['status'] == status, status)
            if status != 'ok':
                wait_for(lambda node: node['power_w'] is None, f'{status}, and no power')

        becomes('ok')
        bmc.fail(tells('321'), power)
        wait_for(lambda node: 320 < (node['power_w'] or 0) < 322, 'a number as a string')
        for fault, status in [(tells(0), 'no data'), (404, 'absent'), ('hang', 'stale'), (403, 'forbidden'),
                              (tells('many'), 'broken')]:
            bmc.fail(fault, power)
            becomes(status)
            bmc.fail(None, power)
            becomes('ok')
        bmc.retry_after_s = 1
        bmc.fail(429, power)  # it is asked too often
        becomes('no data')
        bmc.fail(None, power)
        becomes('ok')
        bmc.retry_after_s = 3600
        bmc.fail(503, power)
        becomes('no data')
        bmc.fail(None, power)
        asked = bmc.count('GET', power)
        windows = iter(range(8))  # 4 s, and it is asked each second
        wait_for(lambda node: next(windows, None) is None, 'time to pass')
        equal(bmc.count('GET', power), asked, 'questions to one that wants to be left alone for an hour')
    equal(bmc.sessions, {}, 'sessions that were left')


if 'redfish' not in [s['source'] for s in run('doctor', '--json').json()['sources']]:
    print('missing: libcurl: built without Redfish')
    sys.exit(77)
# what takes longest begins first
main([test_the_status_of_each_fault, test_what_is_read, test_what_each_maker_tells, test_faults_have_words,
      test_power_of_a_late_beginning, test_a_total_that_comes_to_an_estimate, test_total_of_simulated_parts,
      test_picture_of_the_node, test_a_period_that_nobody_tells,
      test_a_report_is_the_total, test_who_may_ask, test_users_in_a_file, test_who_is_trusted, test_nobody_there,
      test_what_happens_while_it_is_read, test_a_slow_bmc_is_left_in_order,
      test_a_bmc_that_hangs_holds_nobody], at_once=6)
