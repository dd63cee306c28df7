# SPDX-License-Identifier: Apache-2.0
"""The machine that a guest believes to run on, by QEMU's emulation; boots it and watches."""
import glob
import os
import select
import subprocess
import time

from console import Relay

# What a machine looks like on amd64, its CPU there, and what it looks like on arm64: that has no
# SMT, because its kernel finds the emulator's description of threads contradictory.
MACHINES = {
    'two-sockets': ('4,sockets=2,cores=1,threads=2', 'Skylake-Server-v1', '4,sockets=2,cores=2'),
    'two-sockets-amd': ('4,sockets=2,cores=1,threads=2', 'EPYC-v1', '4,sockets=2,cores=2'),
    'two-dies': ('4,sockets=2,dies=2,cores=1,threads=1', 'Skylake-Server-v1', '4,sockets=2,cores=2'),
    'one-socket': ('2,sockets=1,cores=2', 'Skylake-Server-v1', '2,sockets=1,cores=2'),
    'one-cpu': ('1', 'Skylake-Server-v1', '1'),
    'bmc': ('2,sockets=1,cores=2', 'Skylake-Server-v1', '2,sockets=1,cores=2'),
}
# Which of them the newer emulator, a QEMU 10.0, is not: it fails an assertion of its own.
NOT_NEWER = ('two-dies',)
# What only costs time under emulation is off. What finds faults is on: red zones, poison and
# checks in the allocator of small objects, and, where the kernel has it, KFENCE. A busy host lets a CPU
# stand still for longer than the kernel would believe without its limits.
APPEND = ('panic=-1 loglevel=5 printk.devkmsg=on mitigations=off random.trust_cpu=on '
          'no_timer_check nmi_watchdog=0 audit=0 apparmor=0 selinux=0 cryptomgr.notests '
          'watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120 '
          'slub_debug=FZP kfence.sample_interval=50')
ARCHES = {
    'amd64': (['qemu-system-x86_64', '-M', 'pc'], 'console=ttyS0 lpj=4000000 tsc=reliable'),
    'arm64': (['qemu-system-aarch64', '-M', 'virt,gic-version=3', '-cpu', 'cortex-a57'],
              'console=ttyAMA0'),
}
# Debug kernels have KASAN for what the allocator's checks are for.
APPEND_DEBUG = APPEND.replace('slub_debug=FZP kfence.sample_interval=50', '')
DEBUG_MIB = 1024  # the search for leaks goes through all of it
DEBUG_FACTOR = 4  # they are slow: every limit is so many times as long
PATIENCE = 3  # and so many times as long again: the host may have three times more to do than CPUs
BOOT_S = 80  # on a quiet host 4 to 20
GRACE_S = 30
# A guest that gets less of the CPU time that it wants proves nothing by what it fails in. On two
# quiet CPUs four busy ones of a guest get half.
STARVED = 0.35
MAX_LOAD = 2  # of the host, a CPU, as in tools/run-tests: where there is more, ms are lost at any time


# The emulator ends with who started it, however that ends.
BOUND = ['setpriv', '--pdeathsig', 'KILL', '--']
# By which clock the guest's time goes.
CLOCKS = {
    'host': ['-accel', 'tcg,thread=multi'],
    # A ns for each instruction that any CPU executes, one CPU after another; idle time is skipped.
    'instructions': ['-accel', 'tcg,thread=single', '-icount', 'shift=0,sleep=off'],
    # The same at 8 ns each, which takes less time where a guest's time is to go by.
    'instructions-8ns': ['-accel', 'tcg,thread=single', '-icount', 'shift=3,sleep=off',
                         '-seed', '1', '-rtc', 'base=2026-01-01,clock=vm'],
}


def devices(one):
    """What a machine has besides. A BMC: who plays it is a program in the guest, at the other end of the
    second serial line.
    """
    if one.machine != 'bmc':
        return []
    line = f'path=wattribute-{os.getpid()}-{one.name},abstract=on'
    return ['-chardev', f'socket,id=far,{line},server=on,wait=off', '-device', 'isa-serial,index=1,chardev=far',
            '-chardev', f'socket,id=near,{line},reconnect=1', '-device', 'ipmi-bmc-extern,id=bmc,chardev=near',
            '-device', 'isa-ipmi-kcs,bmc=bmc']


def command(arch, one, kernel, initramfs, more='', is_debug=False, emulator=None):
    """ONE: a test, which says what it wants to run on. MORE: of the kernel's command line; it gives
    what it does not know itself, NAME=VALUE, to init as a variable. EMULATOR: another one than the
    machine's.
    """
    smp, cpu, smp_arm64 = MACHINES[one.machine]
    qemu, console = ARCHES[arch]
    qemu = [emulator] + qemu[1:] if emulator else qemu
    memory_mib = one.memory_mib or (DEBUG_MIB if is_debug else 2048)
    if arch == 'amd64':
        qemu = qemu + ['-cpu', f'{cpu},check=off']
    else:
        smp = smp_arm64
    # Never KVM: that it can be opened does not say that it runs a foreign kernel at speed.
    return qemu + CLOCKS[one.clock] + devices(one) + [
        '-smp', smp, '-m', str(memory_mib), '-nodefaults',
        '-no-user-config', '-no-reboot', '-display', 'none', '-kernel', kernel['image'],
        '-initrd', initramfs, '-append',
        f'{console} {APPEND_DEBUG if is_debug else APPEND} {one.append} {more}'.strip()]


def terminal():
    """What the guest's shell must know of the terminal: a serial line tells it nothing."""
    size = os.get_terminal_size()
    return f"TERM={os.environ.get('TERM', 'dumb')} ROWS={size.lines} COLUMNS={size.columns}"


def shell(argv):
    """Gives the terminal to the guest; does not return."""
    os.execvp(argv[0], argv + ['-serial', 'mon:stdio'])


class Boot:
    """One run of a guest, from power on to power off or to the moment it hangs."""

    def __init__(self, argv, log, timeouts_s, echo=None, factor=1):
        self.relay = Relay()
        self.timeouts_s = timeouts_s
        self.factor = factor
        self.why = None  # what went wrong with the guest as a whole
        self.ran_ns, self.waited_ns = 1, 0  # its threads, for a CPU to run on
        self.load = 0  # the host's, at most
        self.looked_s = 0
        self.echo = echo
        with open(log, 'w', encoding='utf-8', errors='replace') as self.log:
            self.watch(argv)

    def look(self, pid):
        """How the host's scheduler treats it, once a second."""
        if time.monotonic() - self.looked_s < 1:
            return
        self.looked_s = time.monotonic()
        self.load = max(self.load, os.getloadavg()[0])
        times = []
        for name in glob.glob(f'/proc/{pid}/task/*/schedstat'):
            try:
                with open(name, encoding='ascii') as file:
                    times.append([int(part) for part in file.read().split()[:2]])
            except OSError:
                pass  # it has ended
        if sum(ran for ran, _ in times) >= self.ran_ns:
            self.ran_ns = sum(ran for ran, _ in times)
            self.waited_ns = sum(waited for _, waited in times)

    def is_starved(self):
        """Whether others kept it from running for most of the time that it wanted to."""
        return self.ran_ns < STARVED * (self.ran_ns + self.waited_ns)

    def is_crowded(self):
        """Whether others wanted the host's CPUs, too, so that it was stopped now and then."""
        return self.is_starved() or self.load > MAX_LOAD * os.cpu_count()

    def limit_s(self):
        if not self.relay.is_up:
            return BOOT_S * self.factor
        return (self.timeouts_s.get(self.relay.running, 0) + GRACE_S) * self.factor

    def what_hangs(self):
        if not self.relay.is_up:
            return f'the guest did not start within {BOOT_S * self.factor} s'
        if self.relay.running:
            return f'the guest hangs in {self.relay.running}'
        return 'the guest hangs between two tests'

    def watch(self, argv):
        with subprocess.Popen(BOUND + argv + ['-monitor', 'none', '-serial', 'stdio'],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as qemu:
            try:
                self.read(qemu.stdout, qemu.pid)
            finally:
                qemu.kill()
        if not self.relay.is_done and not self.why:
            self.why = 'the guest ended before its tests did'

    def read(self, pipe, pid):
        rest = b''
        deadline = time.monotonic() + self.limit_s()
        while True:
            self.look(pid)
            left_s = max(0, deadline - time.monotonic())
            if not select.select([pipe], [], [], min(left_s, 1))[0]:
                if left_s > 1:
                    continue
                self.why = self.what_hangs()
                return
            data = os.read(pipe.fileno(), 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b'\n')
            for line in lines:
                if self.take(line.decode(errors='replace').strip('\r')):
                    deadline = time.monotonic() + self.limit_s()

    def take(self, line):
        self.log.write(line + '\n')
        self.log.flush()
        if self.echo:
            self.echo(line)
        return self.relay.take(line)
