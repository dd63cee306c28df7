#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Months of churn in minutes: processes and containers that come and go, by the hundred thousand.

WATT_SOAK_STARTS, WATT_SOAK_CGROUPS: other numbers of them.
"""
import glob
import os
import re
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
from agent import PATIENCE_S, Agent  # noqa: E402
from command import Skip, main, run, true  # noqa: E402
from metrics import Metrics, check_sums  # noqa: E402

STARTS = int(os.environ.get('WATT_SOAK_STARTS', '100000'))
CGROUPS = int(os.environ.get('WATT_SOAK_CGROUPS', '5000'))
WORKERS = 2
LOOKS = 20
TOP = 20
# Of what is resident in the first half, in which the names fill up that are kept of those who are gone.
MAY_GROW = 1.10
MAY_GROW_BYTES = 2 << 20


def cgroup_root():
    for root in ('/sys/fs/cgroup', '/sys/fs/cgroup/unified'):
        if os.path.exists(f'{root}/cgroup.procs') and os.path.exists(f'{root}/cgroup.controllers'):
            return root
    raise Skip('no cgroup2 is mounted')


def start_some(n, procs):
    """Processes that live for a moment, in the cgroup that the file is of."""
    for _ in range(n):
        pid = os.fork()
        if pid == 0:
            try:
                with open(procs, 'w', encoding='ascii') as file:
                    file.write('0')
                for _ in range(2000):
                    pass
            finally:
                os._exit(0)
        os.waitpid(pid, 0)


def churn(folder, worker):
    """Containers one after the other, by their names; each is gone before the next one comes."""
    for number in range(worker, CGROUPS, WORKERS):
        path = f'{folder}/docker-{number:064x}.scope'
        os.mkdir(path)
        try:
            start_some(STARTS // CGROUPS, f'{path}/cgroup.procs')
        finally:
            os.rmdir(path)


class Churn:
    def __enter__(self):
        self.folder = f'{cgroup_root()}/watt-soak-{os.getpid()}.slice'
        try:
            os.mkdir(self.folder)
        except OSError as error:
            raise Skip(f'no cgroup can be made: {error}') from error
        self.pids = []
        for worker in range(WORKERS):
            pid = os.fork()
            if pid == 0:
                status = 1
                try:
                    churn(self.folder, worker)
                    status = 0
                finally:
                    os._exit(status)
            self.pids.append(pid)
        return self

    def is_over(self):
        for pid in list(self.pids):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                self.pids.remove(pid)
                true(status == 0, f'a worker ended with status {status}')
        return not self.pids

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
        for path in glob.glob(f'{self.folder}/*.scope') + [self.folder]:
            os.rmdir(path)

    def n_done(self):
        """How far the slowest is, by the names of those that are there now."""
        found = [int(re.search(r'docker-([0-9a-f]{64})', path).group(1), 16)
                 for path in glob.glob(f'{self.folder}/*.scope')]
        return min(found) if found else None


def metrics_of(agent):
    with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}/metrics', timeout=PATIENCE_S) as answer:
        return Metrics(answer.read().decode(), False)


def look(agent):
    """What is held at any moment; resident bytes and series."""
    metrics = metrics_of(agent)
    check_sums(metrics)
    for level in ('process', 'container'):
        told = {tuple(sorted((key, value) for key, value in labels.items() if key != 'domain'))
                for _, labels, _ in metrics.get(f'wattribute_{level}_joules_total')}
        # those who came first keep their places for a while, and there are the other kinds of rows
        true(len(told) <= 2 * TOP + 10, f'{len(told)} are told of at level {level}')
    return int(metrics.value('wattribute_agent_resident_memory_bytes')), len(metrics.samples)


def test_churn():
    if run('doctor').status != 0:
        raise Skip('nothing can be measured here')
    begin = time.monotonic()
    with Agent('--sources=synth', f'--top={TOP}', '--min-age=0s', '--keep-ended=5s') as agent, Churn() as churned:
        seen, next_look = [], CGROUPS // LOOKS
        while not churned.is_over():
            done = churned.n_done()
            if done is not None and done >= next_look:
                seen.append(look(agent))
                next_look += CGROUPS // LOOKS
            time.sleep(0.2)
        took_s = time.monotonic() - begin
        last, series = look(agent)
        metrics = metrics_of(agent)
        true(len(seen) >= LOOKS // 2, f'{len(seen)} looks')
        early = max(size for size, _ in seen[:len(seen) // 2 + 1])
        print(f'soak: {STARTS} processes in {CGROUPS} containers within {took_s:.0f} s, {len(seen)} looks; '
              f'{early / 2**20:.1f} MiB at most in the first half, {last / 2**20:.1f} MiB at the end, {series} series; '
              f'{metrics.value("wattribute_lost_usage_records_total")} records lost, '
              f'{metrics.value("wattribute_conservation_checks_total")} checks')
        true(last <= early * MAY_GROW + MAY_GROW_BYTES,
             f'resident memory grew: {[round(size / 2**20, 1) for size, _ in seen]} and {last / 2**20:.1f} MiB')
        ended = [value for name, _, value in metrics.samples if name == 'wattribute_level_retired_total']
        true(sum(ended) > TOP, f'{sum(ended)} were told of and are no more')


main([test_churn])
