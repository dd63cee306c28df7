#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An upsd that never was, on 127.0.0.1: its text protocol, with UPSs, and with faults.

`with Upsd({'rack': {'ups.realpower': '231.5'}}) as upsd: upsd.place` is "127.0.0.1:PORT". What it has
may be changed at any time. `stale`: names whose driver has nothing new; `fault`: 'silent' never
answers, 'hangup' ends each connection, 'noise' says what no upsd says. As a program it prints its
place and answers until its input ends.
"""
import socket
import socketserver
import sys
import threading

DESCRIPTION = r'"It is \"mine\", \\ and no other"'


class Handler(socketserver.StreamRequestHandler):
    def lines(self):
        try:
            yield from self.rfile
        except OSError:
            pass  # the other side is gone

    def handle(self):
        self.server.upsd.connections.append(self.connection)
        for raw in self.lines():
            fault = self.server.upsd.fault
            if fault == 'hangup':
                return
            if fault == 'silent':
                continue
            answer = self.server.upsd.answer(raw.decode('ascii').split())
            if fault == 'noise':
                answer = 'HTTP/1.0 400 "what\n'
            self.wfile.write(answer.encode('utf-8'))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True


class Upsd:
    def __init__(self, supplies, port=0):
        self.supplies = supplies
        self.stale = set()
        self.fault = None
        self.asked = []
        self.connections = []
        # Nobody else gets the port, whether somebody listens there or not.
        self.keeper = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.keeper.bind(('127.0.0.1', port))
        port = self.keeper.getsockname()[1]
        self.server = Server(('127.0.0.1', port), Handler)
        self.server.upsd = self
        self.port = self.server.server_address[1]
        self.place = f'127.0.0.1:{self.port}'

    def answer(self, words):
        self.asked.append(words)
        if words == ['LIST', 'UPS']:
            lines = [f'UPS {name} {DESCRIPTION}\n' for name in self.supplies]
            return 'BEGIN LIST UPS\n' + ''.join(lines) + 'END LIST UPS\n'
        if len(words) != 4 or words[:2] != ['GET', 'VAR']:
            return 'ERR INVALID-ARGUMENT\n'
        name, variable = words[2:]
        if name not in self.supplies:
            return 'ERR UNKNOWN-UPS\n'
        if name in self.stale:
            return 'ERR DATA-STALE\n'
        if variable not in self.supplies[name]:
            return 'ERR VAR-NOT-SUPPORTED\n'
        return f'VAR {name} {variable} "{self.supplies[name][variable]}"\n'

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.05})
        self.thread.start()
        return self

    def stop(self):
        """Ends all connections, too."""
        if not self.thread:
            return
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        self.thread = None
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended

    def __exit__(self, *_):
        self.stop()
        self.keeper.close()


if __name__ == '__main__':
    with Upsd({'ups': {'ups.realpower': '231.5', 'ups.realpower.nominal': '900'}}) as one:
        print(one.place, flush=True)
        sys.stdin.read()
