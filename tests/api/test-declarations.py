#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Can the Python package be made of the public headers, and has it all that they declare?"""
import os
import sys

sys.dont_write_bytecode = True
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, 'python'), os.path.join(TOP, 'tools')]
import declarations  # noqa: E402
from tree import Check, public_functions  # noqa: E402

try:
    ffi = declarations.new_ffi(os.path.join(TOP, 'include'))
except ImportError as error:
    print(f'missing: {error}')
    sys.exit(77)
check = Check()
text = declarations.declarations(os.path.join(TOP, 'include'))
names = {name for header in check.files('.h', under='include')
         for _, name in public_functions(check.read(header))}
lost = sorted(name for name in names if name + '(' not in text)
if lost or len(names) < 100:
    print(f'declarations.py loses {lost} of {len(names)} functions; teach it how the headers say them')
    sys.exit(1)
# Structs that are filled in here must have their sizes.
for name in ('watt_meter_result', 'watt_row', 'watt_record_opts', 'watt_windows_opts'):
    assert ffi.sizeof(f'struct {name}') > 0
