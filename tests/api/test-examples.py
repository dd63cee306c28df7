#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs to begin from say what they promise. usage: NAME PROGRAM [ARG...]"""
import re
import subprocess
import sys

NUMBER = r'-?\d+\.\d+'
ENERGY = rf'{NUMBER} J'
ROW = rf'  +{ENERGY}  +{NUMBER} s  .+\n'
SAID = {
    'section': rf'{NUMBER}: the machine took {ENERGY} in {NUMBER} s \({NUMBER} W, \w+\), we \S+ J of it\n',
    'section-cpp': rf'{NUMBER}: the machine took {ENERGY} in {NUMBER} s\n(?:  \S+: {ENERGY}\n)+',
    'command': rf'(?:{ENERGY} of the machine\'s {ENERGY}|no energy is known, but {NUMBER} s of CPU time)(?: in {NUMBER} s)?\n',
    'processes': rf'the machine: .*\n(?:{ROW})*the machine: .*\n(?:{ROW})+',
    'readers': rf'(?:  we: {ENERGY}, .*\n)*(?:\S+: {ENERGY} in {NUMBER} s \(.*\)\n)+(?:.*\n)*',
    'replay': rf'(?: +{NUMBER} s +{ENERGY} .*\n)+all together: 94\.900176 J of package-0, dram-0, sine, square, ramp\n',
}
# A machine that had no time for it may have told nothing of so short a while.
TRIES = 3


def main():
    name, *command = sys.argv[1:]
    for _ in range(TRIES):
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=100, check=False)
        print(done.stdout, done.stderr)
        if done.returncode:
            sys.exit(f'{name} ended with {done.returncode}')
        if re.fullmatch(SAID[name], done.stdout):
            return
    sys.exit(f'{name} does not say what it promises')


main()
