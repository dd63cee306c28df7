#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Ten minutes of a machine whose truth is known, through the whole command: powercap files of two
packages' worth of load, and a BMC of each maker beside them, asked over HTTP. All measure the same
machine at the same time. Held to bounds: the age that is found in three minutes, the node's energy in
the ten that follow, the residual behind steps up and down; and from the first line to the last energy
never goes back, and is conserved to the nJ: windows add up to totals, and entities to domains.
"""
import bisect
import contextlib
import json
import math
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import PROGRAM, TOP, equal, main, nj, run, true  # noqa: E402

sys.path.insert(0, os.path.join(TOP, 'tests', 'fake'))
from bmc import PASSWORD, USER, Bmc  # noqa: E402

LOGIN = {'WATTRIBUTE_REDFISH_USER': USER, 'WATTRIBUTE_REDFISH_PASSWORD': PASSWORD}
STEP_S = 0.05
LEAD_S = 60  # so long the machine has run before anybody looks
FOUND_S = LEAD_S + 180  # an age is to be found by then
WARM_S = LEAD_S + int(os.environ.get('WATT_NODE_WARM_S', '180'))
MEASURED_S = int(os.environ.get('WATT_NODE_MEASURED_S', '600'))
END_S = WARM_S + MEASURED_S + 60
AFTER_S = 4  # behind a step
STEP_W = 40
MAX_AGE_S = 0.25
MAX_ENERGY = 0.01
MAX_BIAS_W = 4.0
# Of one that tells something each 30 s, ten minutes have twenty readings, and three have too few for an
# age. Each reading sees one second of thirty of what no part tells: disks of 12 W a third of the time, and a wave of 8 W,
# together 8 W (standard deviation), which is 1.8 W of twenty readings, 0.55 % of the 330 W of the node; where an age is not
# found yet, as much again is taken from the wrong side of a step. 2.5 % is three times what these two make.
SLOW_S = 30
MAX_SLOW_ENERGY = 0.025
# A step of 100 W, the mean here, that is taken to be some tenths of a second off is 10 W of the 4 s behind it.
MAX_SLOW_BIAS_W = 12.0


FORK = multiprocessing.get_context('fork')


def hurry():
    """Where that is allowed, others who want the CPUs don't delay what a machine would do by itself."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


class Machine:
    """What each part and the node took until each step. Times are seconds since begin_s."""

    def __init__(self, seed):
        draw = random.Random(seed)
        n = int((END_S + 20) / STEP_S)
        load_w, burst_w, load_end, burst_end = 40.0, 0.0, 0, 0
        self.package_j, self.dram_j, self.node_j, self.steps = [0.0], [0.0], [0.0], []
        before_w = load_w
        for i in range(n):
            if i >= load_end:
                load_w, load_end = draw.uniform(40, 260), i + int(draw.uniform(5, 40) / STEP_S)
            if i >= burst_end:
                burst_w = 0 if burst_w else draw.uniform(20, 80)
                burst_end = i + int((draw.uniform(0.2, 2) if burst_w else draw.uniform(1, 10)) / STEP_S)
            package_w, dram_w = load_w + burst_w, 8 + 0.1 * load_w
            rest_w = 90 + 8 * math.sin(i * STEP_S / 15) + (12 if int(i * STEP_S / 7) % 3 == 1 else 0)
            if abs(package_w - before_w) >= STEP_W:
                self.steps.append((i * STEP_S, package_w > before_w))
            before_w = package_w
            for curve, watts in ((self.package_j, package_w), (self.dram_j, dram_w),
                                 (self.node_j, 1.1 * package_w + 1.05 * dram_w + rest_w)):
                curve.append(curve[-1] + watts * STEP_S)
        # the machine and its BMCs have one clock, which is also that of the command
        self.begin_s = time.time() - LEAD_S
        self.begin_monotonic_s = time.monotonic() - LEAD_S

    @staticmethod
    def energy_j(curve, t_s):
        at = min(max(t_s / STEP_S, 0), len(curve) - 2)
        i = int(at)
        return curve[i] + (curve[i + 1] - curve[i]) * (at - i)

    def node_until_j(self, monotonic_s):
        return self.energy_j(self.node_j, monotonic_s - self.begin_monotonic_s)

    def parts_until_j(self, monotonic_s):
        t_s = monotonic_s - self.begin_monotonic_s
        return self.energy_j(self.package_j, t_s) + self.energy_j(self.dram_j, t_s)


class Zones:
    """Files as powercap shows them, rewritten each few ms by a process of their own."""

    def __init__(self, folder, machine):
        self.machine = machine
        zones = os.path.join(folder, 'class', 'powercap')
        self.files = [(self.make(os.path.join(zones, name), label), curve) for name, label, curve in
                      (('intel-rapl:0', 'package-0', machine.package_j), ('intel-rapl:0:0', 'dram', machine.dram_j))]
        self.process = FORK.Process(target=self.run, daemon=True)
        self.process.start()

    @staticmethod
    def make(zone, label):
        os.makedirs(zone)
        for name, text in (('name', label), ('max_energy_range_uj', '262143328850'), ('enabled', '1'),
                           ('energy_uj', '000001000000')):
            with open(os.path.join(zone, name), 'w', encoding='ascii') as file:
                file.write(text + '\n')
        return os.open(os.path.join(zone, 'energy_uj'), os.O_WRONLY)

    def run(self):
        hurry()
        while True:
            time.sleep(0.005)
            for fd, curve in self.files:
                t_s = time.monotonic() - self.machine.begin_monotonic_s
                os.pwrite(fd, b'%012d\n' % (1000000 + self.machine.energy_j(curve, t_s) * 1e6), 0)


class Timed(Bmc):
    """Notes how late each value was first asked for."""

    def __init__(self, machine, maker, **options):
        super().__init__(maker, self.mean_w, **options)
        self.machine, self.begin_s = machine, machine.begin_s
        self.late_s, self.newest_s = [], -1

    def mean_w(self, t_s):
        curve = self.machine.node_j
        return (Machine.energy_j(curve, t_s) - Machine.energy_j(curve, t_s - STEP_S)) / STEP_S

    def watts_at(self, t_s):
        curve, window_s = self.machine.node_j, self.window_s
        mean = (Machine.energy_j(curve, t_s) - Machine.energy_j(curve, t_s - window_s)) / window_s
        return round(mean / self.quantum_w) * self.quantum_w

    def joules(self):
        self.note()
        return round(4321.5 + Machine.energy_j(self.machine.node_j, self.published_s()), 3)

    def watts(self):
        self.note()
        return super().watts()

    def note(self):
        now_s, published_s = self.now_s(), self.published_s()
        if published_s > self.newest_s:
            self.newest_s = published_s
            self.late_s.append(now_s - published_s)


class Server:
    """A BMC in a process of its own."""

    def __init__(self, machine, maker, **options):
        self.ours, theirs = FORK.Pipe()
        self.process = FORK.Process(target=self.run, args=(theirs, machine, maker, options), daemon=True)
        self.process.start()
        self.url = self.ours.recv()

    @staticmethod
    def run(pipe, machine, maker, options):
        hurry()
        with Timed(machine, maker, **options) as bmc:
            pipe.send(bmc.url)
            pipe.recv()
            pipe.send((bmc.late_s, bmc.sessions))

    def stop(self):
        """How late values were asked for, and sessions that were left."""
        self.ours.send(None)
        late_s, sessions = self.ours.recv()
        self.process.join()
        return sum(late_s) / max(len(late_s), 1), sessions


class Watch(threading.Thread):
    """The command beside one BMC, and what it said."""

    def __init__(self, machine, zones, bmc):
        super().__init__()
        self.machine, self.bmc, self.lines = machine, bmc, []
        self.process = subprocess.Popen(
            [PROGRAM, 'top', '--json', '--delay=500ms', '--group=user', '--usage=procfs', '--sources=redfish,powercap',
             f'--sysfs-root={zones}', f'--redfish-url={bmc.url}'], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env={**os.environ, **LOGIN})
        self.found = None  # by FOUND_S
        self.before, self.wrong, self.n_checked = {}, [], 0
        self.start()

    def check(self, line):
        """Nothing is lost or made: since the line before, and among all who have it."""
        quality = line['quality']
        if quality['check_failures'] or quality['sum_failures'] or not quality['checks']:
            self.wrong.append(f'checks: {quality}')
        for at, domain in enumerate(line['domains']):
            path = domain['path']
            if domain['energy'] is None:
                continue
            energy_nj = nj(domain['energy'])
            given_nj = sum(nj(row['domain_energy'][at]) for row in line['rows'] if row['is_in_sum'])
            if given_nj != energy_nj:
                self.wrong.append(f'{path}: {given_nj - energy_nj} nJ more are given than there are')
            if path in self.before and self.before[path] + domain['window_nj'] != energy_nj:
                self.wrong.append(f'{path}: a window has {energy_nj - self.before[path] - domain["window_nj"]} nJ less')
            self.before[path] = energy_nj
            self.n_checked += 1

    def run(self):
        for text in self.process.stdout:
            line = json.loads(text)
            self.check(line)
            domains = {d['path']: d for d in line['domains']}
            node, rest = domains.get('node'), domains.get('node/residual')
            if not node or node['energy'] is None or node['t_s'] is None:
                continue
            self.lines.append((node['t_s'], nj(node['energy']), rest and rest['t_s'],
                               rest and rest['energy'] and nj(rest['energy'])))
            if line['t_s'] - self.machine.begin_monotonic_s < FOUND_S:
                self.found = node['found_delay_s'], node['found_delay_uncertainty_s']

    def stop(self):
        self.process.terminate()
        self.join(30)

    def until_j(self, t_s, column):
        """By straight lines between what was said."""
        points = [(line[column], line[column + 1]) for line in self.lines if line[column] and line[column + 1] is not None]
        i = min(max(bisect.bisect(points, (t_s, 0)), 1), len(points) - 1)
        (t0_s, e0), (t1_s, e1) = points[i - 1], points[i]
        return (e0 + (e1 - e0) * (t_s - t0_s) / (t1_s - t0_s) if t1_s > t0_s else e1) / 1e9


def judge(machine, watch, maker, expected_s, period_s):
    """Prints a line; returns what is not within its bounds."""
    from_s = machine.begin_monotonic_s + WARM_S
    node_points = [t_s for t_s, _, _, _ in watch.lines if t_s]
    t0_s, t1_s = [node_points[min(bisect.bisect(node_points, t), len(node_points) - 1)]
                  for t in (from_s, from_s + MEASURED_S)]
    truth_j = machine.node_until_j(t1_s) - machine.node_until_j(t0_s)
    off = (watch.until_j(t1_s, 0) - watch.until_j(t0_s, 0)) / truth_j - 1
    bias = {True: [], False: []}
    for at_s, is_up in machine.steps:
        a_s = machine.begin_monotonic_s + at_s
        if not from_s < a_s < from_s + MEASURED_S - AFTER_S:
            continue
        rest_j = watch.until_j(a_s + AFTER_S, 2) - watch.until_j(a_s, 2)
        true_j = machine.node_until_j(a_s + AFTER_S) - machine.node_until_j(a_s) - \
            machine.parts_until_j(a_s + AFTER_S) + machine.parts_until_j(a_s)
        bias[is_up].append((rest_j - true_j) / AFTER_S)
    rest_w = (watch.until_j(t1_s, 2) - watch.until_j(t0_s, 2) - truth_j + machine.parts_until_j(t1_s) -
              machine.parts_until_j(t0_s)) / (t1_s - t0_s)
    up_w, down_w = (sum(bias[way]) / max(len(bias[way]), 1) for way in (True, False))
    energies = [e for _, e, _, _ in watch.lines]
    found_s, doubt_s = watch.found or (None, None)
    age_off_s = None if found_s is None else found_s - expected_s
    print(f'    {maker:10} every {period_s:2} s, age {expected_s:5.2f} s: found ' +
          (f'{found_s:5.2f} s, {age_off_s * 1000:+4.0f} ms (said {doubt_s * 1000:3.0f})' if found_s is not None else
           'nothing by then          ') +
          f'; {t1_s - t0_s:.0f} s: energy {off * 100:+.2f} %, residual {rest_w:+.1f} W; it behind {len(bias[True])} steps up {up_w:+.1f} W, '
          f'{len(bias[False])} down {down_w:+.1f} W', flush=True)
    wrong = []
    # each half second, of the node, the package, the memory and the residual; the first may be late
    if watch.n_checked < 2 * END_S:
        wrong.append(f'{maker}: only {watch.n_checked} times looked whether energy is conserved')
    if watch.wrong:
        wrong.append(f'{maker}: not conserved, {len(watch.wrong)} times: {watch.wrong[0]}')
    if energies != sorted(energies):
        wrong.append(f'{maker}: energy goes back')
    if not abs(off) <= (MAX_ENERGY if period_s < SLOW_S else MAX_SLOW_ENERGY):
        wrong.append(f'{maker}: energy is {off * 100:+.2f} % off')
    if not max(abs(up_w), abs(down_w)) <= (MAX_BIAS_W if period_s < SLOW_S else MAX_SLOW_BIAS_W):
        wrong.append(f'{maker}: the residual is {up_w:+.1f} and {down_w:+.1f} W off behind steps')
    if found_s is None and period_s < 10:
        wrong.append(f'{maker}: no age was found in {FOUND_S - LEAD_S} s')
    if found_s is not None and abs(age_off_s) > (MAX_AGE_S if period_s < 10 else max(MAX_AGE_S, 2.5 * doubt_s)):
        wrong.append(f'{maker}: the age is {age_off_s * 1000:+.0f} ms off')
    return wrong


# maker, delay, window, quantum, period, skew; whether its value has a time of its own
BMCS = [
    ('openbmc', 0.2, 1, 1, 1, 0, False),
    ('supermicro', 4.0, 1, 8, 2, -86400.25, False),
    ('timed', 8.0, 1, 2, 2, 7200.5, True),
    ('idrac', 1.0, 1, 1, 5, 0.7, False),
    ('ilo', 2.5, 10, 1, 10, -3600.4, True),
    ('xcc', 2.5, 1, 4, 30, 0, False),
    ('hgx', 0.0, 1, 1, 1, -12.3, False),
]


def test_ten_minutes_of_each_maker():
    machine = Machine(20)
    wrong = []
    with tempfile.TemporaryDirectory(prefix='watt-node-', dir='/dev/shm') as folder:
        zones = Zones(folder, machine)
        servers = [Server(machine, maker, delay_s=delay_s, window_s=window_s, quantum_w=quantum_w, period_s=period_s,
                          skew_s=skew_s)
                   for maker, delay_s, window_s, quantum_w, period_s, skew_s, _ in BMCS]
        watches = [Watch(machine, folder, server) for server in servers]
        time.sleep(max(0, machine.begin_monotonic_s + END_S - time.monotonic()))
        for watch in watches:
            watch.stop()
        zones.process.terminate()
    for watch, (maker, delay_s, window_s, _, period_s, _, has_time) in zip(watches, BMCS):
        late_s, sessions = watch.bmc.stop()
        is_mean = maker in ('ilo', 'hgx')  # its age is that of its end
        wrong += judge(machine, watch, maker, delay_s + (0 if has_time else late_s) + (0 if is_mean else window_s / 2),
                       period_s)
        equal(sessions, {}, f'{maker}: sessions that were left')
    true(not wrong, '; '.join(wrong))


if 'redfish' not in [s['source'] for s in run('doctor', '--json').json()['sources']]:
    print('missing: libcurl: built without Redfish')
    sys.exit(77)
main([test_ten_minutes_of_each_maker])
