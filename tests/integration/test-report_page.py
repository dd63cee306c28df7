#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a report in a browser: it says what the JSON says, does what it offers, asks the
network for nothing, and no name in it is ever more than a name.

The recordings are made up by made_report, so that there is everything that can be in one.
"""
import json
import os
import re
import subprocess
import sys
import struct
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser as chromium  # noqa: E402

BUILD = os.environ['WATT_BUILD']
MADE = os.path.join(BUILD, 'tests', 'integration', 'made_report')
BROWSER = None
FOLDER = None


def made(kind, form):
    return subprocess.run([MADE, kind, form], stdout=subprocess.PIPE, check=True).stdout


def nj(title):
    """The exact number that a title holds."""
    return int(float(re.fullmatch(r'(-?[0-9.e+]+) nJ', title).group(1)))


def number(text):
    """What a cell says; "<0.1" is no step."""
    return 0 if text.startswith('<') else float(text.replace('\u2212', '-'))


class Page(unittest.TestCase):
    def open(self, kind, **how):
        path = os.path.join(FOLDER, kind + '.html')
        if not os.path.exists(path):
            with open(path, 'wb') as file:
                file.write(made(kind, 'html'))
        self.document = json.loads(made(kind, 'json'))
        self.page = BROWSER.open('file://' + path, **how)
        self.page.settle()
        self.addCleanup(self.finish, self.page)
        return self.page

    def finish(self, page):
        self.assertEqual(page.problems, [], 'the console and the network stay silent')
        page.close()

    def titles(self, table, column):
        """Exact values of a column of a table."""
        return self.page.eval(f'[...document.querySelectorAll("#{table} tbody tr")].map('
                              f'(r) => r.children[{column}].title)')

    def texts(self, table, column):
        return self.page.eval(f'[...document.querySelectorAll("#{table} tbody tr")].map('
                              f'(r) => r.children[{column}].textContent)')

    def headings(self, table):
        return self.page.eval(f'[...document.querySelectorAll("#{table} thead th")].map((t) => t.textContent)')

    def range_nj(self):
        return nj(self.page.eval('document.querySelector("#range b").title'))

    def click(self, selector):
        self.page.eval(f'document.querySelector({json.dumps(selector)}).click()')
        self.page.settle()

    def plot_box(self):
        return self.page.eval('(() => { const o = document.querySelector("#chart-entity .u-over"); '
                              'o.scrollIntoView({block: "center"}); const b = o.getBoundingClientRect(); '
                              'return [b.left, b.top, b.width, b.height]; })()')

    def test_numbers_are_those_of_the_json(self):
        for kind in ('full', 'plain', 'hostile', 'one', 'estimate'):
            with self.subTest(kind):
                self.open(kind)
                document = self.document
                if self.page.eval('!document.getElementById("more").hidden'):
                    self.click('#more')
                wanted = {e['pid'] or e['name']: e for e in document['entities']
                          if e['energy_nj'] or (e['cpu_s'] or 0) > 0}
                column = self.headings('entities-table').index('J')
                pids, names = self.texts('entities-table', 1), self.titles('entities-table', 0)
                energies = self.titles('entities-table', column)
                powers = self.titles('entities-table', column + 1)
                self.assertEqual(len(energies), len(wanted))
                for pid, name, energy, power in zip(pids, names, energies, powers):
                    entity = wanted.pop(int(pid) if pid else name)
                    self.assertEqual(nj(energy), entity['energy_nj'], name)
                    self.assertAlmostEqual(float(power[:-2]), entity['power_w'], 9, name)
                self.assertEqual(wanted, {})
                self.assertEqual(sum(map(nj, energies)), document['total']['energy_nj'])
                self.assertEqual(self.range_nj(), document['total']['energy_nj'])
                tiles = self.page.eval('[...document.querySelectorAll(".tile")].map((t) => t.title)')
                self.assertEqual(nj(tiles[0]), document['total']['energy_nj'])
                self.assertEqual(float(tiles[1][:-2]), document['total']['power_w'])
                self.assertEqual([nj(t) for t in self.titles('domains-table', 1)],
                                 [d['energy_nj'] for d in document['domains']])

    def test_what_is_read_is_what_is_exact(self):
        self.open('full')
        shown = self.texts('entities-table', self.headings('entities-table').index('J'))
        exact = self.titles('entities-table', self.headings('entities-table').index('J'))
        for text, title in zip(shown, exact):
            if not text.startswith('<'):
                decimals = len(text.partition('.')[2])
                self.assertAlmostEqual(number(text), nj(title) / 1e9, delta=10 ** -decimals)

    def steps(self, texts, decimals):
        """What is read, in steps of the last decimal, of which all have as many."""
        for text in texts:
            if text != '\u2013':
                self.assertEqual(len(text.partition('.')[2]), decimals, texts)
        return [0 if text == '\u2013' else round(number(text) * 10 ** decimals) for text in texts]

    def assert_range_adds_up(self, unit):
        """Who used it, as it is read, is what is said of the range above; returns that text."""
        whole = self.page.eval('document.querySelector("#range b").textContent').split('\u202f')
        self.assertEqual(whole[1], unit)
        decimals = len(whole[0].partition('.')[2])
        column = self.headings('entities-table').index(unit)
        for at, name in ((column, unit), (column + 1, 'mean W')):
            texts = self.texts('entities-table', at)
            if at == column + 1:
                power = re.search(r', ([\d.<]+)\u202f(\w*W) on average', self.page.eval('document.getElementById("range").textContent'))
                whole, decimals = power.groups(), len(power.group(1).partition('.')[2])
                name = 'mean ' + power.group(2)
            self.assertEqual(self.headings('entities-table')[at], name)
            self.assertEqual(sum(self.steps(texts, decimals)), round(float(whole[0]) * 10 ** decimals), f'{name} {texts}')
        shares = [text.split('\u202f')[0] for text in self.texts('entities-table', self.headings('entities-table').index('share'))]
        self.assertEqual(sum(self.steps(shares, 1)), 1000, shares)

    def test_what_is_read_adds_up(self):
        """Tiles, split, users, domains and phases: one unit, and sums that anybody can check."""
        for kind, unit in (('full', 'J'), ('plain', 'J'), ('estimate', 'J'), ('one', 'J'), ('kilo', 'kJ')):
            with self.subTest(kind):
                self.open(kind)
                if self.page.eval('!document.getElementById("more").hidden'):
                    self.click('#more')
                whole, given = self.page.eval('document.querySelector(".tile b").innerText').split('\u202f')
                self.assertEqual(given, unit)
                decimals = len(whole.partition('.')[2])
                split = self.page.eval('[...document.querySelectorAll("#headline .legend b")].map((b) => b.textContent)')
                self.assertEqual({text.split('\u202f')[1] for text in split}, {unit})
                parts = self.steps([text.split('\u202f')[0] for text in split], decimals)
                self.assertEqual(sum(parts), round(float(whole) * 10 ** decimals), split)
                self.assert_range_adds_up(unit)
                self.check_domains(unit, whole, decimals)
                if self.document['phases']:
                    texts = self.texts('phases-table', self.headings('phases-table').index(unit))
                    self.assertEqual(sum(self.steps(texts, decimals)), round(float(whole) * 10 ** decimals), texts)
                    self.click('#phases-table tbody tr:nth-child(2) button')
                    self.assert_range_adds_up(unit)

    def check_domains(self, unit, whole, decimals):
        """Domains are the machine; each is its idle, dynamic and unattributed; none is less than what is in it."""
        headings = self.headings('domains-table')
        columns = {name: self.steps(self.texts('domains-table', headings.index(f'{name} {unit}'.strip())), decimals)
                   for name in ('', 'idle', 'dynamic', 'unattributed')}
        rows = self.document['domains']
        self.assertEqual([d['path'] for d in rows][:2], ['package-0', 'package-0/core'])
        for i, domain in enumerate(rows):
            if domain['is_baseline_ready']:
                self.assertEqual(columns[''][i], sum(columns[name][i] for name in ('idle', 'dynamic', 'unattributed')), domain['path'])
        partition = [i for i, domain in enumerate(rows) if domain['is_partition']]
        self.assertEqual(sum(columns[''][i] for i in partition), round(float(whole) * 10 ** decimals))
        self.assertLessEqual(columns[''][1], columns[''][0], 'what is inside is no more than the whole')

    def test_what_is_hovered_adds_up(self):
        self.open('full')
        left, top, width, height = self.plot_box()
        self.page.mouse('mouseMoved', left + width * 0.5, top + height * 0.5)
        self.page.mouse('mouseMoved', left + width * 0.5 + 3, top + height * 0.5)
        self.page.settle()
        whole, *parts = self.page.eval('[document.querySelector("#tip div:nth-child(2)").textContent, '
                                       '...[...document.querySelectorAll("#tip td.n")].map((t) => t.textContent)]')
        whole = whole.split('\u202f')[0]
        decimals = len(whole.partition('.')[2])
        self.assertGreater(len(parts), 5)
        self.assertEqual({part.split('\u202f')[-1] for part in parts}, {'W'})
        self.assertEqual(sum(self.steps([part.split('\u202f')[0] for part in parts], decimals)), round(float(whole) * 10 ** decimals))

    def test_phases_zoom_to_themselves(self):
        self.open('full')
        phases = self.document['phases']
        self.assertEqual([nj(t) for t in self.titles('phases-table', 3)], [p['energy_nj'] for p in phases])
        for i, phase in enumerate(phases):
            self.click(f'#phases-table tbody tr:nth-child({i + 1}) button')
            self.assertEqual(self.range_nj(), phase['energy_nj'], phase['label'])
            column = self.headings('entities-table').index('J')
            if self.page.eval('!document.getElementById("more").hidden') and i == 0:
                self.click('#more')
            self.assertEqual(sum(map(nj, self.titles('entities-table', column))), phase['energy_nj'])

    def test_zoom_by_mouse(self):
        self.open('full')
        whole = self.document['total']['energy_nj']
        left, top, width, height = self.plot_box()
        self.page.drag(left + width * 0.25, top + 30, left + width * 0.5, top + 60)
        part = self.range_nj()
        self.assertTrue(0.15 * whole < part < 0.35 * whole, f'{part} of {whole}')
        ranges = self.page.eval('document.getElementById("range").textContent')
        self.assertRegex(ranges, r'^2:[23]\d(\.\d)? to (4:5\d|5:0\d)')
        self.page.double_click(left + width / 2, top + height / 2)
        self.assertEqual(self.range_nj(), whole)

    def test_zoom_by_keyboard_and_buttons(self):
        self.open('full')
        whole = self.range_nj()
        self.page.eval('document.getElementById("chart-entity").focus()')
        self.page.key('+', '+')
        half = self.range_nj()
        self.assertTrue(0.4 * whole < half < 0.6 * whole)
        self.page.key('ArrowRight')
        self.assertNotEqual(self.range_nj(), half)
        self.page.key('0', '0')
        self.assertEqual(self.range_nj(), whole)
        for button in ('in', 'in', 'left', 'out'):
            self.click(f'[data-zoom={button}]')
        self.assertLess(self.range_nj(), whole)
        self.click('[data-zoom=reset]')
        self.assertEqual(self.range_nj(), whole)

    def test_times_are_evenly_spaced(self):
        """What an axis says of its ticks is where they are: no step is rounded."""
        seen = set()
        for kind in ('plain', 'estimate'):
            self.open(kind)
            self.page.eval('window.said = []; const draw = CanvasRenderingContext2D.prototype.fillText; '
                           'CanvasRenderingContext2D.prototype.fillText = function (text, ...more) { '
                           'said.push([[...document.querySelectorAll("canvas")].indexOf(this.canvas), text]); '
                           'return draw.call(this, text, ...more); }; 0')
            for _ in range(5):
                self.page.eval('said.length = 0')
                self.click('[data-zoom=in]')
                times = [(chart, text) for chart, text in self.page.eval('said') if re.fullmatch(r'[0-9:]+:[0-9.]+', text)]
                for chart in {chart for chart, _ in times}:
                    ms = sorted({sum(round(1000 * float(part)) * 60 ** i for i, part in enumerate(reversed(text.split(':'))))
                                 for it, text in times if it == chart})
                    steps = {after - before for before, after in zip(ms, ms[1:])}
                    self.assertLessEqual(len(steps), 1, f'times that are said: {times}')
                    seen |= steps
        self.assertGreater(len(seen), 2, 'hardly anything was zoomed')

    def test_hover_tells_values(self):
        self.open('full')
        left, top, width, height = self.plot_box()
        self.page.mouse('mouseMoved', left + width * 0.5, top + height * 0.5)
        self.page.mouse('mouseMoved', left + width * 0.5 + 3, top + height * 0.5)
        self.page.settle()
        tip = self.page.eval('document.getElementById("tip").hidden ? "" : document.getElementById("tip").innerText')
        self.assertRegex(tip, r'W in all')
        self.assertIn('postgres', tip)
        self.assertIn('solve', tip)

    def test_search(self):
        self.open('full')
        self.page.eval('(() => { const s = document.getElementById("search"); s.value = "POSTGRES"; '
                       's.dispatchEvent(new Event("input")); })()')
        names = self.texts('entities-table', 0)
        self.assertTrue(names and all('postgres' in n for n in names))
        self.page.eval('(() => { const s = document.getElementById("search"); s.value = "<none>"; '
                       's.dispatchEvent(new Event("input")); })()')
        self.assertIn('No name has', self.page.eval('document.getElementById("entities-table").innerText'))

    def test_context(self):
        """Each quantity has a chart of its own, which zooms with the others; the table has the document's numbers."""
        self.open('full')
        context = self.document['context']
        self.assertGreater(len(context), 12)
        titles = self.page.eval('[...document.querySelectorAll("#context-charts h3")].map((h) => h.textContent)')
        self.assertEqual(titles, ['CPUs, how busy', 'Loads', 'Temperatures', 'Clocks', 'Memory', 'Fans'])
        self.assertEqual(self.page.eval('document.querySelectorAll("#context-charts canvas").length'), len(titles))
        means = self.titles('context-table', 1)
        self.assertEqual([float(text.split()[0]) if text else None for text in means], [one['mean'] for one in context])
        self.assertIn('48.', self.page.eval('document.getElementById("context-table").textContent'))
        self.assertIn('\u2013no data', self.page.eval('document.getElementById("context-table").textContent'))
        whole = self.range_nj()
        box = self.page.eval('(() => { const e = document.querySelector("#chart-context-temperature .u-over"); e.scrollIntoView(); '
                             'const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; })()')
        left, top, width, height = box
        self.page.mouse('mouseMoved', left + width * 0.5, top + height * 0.5)
        self.page.mouse('mouseMoved', left + width * 0.5 + 3, top + height * 0.5)
        self.page.settle()
        tip = self.page.eval('document.getElementById("tip").innerText')
        self.assertRegex(tip, r'cpu-thermal\s+[45]\d\.\d\u202f\u00b0C')
        self.assertRegex(tip, r'tboard-thermal\s+\u2212[45]\.\d\u202f\u00b0C')
        self.page.drag(left + width * 0.25, top + 60, left + width * 0.5, top + 60)
        self.assertLess(self.range_nj(), whole / 2)
        self.open('estimate')
        self.assertTrue(self.page.eval('document.getElementById("context").hidden'), 'nothing was recorded of it')

    def test_sort(self):
        self.open('plain')
        column = self.headings('entities-table').index('J')

        def energies():
            return [nj(t) for t in self.titles('entities-table', column)]

        self.assertEqual(energies(), sorted(energies(), reverse=True))
        self.click(f'#entities-table th:nth-child({column + 1}) button')
        self.assertEqual(energies(), sorted(energies()))
        self.assertEqual(self.page.eval('document.querySelector("#entities-table th[aria-sort]").getAttribute("aria-sort")'),
                         'ascending')
        self.click('#entities-table th:nth-child(1) button')
        names = [n.lower() for n in self.titles('entities-table', 0)]
        self.assertEqual(names, sorted(names, key=lambda n: (n[0].isalnum(), n)))

    def test_groups_are_complete(self):
        self.open('full')
        whole = self.document['total']['energy_nj']
        groups = self.page.eval('[...document.querySelectorAll("#group option")].map((o) => o.value)')
        self.assertEqual(groups, ['process', 'name', 'container'])
        for group in groups:
            self.page.eval(f'(() => {{ const g = document.getElementById("group"); g.value = "{group}"; '
                           'g.dispatchEvent(new Event("change")); })()')
            self.page.settle()
            if self.page.eval('!document.getElementById("more").hidden'):
                self.click('#more')
            column = self.headings('entities-table').index('J')
            self.assertEqual(sum(map(nj, self.titles('entities-table', column))), whole, group)

    def test_who_used_which_gpu(self):
        """Users, idle and nobody are the GPU's energy: exactly in titles, and as they are read."""
        self.open('cards')
        gpu, = (d for d in self.document['domains'] if d['kind'] == 'gpu')
        rows = self.page.eval('[...document.querySelectorAll("#gpus-table tbody[data-gpu] tr")].map('
                              '(r) => [...r.children].map((c) => [c.textContent, c.title]))')
        self.assertEqual(sum(nj(row[2][1]) for row in rows), gpu['energy_nj'])
        heading = self.page.eval('document.querySelector("#gpus-table tbody.group th").textContent')
        whole = re.match(r'gpu-0000:0d:00_0: ([\d.]+)\u202f', heading)
        texts = [row[2][0] for row in rows]
        decimals = len(whole.group(1).partition('.')[2])
        self.assertEqual(round(sum(map(number, texts)), decimals), float(whole.group(1)), texts)
        shares = [number(text.split('\u202f')[0]) for text in (row[3][0] for row in rows)]
        self.assertAlmostEqual(sum(shares), 100, 1)
        names = [row[0][0] for row in rows]
        most = max((e for e in self.document['entities'] if e['kind'] == 'process'),
                   key=lambda e: e['domains_nj'][gpu['path']])
        self.assertEqual(names[0], most['name'])
        self.assertEqual(' and '.join(names[-2:]), 'idle and unattributed')
        self.assertEqual(len([name for name in names if name.endswith(' more')]), 1)

    def test_nothing_of_gpus_without_one(self):
        self.open('plain')
        self.assertTrue(self.page.eval('document.querySelector("#gpus").hidden'))
        self.assertEqual(self.page.eval('document.querySelector("#gpus-table").children.length'), 0)

    def test_themes(self):
        for scheme in ('light', 'dark'):
            self.open('plain', scheme=scheme)
            other = {'light': 'dark', 'dark': 'light'}[scheme]
            paper = 'getComputedStyle(document.body).backgroundColor'
            before = self.page.eval(paper)
            self.assertEqual(self.page.eval('document.documentElement.dataset.theme'), scheme)
            self.click('#theme')
            self.assertEqual(self.page.eval('document.documentElement.dataset.theme'), other)
            self.assertNotEqual(self.page.eval(paper), before)

    def test_fits_a_phone(self):
        for kind in ('full', 'versus', 'hostile', 'empty', 'one', 'dark', 'alike', 'kilo'):
            with self.subTest(kind):
                self.open(kind, width=390, height=844, mobile=True)
                self.assertLessEqual(self.page.eval('document.scrollingElement.scrollWidth'), 390)
                tiles = self.page.eval('[...document.querySelectorAll(".tile")].map((t) => [t.offsetTop, t.getBoundingClientRect().right])')
                last = max(right for _, right in tiles)
                for top, _ in tiles:
                    self.assertAlmostEqual(max(right for other, right in tiles if other == top), last, delta=1.5, msg='a hole among tiles')
                wide = self.page.eval('[...document.querySelectorAll("body *")].filter((e) => !e.closest(".scroll, .chart, .skip, #tip") '
                                      '&& e.getBoundingClientRect().right > 391).map((e) => e.outerHTML.slice(0, 80))')
                self.assertEqual(wide, [])

    def test_names_are_inert(self):
        self.open('hostile')
        self.page.settle()
        self.assertNotIn('owned', self.page.eval('document.title').replace("document.title='owned'", ''))
        self.assertEqual(self.page.eval('document.scripts.length'), 3)
        self.assertEqual(self.page.eval('document.querySelectorAll("img, svg, iframe, object, embed, link, base, form, [onclick], [onload], [onerror]").length'), 0)
        text = self.page.eval('document.body.innerText')
        for name in ("</script><script>document.title='owned'</script>", '__proto__', 'constructor', ']]>&lt;b&gt;&amp;', '<b onclick=x>rail</b>'):
            self.assertIn(name, text)
        for mark in ('\u202e', '\u2028', '\x07', '\x1b'):
            self.assertNotIn(mark, text)
        with open(os.path.join(FOLDER, 'hostile.html'), encoding='utf-8') as file:
            source = file.read()
        data = source[source.index('id="data">') + len('id="data">'):]
        data = data[:data.index('</script>')]
        self.assertFalse(set(data) & set('<>&'), 'no character of markup gets out of the data')
        json.loads(data)

    def test_policy_stops_what_is_not_ours(self):
        self.open('plain')
        ran = self.page.eval('(() => { const s = document.createElement("script"); s.textContent = "window.foreign = 1"; '
                             'document.body.append(s); document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\\"window.foreign = 2\\">"); '
                             'return new Promise((r) => setTimeout(() => r(window.foreign || 0), 200)); })()')
        self.assertEqual(ran, 0)
        self.assertTrue(self.page.problems)
        self.page.problems.clear()

    def test_gaps_and_losses_are_said(self):
        self.open('full')
        text = self.page.eval('document.body.innerText')
        self.assertIn('was not finished', text)
        self.assertIn('disk full', text)
        known = [d for d in self.document['domains'] if d['path'] == 'vdd_soc'][0]['known_s']
        self.assertEqual(known, 580)

    def colours_at(self, *windows):
        """How many colours there are above the highest area, in the pixels of some windows."""
        return self.page.eval(f'(() => {{ const windows = {list(windows)}; ' + """
            const canvas = document.querySelector('#chart-entity canvas');
            const whole = canvas.getBoundingClientRect();
            const plot = document.querySelector('#chart-entity .u-over').getBoundingClientRect();
            const scale = canvas.width / whole.width, size = Math.round(8 * scale);
            const y = Math.round((plot.top - whole.top + 2) * scale);
            const row = canvas.getContext('2d').getImageData(0, y, canvas.width, size).data;
            return windows.map((w) => {
              const left = Math.round((plot.left - whole.left + plot.width * w / 600) * scale);
              const seen = new Set();
              for (let i = 0; i < size * size; i++) {
                const at = (Math.floor(i / size) * canvas.width + left + i % size) * 4;
                seen.add(row.slice(at, at + 4).join());
              }
              return seen.size;
            }); })()""")

    def test_gaps_are_hatched(self):
        """Of 600 windows of a second one sensor lacks 20."""
        self.open('full')
        self.assertIn('Not all sensors told something for 20.0', self.page.eval('document.getElementById("notices").innerText'))
        hatched, plain = self.colours_at(205, 190)
        self.assertEqual(plain, 1)
        self.assertGreater(hatched, 1, 'an area of one colour is no hatching')
        self.assertNotIn('complete in each domain', self.page.eval('document.getElementById("quality-list").innerText'))

    def test_what_is_late_is_said(self):
        """How old a slow sensor's values were found to be."""
        self.open('full')
        late = [d for d in self.document['domains'] if d['found_delay_s'] is not None]
        self.assertEqual([(d['found_delay_s'], d['found_delay_uncertainty_s']) for d in late], [(2.5, 0.12)])
        text = self.page.eval('document.getElementById("quality-list").innerText').replace('\u202f', ' ')
        self.assertIn(f'what {late[0]["path"]} told was 2.50 s \u00b1 120 ms old', text)
        self.open('plain')
        self.assertNotIn('told was', self.page.eval('document.getElementById("quality-list").innerText'))

    def test_a_stretched_window_is_a_gap(self):
        """What is known of a second of five is not known of the five."""
        self.open('stretched')
        self.assertIn('No sensor told anything for 5.00', self.page.eval('document.getElementById("notices").innerText'))

    def test_nothing_to_show(self):
        expected = {'empty': 'nothing to show', 'dark': 'No energy is known', 'estimate': 'No sensor measures this machine',
                    'hostile': 'simulation'}
        for kind, words in expected.items():
            with self.subTest(kind):
                self.open(kind)
                self.assertIn(words, self.page.eval('document.getElementById("notices").innerText'))

    def test_comparison(self):
        self.open('versus')
        comparison = self.document['comparison']
        text = self.page.eval('document.getElementById("comparison").innerText')
        self.assertRegex(text, r'The machine used [^ ]+ instead of .* energy, in .* on average')
        self.assertTrue(comparison['total']['is_energy_significant'])
        self.assertIn('more than these recordings vary within', text)
        rows = self.page.eval('document.querySelectorAll("#comparison-table tbody[data-list=Domain] tr").length')
        self.assertEqual(rows, len(comparison['domains']))
        self.assertEqual(nj(self.page.eval('document.querySelector("#comparison-table tbody[data-list=Whole] td:nth-child(3)").title')),
                         comparison['total']['now']['energy_nj'])

    def test_nearly_the_same(self):
        """What differs by less than is shown is no difference, though nobody can say how sure that is."""
        self.open('alike')
        total = self.document['comparison']['total']
        self.assertTrue(0 < abs(total['energy_ratio']) < 0.0005, total)
        self.assertIsNone(total['is_energy_significant'])
        for text in (self.page.eval('document.getElementById("comparison").innerText'), made('alike', 'text').decode()):
            self.assertIn('no difference seen', text)
            self.assertRegex(text, r'as much\s+energy')
            self.assertNotIn('unsure ', text)

    def test_short_ones_are_drawn(self):
        """Of two recordings of one window each, there is a line: more than grid and paper."""
        self.open('alike')
        colours = self.page.eval("""(() => {
            const canvas = document.querySelector('#comparison-chart canvas'), c = canvas.getContext('2d');
            const data = c.getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
            for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 3).join());
            const [r, g, b] = color('accent').match(/\\w\\w/g).map((h) => parseInt(h, 16));
            return seen.has([r, g, b].join());
          })()""".replace("color('accent')", "getComputedStyle(document.documentElement).getPropertyValue('--accent').trim()"))
        self.assertTrue(colours)

    def test_states_are_words(self):
        """What is wrong with a domain twice is said as two things."""
        self.open('dark')
        self.assertIn('forbidden, less than its parts', self.page.eval('document.getElementById("domains-table").innerText'))
        self.assertIn('forbidden, less than its parts', made('dark', 'text').decode())

    def test_prints(self):
        self.open('plain', scheme='dark')
        pdf = self.page.call('Page.printToPDF', printBackground=True)['data']
        self.assertGreater(len(pdf), 10000)


def pixels(data):
    """Lines of a PNG of eight bits a channel: of each pixel the sum of its colours."""
    at, body = 8, b''
    while at < len(data):
        length, kind = struct.unpack_from('>I4s', data, at)
        part = data[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b'IHDR':
            width, height, depth, colours = struct.unpack_from('>IIBB', part)
        body += part if kind == b'IDAT' else b''
    step = {2: 3, 6: 4}[colours]
    assert depth == 8
    raw, size, before, lines = zlib.decompress(body), width * step, None, []
    for y in range(height):
        how, line = raw[y * (size + 1)], bytearray(raw[y * (size + 1) + 1:(y + 1) * (size + 1)])
        up = before or bytes(size)
        for i in range(size):
            a, b, c = line[i - step] if i >= step else 0, up[i], up[i - step] if i >= step else 0
            paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[how]) & 255
        before = line
        lines.append([sum(line[x:x + 3]) for x in range(0, size, step)])
    return lines


class Picture(unittest.TestCase):
    """What is not known is hatched in a plot: an area of one colour could be a value."""

    def elements(self, kind, tag):
        root = xml.etree.ElementTree.fromstring(made(kind, 'svg'))
        return list(root.iter('{http://www.w3.org/2000/svg}' + tag))

    def gaps(self, kind):
        return [tuple(float(box.get(key)) for key in ('x', 'y', 'width', 'height'))
                for box in self.elements(kind, 'rect') if box.get('fill-opacity', box.get('opacity')) == '0.35']

    def hatches(self, kind):
        """Of each path that is made of slanting lines alone, its lines."""
        paths = [path.get('d') for path in self.elements(kind, 'path')
                 if re.fullmatch(r'(M[\d.]+ [\d.]+L[\d.]+ [\d.]+)+', path.get('d'))]
        return [[tuple(map(float, line)) for line in re.findall(r'M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)', path)] for path in paths]

    def test_svg_hatches_gaps_and_nothing_else(self):
        self.assertEqual(self.hatches('plain'), [])
        gaps, hatches = self.gaps('full'), self.hatches('full')
        self.assertTrue(gaps)
        self.assertEqual(len(gaps), len(hatches))
        for (x, y, width, height), lines in zip(gaps, hatches):
            self.assertGreaterEqual(len(lines), int((width + height - 18) / 8) - 2)
            for x0, y0, x1, y1 in lines:
                for at, low, size in ((x0, x, width), (x1, x, width), (y0, y, height), (y1, y, height)):
                    self.assertTrue(low - 0.02 <= at <= low + size + 0.02, 'inside the gap')

    def test_png_hatches_gaps(self):
        made_png = subprocess.run([MADE, 'full', 'png'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if made_png.returncode:
            self.skipTest('missing: built without librsvg')
        lines = pixels(made_png.stdout)
        x, y, width, height = max(self.gaps('full'), key=lambda box: box[2])
        column = [lines[row][int(x + width / 2)] for row in range(int(y + 20), int(y + height - 2))]
        plain = max(set(column), key=column.count)
        dark = sum(1 for before, now in zip(column, column[1:]) if before > now and now < plain - 100)
        # Areas of power hide some of them.
        self.assertGreaterEqual(dark, height / 8 / 2, column)


    def test_legend_adds_up_in_one_unit(self):
        for kind in ('full', 'plain', 'estimate', 'one'):
            with self.subTest(kind):
                means = [text.text for text in self.elements(kind, 'text') if text.get('text-anchor') == 'end'
                         and re.fullmatch(r'(<?-?[\d.]+) .?W', text.text or '')]
                self.assertEqual(len({mean.split()[1] for mean in means}), 1, means)
                total, *parts = [mean.split()[0] for mean in means]
                steps = 10 ** len(total.partition('.')[2])
                self.assertGreaterEqual(len(parts), 5)
                self.assertEqual(sum(round(float(part) * steps) for part in parts if part[0] != '<'),
                                 round(float(total) * steps), means)


def main():
    global BROWSER, FOLDER
    if not chromium.find():
        print('missing: a Chromium')
        return 77
    with tempfile.TemporaryDirectory(prefix='wattribute-page-') as FOLDER:
        first = subprocess.run([MADE, 'empty', 'html'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if first.returncode:
            print('missing: built without the page: ' + first.stderr.strip())
            return 77
        with chromium.Browser(60) as BROWSER:
            return 0 if unittest.main(exit=False, verbosity=1).result.wasSuccessful() else 1


if __name__ == '__main__':
    sys.exit(main())
