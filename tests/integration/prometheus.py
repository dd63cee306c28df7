# SPDX-License-Identifier: Apache-2.0
"""A Prometheus server that asks agents, with the rules that come with them."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from agent import PATIENCE_S
from command import TOP, Skip, true

CONFIG = """
global: {{scrape_interval: {interval}, scrape_timeout: {interval}, evaluation_interval: {evaluation}}}
rule_files: [{folder}/*.rules.yaml]
scrape_configs:
  - job_name: wattribute
    static_configs: [{{targets: [{targets}]}}]
"""


class Prometheus:
    """A server that asks agents."""

    def __init__(self, *agents, interval='500ms', evaluation='200ms', options=()):
        if not shutil.which('prometheus'):
            raise Skip('missing: prometheus')
        self.folder = tempfile.TemporaryDirectory(prefix='watt-prometheus-')
        for path in glob.glob(os.path.join(TOP, 'deploy/prometheus/*.rules.yaml')):
            shutil.copy(path, self.folder.name)
        self.write('prometheus.yml', CONFIG.format(
            folder=self.folder.name, interval=interval, evaluation=evaluation,
            targets=', '.join(f"'127.0.0.1:{agent.port}'" for agent in agents)))
        self.log = tempfile.TemporaryFile('w+')
        self.child = subprocess.Popen(
            ['prometheus', f'--config.file={self.folder.name}/prometheus.yml',
             f'--storage.tsdb.path={self.folder.name}/data', '--web.listen-address=127.0.0.1:0', *options],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.url = None

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def __enter__(self):
        self.wait_for(self.find_url, 'it does not listen')
        self.wait_for(self.is_up, 'it is not ready')
        return self

    def __exit__(self, *_):
        self.child.kill()
        self.child.wait()
        self.log.close()
        self.folder.cleanup()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def find_url(self):
        found = re.search(r'msg="Listening on" address=(127\.0\.0\.1:[1-9]\d*)', self.said())
        self.url = f'http://{found.group(1)}' if found else None
        return self.url

    def wait_for(self, condition, what):
        end = time.monotonic() + PATIENCE_S
        while True:
            found = condition()
            if found:
                return found
            true(self.child.poll() is None, f'it ended: {self.said()}')
            true(time.monotonic() < end, f'{what}; it said: {self.said()[-2000:]}')
            time.sleep(0.1)

    def is_up(self):
        try:
            with urllib.request.urlopen(f'{self.url}/-/ready', None, PATIENCE_S):
                return True
        except urllib.error.HTTPError:
            return False

    def ask(self, path, **query):
        data = urllib.parse.urlencode(query).encode() if query else None
        try:
            with urllib.request.urlopen(f'{self.url}/api/v1/{path}', data, PATIENCE_S) as answer:
                return json.load(answer)['data']
        except urllib.error.HTTPError as error:
            raise AssertionError(f'{path} {query}: {error.read().decode()}') from error

    def query(self, expression):
        """[(labels, value)] of now."""
        data = self.ask('query', query=expression)
        if data['resultType'] == 'scalar':
            return [({}, float(data['result'][1]))]
        return [(one['metric'], float(one['value'][1])) for one in data['result']]

    def value(self, expression):
        """The only one, once there is one."""
        (_, value), = self.wait_for(lambda: self.query(expression), f'nothing for {expression}')
        return value
