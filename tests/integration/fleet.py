# SPDX-License-Identifier: Apache-2.0
"""A fleet that never was: agents on this machine, each with an instrument of its own, whose truth is known."""
import contextlib
import os
import socket
import tempfile
import threading
import time

from agent import Agent

MICRO = 1000000


class Instrument:
    """Counts joules for one node: as many watts as it is told, from the moment that it is told."""

    def __init__(self, path):
        self.power_w = 0
        self.energy_uj = 0
        self.since = time.monotonic()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(path)
        self.socket.listen()
        self.socket.setblocking(False)
        self.clients = []

    def set_power(self, power_w):
        self.count()
        self.power_w = power_w

    def count(self):
        now = time.monotonic()
        self.energy_uj += int(self.power_w * (now - self.since) * MICRO)
        self.since = now

    def tell(self):
        """One line to each who listens."""
        with contextlib.suppress(BlockingIOError):
            while True:
                self.clients.append(self.socket.accept()[0])
        self.count()
        line = f'J {self.energy_uj // MICRO}.{self.energy_uj % MICRO:06}\n'.encode()
        for client in list(self.clients):
            try:
                client.sendall(line)
            except OSError:
                client.close()
                self.clients.remove(client)


class Fleet:
    """Agents whose nodes are measured by instruments, and what runs on them made up."""

    def __init__(self, n, *args, period_s=0.5):
        self.folder = tempfile.TemporaryDirectory(prefix='watt-fleet-')
        self.paths = [os.path.join(self.folder.name, f'node-{i}') for i in range(n)]
        self.instruments = [Instrument(path) for path in self.paths]
        self.args, self.period_s = args, period_s
        self.agents = []
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.teller = threading.Thread(target=self.keep_telling)
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        self.teller.start()
        with contextlib.ExitStack() as stack:
            stack.callback(self.end)
            for path in self.paths:
                self.agents.append(stack.enter_context(Agent(
                    '--sources=meter', f'--meter=unix:{path}', '--usage=synth', '--min-age=0s', *self.args)))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def end(self):
        self.is_over.set()
        self.teller.join()
        self.folder.cleanup()

    def keep_telling(self):
        while not self.is_over.wait(self.period_s):
            with self.lock:
                for instrument in self.instruments:
                    instrument.tell()

    def set_powers(self, powers_w):
        with self.lock:
            for instrument, power_w in zip(self.instruments, powers_w):
                instrument.set_power(power_w)

    def truth_uj(self):
        """What each node has used so far."""
        with self.lock:
            for instrument in self.instruments:
                instrument.count()
            return [instrument.energy_uj for instrument in self.instruments]
