#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Prometheus server that asks an agent, with the rules and by the dashboards that come with it."""
import glob
import json
import os

from agent import Agent
from command import TOP, equal, main, true
from prometheus import Prometheus

# Without --min-age programs have a name after ten seconds only.
SIMULATED = ('--sources=synth', '--usage=synth', '--min-age=0s')
# What Grafana puts in; nobody here is in a pod.
VALUES = {'$__rate_interval': '5s', '$__range': '30s', '$namespace': 'none', '$pod': 'none'}
# Not there, or not yet, on a simulated machine.
MAY_BE_EMPTY = {'Idle', 'Containers', 'Units', 'Users', 'Namespaces', 'Uncertainty'}


def is_ready(server):
    """Whether rules of five minutes, and of what these gave, have a value."""
    return server.query('cluster:wattribute_machine_watts:rate5m > 0') and \
        server.query('kind_namespace:wattribute_watts:rate5m > 0')


def test_sums(server):
    """What the server has of each level adds up to the domains, in each of its answers."""
    for level in 'process', 'container', 'pod', 'unit', 'user', 'vm':
        found = server.wait_for(lambda asked=(
            f'(sum by (domain) (wattribute_{level}_joules_total) + on (domain) '
            f'wattribute_{level}_ended_joules) - on (domain) wattribute_node_joules_total '
            '+ on (domain) 0 * wattribute_domain_info{partition="true"}'): server.query(asked),
            f'no domain has users at level {level}')
        for labels, apart in found:
            true(abs(apart) < 1e-6, f'{level} {labels}: {apart} J apart')
    # Whose series were there all the time.
    server.wait_for(lambda: abs(server.value(
        'sum(rate(wattribute_process_joules_total[5s])) / sum(rate(wattribute_node_joules_total[5s]) '
        '* on (domain) group_left () wattribute_domain_info{partition="true"}) - 1')) < 0.01,
        'rates of processes are not those of the domains')


def test_rules(server):
    """All are loaded and work; the records are the machine's power, and none of the alerts fires."""
    groups = server.ask('rules')['groups']
    rules = [rule for group in groups for rule in group['rules']]
    equal({group['name'] for group in groups},
          {'wattribute.records', 'wattribute.alerts', 'wattribute.price'}, 'groups')
    for rule in rules:
        equal(rule['health'], 'ok', f"{rule['name']}: {rule.get('lastError')}")
        true(rule.get('state', 'inactive') != 'firing', f"{rule['name']} fires")
    true(server.value('wattribute:energy_price:per_kwh') > 0, 'price')


def test_dashboards(server):
    """Each query is answered, and all that there is on a simulated machine has values."""
    instance = server.wait_for(lambda: server.query('wattribute_build_info'),
                               'no agent')[0][0]['instance']
    n = 0
    for path in sorted(glob.glob(os.path.join(TOP, 'deploy/grafana/*.json'))):
        with open(path, encoding='utf-8') as file:
            dashboard = json.load(file)
        is_here = dashboard['uid'] in ('wattribute-fleet', 'wattribute-node')
        for panel in dashboard['panels']:
            for target in panel['targets']:
                expression = target['expr'].replace('$instance', instance)
                for name, value in VALUES.items():
                    expression = expression.replace(name, value)
                true('$' not in expression, f'nobody says what is in {expression}')
                if is_here and panel['title'] not in MAY_BE_EMPTY:
                    server.wait_for(lambda asked=expression: server.query(asked),
                                    f"{dashboard['title']}: {panel['title']}: nothing for {expression}")
                else:
                    server.query(expression)
                n += 1
    true(n > 40, f'{n} queries')


def test_bill(server):
    """A kWh at its price, by its CO2: as the panels have it."""
    with open(os.path.join(TOP, 'deploy/grafana/wattribute-fleet.json'), encoding='utf-8') as file:
        panels = {panel['title']: panel['targets'][0]['expr'] for panel in json.load(file)['panels']}
    # Of one time of which all is in, so that nothing changes between the answers.
    now = server.value('time()')
    server.value(f'timestamp(wattribute_machine_joules_total) > {now}')

    def of(title):
        expression = panels[title].replace('[$__range]', f'[30s] @ {now}')
        return server.value(expression)
    kwh = of('Energy')
    true(kwh > 0, kwh)
    for title, record in ('Cost', 'wattribute:energy_price:per_kwh'), ('CO2', 'wattribute:carbon_intensity:grams_per_kwh'):
        found, expected = of(title), kwh * server.value(record)
        true(abs(found / expected - 1) < 1e-9, f'{title}: {found} is not {expected}')


def test_all():
    with Agent(*SIMULATED) as agent, Prometheus(agent) as server:
        server.wait_for(lambda: is_ready(server), 'it has no power')
        for test in test_rules, test_sums, test_dashboards, test_bill:
            print(f'# {test.__name__}', flush=True)
            test(server)


main([test_all])
