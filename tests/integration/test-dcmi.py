#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the machine's own BMC says by DCMI: as the machine's total, and whatever can be wrong with it."""
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import BUILD, equal, looking_at, main, run, true  # noqa: E402

USUAL = ('--sources=dcmi', '--usage=procfs')


class Bmc:
    """A device with a BMC behind it, in a sysfs that has nothing else."""

    def __init__(self, script, has_device=True):
        self.folder = tempfile.TemporaryDirectory()
        os.makedirs(self.path('sys/class/net'))
        if has_device:
            os.makedirs(self.path('sys/class/ipmi/ipmi0'))
        self.say(script)
        self.options = (*USUAL, '--sysfs-root', self.path('sys'))
        self.env = {'LD_PRELOAD': os.path.join(BUILD, 'tests/fake/libfake_ipmi.so'),
                    'FAKE_IPMI': self.path('script')}

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def say(self, script):
        with open(self.path('new'), 'w', encoding='utf-8') as file:
            file.write(script + '\n')
        os.rename(self.path('new'), self.path('script'))

    def run(self, command, *args):
        return run(command, *self.options, *args, env=self.env)

    def diag(self):
        found = self.run('doctor', '--json').json()['sources']
        return [source for source in found if source['source'] == 'dcmi'][0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()


def test_total():
    """What it says is the machine's, which a command's time is a part of."""
    with Bmc('power 312') as bmc:
        channel, = bmc.run('sources', '--json').json()['channels']
        equal((channel['name'], channel['domain'], channel['kind'], channel['path']),
              ('dcmi/node/power', 'node', 'total', '/dev/ipmi0'))
        deadline = time.monotonic() + 60
        while True:  # a busy machine may read nothing within a run: then once more
            result = bmc.run('stat', '--json', '--', 'sleep', '2.5')
            equal(result.status, 0, result.err)
            one, = result.json()['runs']
            if one['machine_energy_j'] and abs(one['machine_energy_j'] / one['elapsed_s'] / 312 - 1) < 0.05:
                equal([domain['path'] for domain in one['domains']], ['node'], 'domains')
                return
            true(time.monotonic() < deadline, f'{one}')


def test_what_can_be_wrong():
    """Each says what it is, and what to do."""
    for script, state, *words in (
            ('answer c1', 'absent', 'no DCMI', '--redfish-url'),
            ('open 13', 'forbidden', 'may not ask', 'root'),
            ('open 2', 'broken', 'no such device', 'container'),
            ('none', 'broken', 'does not answer'),
            ('power 0', 'broken', '0 W')):
        with Bmc(script) as bmc:
            diag = bmc.diag()
            equal(diag['state'], state, f'{script}: {diag}')
            for word in words:
                true(word in diag['why'] + (diag['hint'] or ''), f'{script}: no {word!r} in {diag}')
    with Bmc('power 312', has_device=False) as bmc:
        diag = bmc.diag()
        equal(diag['state'], 'absent', diag)
        true('ipmi_devintf' in diag['hint'], diag)
    with Bmc('answer d4') as bmc:
        result = bmc.run('sources')
        true(result.status != 0 and 'dcmi' in result.err, result.err)


def test_comes_and_goes():
    """One that says nothing for a while is stale; what it says later is taken."""
    with Bmc('power 200') as bmc, looking_at('node', '--delay=0.5s', *bmc.options, env=bmc.env) as wait_for:
        wait_for(lambda node: node['power_w'] and abs(node['power_w'] - 200) < 0.01, 'it does not come')
        bmc.say('none')
        wait_for(lambda node: node['status'] == 'stale', 'it is not missed')
        bmc.say('power 250')
        wait_for(lambda node: node['power_w'] and abs(node['power_w'] - 250) < 0.01, 'it is not back')


main([test_total, test_what_can_be_wrong, test_comes_and_goes])
