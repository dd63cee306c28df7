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
                  r'domain: (?P<domain>[a-z0-9_/]+), kind: (?P<kind>[a-z_]+)(?P<alone>, alone: true)?\}')
LINES = {'boards': re.compile(r'boards:'), 'name': re.compile(r'  - name: ([\w -]+)'),
         'compatible': re.compile(r'    compatible: \[([\w-]+(?:, [\w-]+)*)\]'), 'rails': re.compile(r'    rails:')}
ORDER = 'boards', 'name', 'compatible', 'rails'


def read(path):
    """One board: its name, parts of its compatible strings, its rails."""
    found, rails = [], []
    with open(path, encoding='utf-8') as file:
        lines = [(i, line.rstrip('\n')) for i, line in enumerate(file, 1)]
    for i, line in lines:
        if line.startswith('#') or not line:
            continue
        if len(found) < len(ORDER):
            match = LINES[ORDER[len(found)]].fullmatch(line)
            found.append(match)
        else:
            match = RAIL.fullmatch(line)
            rails.append(match)
        if not match:
            sys.exit(f"{path}:{i}: this is not how a built-in board is written; see the others beside it")
    if not rails:
        sys.exit(f'{path}: the board has no rails')
    return found[1].group(1), found[2].group(1).split(', '), [rail.groupdict() for rail in rails]


def text_of(text):
    return f'"{text}"' if text else 'NULL'


def main():
    *paths, output = sys.argv[1:]
    boards = [read(path) for path in paths]
    with open(output, 'w', encoding='utf-8') as out:
        out.write('#include "source/power/sensor/board.h"\n')
        for i, (_, modules, rails) in enumerate(boards):
            out.write(f'static const char *const modules_{i}[] = {{ '
                      + ', '.join(map(text_of, modules)) + ', NULL };\n')
            out.write(f'static const struct watt_board_rail rails_{i}[] = {{\n')
            for rail in rails:
                out.write(f'\t{{ "{rail["label"].lower()}", {text_of(rail["address"])}, "{rail["domain"]}", '
                          f'WATT_DOMAIN_{rail["kind"].upper()}, '
                          f'{"WATT_CHANNEL_OVERLAP_UNKNOWN" if rail["alone"] else 0} }},\n')
            out.write('\t{ NULL },\n};\n')
        out.write('const struct watt_board watt_boards[] = {\n')
        for i, (name, _, _) in enumerate(boards):
            out.write(f'\t{{ "{name}", modules_{i}, rails_{i} }},\n')
        out.write('\t{ NULL },\n};\n')


main()
