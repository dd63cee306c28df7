#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The boards that are built in, as C. usage: FILE.yaml ... OUTPUT.c

Nothing but Python is needed for it, so that a build without YAML knows them, too: it takes the
keys of a board one a line, as they are written here, and refuses any other line. What it makes of
them is compared with what the configuration file's own reader reads (tests/unit/test-board_files.c).
"""
import re
import sys

RAIL = re.compile(r'      - \{label: (?P<label>\w+)(, address: "(?P<address>[0-9a-f]{4})")?, '
                  r'domain: (?P<domain>[a-z0-9_/]+), kind: (?P<kind>[a-z_]+)(, chip: (?P<chip>\w+))?(?P<alone>, alone: true)?\}')
FILE = r'/sys/([\w./@-]+)'
LINES = {'boards': re.compile(r'boards:'), 'name': re.compile(r'  - name: ([\w -]+)'),
         'compatible': re.compile(r'    compatible: \[([\w-]+(?:, [\w-]+)*)\]'),
         'gpu_load': re.compile(r'    gpu_load: \[([\w./@-]+(?:, [\w./@-]+)*)\]'),
         'emc': re.compile(rf'    emc: \{{activity: {FILE}, period: {FILE}, rate: {FILE}\}}'),
         'thermal': re.compile(r'    thermal: \[([\w-]+(?:, [\w-]+)*)\]'),
         'rails': re.compile(r'    rails:')}
ORDER = 'boards', 'name', 'compatible', 'gpu_load', 'emc', 'thermal', 'rails'
OPTIONAL = 'gpu_load', 'emc', 'thermal'


def take_line(line, found):
    """The next key that a line can have: whether it has it."""
    before = max(map(ORDER.index, found), default=-1)
    for key in ORDER[before + 1:]:
        match = LINES[key].fullmatch(line)
        if match:
            found[key] = match.groups()
            return True
        if key not in OPTIONAL:
            return False
    return False


def read(path):
    """One board: its keys before the rails, as what was found in them, and its rails."""
    found, rails = {}, []
    with open(path, encoding='utf-8') as file:
        lines = [(i, line.rstrip('\n')) for i, line in enumerate(file, 1)]
    for i, line in lines:
        if line.startswith('#') or not line:
            continue
        if 'rails' in found:
            match = RAIL.fullmatch(line)
            rails.append(match)
        else:
            match = take_line(line, found)
        if not match:
            sys.exit(f"{path}:{i}: this is not how a built-in board is written; see the others beside it")
    if not rails:
        sys.exit(f'{path}: the board has no rails')
    return found, [rail.groupdict() for rail in rails]


def list_of(found, key):
    return found[key][0].split(', ') if key in found else []


def text_of(text):
    return f'"{text}"' if text else 'NULL'


def write_texts(out, name, texts):
    """An array that ends with NULL; returns how to name it, NULL if it is empty."""
    if not texts:
        return 'NULL'
    out.write(f'static const char *const {name}[] = {{ ' + ', '.join(map(text_of, texts)) + ', NULL };\n')
    return name


def write_rails(out, name, rails):
    out.write(f'static const struct watt_board_rail {name}[] = {{\n')
    for rail in rails:
        out.write(f'\t{{ "{rail["label"].lower()}", {text_of(rail["address"])}, "{rail["domain"]}", '
                  f'WATT_DOMAIN_{rail["kind"].upper()}, '
                  f'{"WATT_CHANNEL_OVERLAP_UNKNOWN" if rail["alone"] else 0}, {text_of(rail["chip"])} }},\n')
    out.write('\t{ NULL },\n};\n')
    return name


def write_board(out, i, found, rails):
    """Its arrays; returns its line in the table."""
    loads = [load.replace('/sys/', '', 1) for load in list_of(found, 'gpu_load')]
    emc = ', '.join(map(text_of, found.get('emc', [None])))
    return (f'\t{{ "{found["name"][0]}", {write_texts(out, f"modules_{i}", list_of(found, "compatible"))}, '
            f'{write_rails(out, f"rails_{i}", rails)}, {write_texts(out, f"gpu_loads_{i}", loads)}, '
            f'{write_texts(out, f"zones_{i}", list_of(found, "thermal"))}, {{ {emc} }} }},\n')


def main():
    *paths, output = sys.argv[1:]
    with open(output, 'w', encoding='utf-8') as out:
        out.write('#include "source/power/sensor/board.h"\n')
        table = [write_board(out, i, *read(path)) for i, path in enumerate(paths)]
        out.write('const struct watt_board watt_boards[] = {\n' + ''.join(table) + '\t{ NULL },\n};\n')


main()
