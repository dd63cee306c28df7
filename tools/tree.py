# SPDX-License-Identifier: Apache-2.0
"""What every tools/check-* shares: the files of the tree, C without its comments, complaints.

A check is run as `tools/check-x [ROOT]`; without ROOT it looks at the tree that it lies in. It
prints 'file:line: what; do what' for each finding and fails if there was one.
"""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Folders of what is not written by hand, or not ours to shape; and files.
SKIPPED = re.compile(r'(^|/)(\.git|build[^/]*|node_modules|__pycache__|LICENSES|fixtures|corpus|'
                     r'golden)$')
SKIPPED_FILES = {'bpf/vmlinux_min.h'}


class Check:
    """One run over one tree."""

    def __init__(self, root=None):
        args = sys.argv[1:]
        self.root = os.path.abspath(root or (args[0] if args else TOP))
        self.findings = 0

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def exists(self, *parts):
        return os.path.exists(self.path(*parts))

    def read(self, name):
        with open(self.path(name), encoding='utf-8', errors='replace') as file:
            return file.read()

    def files(self, *suffixes, under=''):
        """Names of all files, relative to the root, sorted."""
        found = []
        for folder, folders, names in os.walk(self.path(under)):
            inside = os.path.relpath(folder, self.root)
            inside = '' if inside == '.' else inside + '/'
            folders[:] = [f for f in folders if not SKIPPED.search(inside + f)]
            found += [inside + n for n in names
                      if (not suffixes or n.endswith(suffixes)) and inside + n not in SKIPPED_FILES]
        return sorted(found)

    def complain(self, name, line, what):
        self.findings += 1
        print(f'{name}:{line}: {what}')

    def end(self):
        """Leaves with the right status."""
        sys.exit(1 if self.findings else 0)


def skip(why):
    """Leaves: this check can't be made here."""
    print(why)
    sys.exit(77)


_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def _blank(text):
    return re.sub(r'[^\n]', ' ', text)


def without_comments(text):
    """C with every comment blanked; line numbers and strings stay."""
    return _TOKEN.sub(lambda m: _blank(m.group()) if m.group()[0] == '/' else m.group(), text)


def comments(text):
    """The comments of C: (line, text)."""
    return [(text.count('\n', 0, m.start()) + 1, m.group())
            for m in _TOKEN.finditer(text) if m.group()[0] == '/']


def without_strings(text):
    """C with comments and the inside of strings blanked."""
    return _TOKEN.sub(lambda m: _blank(m.group()) if m.group()[0] == '/'
                      else m.group()[0] + _blank(m.group()[1:-1]) + m.group()[0], text)


def public_functions(text):
    """Functions that a public header declares: (line, name)."""
    text = re.sub(r'^[ \t]*#.*$', '', without_comments(text), flags=re.M)
    return [(text.count('\n', 0, m.start()) + 1, m.group(1))
            for m in re.finditer(r'\bWATT_API\b[^;(]*?(\w+)\s*\(', text)]
