#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a report costs: of a recording of 10 minutes with 200 processes, made up by made_report, the
time to write its page, the size of it, and how long a browser needs to show it.

The time is that from the start of the navigation to the first chart that is drawn, by the page's
own mark, from a file and without a network; the browser runs already, as a person's does.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
# A copy of this file lies beside the other benchmarks of a build: <build>/tests/bench.
BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOP = os.getcwd() if os.path.exists('tests/integration/browser.py') else os.path.dirname(BUILD)
sys.path.insert(0, os.path.join(TOP, 'tests', 'integration'))
import browser as chromium  # noqa: E402

MADE = os.path.join(BUILD, 'tests', 'integration', 'made_report')
ROUNDS = 9
BAR_S = 1.0


def say(what, figure, unit, conditions, bar='', is_met=None):
    verdict = '' if is_met is None else 'met' if is_met else 'missed'
    print('\t'.join(('bench', what, figure, unit, bar, verdict, conditions)), flush=True)


def children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write(kind, form, path):
    """CPU time of writing a report, in s."""
    before = children_s()
    with open(path, 'wb') as file:
        done = subprocess.run([MADE, kind, form], stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        print('bench-report: ' + done.stderr.strip(), file=sys.stderr)
        sys.exit(77)
    return children_s() - before


def main():
    if not chromium.find():
        print('bench-report: there is no Chromium', file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory(prefix='wattribute-bench-') as folder:
        page = os.path.join(folder, 'page.html')
        what = '600 windows, 200 processes'
        text_s = min(write('full', 'text', page) for _ in range(5))
        page_s = min(write('full', 'html', page) for _ in range(5))
        say('report: windows to summary', f'{text_s * 1e3:.0f}', 'ms', what + ': CPU time, least of 5')
        say('report: windows to page', f'{page_s * 1e3:.0f}', 'ms', what + ': CPU time, least of 5')
        size = os.path.getsize(page)
        say('report: size of the page', f'{size / 1e6:.2f}', 'MB', what + '; a tenth of it is script and style')
        drawn = []
        with chromium.Browser(60) as browser:
            for _ in range(ROUNDS + 1):
                shown = browser.open('file://' + page)
                drawn.append(shown.eval("performance.getEntriesByName('drawn')[0].startTime") / 1e3)
                shown.close()
        drawn = sorted(drawn[1:])
        middle = statistics.median(drawn)
        say('report: page to first chart drawn', f'{middle * 1e3:.0f}', 'ms',
            f'{what}; headless Chromium, median of {ROUNDS}; {drawn[0] * 1e3:.0f} to {drawn[-1] * 1e3:.0f} ms',
            f'<= {BAR_S * 1e3:.0f} ms', middle <= BAR_S)
    return 0


sys.exit(main())
