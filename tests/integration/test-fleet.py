#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hundred agents and one Prometheus: its sums are the truth, and what a fleet costs it is told.

WATT_FLEET_NODES: another number of agents.
"""
import os
import re
import subprocess
import time
import urllib.request

from agent import PATIENCE_S
from command import BUILD, TOP, equal, main, true
from fleet import MICRO, Fleet
from prometheus import Prometheus

NODES = int(os.environ.get('WATT_FLEET_NODES', '100'))
INTERVAL_S = 2
RUN_S = 60
RARELY = ('--interval=1s', '--slice=1s', '--period=1s', '--keep-ended=20s')
# All levels, as a cluster has them; who is told of no more is in a gauge beside them.
CLUSTER = 'sum(wattribute_{level}_joules_total{{domain="node"}}) + sum(wattribute_{level}_ended_joules{{domain="node"}})'


def cpu_s(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        fields = file.read().rpartition(') ')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def is_near(found, told):
    """Prometheus adds doubles."""
    return abs(found - told) <= 1e-9 * abs(told)


def block_bytes(server):
    """Of all its samples, as it keeps them on disk: of chunks, and of the index beside them."""
    request = urllib.request.Request(f'{server.url}/api/v1/admin/tsdb/snapshot', method='POST')
    with urllib.request.urlopen(request, None, PATIENCE_S):
        pass
    sizes = {'chunks': 0, 'index': 0}
    for path, _, names in os.walk(os.path.join(server.folder.name, 'data', 'snapshots')):
        for name in names:
            what = 'chunks' if os.path.basename(path) == 'chunks' else name
            sizes[what] = sizes.get(what, 0) + os.path.getsize(os.path.join(path, name))
    return sizes['chunks'], sizes['index']


def samples_since(server, begin):
    """That were scraped; what rules and Prometheus itself add is not among them."""
    return server.value(f'sum(sum_over_time(scrape_samples_scraped[{round(time.monotonic() - begin)}s]))')


def check_truth(fleet, server):
    """Whatever the instruments have counted is in the cluster's sums, and nothing else."""
    truth_uj = fleet.truth_uj()
    total_j = sum(truth_uj) / MICRO

    def is_told():
        found = server.query('sum(wattribute_node_joules_total{domain="node"})')
        return found and is_near(found[0][1], total_j)
    server.wait_for(is_told, f'the cluster does not have {total_j} J')
    for level in ('process', 'container', 'pod', 'unit', 'user', 'vm'):
        server.wait_for(lambda asked=CLUSTER.format(level=level): is_near(server.query(asked)[0][1], total_j),
                        f'{level}s do not add up to {total_j} J')
    nodes = {labels['instance']: value for labels, value in server.query('wattribute_node_joules_total{domain="node"}')}
    for agent, energy_uj in zip(fleet.agents, truth_uj):
        found = nodes[f'127.0.0.1:{agent.port}']
        true(is_near(found, energy_uj / MICRO), f'a node has {found} J, not {energy_uj / MICRO}')
    found = server.query('sum(wattribute_conservation_errors_total)')
    true(found[0][1] == 0, f'{found[0][1]} conservation errors')
    print(f'fleet: {total_j:.6f} J by {NODES} instruments, {server.value("sum(wattribute_node_joules_total)"):.6f} J in Prometheus')


def measure(fleet, server):
    """Samples, and CPU time of the server and of all agents, in a while of all that goes on."""
    begin, server_s = time.monotonic(), cpu_s(server.child.pid)
    agents_s = sum(cpu_s(agent.child.pid) for agent in fleet.agents)
    time.sleep(RUN_S)
    samples = samples_since(server, begin)
    server_s = cpu_s(server.child.pid) - server_s
    agents_s = sum(cpu_s(agent.child.pid) for agent in fleet.agents) - agents_s
    took_s = time.monotonic() - begin
    print(f'fleet: {samples / took_s:.0f} samples/s of {NODES} nodes, each asked every {INTERVAL_S} s; Prometheus '
          f'{server_s / took_s * 100:.1f} % of a CPU, {server_s / samples * 1e6:.2f} us a sample, rules included')
    print(f'fleet: an agent {agents_s / took_s / NODES * 100:.3f} % of a CPU, scrapes included')


def test_fleet():
    start = time.monotonic()
    with Fleet(NODES, *RARELY) as fleet, \
            Prometheus(*fleet.agents, interval=f'{INTERVAL_S}s', evaluation='5s',
                       options=('--web.enable-admin-api',)) as server:
        # instruments stand still until all are seen: nobody tells what was used before that
        server.wait_for(lambda: server.query('count(wattribute_domain_up{domain="node"} == 1)') == [({}, NODES)],
                        'not all nodes are measured')
        fleet.set_powers(100 + 3 * i for i in range(NODES))
        measure(fleet, server)
        fleet.set_powers([0] * NODES)
        check_truth(fleet, server)
        per_node = [value for _, value in server.query('scrape_samples_scraped')]
        true(len(per_node) == NODES, f'{len(per_node)} nodes have series')
        samples = samples_since(server, start)
        chunks, index = block_bytes(server)
        print(f'fleet: {sum(per_node) / NODES:.0f} series of a node, {max(per_node):.0f} at most; in a block '
              f'{chunks / samples:.2f} bytes a sample, and an index of {index / samples:.2f} ({samples:.0f} samples)')


def test_demo():
    """It shows its pages, and ends by itself; nothing goes on behind it."""
    demo = subprocess.Popen([os.path.join(TOP, 'tools', 'demo'), '--seconds=15', '--nodes=2', BUILD],
                            stdout=subprocess.PIPE, text=True)
    lines = []
    for line in demo.stdout:
        lines.append(line)
        if line.startswith('It ends'):
            break
    pages = re.findall(r'^(?:this machine|made up, \d+) +(http://127\.0\.0\.1:\d+/)$', ''.join(lines), re.M)
    equal(len(pages), 3, lines)
    for page in pages:
        with urllib.request.urlopen(page, None, PATIENCE_S) as answer:
            true('<html' in answer.read().decode(), f'{page} is no page')
    equal(demo.wait(PATIENCE_S), 0, 'status')
    for page in pages:
        try:
            urllib.request.urlopen(page, None, PATIENCE_S).close()
        except OSError:
            continue
        raise AssertionError(f'{page} is still there')


main([test_fleet, test_demo])
