#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the page of `wattribute report` together: markup, style, script, and uPlot.

usage: build.py OUTPUT.c CACHE NPM

uPlot is fetched by the npm client into CACHE, in the version and with the checksum of
package-lock.json; a second build needs no network. Without it the page is empty, the command says
so when it is asked for one, and the next build tries again. Script and style may run by their
checksums alone, which the page's policy names: nothing else in it ever can.
"""
import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPTS = ['../tally.js', 'data.js', 'format.js', 'chart.js', 'context.js', 'table.js', 'page.js']
HOLE = '@DATA@'


def read(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def fetch(cache, npm):
    """Folder of the uplot package, or None (having said why)."""
    folder = os.path.join(cache, 'node_modules', 'uplot')
    lock = read(HERE, 'package-lock.json')
    stamp = os.path.join(cache, 'package-lock.json')
    if os.path.exists(os.path.join(folder, 'LICENSE')) and os.path.exists(stamp) and read(stamp) == lock:
        return folder
    if not npm:
        return None
    shutil.rmtree(cache, ignore_errors=True)
    os.makedirs(cache)
    for name in ('package.json', 'package-lock.json'):
        shutil.copy(os.path.join(HERE, name), cache)
    try:
        done = subprocess.run([npm, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline',
                               '--fetch-retries=1', '--fetch-timeout=30000'], cwd=cache, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=180)
    except (OSError, subprocess.TimeoutExpired) as failure:
        print(f'web/report: npm: {failure}', file=sys.stderr)
        shutil.rmtree(cache, ignore_errors=True)
        return None
    if done.returncode or not os.path.exists(os.path.join(folder, 'LICENSE')):
        last = [line for line in done.stdout.splitlines() if line.strip()][-3:]
        print('web/report: npm could not fetch uPlot: ' + ' / '.join(last), file=sys.stderr)
        shutil.rmtree(cache, ignore_errors=True)
        return None
    return folder


def checksum(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def without_comments(text):
    return re.sub(r'/\*.*?\*/\s*', '', text, flags=re.S)


def page(uplot):
    version = re.search(r'"version":\s*"([0-9.]+)"', read(uplot, 'package.json')).group(1)
    licence = read(uplot, 'LICENSE').strip().replace('&', '&amp;').replace('<', '&lt;')
    scripts = {
        '@UPLOT_JS@': read(uplot, 'dist', 'uPlot.iife.min.js').strip(),
        '@REPORT_JS@': '(() => {\n\'use strict\';\n' + ''.join(without_comments(read(HERE, n)) for n in SCRIPTS) + '})();',
    }
    styles = {
        '@UPLOT_CSS@': read(uplot, 'dist', 'uPlot.min.css').strip(),
        '@REPORT_CSS@': without_comments(read(HERE, 'report.css')).strip(),
    }
    # A browser wants to see the kind of document first.
    text = read(HERE, 'report.html').split('\n', 1)[1]
    for name, content in scripts.items():
        if '</script' in content:
            sys.exit(f'web/report: {name} would end its own element')
    values = {**scripts, **styles, '@UPLOT_VERSION@': version, '@UPLOT_LICENSE@': licence,
              '@SCRIPT_HASHES@': ' '.join(map(checksum, scripts.values())),
              '@STYLE_HASHES@': ' '.join(map(checksum, styles.values()))}
    # One pass: what is put in is not looked at again.
    text = re.sub('|'.join(values), lambda found: values[found.group()], text)
    if text.count(HOLE) != 1:
        sys.exit(f'web/report: the page must have {HOLE} once')
    return text


def write(output, text):
    data = text.replace(HOLE, '').encode()
    hole = len(text[:text.index(HOLE)].encode()) if text else 0
    rows = [','.join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
    with open(output, 'w', encoding='utf-8') as file:
        file.write('/* SPDX-License-Identifier: Apache-2.0 AND MIT */\n/* Made by web/report/build.py. */\n'
                   '#include "sink/html_template.h"\n\nconst unsigned char watt_html_template[] = {\n'
                   + ',\n'.join(rows or ['0']) + '\n};\n'
                   f'const size_t watt_html_template_size = {len(data)};\n'
                   f'const size_t watt_html_template_hole = {hole};\n')


def main():
    output, cache, npm = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ''
    uplot = fetch(cache, npm)
    if uplot:
        write(output, page(uplot))
        return
    print('web/report: the page is left out: ' + ('it is tried again with the next build' if npm else 'there is no npm'),
          file=sys.stderr)
    write(output, '')
    # Older than its inputs, so that the next build makes it again.
    if npm:
        os.utime(output, (0, 0))


main()
