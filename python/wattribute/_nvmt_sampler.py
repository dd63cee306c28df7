# SPDX-License-Identifier: Apache-2.0
"""The process that samples a board for wattribute.fastnvmetrics, and the layout of its traces.

It is a process of its own so that no Python code of the measured program delays it, and so that the
trace is finished when that program dies. It needs nothing but Python: told what to read by a line of
JSON, it says "begun", "warm" and at the end what it did, and ends with its standard input.
"""
import gc
import glob
import json
import mmap
import os
import shutil
import signal
import struct
import sys
import tempfile
import threading
import time

MAGIC, VERSION = 0x4E564D54, 1
MAX_CORES, MAX_RAILS, MAX_ZONES, NAME = 16, 8, 16, 24
HEADER = struct.Struct('<II32s4B3I4Q192s384s64s')
FAST = struct.Struct('<dH16ffQQf')
MEDIUM = struct.Struct('<d8I8I8f')
SLOW = struct.Struct('<d16f')
SYNC = struct.Struct('<QQ')
TIERS = FAST, MEDIUM, SLOW, SYNC
# In the reserved bytes of a file that is no trace yet: samples of all tiers as they came, each behind the
# number of its tier in a byte. docs/sinks/nvmt.md has more of it.
JOURNAL = b'journal'
COUNTS = struct.Struct('<6Q')  # samples of each tier, and deadlines that each has missed
WARMUP = 10
# Of /proc/stat: ticks are 10 ms, so shorter times say 0 or 100 %.
CPU_STEP_S, CPU_SPAN_S = 0.01, 0.1
U32 = 0xffffffff


def header(about, counts, has_emc, reserved=b''):
    """The first 728 bytes of a trace."""
    def names(texts, count):
        return b''.join(text.encode()[:NAME - 1].ljust(NAME, b'\0') for text in texts).ljust(count * NAME, b'\0')
    return HEADER.pack(MAGIC, VERSION, about['board_name'].encode()[:31], about['num_cpu_cores'],
                       len(about['rails']), len(about['zones']), has_emc, *about['hz'], *counts,
                       names([rail[0] for rail in about['rails']], MAX_RAILS),
                       names([zone[0] for zone in about['zones']], MAX_ZONES), reserved)


def read_journal(file):
    """The number of a tier and the bytes of a sample, in the order in which they came."""
    file.seek(HEADER.size)
    while True:
        tier = file.read(1)
        if not tier or tier[0] >= len(TIERS):
            return
        data = file.read(TIERS[tier[0]].size)
        if len(data) < TIERS[tier[0]].size:
            return
        yield tier[0], data


class File:
    """A file with a number, read again and again; debugfs wants to be opened each time."""

    def __init__(self, path, is_kept=True):
        self.path = (sorted(glob.glob(path)) or [path])[0] if '*' in path else path
        self.fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC) if is_kept else -1

    def read(self):
        fd = self.fd if self.fd >= 0 else os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return int(os.pread(fd, 32, 0))
        finally:
            if fd != self.fd:
                os.close(fd)


class Board:
    """What there is to read. A value that is not known is None, and counted."""

    def __init__(self, about):
        self.missing = 0
        self.gpu = self.open(about['gpu'])
        self.rails = [(self.open(rail[1]), self.open(rail[2])) for rail in about['rails']]
        self.zones = [self.open(zone[1]) for zone in about['zones']]
        self.stat = os.open(os.path.join(about['procfs'], 'stat'), os.O_RDONLY | os.O_CLOEXEC)
        self.meminfo = os.open(os.path.join(about['procfs'], 'meminfo'), os.O_RDONLY | os.O_CLOEXEC)
        self.cores = {}  # number: column
        self.history = []  # (time_s, busy and all ticks by core)
        self.cpu = [0.0] * MAX_CORES
        self.cpu_mean = 0.0
        self.emc = None
        if all(about['emc']):
            self.open_emc(about['emc'])
        for number in sorted(self.read_stat())[:about['num_cpu_cores']]:
            self.cores[number] = len(self.cores)

    @staticmethod
    def open(path):
        try:
            return File(path) if path else None
        except OSError:
            return None

    def open_emc(self, paths):
        try:
            period_us = File(paths[1]).read()
            self.emc = File(paths[0], False), File(paths[2], False), period_us / 1e6
        except (OSError, ValueError):
            self.emc = None

    def number(self, file):
        """None: it has no value now."""
        if file:
            try:
                return file.read()
            except (OSError, ValueError):
                pass
        self.missing += 1
        return None

    def read_stat(self):
        """Busy and all ticks of each core that is on, by its number."""
        ticks = {}
        for line in os.pread(self.stat, 65536, 0).split(b'\n'):
            words = line.split()
            if words and words[0][:3] == b'cpu' and words[0][3:]:
                values = list(map(int, words[1:9]))
                whole = sum(values)
                ticks[int(words[0][3:])] = whole - values[3] - values[4], whole
        return ticks

    def look_at_cpus(self, now_s):
        """What cores did in the last 0.1 s, by their numbers."""
        if self.history and now_s - self.history[-1][0] < CPU_STEP_S:
            return
        ticks = self.read_stat()
        self.history.append((now_s, ticks))
        while len(self.history) > 2 and now_s - self.history[1][0] >= CPU_SPAN_S:
            del self.history[0]
        before = self.history[0][1]
        shares = []
        for number, column in self.cores.items():
            busy, whole = (a - b for a, b in zip(ticks.get(number, (0, 0)), before.get(number, (0, 0))))
            self.cpu[column] = min(max(100 * busy / whole, 0), 100) if whole > 0 else 0.0
            if number in ticks:
                shares.append(self.cpu[column])
        self.cpu_mean = sum(shares) / len(shares) if shares else 0.0

    def memory_kb(self):
        """Used and available."""
        found = {}
        for line in os.pread(self.meminfo, 4096, 0).split(b'\n', 3)[:3]:
            words = line.split()
            found[words[0]] = int(words[1])
        available = found.get(b'MemAvailable:', 0)
        return max(found.get(b'MemTotal:', 0) - available, 0), available

    def emc_percent(self):
        if not self.emc:
            return -1.0
        busy, rate, period_s = self.number(self.emc[0]), self.number(self.emc[1]), self.emc[2]
        return min(max(100 * busy / (rate * period_s), 0), 100) if busy is not None and rate else -1.0

    def fast(self, time_s):
        self.look_at_cpus(time_s)
        load = self.number(self.gpu) if self.gpu else 0
        return FAST.pack(time_s, min(max(load or 0, 0), 1000), *self.cpu, self.cpu_mean, *self.memory_kb(),
                         self.emc_percent())

    def medium(self, time_s):
        pairs = [(self.number(rail[0]), self.number(rail[1])) for rail in self.rails]
        pairs += [(0, 0)] * (MAX_RAILS - len(pairs))
        milliwatts = [volts * amperes / 1000 if volts is not None and amperes is not None else 0
                      for volts, amperes in pairs]
        # a current may be read as less than none
        return MEDIUM.pack(time_s, *(min(max(volts or 0, 0), U32) for volts, _ in pairs),
                           *(min(max(amperes or 0, 0), U32) for _, amperes in pairs), *milliwatts)

    def slow(self, time_s):
        values = [self.number(zone) for zone in self.zones]
        return SLOW.pack(time_s, *(value / 1000 if value else 0.0 for value in values),
                         *[0.0] * (MAX_ZONES - len(values)))


class Tier(threading.Thread):
    """Samples at deadlines of its own; those that have passed are skipped and counted."""

    def __init__(self, sampler, index, sample, hz):
        super().__init__(daemon=True)
        self.sampler, self.index, self.sample, self.hz = sampler, index, sample, hz
        self.byte = bytes([index])
        self.count = self.missed = 0
        self.warmup = WARMUP if index == 0 else 0
        self.error = None

    def run(self):
        try:
            if self.index:
                self.sampler.is_warm.wait()
            self.loop()
        except (OSError, ValueError, struct.error) as error:
            self.error = error
        self.sampler.is_warm.set()

    def loop(self):
        period_ns = 1e9 / self.hz
        begin_ns, at = time.monotonic_ns(), 0
        while not self.sampler.is_over:
            self.take(self.sample((time.monotonic_ns() - self.sampler.start_ns) / 1e9))
            due = int((time.monotonic_ns() - begin_ns) / period_ns) + 1
            if not self.warmup:
                self.missed += due - at - 1
            at = due
            time.sleep(max(begin_ns + at * period_ns - time.monotonic_ns(), 0) / 1e9)

    def take(self, data):
        if self.warmup:
            self.warmup -= 1
            if not self.warmup:
                self.sampler.is_warm.set()
            return
        self.sampler.put(self.byte + data)
        self.count += 1
        self.sampler.tell()


class Sampler:
    """All of it."""

    def __init__(self, about):
        self.about = about
        # without a buffer: what was sampled is in it, whatever happens to this process
        self.file = open(about['output'], 'w+b', buffering=0)
        self.counts = mmap.mmap(about['counts'], COUNTS.size)
        self.board = Board(about)
        self.is_warm = threading.Event()
        self.is_over = False
        self.syncs = 0
        self.put(header(about, (0, 0, 0, 0), self.has_emc(), JOURNAL))
        self.start_ns = time.monotonic_ns()
        samples = self.board.fast, self.board.medium, self.board.slow
        self.tiers = [Tier(self, i, samples[i], about['hz'][i]) for i in range(3)]

    def put(self, data):
        if self.file.write(data) != len(data):
            raise OSError(f'{self.about["output"]}: it can not be written as a whole: the disk is full')

    def has_emc(self):
        return int(self.board.emc is not None)

    def tell(self):
        """How many there are, to the program that is measured."""
        COUNTS.pack_into(self.counts, 0, *(tier.count for tier in self.tiers),
                         *(tier.missed for tier in self.tiers))

    def finish(self):
        """The parts one after the other, and the header that counts them."""
        for tier in self.tiers:
            tier.join()
            if tier.error:
                raise tier.error
        self.file.close()
        made = self.about['output'] + '.finishing'
        try:
            self.finish_into(made)
            os.replace(made, self.about['output'])
        except BaseException:
            if os.path.exists(made):
                os.unlink(made)
            raise
        self.tell()

    def finish_into(self, path):
        """Fast samples go there at once, others behind them."""
        folder = os.path.dirname(os.path.abspath(path))
        with open(self.about['output'], 'rb') as journal, open(path, 'xb') as out, \
                tempfile.TemporaryFile(dir=folder) as medium, tempfile.TemporaryFile(dir=folder) as slow, \
                tempfile.TemporaryFile(dir=folder) as syncs:
            outs, counts = (out, medium, slow, syncs), [0, 0, 0, 0]
            out.write(header(self.about, counts, self.has_emc()))
            for tier, data in read_journal(journal):
                outs[tier].write(data)
                counts[tier] += 1
            for part in outs[1:]:
                part.seek(0)
                shutil.copyfileobj(part, out)
            out.seek(0)
            out.write(header(self.about, counts, self.has_emc()))
            shutil.copymode(self.about['output'], path)


def say(text):
    try:
        print(text, flush=True)
    except OSError:  # who started it is gone; nothing is to be told at the end either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    about = json.loads(sys.stdin.readline())
    sampler = Sampler(about)
    gc.disable()
    say('begun')
    for tier in sampler.tiers:
        tier.start()
    sampler.is_warm.wait()
    say('warm')
    for line in sys.stdin:
        if line.startswith('stop'):
            break
        sampler.syncs += 1
        sampler.put(b'\3' + SYNC.pack(sampler.syncs, int(line)))
    sampler.is_over = True
    sampler.finish()
    say(json.dumps({'missing': sampler.board.missing}))


if __name__ == '__main__':
    try:
        main()
    except (OSError, ValueError, struct.error) as problem:
        say(f'error {problem}')
        sys.exit(1)
