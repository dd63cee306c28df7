# SPDX-License-Identifier: Apache-2.0
"""NVMT traces, version 1, written and read by the layout alone: for tests of those who do so, too."""
import struct

MAGIC = 0x4E564D54
HEADER = struct.Struct('<II32s4B3I4Q192s384s64x')
FAST = struct.Struct('<dH16ffQQf')
MEDIUM = struct.Struct('<d8I8I8f')
SLOW = struct.Struct('<d16f')
SYNC = struct.Struct('<QQ')
SIZES = (728, 98, 104, 72, 16)
assert tuple(one.size for one in (HEADER, FAST, MEDIUM, SLOW, SYNC)) == SIZES


def pad(values, n, filler=0):
    return list(values) + [filler] * (n - len(values))


def names(texts, n):
    return b''.join(text.encode().ljust(24, b'\0') for text in pad(texts, n, ''))


def write(path, board='agx_orin', rails=(), fast=(), medium=(), slow=(), syncs=(), cores=1, zones=(),
          hz=(1000, 100, 10), magic=MAGIC, version=1):
    """fast: (time_s, utilisation of each core); medium: (time_s, (mV, mA, mW) of each rail);
    slow: (time_s, temperature of each zone); syncs: (id, index)."""
    with open(path, 'wb') as file:
        file.write(HEADER.pack(magic, version, board.encode(), cores, len(rails), len(zones), 0, *hz, len(fast),
                               len(medium), len(slow), len(syncs), names(rails, 8), names(zones, 16)))
        for time_s, cpus in fast:
            file.write(FAST.pack(time_s, 0, *pad(cpus, 16), sum(cpus) / len(cpus), 0, 0, -1))
        for time_s, values in medium:
            columns = [pad(column, 8) for column in zip(*values)]
            file.write(MEDIUM.pack(time_s, *columns[0], *columns[1], *columns[2]))
        for time_s, temperatures in slow:
            file.write(SLOW.pack(time_s, *pad(temperatures, 16)))
        for sync in syncs:
            file.write(SYNC.pack(*sync))


def text_of(field):
    return field.split(b'\0')[0].decode()


def read(path):
    """All of a trace; fails if a byte is missing or left over."""
    with open(path, 'rb') as file:
        data = file.read()
    header = HEADER.unpack_from(data)
    cores, rails, zones, emc = header[3:7]
    counts = header[10:14]
    assert header[0] == MAGIC and header[1] == 1, header[:2]
    assert len(data) == SIZES[0] + sum(n * size for n, size in zip(counts, SIZES[1:])), (len(data), counts)
    trace = {'board': text_of(header[2]), 'cores': cores, 'zones': zones, 'emc': emc, 'hz': header[7:10],
             'rails': [text_of(header[14][24 * i:24 * i + 24]) for i in range(rails)], 'reserved': data[664:728]}
    at = SIZES[0]
    for kind, form, n in zip(('fast', 'medium', 'slow', 'syncs'), (FAST, MEDIUM, SLOW, SYNC), counts):
        trace[kind] = [form.unpack_from(data, at + i * form.size) for i in range(n)]
        at += n * form.size
    return trace
