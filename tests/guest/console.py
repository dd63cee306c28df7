# SPDX-License-Identifier: Apache-2.0
"""The guest's console: what the kernel complains of, and what the tests say.

Everything comes as records of the kernel's log, so lines are whole and in order. Those of init
begin with 'guest-'; all others are the kernel's own, of level warning and worse.
"""
import re

STAMP = re.compile(r'^\[ *\d+\.\d+\](?:\[[ \w]+\])? ?')

# Any of these is a fault of the kernel, or of a module in it.
COMPLAINTS = re.compile('|'.join((
    r'\bBUG\b', r'\bWARNING:', r'\bOops\b', r'cut here \]', r'Kernel panic', r'Internal error:',
    r'general protection', r'invalid opcode', r'\bint3: 0000', r'[Uu]nable to handle kernel', r'Call [Tt]race:',
    r'INFO: task .* blocked', r'INFO: rcu', r'rcu.*\b(stall|starved)', r'soft lockup', r'hard LOCKUP',
    r'INFO: possible .*(dead)?lock', r'INFO: (inconsistent|suspicious|lockdep|trying)',
    r'suspicious RCU usage', r'\bK(A|C|M)SAN\b', r'\bKFENCE\b', r'\bUBSAN\b', r'unreferenced object',
    r'memory leak', r'new suspected', r'refcount_t:', r'list_(add|del) corruption', r'scheduling while atomic',
    r'sleeping function called', r'Bad page', r'Object .* in slab|Slab .*(Objects remaining|still has)',
    r'Redzone|Poison overwritten|Padding overwritten', r'stack guard page', r'nobody cared',
    r'cannot create duplicate', r'does not have a release', r'workqueue lockup', r'\bODEBUG\b',
    r'held when returning to user space', r'kmemleak: .*([Cc]annot|disabled|empty)',
)))

# Emulation alone is to blame for these. One pattern each, and why.
ALLOWED = (
    # More virtual CPUs than real ones: they are compared while one of them waits for the host.
    re.compile(r'clocksource: '),
    # The same: a timer's handler was interrupted by the host.
    re.compile(r'hrtimer: interrupt took'),
    # At boot, of the error detector that the rig itself has switched on.
    re.compile(r'kfence: initialized'),
)

# The kernel changes its code by way of a breakpoint, and QEMU before 8.1 can lose the last change where
# another CPU just translates that code: the breakpoint is met when nobody knows of it any more.
STALE_CODE = re.compile(r'\bint3: 0000 \[#1\]')


# What a CPU that the host stops looks like from inside.
STOPPED = re.compile(r'blocked for more than|\brcu\b|\brcu:|soft lockup|hard LOCKUP|workqueue lockup|'
                     r'[Cc]all [Tt]race:')


# What the kernel says when the first module of ours comes, and from then on in every complaint: O for one
# that is not of its tree, E for one without a signature. Other letters tell of what it has met: D of an
# oops, W of a warning, L of a CPU that stood still. A second complaint has them also where no module was.
OURS = re.compile(r'loading out-of-tree module|module verification failed|\bTainted: (?:[A-Z] *)*[OE]')


def is_hosts(lines):
    """Whether the kernel complains of nothing but CPUs that stood still."""
    return all(STOPPED.search(line) for line in complaints(lines))


def is_emulators(lines):
    """Whether the emulator made the kernel die, and not what ran on it."""
    return any(STALE_CODE.search(line) for line in lines)


def has_ours(lines):
    """Whether a module of ours was loaded by then. Before that, what the kernel meets is its own fault or
    the emulator's.
    """
    return any(OURS.search(line) for line in lines)


def complaints(lines):
    """Lines in which the kernel complains, without what init relays."""
    return [line for line in lines
            if not STAMP.sub('', line).startswith('guest-') and COMPLAINTS.search(line) and
            not any(allowed.search(line) for allowed in ALLOWED)]


def excerpt(lines, around=40):
    """The first complaint with what follows it."""
    bad = set(complaints(lines))
    first = next(i for i, line in enumerate(lines) if line in bad)
    return '\n'.join(lines[max(0, first - 3):first + around])


class Relay:
    """Takes console lines; knows which test runs, its output, and the status it ended with."""

    def __init__(self):
        self.lines = []
        self.running = None
        self.output = {}  # name -> lines, the kernel's among them
        self.kernel = {}  # name -> the kernel's alone, until the next one begins; None: before all
        self.status = {}  # name -> exit status
        self.last = None  # that began
        self.is_up = False
        self.is_done = False

    def take(self, line):
        """Returns whether that was progress: a test began or ended."""
        self.lines.append(line)
        text = STAMP.sub('', line)
        kind, _, rest = text.partition(': ')
        if kind == 'guest-begin':
            self.running = self.last = rest
            self.output[rest] = []
        elif kind == 'guest-end':
            name, status = rest.split()
            self.status[name] = int(status)
            self.running = None
        elif kind == 'guest-done':
            self.is_done = True
        elif kind == 'guest-out':
            if self.running:
                self.output[self.running].append(rest)
            return False
        elif kind == 'guest-up':
            self.is_up = True
        elif kind == 'guest-leaks':
            pass
        else:
            self.kernel.setdefault(self.last, []).append(line)
            if self.running:
                self.output[self.running].append(line)
            return False
        return True
