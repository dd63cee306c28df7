#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What uninterruptible supplies say by Network UPS Tools: one as the machine's total, all of a server
shown, and whatever can be wrong with them."""
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import TOP, equal, looking_at, main, near, run, true  # noqa: E402

sys.path.insert(0, os.path.join(TOP, 'tests', 'fake'))
from upsd import Upsd  # noqa: E402

SUPPLIES = {
    'rack': {'ups.realpower': '231.5', 'ups.realpower.nominal': '900', 'driver.parameter.pollinterval': '5'},
    'desk': {'ups.load': '23', 'ups.realpower.nominal': '600'},
    'Desk': {'ups.load': '40', 'ups.realpower.nominal': '600'},
    'old': {'ups.load': '30', 'ups.power.nominal': '600'},
}


def ask(place):
    """What doctor says of the source."""
    found = run('doctor', '--json', '--sources=nut', '--usage=procfs', f'--meter=nut:{place}').json()['sources']
    return [source for source in found if source['source'] == 'nut'][0]


def says(diag, state, *words):
    equal(diag['state'], state, diag)
    for word in words:
        true(word in (diag['why'] or '') + (diag['hint'] or ''), f'no {word!r} in {diag!r}')


def wait_for_watts(place, domain, expected):
    """A busy machine may read nothing within a run: then once more."""
    deadline = time.monotonic() + 60
    while True:
        result = run('top', '--once', '--json', '--delay=2s', '--sources=nut', '--usage=procfs',
                     f'--meter=nut:{place}')
        equal(result.status, 0, result.err)
        watts = [d['power_w'] for d in result.json()['domains'] if d['path'] == domain]
        if watts and watts[0]:
            near(watts[0], expected, 1e-6, f'{place}: {domain}')
            return
        true(time.monotonic() < deadline, f'{place}: {watts}')


def test_one_that_is_named_is_the_total():
    with Upsd(SUPPLIES) as upsd:
        says(ask(f'rack@{upsd.place}'), 'available', "machine's total")
        result = run('sources', '--json', '--sources=nut', f'--meter=nut:rack@{upsd.place}')
        equal(result.status, 0, result.err)
        channel, = result.json()['channels']
        equal((channel['name'], channel['domain'], channel['kind'], channel['label'], channel['period_s']),
              ('nut/node/power', 'node', 'total', 'rack', 5.0))
        domain, = result.json()['domains']
        equal((domain['path'], domain['is_summed']), ('node', True))
        wait_for_watts(f'rack@{upsd.place}', 'node', 231.5)
        true(all(words[0] in ('GET', 'LIST') for words in upsd.asked), 'it was commanded')


def test_load_of_what_it_is_rated_for():
    with Upsd(SUPPLIES) as upsd:
        wait_for_watts(f'desk@{upsd.place}', 'node', 138.0)
        channel, = run('sources', '--json', '--sources=nut', f'--meter=nut:desk@{upsd.place}').json()['channels']
        equal(channel['uncertainty_ratio'], 0.1)
        says(ask(f'old@{upsd.place}'), 'broken', 'neither ups.realpower nor ups.load')


def test_all_of_a_server_are_shown():
    with Upsd(SUPPLIES) as upsd:
        result = run('sources', '--json', f'--meter=nut:{upsd.place}', '--sources=nut')
        equal(result.status, 0, result.err)
        found = {channel['domain']: channel for channel in result.json()['channels']}
        equal(sorted(found), ['supply-ups-desk', 'supply-ups-desk-2', 'supply-ups-rack'])
        true('old@' in result.err and 'no watts' in result.err, result.err)
        equal({channel['kind'] for channel in found.values()}, {'supply'})
        says(ask(upsd.place), 'available', '3 UPS', 'UPS@HOST')


def fails(place, word, status=1):
    """The same without a look at all else, which takes long."""
    result = run('sources', '--sources=nut', '--usage=procfs', f'--meter=nut:{place}')
    equal(result.status, status, f'{place}: {result.err!r}')
    true(word in result.err, f'no {word!r} in {result.err!r}')


def test_what_can_be_wrong():
    with Upsd(SUPPLIES) as upsd:
        says(ask(f'attic@{upsd.place}'), 'broken', 'knows no UPS of that name', 'upsc -l')
        fails(f'@{upsd.place}', 'Invalid argument', status=2)
        fails(f'a b@{upsd.place}', 'Invalid argument', status=2)
        upsd.fault = 'hangup'
        fails(f'rack@{upsd.place}', 'Broken pipe')
        upsd.fault = 'noise'
        fails(f'rack@{upsd.place}', 'Bad message')
        upsd.fault = 'silent'
        says(ask(f'rack@{upsd.place}'), 'broken', 'does not answer in time')
        upsd.stop()
        says(ask(f'rack@{upsd.place}'), 'broken', 'no upsd listens there')
        fails(f'rack@{upsd.place}', 'no upsd listens there')
    result = run('doctor', '--meter=ups:rack')
    equal(result.status, 2, result.err)
    true('nut:UPS@HOST' in result.err, result.err)


def says_watts(domain):
    return domain['power_w'] and abs(domain['power_w'] - 231.5) < 0.01


def test_what_happens_while_it_is_read():
    """A driver that is late, a server that goes, and both are back."""
    with Upsd(SUPPLIES) as upsd:
        port = upsd.port
        upsd.stale.add('rack')  # it may come: the way is found then
        with looking_at('node', '--delay=0.5s', '--sources=nut', '--usage=procfs',
                        f'--meter=nut:rack@127.0.0.1:{port}') as wait_for:
            wait_for(lambda node: node['status'] != 'ok', 'a value of nothing')
            upsd.stale.clear()
            wait_for(says_watts, 'it does not come')
            upsd.stop()
            wait_for(lambda node: node['status'] == 'stale', 'it is not missed')
            with Upsd(SUPPLIES, port=port):
                wait_for(says_watts, 'it is not back')


main([test_one_that_is_named_is_the_total, test_load_of_what_it_is_rated_for, test_all_of_a_server_are_shown,
      test_what_can_be_wrong, test_what_happens_while_it_is_read])
