# SPDX-License-Identifier: Apache-2.0
"""An agent that runs, for tests that ask it."""
import os
import re
import signal
import subprocess
import tempfile
import time

from command import PROGRAM, true

PATIENCE_S = 120  # for what must happen, on a machine that others use, too


class Agent:
    """One that runs; its port is what it got."""

    def __init__(self, *args, env=None, command=(PROGRAM, 'agent')):
        self.log = tempfile.TemporaryFile('w+')
        # Nothing of this machine's: neither settings nor variables.
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith('WATTRIBUTE_')}
        self.child = subprocess.Popen(
            [*command, '--listen=127.0.0.1:0', '--interval=100ms', *args],
            stdin=subprocess.DEVNULL, stderr=self.log, env={**clean, **(env or {})})
        self.port = None

    def __enter__(self):
        self.wait_for(lambda: re.search(r'serves https?://127\.0\.0\.1:(\d+)/', self.said()),
                      'it does not serve')
        self.port = int(re.search(r'serves https?://127\.0\.0\.1:(\d+)/', self.said()).group(1))
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.log.close()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while True:
            found = condition()
            if found:
                return found
            true(self.child.poll() is None, f'it ended: {self.said()}')
            true(time.monotonic() < end, f'{what}; it said: {self.said()}')
            time.sleep(0.02)

    def end(self, number=signal.SIGTERM):
        self.child.send_signal(number)
        return self.child.wait(PATIENCE_S)
