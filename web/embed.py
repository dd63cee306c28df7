#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files as C arrays, for a server that has them in itself. usage: FILE ... OUTPUT

index.html is served as /, openapi.json as /api/v1/openapi.json, any other as /NAME.
"""
import os
import sys

MIME = {'.html': 'text/html; charset=utf-8', '.css': 'text/css; charset=utf-8',
        '.js': 'text/javascript; charset=utf-8', '.json': 'application/json'}
PLACES = {'index.html': '/', 'openapi.json': '/api/v1/openapi.json'}


def main():
    *names, output = sys.argv[1:]
    rows = []
    with open(output, 'w', encoding='utf-8') as out:
        out.write('#include "page_files.h"\n')
        for i, name in enumerate(names):
            base = os.path.basename(name)
            with open(name, 'rb') as file:
                data = file.read()
            out.write(f'static const unsigned char file_{i}[] = {{{",".join(map(str, data))}}};\n')
            mime = MIME[os.path.splitext(base)[1]]
            rows.append(f'\t{{ "{PLACES.get(base, "/" + base)}", "{mime}", file_{i}, '
                        f'sizeof(file_{i}) }},\n')
        out.write(f'const struct page_file page_files[] = {{\n{"".join(rows)}}};\n'
                  f'const size_t page_n_files = {len(rows)};\n')


main()
