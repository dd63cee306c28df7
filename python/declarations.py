# SPDX-License-Identifier: Apache-2.0
"""What the public headers declare, as cffi takes it.

The binding is made from the headers themselves, so that it can't say anything else than they do. It
knows their style and is no C preprocessor: a header that it can't read fails the build.
"""
import os
import re
import sys

# Inline functions; the binding has its own.
INLINE = re.compile(r'^static inline .*?^}\n', re.M | re.S)
COMMENT = re.compile(r'/\*.*?\*/', re.S)
INCLUDE = re.compile(r'^#include <(wattribute/\w+\.h)>$', re.M)
NUMBER = re.compile(r'^#define (WATT_\w+) (\d+)$', re.M)
DIRECTIVE = re.compile(r'^#(?:.*\\\n)*.*\n', re.M)
NOISE = re.compile(r'\b(WATT_API|WATT_BEGIN_DECLS|WATT_END_DECLS)\b')


def read(folder, name, seen):
    """The declarations of a header and, before them, of those that it includes."""
    if name in seen:
        return ''
    seen.add(name)
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        text = COMMENT.sub('', file.read())
    before = ''.join(read(folder, other, seen) for other in INCLUDE.findall(text))
    numbers = ''.join(f'#define {name} {value}\n' for name, value in NUMBER.findall(text))
    # The branches of #ifdef in types.h hold nothing but the macros that are noise here.
    body = NOISE.sub('', DIRECTIVE.sub('', INLINE.sub('', text)))
    return before + numbers + re.sub(r'\n\s*\n+', '\n', body)


def declarations(include):
    """All that <wattribute/wattribute.h> declares."""
    return read(include, 'wattribute/wattribute.h', set()) + 'void free(void *);\n'


def new_ffi(include):
    """cffi, which says what it can't take."""
    from cffi import FFI
    ffi = FFI()
    ffi.cdef(declarations(include))
    return ffi


def write_module(include, path):
    """The Python module with the binding, which needs no compiler, neither now nor later."""
    ffi = new_ffi(include)
    ffi.set_source('wattribute._watt', None)
    ffi.emit_python_code(path)
    with open(path, encoding='utf-8') as file:
        text = file.read()
    with open(path, 'w', encoding='utf-8') as file:
        file.write('# SPDX-License-Identifier: Apache-2.0\n' + text)


if __name__ == '__main__':
    write_module(sys.argv[1], sys.argv[2])
