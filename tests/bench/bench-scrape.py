#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a scrape costs: an agent that attributes what real processes do, at 20 Hz, and refreshes what it
serves between one scrape and the next, so that each is written anew: at least 10,000 series.

The time is the client's, from its request to the last byte, over a connection that stays. Beside it is
the CPU time of the thread that answers, which says the same on a machine that is busy with more.
"""
import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# A copy of this file lies beside the other benchmarks of a build: <build>/tests/bench.
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AGENT = os.path.join(BUILD, 'agent', 'wattribute-agent')
SERIES = 10000
PROCESSES = 1300
SCRAPES = 500
BAR_MS = 5.0
PATIENCE_S = 120


def say(what, figure, unit, conditions, bar='', is_met=None):
    verdict = '' if is_met is None else 'met' if is_met else 'missed'
    print('\t'.join(('bench', what, figure, unit, bar, verdict, conditions)), flush=True)


def begin_processes():
    """Processes that do a little, each at its own time."""
    pids = []
    for number in range(PROCESSES):
        pid = os.fork()
        if pid == 0:
            try:
                time.sleep(number / PROCESSES)
                while os.getppid() != 1:
                    end = time.process_time() + 0.0005
                    while time.process_time() < end:
                        pass
                    time.sleep(2)
            finally:
                os._exit(0)
        pids.append(pid)
    return pids


def ask(connection):
    """Seconds that it took, and the text."""
    begin = time.perf_counter()
    connection.request('GET', '/metrics')
    text = connection.getresponse().read()
    return time.perf_counter() - begin, text


def count(text):
    return sum(not line.startswith(b'#') for line in text.splitlines())


def find_port(child, log):
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and child.poll() is None:
        log.seek(0)
        found = re.search(r'serves http://127\.0\.0\.1:(\d+)/', log.read())
        if found:
            return int(found.group(1))
        time.sleep(0.05)
    log.seek(0)
    print('bench-scrape: the agent does not serve: ' + log.read().strip(), file=sys.stderr)
    sys.exit(77)


def find_server(pid):
    """What the thread that answers has taken so far is in this file."""
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/comm', encoding='ascii') as file:
            if file.read().startswith('MHD'):
                return f'/proc/{pid}/task/{task}/schedstat'
    print('bench-scrape: no thread of the agent serves', file=sys.stderr)
    sys.exit(77)


def cpu_ms(path):
    with open(path, encoding='ascii') as file:
        return int(file.read().split()[0]) / 1e6


def measure(connection, server):
    """Times and CPU times in ms, how many series the smallest answer had, and the last one."""
    end = time.monotonic() + PATIENCE_S
    while count(ask(connection)[1]) < SERIES and time.monotonic() < end:
        time.sleep(0.5)
    times, costs, least = [], [], None
    for _ in range(SCRAPES):
        time.sleep(0.055)  # a refresh lies between two of them
        before = cpu_ms(server)
        took_s, text = ask(connection)
        times.append(took_s * 1e3)
        time.sleep(0.002)  # until it sleeps again
        costs.append(cpu_ms(server) - before)
        least = min(count(text), least or 1 << 30)
    return sorted(times), sorted(costs), least, text


def at(values, percent):
    return values[len(values) * percent // 100]


def report(times, costs, least, text):
    what = f'at least {least} series, {len(text) / 1e6:.2f} MB, 20 Hz, {SCRAPES} scrapes, each written anew'
    say('scrape', f'{at(times, 99):.2f}', 'ms', f'{what}: p99; p50 {at(times, 50):.2f} ms', f'<= {BAR_MS:g} ms',
        at(times, 99) <= BAR_MS and least >= SERIES)
    say('scrape: CPU time', f'{at(costs, 99):.2f}', 'ms', f'{what}: p99 of its thread; p50 {at(costs, 50):.2f} ms')
    failed = re.search(rb'^wattribute_conservation_errors_total (\S+)$', text, re.M).group(1)
    if failed != b'0':
        print(f'bench-scrape: {failed.decode()} conservation errors', file=sys.stderr)
    return int(failed != b'0')


def main():
    if not os.path.exists(AGENT):
        print('bench-scrape: the agent was not built', file=sys.stderr)
        return 77
    pids = begin_processes()
    with tempfile.TemporaryFile('w+') as log:
        child = subprocess.Popen(
            [AGENT, '--listen=127.0.0.1:0', '--sources=synth', '--interval=50ms', '--slice=50ms',
             '--min-age=0s', '--top=10000', '--level-domains=all', '--levels=process,user'],
            stdin=subprocess.DEVNULL, stderr=log)
        try:
            connection = http.client.HTTPConnection('127.0.0.1', find_port(child, log),
                                                    timeout=PATIENCE_S)
            return report(*measure(connection, find_server(child.pid)))
        finally:
            child.terminate()
            child.wait()
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            for pid in pids:
                os.waitpid(pid, 0)


if __name__ == '__main__':
    sys.exit(main())
