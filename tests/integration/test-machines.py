#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machines that nobody here has, as files show them: what the command makes of each."""
import io
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import PROGRAM, TOP, Skip, equal, main, near, one_line, run, true, validate  # noqa: E402

FIXTURES = os.path.join(TOP, 'tests', 'fixtures')


class Machine:
    """A copy of a fixture that a test may change."""

    def __init__(self, name):
        self.folder = tempfile.TemporaryDirectory(prefix='watt-machine-')
        self.path = os.path.join(self.folder.name, name)
        shutil.copytree(os.path.join(TOP, 'tests', 'fixtures', name), self.path, symlinks=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def write(self, path, text):
        path = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)

    def options(self):
        return ['--sysfs-root', os.path.join(self.path, 'sys'),
                '--procfs-root', os.path.join(self.path, 'proc'), '--usage=procfs']


def snapshot(machine):
    """What `top --json` shows of it once, and what it warns of: zones, CPUs."""
    result = run('top', '--once', '--json', '--delay=300ms', *machine.options())
    equal(result.status, 0, result.err)
    document = result.json()
    validate(document, 'wattribute-snapshot-1')
    lines = [line for line in result.err.splitlines() if 'powercap:' in line or 'topology:' in line]
    return document, lines


def eventually(condition, what):
    """A busy machine may not have read everything when it is asked first."""
    deadline = time.monotonic() + 120
    while not condition():
        true(time.monotonic() < deadline, what)


def test_sixteen_sockets():
    with Machine('xeon-16s') as machine:
        document, warnings = snapshot(machine)
        equal(warnings, [], 'warnings')
        equal([domain['path'] for domain in document['domains'] if domain['is_summed']],
              [f'package-{i}' for i in range(16)], 'what the total is the sum of')
        equal(document['machine']['is_complete'], True, 'complete')


def test_dropped_zone_makes_the_total_incomplete():
    with Machine('xeon-16s') as machine:
        machine.write('sys/class/powercap/intel-rapl:c/energy_uj', 'nonsense\n')
        _, warnings = snapshot(machine)
        true(len(warnings) == 1 and 'package-12' in warnings[0], warnings)
        eventually(lambda: not snapshot(machine)[0]['machine']['is_complete'], 'it is complete')
        eventually(lambda: 'incomplete: no energy of package-12 is known' in
                   run('top', '--once', '--delay=300ms', *machine.options()).out, 'nobody says so')


def power_by_stat(machine):
    """Of the last run: there may be nothing known yet of the first."""
    path = os.path.join(machine.folder.name, 'stat.json')
    result = run('stat', '--json', '-r', '3', '-o', path, '--sysfs-root',
                 os.path.join(machine.path, 'sys'), '--', 'sleep', '0.3')
    equal(result.status, 0, result.err)
    with open(path, encoding='utf-8') as file:
        return json.load(file)['runs'][2]['machine_power_w']


def power_by_report(machine):
    path = os.path.join(machine.folder.name, 'x.watt')
    result = run('record', '-q', '-o', path, '--for', '300ms', *machine.options())
    equal(result.status, 0, result.err)
    power_w = run('report', '--json', path).json()['total']['power_w']
    os.unlink(path)
    return power_w


def known(ask, machine, what):
    """A busy machine may not have had time to read anything."""
    found = []
    eventually(lambda: found.append(ask(machine)) or found[-1] is not None, f'{what} knows no power')
    return found[-1]


def test_a_total_below_its_parts():
    """It is not believed: the machine is the sum of the parts, and every output says the same."""
    with Machine('acpi-meter-server') as machine:
        chip = 'sys/class/hwmon/hwmon2'
        machine.write(f'{chip}/name', 'fam15h_power\n')
        machine.write(f'{chip}/power1_input', '250000000\n')
        document = snapshot(machine)[0]
        uses = {domain['path']: (domain['is_summed'], domain['is_partition'])
                for domain in document['domains']}
        equal(uses['power_meter'], (True, False), 'the total that is not believed')
        equal(uses['package-0'], (False, True), 'its part')
        for ask in (lambda machine: snapshot(machine)[0]['machine']['power_w'], power_by_stat,
                    power_by_report):
            near(known(ask, machine, ask.__name__), 250, 1e-6, ask.__name__)


def test_bad_cpus_are_told_of_once():
    """A line for each kind of file, of all CPUs together, whoever reads them."""
    with Machine('xeon-16s') as machine:
        for cpu in range(2, 14):
            machine.write(f'sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id', 'x\n')
        machine.write('sys/devices/system/cpu/cpu15/topology/core_id', 'y\n')
        for command in (('top', '--once', '--delay=300ms'), ('sources',)):
            result = run(*command, *machine.options())
            equal(result.status, 0, result.err)
            lines = [line.split('topology: ')[1] for line in result.err.splitlines()
                     if 'topology: ' in line]
            equal([line.split(':')[0] for line in lines],
                  ['cpu2/topology/physical_package_id, and of 11 more CPUs',
                   'cpu15/topology/core_id'], command)


def test_padded_files():
    """A copy of sysfs by tar or cp has files of a page each: the rest is NULs."""
    with Machine('xeon-16s') as machine:
        for folder, _, names in os.walk(os.path.join(machine.path, 'sys')):
            for name in names:
                os.truncate(os.path.join(folder, name), 4096)
        document, warnings = snapshot(machine)
        equal(warnings, [], 'warnings')
        equal(sum(domain['is_summed'] for domain in document['domains']), 16, 'packages')
        equal(len(document['cpus']), 16, 'CPUs')


def listing(*options):
    """What `sources --json` tells of a machine's channels and domains, without what changes."""
    result = run('sources', '--json', *options)
    equal(result.status, 0, result.err)
    document = result.json()
    return ([(channel['name'], channel['domain']) for channel in document['channels']],
            [domain['path'] for domain in document['domains']], len(document.get('cpus', [])))


def test_chips_of_one_name():
    """Each message and each channel tells them apart by address; a label stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        written(folder, {'proc/stat': 'cpu 1 2 3 4\ncpu0 1 2 3 4\n'})
        os.makedirs(f'{folder}/sys/class/hwmon')
        for number, address in enumerate(('0-0040', '0-0041')):
            chip = f'devices/i2c-0/{address}/hwmon/hwmon{number}'
            written(folder, {f'sys/{chip}/name': 'ina226\n',
                             f'sys/{chip}/power1_input': 'nonsense\n',
                             f'sys/{chip}/power2_input': '5000000\n',
                             f'sys/{chip}/power2_label': 'Größe Ω\n'})
            os.symlink(f'../../../{address}', f'{folder}/sys/{chip}/device')
            os.symlink(f'../../{chip}', f'{folder}/sys/class/hwmon/hwmon{number}')
        deadline = time.monotonic() + 120
        while True:
            result = run('sources', '--json', '--machine', folder)
            channels = [channel for channel in result.json()['channels']
                        if channel['name'].startswith('hwmon/')] if result.status == 0 else []
            if channels or time.monotonic() > deadline:
                break
        equal([channel['name'].split('/')[1] for channel in channels], ['0-0040', '0-0041'],
              'chips')
        equal({channel['label'] for channel in channels}, {'Größe Ω'}, 'labels')
        left_out = [line for line in result.err.splitlines() if 'left out' in line]
        equal([line.split(': ')[3] for line in left_out], ['0-0040', '0-0041'], left_out)



def told_of_supplies():
    """(use of each domain, what is told of efficiency, the JSON's), when all has been read."""
    options = ('--machine', os.path.join(FIXTURES, 'psu-server'), '--sources=hwmon')
    text = run('sources', *options).out
    document = run('sources', '--json', *options).json()
    validate(document, 'wattribute-sources-1')
    return text, {domain['path']: domain for domain in document['domains']}


def test_power_supplies():
    """Input is the machine from outside, output lies in it, and the sockets alone are added."""
    deadline = time.monotonic() + 120
    while True:
        text, domains = told_of_supplies()
        if (text.count(' % efficient') == 3 and domains['supply-5-0058']['efficiency_ratio']) or \
                time.monotonic() > deadline:
            break
    equal([path for path, domain in domains.items() if domain['is_summed']],
          ['package-0', 'package-1'], 'what is added')
    equal({path: domain['efficiency_ratio'] for path, domain in domains.items()
           if domain['efficiency_ratio'] is not None},
          {'supply-5-0058': 0.929204, 'supply-5-0059': 0.926087, 'supply-5-0068': 0.91125},
          'efficiency')
    true('supply-5-0058 is 92.9 % efficient, supply-5-0059 is 92.6 % efficient, '
         'supply-5-0068 is 91.1 % efficient.\n' in text, text)
    for line in text.splitlines():
        if 'hwmon/5-00' in line and '5-0040' not in line:
            true(('  output  ' if 'out1' in line else '  outside  ') in line, line)
    doctor = run('doctor', '--machine', os.path.join(FIXTURES, 'psu-server'))
    true('supplies 92.5 % efficient' in ' '.join(doctor.out.split()), doctor.out)


def test_two_thousand_chips_of_one_name():
    """All have names of their own, and all are read, though few files may be open at first."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 4096:
        raise Skip('this machine allows too few open files')
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2000):
            written(folder, {f'sys/class/hwmon/hwmon{number}/name': 'ina226\n',
                             f'sys/class/hwmon/hwmon{number}/power1_input': '1000000\n'})

        def look():
            done = run('sources', '--json', '--sources=hwmon', '--usage=procfs',
                       '--sysfs-root', os.path.join(folder, 'sys'),
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard)))
            equal(done.status, 0, done.err)
            return done.json()['channels']
        found = []

        def is_all_read():
            found[:] = look()
            return len(found) == 2000 and all(channel['status'] == 'ok' for channel in found)
        eventually(is_all_read, 'not all are read')
        equal(len({channel['name'] for channel in found}), 2000, 'names')
        equal(len({channel['domain'] for channel in found}), 2000, 'places')


def test_as_many_cpus_as_there_can_be():
    """Firmware that allows for 65,536 costs little, and eight of them are no more than eight."""
    with Machine('xeon-2s') as machine:
        machine.write('sys/devices/system/cpu/possible', '0-65535\n')
        limit = {'preexec_fn': lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10))}
        doctor = run('doctor', *machine.options(), **limit)
        equal(doctor.status, 0, doctor.err)
        true(doctor.out.startswith('Measuring is possible'), doctor.out)
        equal(run('sources', *machine.options(), **limit).status, 0)
        document, lines = snapshot(machine)
        equal(lines, [], 'warnings')
        packages = {place['path'] for place in document['domains']} & {f'package-{i}' for i in range(4)}
        equal(packages, {'package-0', 'package-1'})


def test_a_counter_that_can_not_be():
    """Software events count as energy there: the platform's, by its own unit, at 1 GW."""
    with Machine('perf-software') as machine:
        told = run('sources', *machine.options())
        if 'perf_rapl/psys' not in told.out:
            raise Skip('events of a CPU may not be counted here')
        line, = [line for line in told.out.splitlines() if 'perf_rapl/psys' in line]
        true('implausible' in line and 'GW' not in told.out, told.out)


def captured(folder, machine, *options):
    path = os.path.join(folder, 'machine.tar.zst')
    result = run('capture', '--machine', machine, '-o', path, *options)
    equal(result.status, 0, result.err)
    return path


def test_capture_is_the_machine():
    """A machine of each kind: its capture has the same channels in the same tree."""
    for name in ('xeon-2s', 'jetson-agx-orin', 'desktop-amdgpu', 'laptop-client', 'laptop-battery', 'tx2',
                 'psu-server'):
        with tempfile.TemporaryDirectory() as folder:
            machine = os.path.join(FIXTURES, name)
            archive = captured(folder, machine)
            roots = ['--sysfs-root', f'{machine}/sys', '--procfs-root', f'{machine}/proc']
            # sensors behind buses are waited for a while, and come later on a busy machine
            eventually(lambda m=machine, a=archive, r=roots:
                       ([], [], 0) != listing('--machine', a) == listing('--machine', m) ==
                       listing(*r),
                       f'{name}: its capture has other channels')


def written(folder, texts):
    for path, text in texts.items():
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
    return folder


def made(folder):
    """A machine of its own making, with what may not be told."""
    texts = {'sys/class/hwmon/hwmon0/name': 'power_meter\n',
             'sys/class/hwmon/hwmon0/power1_average': '231000000\n',
             'sys/class/hwmon/hwmon0/power1_serial_number': 'SECRET-1\n',
             'sys/class/hwmon/hwmon0/uevent': 'SECRET-2\n',
             'sys/class/net/eth0/address': 'SECRET-3\n',
             'proc/cpuinfo': 'processor : 0\nSerial : SECRET-4\nModel : board\n',
             'proc/stat': 'cpu 1 2 3 4\ncpu0 1 2 3 4\ncpu6 1 2 3 4\n',
             'proc/sys/kernel/hostname': 'SECRET-5\n',
             'proc/7/stat': '7 (SECRET-6) S 1 7 7 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 9' + 30 * ' 0' + '\n',
             'proc/7/cmdline': 'x\0--password=SECRET-7\0',
             'etc/passwd': 'SECRET-8:x:1000:1000::/:/bin/sh\n'}
    return written(folder, texts)


def secrets(archive):
    with tempfile.TemporaryDirectory() as folder:
        shell = f"zstd -qdc '{archive}' >'{folder}/tar'"
        equal(os.system(shell), 0, 'zstd')
        with tarfile.open(f'{folder}/tar') as tar:
            texts = [tar.extractfile(member).read() for member in tar if member.isreg()]
    return sorted({number for text in texts for number in range(1, 9)
                   if f'SECRET-{number}'.encode() in text})


def test_capture_tells_nothing_unasked():
    for options, wanted in (((), []), (('--with=processes',), [6]),
                            (('--with=commands',), [6, 7]), (('--with=host',), [5, 8]),
                            (('--with=serials',), [1, 4]),
                            (('--with=all',), [1, 4, 5, 6, 7, 8])):
        with tempfile.TemporaryDirectory() as folder:
            machine = made(os.path.join(folder, 'machine'))
            equal(secrets(captured(folder, machine, *options)), wanted, options)


def test_nothing_is_the_hosts():
    """CPUs are those that the machine's own files tell of, and processes, too."""
    with tempfile.TemporaryDirectory() as folder:
        archive = captured(folder, made(os.path.join(folder, 'machine')), '--with=processes')
        result = run('top', '--once', '--json', '--delay=300ms', '--machine', archive)
        equal(result.status, 0, result.err)
        document = result.json()
        equal([cpu['cpu'] for cpu in document['cpus']], [0, 6], 'CPUs')
        # its own used nothing while nobody moved them; of ours this command is busy
        equal([row for row in document['rows'] if row['kind'] == 'process'], [], 'processes')
    # events of this kernel count for nobody else, though their numbers are known
    told = run('sources', '--machine', os.path.join(FIXTURES, 'perf-software'))
    equal(told.status, 0, told.err)
    true('perf_rapl/' not in told.out, told.out)


def test_capture_is_one_instant():
    """Its counters stand still: that is no power of 0 W. What sensors said then is shown."""
    for name, has_power in (('xeon-2s', False), ('vm-xeon', False), ('psu-server', True)):
        machine = ('--machine', os.path.join(FIXTURES, name))
        result = run('top', '--once', '--json', '--delay=300ms', *machine)
        equal(result.status, 0, result.err)
        domains = result.json()['domains']
        equal({(one['power_w'] is not None) for one in domains}, {has_power}, domains)
        true(has_power or 'ok' not in {one['status'] for one in domains}, domains)
        true('one instant' in run('sources', *machine).err, 'that it is a capture')
        page = run('top', '--once', '--delay=300ms', *machine).out
        true(has_power or re.search(r'^ +-  - +unattributed$', page, re.M), page)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'run.watt')
        machine = ('--machine', os.path.join(FIXTURES, 'xeon-2s'))
        result = run('record', '--for=500ms', '-o', file, *machine)
        equal(result.status, 0, result.err)
        true('No energy is known' in result.err, result.err)
        told = run('report', '--json', file).json()
        equal({one['energy_j'] for one in told['domains']}, {None}, told['domains'])


def test_nothing_runs_on_a_capture():
    machine = ('--machine', os.path.join(FIXTURES, 'xeon-2s'))
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'run.watt')
        for words in (('stat', *machine, '--', 'touch', file), ('stat', *machine, '-p', str(os.getpid())),
                      ('record', *machine, '-o', file, '--', 'true')):
            one_line(run(*words), 2, 'captured machine', '--machine')
        equal(os.listdir(folder), [], 'something was run or written')


def test_doctor_of_a_capture():
    """No advice for a machine that nobody can change."""
    for name in ('vm-empty', 'rapl-forbidden', 'laptop-client', 'jetson-agx-orin'):
        machine = ('--machine', os.path.join(FIXTURES, name))
        told = run('doctor', '-v', *machine).out
        true('captured machine' in told and '\n    do: ' not in told, told)
        sources = run('doctor', '--json', *machine).json()['sources']
        equal({source.get('hint') for source in sources} - {None, ''}, set(), name)


def test_capture_mistakes():
    with tempfile.TemporaryDirectory() as folder:
        machine = made(os.path.join(folder, 'machine'))
        path = captured(folder, machine)
        one_line(run('capture', '--machine', machine, '-o', path), 1, 'File exists')
        one_line(run('capture', '--machine', machine, '-o', f'{folder}/x.zip'), 2, '.tar.zst')
        true(not os.path.exists(f'{folder}/x.zip'), 'it was made')
        one_line(run('capture'), 2, 'where to?')
        one_line(run('capture', '--with=names', '-o', path), 2, "'names'")
        one_line(run('capture', '--meter=tcp:plug:1', '-o', path), 2, 'unknown option', '--meter')
        one_line(run('sources', '--machine', path, '--sysfs-root', '/sys'), 2, 'sysfs-root')
        one_line(run('sources', '--machine', f'{folder}/none'), 2, f'{folder}/none')
        one_line(run('sources', '--machine', folder), 2, 'no folder sys')


def test_hostile_archives():
    """Each is refused, whatever was in it before."""
    def member(name, **fields):
        info = tarfile.TarInfo(name)
        for key, value in fields.items():
            setattr(info, key, value)
        return info
    cases = {'../outside': member('../outside', size=1),
             'absolute': member('/tmp/absolute', size=1),
             'leads out': member('sys', type=tarfile.SYMTYPE, linkname='/sys'),
             'hard link': member('sys/x', type=tarfile.LNKTYPE, linkname='proc/stat'),
             'neither file': member('sys/x', type=tarfile.FIFOTYPE)}
    with tempfile.TemporaryDirectory() as folder:
        for what, bad in cases.items():
            path = os.path.join(folder, 'bad.tar')
            with tarfile.open(path, 'w') as tar:
                tar.addfile(member('proc/stat', size=1), io.BytesIO(b'x'))
                tar.addfile(bad, io.BytesIO(b'x' * bad.size))
            one_line(run('sources', '--machine', path), 2, what)
            true(not os.path.exists(os.path.join(folder, 'outside')), what)
        with open(path, 'wb') as file:
            file.write(b'garbage')
        one_line(run('sources', '--machine', path), 2, path)


def test_folders_that_lead_out():
    """A link is followed inside of the folder and nowhere else; what was made here is not touched."""
    with tempfile.TemporaryDirectory() as folder:
        machine = made(os.path.join(folder, 'machine'))
        equal(run('sources', '--json', '--machine', machine).status, 0)
        for place, target in [('sys/class/hwmon/hwmon9', '/sys/class/hwmon/hwmon0'), ('proc/stat2', '../../outside'),
                              ('sys/class/x', 'hwmon/../../../..')]:
            path = os.path.join(machine, place)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.symlink(target, path)
            one_line(run('sources', '--machine', machine), 2, place, 'leads out of it', target)
            os.unlink(path)
        os.rename(os.path.join(machine, 'sys'), os.path.join(folder, 'elsewhere'))
        os.symlink('../elsewhere', os.path.join(machine, 'sys'))
        one_line(run('sources', '--machine', machine), 2, 'sys leads out of it')


def unpacked():
    return {entry for entry in os.listdir('/tmp') if entry.startswith('wattribute-machine-')}


def has_open(pid, path):
    """Other tests have such folders, too: is it that of this process?"""
    for entry in os.listdir(f'/proc/{pid}/fd'):
        try:
            if os.readlink(f'/proc/{pid}/fd/{entry}') == path:
                return True
        except OSError:
            pass  # it was closed since
    return False


def test_one_that_was_killed_leaves_nothing():
    """Its folder is removed by the next one that starts; that of one that runs is not."""
    with tempfile.TemporaryDirectory() as folder:
        archive = captured(folder, made(os.path.join(folder, 'machine')))
        command = [PROGRAM, 'top', '--json', '--machine', archive]
        others = unpacked()

        def start():
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
            true(process.stdout.readline(), 'it says nothing')
            new, = [entry for entry in unpacked() - others if
                    has_open(process.pid, f'/tmp/{entry}')]
            return process, new
        killed, left = start()
        killed.kill()
        killed.communicate()
        running, kept = start()
        try:
            eventually(lambda: left not in unpacked(), 'what was left is there')
            equal(run('sources', '--machine', archive).status, 0)
            true(kept in unpacked(), 'it took away what another has')
        finally:
            running.terminate()
            running.communicate()
        true(kept not in unpacked(), 'it leaves its folder')


main([test_a_total_below_its_parts, test_folders_that_lead_out,
      test_one_that_was_killed_leaves_nothing, test_padded_files, test_sixteen_sockets,
      test_power_supplies, test_two_thousand_chips_of_one_name,
      test_as_many_cpus_as_there_can_be, test_bad_cpus_are_told_of_once,
      test_dropped_zone_makes_the_total_incomplete,
      test_a_counter_that_can_not_be, test_capture_is_the_machine, test_capture_tells_nothing_unasked, test_nothing_is_the_hosts,
      test_capture_is_one_instant, test_nothing_runs_on_a_capture, test_doctor_of_a_capture,
      test_chips_of_one_name, test_capture_mistakes, test_hostile_archives])
