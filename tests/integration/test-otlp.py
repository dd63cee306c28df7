#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pushing by OTLP: what is in the documents, and what becomes of them when nobody takes them."""
import os
import signal
import socket
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'fake')]
from agent import PATIENCE_S, Agent as Process  # noqa: E402
from collector import Collector  # noqa: E402
from command import TOP, equal, main, near, run, true  # noqa: E402
from metrics import Metrics  # noqa: E402

SIMULATED = ('--sources=synth', '--usage=synth', '--min-age=0ms')


class Agent(Process):
    def __init__(self, url, *args):
        # Whoever tests may have a proxy; this machine needs none for itself.
        super().__init__(*SIMULATED, f'--otlp-url={url}', '--otlp-interval=100ms', *args,
                         env={'NO_PROXY': '*', 'no_proxy': '*'})

    def metric(self, name, **labels):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/metrics', timeout=PATIENCE_S) as answer:
            return Metrics(answer.read().decode(), False).value('wattribute_otlp_' + name, **labels)


def attributes(item):
    return {one['key']: next(iter(one['value'].values())) for one in item['attributes']}


def metrics(document):
    """{name: (metric, [(attributes, value, point)])} of the only scope."""
    resource, = document['resourceMetrics']
    equal(attributes(resource['resource'])['service.name'], 'wattribute', 'service')
    scope, = resource['scopeMetrics']
    equal(scope['scope']['name'], 'wattribute', 'scope')
    found = {}
    for metric in scope['metrics']:
        data = metric.get('sum') or metric['gauge']
        if 'sum' in metric:
            equal((data['aggregationTemporality'], data['isMonotonic']), (2, True), metric['name'])
        true(metric['name'] not in found, f"{metric['name']} comes twice")
        found[metric['name']] = metric, [(attributes(point), point['asDouble'], point) for point in data['dataPoints']]
    return found


def total(points, domain):
    return sum(value for labels, value, _ in points if labels.get('hw.id') == domain)


def newest_full(collector):
    """The newest document in which energy is known, and processes are told of."""
    for document in reversed(collector.taken()):
        found = metrics(document)
        if 'hw.energy' in found and 'wattribute.process.energy' in found and 'hw.power' in found:
            if len(found['wattribute.process.energy'][1]) > 3 and found['hw.host.energy'][1][0][1] > 0:
                return found
    return None


def test_a_captured_machine_has_no_name():
    """What is pushed of somebody else's machine doesn't carry the name of this one."""
    machine = os.path.join(os.path.dirname(HERE), 'fixtures', 'psu-server')
    for options, name in (((f'--machine={machine}',), None), ((), socket.gethostname())):
        with Collector() as collector, Process(
                *options, '--min-age=0ms', '--sources=' + ('hwmon' if options else 'synth'), '--compat=kepler',
                f'--otlp-url={collector.url}', '--otlp-interval=100ms',
                env={'NO_PROXY': '*', 'no_proxy': '*'}) as agent:
            document = agent.wait_for(lambda: next(iter(collector.taken()), None), 'nothing came')
            with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}/metrics', timeout=PATIENCE_S) as answer:
                nodes = {sample[1].get('node_name') for sample in Metrics(answer.read().decode(), False).get(
                    'kepler_process_cpu_joules_total')}
        resource, = document['resourceMetrics']
        equal(attributes(resource['resource']).get('host.name'), name, 'host.name')
        equal(nodes - {name}, set(), 'node_name')


def test_documents():
    with Collector() as collector, tempfile.NamedTemporaryFile('w') as headers:
        headers.write('# whose\nAuthorization: Bearer abc\nX-Scope: one two\n')
        headers.flush()
        with Agent(collector.url + '/', f'--otlp-headers={headers.name}') as agent:
            found = agent.wait_for(lambda: newest_full(collector), 'no full document came')
            agent.wait_for(lambda: agent.metric('documents_sent_total') >= 3, 'they are not counted')
            equal(agent.metric('documents_lost_total', reason='refused'), 0, 'refused')
        path, sent, _, _ = collector.asked()[0]
    equal(path, '/v1/metrics', 'path')
    equal((sent['Content-Type'], sent['Authorization'], sent['X-Scope']),
          ('application/json', 'Bearer abc', 'one two'), 'headers')
    check_domains(found)
    check_users(found)


def check_domains(found):
    metric, points = found['hw.energy']
    equal(metric['unit'], 'J', 'unit of energy')
    equal(found['hw.power'][0]['unit'], 'W', 'unit of power')
    ids = [labels['hw.id'] for labels, _, _ in points]
    equal(len(set(ids)), len(ids), 'a domain comes twice')
    for labels, _, point in points:
        true(labels['hw.type'], f'{labels} has no type')
        true(labels.get('hw.parent', ids[0]) in ids, f'the parent of {labels} is not there')
        # 64 bits are texts; a counter has begun before now.
        true(0 < int(point['startTimeUnixNano']) <= int(point['timeUnixNano']), f'{point}')
        true(isinstance(point['timeUnixNano'], str), 'a time is no text')
    true({'cpu'} <= {labels['hw.type'] for labels, _, _ in points}, f'{points}')
    (_, value, _), = found['hw.host.energy'][1]
    true(value > 0, 'the machine took nothing')
    equal(found['wattribute.conservation.errors'][1][0][1], 0, 'conservation')


def check_users(found):
    """Each level adds up to the component, as far as a double can tell."""
    pids = [labels['process.pid'] for labels, _, _ in found['wattribute.process.energy'][1]
            if 'process.pid' in labels]
    true(pids and all(isinstance(pid, str) and pid.isdigit() for pid in pids), f'{pids}')
    domains = {labels['hw.id'] for labels, _, _ in found['wattribute.process.energy'][1]}
    true(domains, 'no domain')
    for domain in domains:
        whole = total(found['hw.energy'][1], domain)
        for level in 'process', 'unit', 'user':
            parts = sum(total(found[name][1], domain) for name in (
                f'wattribute.{level}.energy', f'wattribute.{level}.ended.energy', 'wattribute.idle.energy',
                'wattribute.unattributed.energy'))
            true(abs(parts - whole) <= 1e-9 * max(whole, 1), f'{level} of {domain}: {parts} of {whole}')


def times(documents):
    found = []
    for document in documents:
        metric = document['resourceMetrics'][0]['scopeMetrics'][0]['metrics'][0]
        data = metric.get('sum') or metric['gauge']
        found.append(int(data['dataPoints'][0]['timeUnixNano']))
    return found


def test_the_best_total():
    """A laptop on battery, which measures more than what is estimated inside."""
    name = 'wattribute.machine.outside.power'
    with Collector() as collector, \
            Process(f'--sysfs-root={TOP}/tests/fixtures/laptop-battery/sys', '--usage=procfs',
                    f'--otlp-url={collector.url}/', '--otlp-interval=100ms', env={'NO_PROXY': '*', 'no_proxy': '*'}) as agent:
        def told():
            found = [metrics(document) for document in collector.taken()]
            return [one for one in found if name in one]
        found = agent.wait_for(told, 'the battery says nothing')[-1]
    (_, outside_w, _), = found[name][1]
    near(outside_w, 49, 0.02, 'what the battery measures')
    (_, machine_w, _), = found['hw.host.power'][1]
    true(0 < machine_w < outside_w, f'{machine_w} W are a part of it')


def test_context():
    machine = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin')
    with Collector() as collector, \
            Process(f'--sysfs-root={machine}/sys', f'--procfs-root={machine}/proc', '--usage=procfs', '--sources=+context',
                    f'--otlp-url={collector.url}/', '--otlp-interval=100ms', env={'NO_PROXY': '*', 'no_proxy': '*'}) as agent:
        def told():
            found = [metrics(document) for document in collector.taken()]
            return [one for one in found if 'hw.temperature' in one]
        found = agent.wait_for(told, 'no temperature')[-1]
    for name, unit, sensor, value in (('hw.temperature', 'Cel', 'context/tboard-thermal/temperature', -4.5),
                                      ('wattribute.context.utilization', '1', 'context/gpu/load', 0.523),
                                      ('wattribute.context.memory', 'By', 'context/memory/available', 28764180 * 1024)):
        metric, points = found[name]
        equal(metric['unit'], unit, name)
        near({labels['hw.id']: mean for labels, mean, _ in points}[sensor], value, 1e-4, sensor)


def test_not_now():
    """What can't be taken now is tried again, in order, and is told of once."""
    busy = [(status, {'Retry-After': '1'}, '') for status in (503, 429, 502, 504)]
    with Collector(answers=busy) as collector, Agent(collector.url) as agent:
        agent.wait_for(lambda: len(collector.taken()) >= 3, 'nothing is taken')
        asked = collector.asked()
        equal([status for _, _, _, status in asked[:4]], [503, 429, 502, 504], 'answers')
        equal(asked[4][2], asked[0][2], 'what is sent again')
        order = times(collector.taken())
        equal(order, sorted(set(order)), 'order')
        equal(agent.metric('tries_failed_total'), 4, 'tries')
        equal(agent.said().count('cannot push now'), 1, f'complaints: {agent.said()}')
        true('takes documents again' in agent.said(), agent.said())


def test_refused():
    """What is refused for good is lost, counted, and no reason to stop."""
    partial = (200, {}, '{"partialSuccess": {"rejectedDataPoints": "7", "errorMessage": "too old"}}')
    with Collector(answers=[400, partial, (200, {}, 'rubbish')]) as collector, Agent(collector.url) as agent:
        agent.wait_for(lambda: len(collector.taken()) >= 3, 'it does not go on')
        agent.wait_for(lambda: agent.metric('documents_sent_total') >= 3, 'they are not counted')
        equal(agent.metric('documents_lost_total', reason='refused'), 1, 'refused')
        equal(agent.metric('points_rejected_total'), 7, 'points left out')
        true('it answers 400' in agent.said(), agent.said())


def test_restart():
    """What waits is there after a crash, and goes first."""
    with tempfile.TemporaryDirectory(prefix='watt-otlp-') as folder:
        queue = os.path.join(folder, 'queue')

        def waiting():
            return sorted(name for name in os.listdir(queue) if name.endswith('.json'))

        silent = socket.socket()  # nobody answers there, and nobody else gets the port
        silent.bind(('127.0.0.1', 0))
        url = f'http://127.0.0.1:{silent.getsockname()[1]}'
        with silent, Agent(url, f'--otlp-queue={queue}') as agent:
            agent.wait_for(lambda: len(waiting()) >= 3 and agent.metric('documents_waiting') >= 3, 'nothing waits')
            other = run('agent', *SIMULATED, '--listen=127.0.0.1:0', f'--otlp-url={url}', f'--otlp-queue={queue}')
            equal(other.status, 1, 'status of another one')
            true('another process has' in other.err, other.err)
            agent.end(signal.SIGKILL)
        left = waiting()
        with Collector() as collector, Agent(collector.url, f'--otlp-queue={queue}') as agent:
            agent.wait_for(lambda: len(collector.taken()) > len(left), 'it does not go on')
            order = times(collector.taken())
            equal(order, sorted(set(order)), 'order')
            agent.wait_for(lambda: not set(left) & set(waiting()), 'what was sent still waits')


def test_hanging_receiver():
    """Who never answers keeps nobody waiting, neither for metrics nor for the end."""
    with Collector(answers=['hang'] * 100) as collector, Agent(collector.url) as agent:
        agent.wait_for(lambda: collector.asked() and agent.metric('documents_waiting') >= 2, 'it waits')
        equal(agent.end(), 0, 'status')


def test_mistakes():
    with tempfile.TemporaryDirectory(prefix='watt-otlp-') as folder:
        headers = os.path.join(folder, 'headers')
        with open(headers, 'w', encoding='utf-8') as file:
            file.write('Authorization: Bearer abc\n')
        os.chmod(headers, 0o644)
        for options, words in [
                (['--otlp-url=collector:4318'], ['otlp_url', 'http://']),
                (['--otlp-url=http://a:b@c'], ['otlp_url', 'otlp_headers']),
                (['--otlp-url=http://c', f'--otlp-headers={headers}'], [headers, 'chmod 600']),
                (['--otlp-url=http://c', '--otlp-headers=/nowhere'], ['/nowhere', 'No such file']),
                (['--otlp-url=https://c', '--otlp-tls=/nowhere'], ['otlp_tls', '/nowhere']),
                (['--otlp-url=http://c', '--otlp-queue=/nowhere/queue'], ['otlp_queue', '/nowhere/queue'])]:
            result = run('agent', *SIMULATED, '--listen=127.0.0.1:0', *options)
            equal(result.status, 1, f'status with {options}')
            for word in words:
                true(word in result.err, f'{options}: {result.err}')
        with open(headers, 'w', encoding='utf-8') as file:
            file.write('A: b\nno header\n')
        os.chmod(headers, 0o600)
        result = run('agent', *SIMULATED, '--listen=127.0.0.1:0', '--otlp-url=http://c', f'--otlp-headers={headers}')
        true(result.status == 1 and f'{headers}:2' in result.err, result.err)


main([test_documents, test_a_captured_machine_has_no_name, test_the_best_total, test_context, test_not_now, test_refused, test_restart, test_hanging_receiver, test_mistakes])
