#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command as a user meets it: help, mistakes, documents, exit statuses, hostile names."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import (LOAD, PATIENCE_S, PROGRAM, TOP, Skip, equal, for_anybody, main, nj, one_line,  # noqa: E402
                     run, true, validate)

# All that it says it has.
COMMANDS = [name for name in re.findall(r'^  ([a-z]+) ', run('help').out, re.M) if name != 'help']
MEASURING = ('top', 'stat', 'replay', 'sources', 'doctor', 'learn', 'record', 'export', 'plot', 'board')
LINES = {'agent': 100}  # it tells of each of its settings


def fixture(machine):
    path = os.path.join(TOP, 'tests', 'fixtures', machine, 'sys')
    if not os.path.isdir(path):
        raise Skip(f'there is no fixture {machine}')
    return ['--sysfs-root', path]


def with_its_cpus(machine):
    """Not those of this machine: which zones there are depends on who made the CPUs."""
    return [*fixture(machine), '--procfs-root', os.path.join(TOP, 'tests', 'fixtures', machine, 'proc')]


def test_help_fits_a_screen():
    true(len(COMMANDS) > 10, f'{COMMANDS}')
    for args in [['--help'], ['-h'], [], ['help']] + [[name, '--help'] for name in COMMANDS]:
        result = run(*args)
        equal(result.status, 0, f'{args}')
        equal(result.err, '', f'{args}')
        lines = result.out.splitlines()
        true(3 < len(lines) <= LINES.get(args[0] if args else '', 24), f'{args}: {len(lines)} lines')
        longest = max(lines, key=len)
        true(len(longest) <= 80, f'{args}: {len(longest)} columns in {longest!r}')
    for name in COMMANDS:
        equal(run('help', name).out, run(name, '--help').out, f'help {name}')


def test_version():
    result = run('--version')
    true(result.out.startswith('wattribute ') and result.out.count('\n') == 1, result.out)


def test_unknown_commands():
    one_line(run('doctr'), 2, "'doctr'", "mean 'doctor'")
    one_line(run('tpo'), 2, "mean 'top'")
    one_line(run('xyzzyx'), 2, "'xyzzyx'")
    one_line(run('--bogus'), 2, '--bogus')
    one_line(run('help', 'nothing'), 2, 'nothing')


def test_mistakes_in_options():
    for name in MEASURING:
        one_line(run(name, '--bogus'), 2, f'wattribute {name}:', '--bogus')
        one_line(run(name, '-Z'), 2, f'wattribute {name}:', '-Z')
        one_line(run(name, '--sysfs-root'), 2, '--sysfs-root')
        one_line(run(name, '--verbose=3'), 2, "'--verbose' takes no value")
        one_line(run(name, '--slice=abc'), 2, '--slice', 'abc')
        one_line(run(name, '--slice=0'), 2, '--slice')
        one_line(run(name, '--usage=magic'), 2, '--usage', 'magic')
    one_line(run('doctor', 'what'), 2, 'what')
    one_line(run('stat', '--sysfs-root'), 2, "'--sysfs-root' needs a value")
    for value in ('0', '-1', 'x', '1e9', '99999999999999999999'):
        one_line(run('top', '-n', value), 2, '--count', value)
        one_line(run('stat', '-r', value, 'true'), 2, '--repeat', value)
    for value in ('0', '-1', 'soon', '5parsecs', 'nan'):
        one_line(run('top', '-d', value), 2, '--delay', value)
    one_line(run('top', '-g', 'colour'), 2, '--group', 'colour')
    one_line(run('top', '-s', 'colour'), 2, '--sort', 'colour')
    one_line(run('stat'), 2)
    one_line(run('stat', '-p', '1', 'true'), 2, '-p')
    one_line(run('stat', '-p', '1', '-r', '2'), 2, '-p')
    one_line(run('stat', '-I', '1', 'true'), 2, '--interval')


def test_unreadable_roots():
    for name in ('doctor', 'sources', 'top'):
        for option in ('--sysfs-root', '--procfs-root', '--config'):
            one_line(run(name, *(['--once'] if name == 'top' else []), option, '/does/not/exist'),
                     2, f'wattribute {name}:', '/does/not/exist')
    one_line(run('sources', '--sysfs-root', '/etc/passwd'), 2, '/etc/passwd')
    one_line(run('stat', '--sysfs-root', '/does/not/exist', 'true'), 2, '/does/not/exist')
    one_line(run('sources', '--sources=nonsense'), 2, 'nonsense')


def test_a_full_disk_is_told():
    for args in (['help'], ['help', 'top'], ['--help'], ['--version'], ['top', '--help'], []):
        with open('/dev/full', 'w', encoding='utf-8') as full:
            done = subprocess.run([PROGRAM, *args], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
        equal(done.returncode, 1, f'{args}: status')
        true('No space left on device' in done.stderr, f'{args}: {done.stderr!r}')


def test_exit_status_of_the_command_is_passed_through():
    equal(run('stat', 'sh', '-c', 'exit 7').status, 7, 'exit 7')
    equal(run('stat', 'true').status, 0, 'true')
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
        result = run('stat', 'sh', '-c', f'kill -{int(number)} $$')
        equal(result.status, 128 + number, f'{number!r}')
        true('elapsed' in result.err, f'no report after {number!r}')
    one_line(run('stat', '--', 'no-such-command'), 127, 'no-such-command')
    one_line(run('stat', '/etc/passwd'), 126, '/etc/passwd')
    one_line(run('stat', '/'), 126, "'/'")
    # The first failure counts, whatever comes after it.
    with tempfile.TemporaryDirectory() as folder:
        script = f'[ -e {folder}/x ] && exit 0; touch {folder}/x; exit 5'
        equal(run('stat', '-r', '3', 'sh', '-c', script).status, 5, '-r 3')


def test_streams_of_the_command_are_its_own():
    result = run('stat', 'sh', '-c', 'cat; echo out; echo err >&2', input='in\n', stdin=None)
    equal(result.out, 'in\nout\n', 'output')
    true(result.err.startswith('err\n') and 'elapsed' in result.err, result.err)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'report')
        result = run('stat', '-o', path, 'echo', 'hello')
        equal((result.out, result.err), ('hello\n', ''), 'streams with -o')
        with open(path, encoding='utf-8') as file:
            true('elapsed' in file.read(), 'no report in the file')
        one_line(run('stat', '-o', folder, 'true'), 1, folder)


def test_options_after_the_command_are_its_own():
    equal(run('stat', 'echo', '-r', '--json').out, '-r --json\n', 'output')
    equal(run('stat', '--', 'printf', '%s', '-h').out, '-h', 'output')


def start(*args, **more):
    return subprocess.Popen([PROGRAM, *map(str, args)], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def start_and_await(*args):
    """Until it tells of the first interval: it measures."""
    process = start(*args)
    for line in process.stderr:
        if re.match(r' +[0-9.]+ s ', line):
            return process
    true(False, f'it ended with status {process.wait()}')


def test_signals_reach_the_command():
    script = 'trap "echo got it; exit 3" {0}; echo ready; while :; do sleep 0.1; done'
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        process = start('stat', 'sh', '-c', script.format(number.name[3:]))
        equal(process.stdout.readline(), 'ready\n', 'start')
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
        equal((out, process.returncode), ('got it\n', 3), number.name)
        true('elapsed' in err, f'no report after {number.name}')


def test_interrupt_from_the_keyboard():
    """Ctrl-C goes to the whole foreground group: the command decides, the report comes."""
    process = start('stat', '-r', '5', 'sleep', '30', start_new_session=True)
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE_S)
    equal(process.returncode, 128 + signal.SIGINT, 'status')
    true('elapsed' in err, f'no report in {err!r}')


def cpu_of(pid):
    """Seconds of CPU time, as the scheduler counts them."""
    with open(f'/proc/{pid}/schedstat', encoding='ascii') as stat:
        return int(stat.read().split()[0]) / 1e9


def test_attach():
    hog = subprocess.Popen([LOAD, 'hog', '0', '60'], stdout=subprocess.DEVNULL)
    try:
        outer_s, hog_s = -time.monotonic(), -cpu_of(hog.pid)
        result = run('stat', '--json', '-p', hog.pid, '--seconds', '1')
        outer_s, hog_s = outer_s + time.monotonic(), hog_s + cpu_of(hog.pid)
        equal(result.status, 0, result.err)
        document = result.json()
        validate(document, 'wattribute-stat-1')
        one = document['runs'][0]
        # The hog had no more than all of the time before and after.
        least_s = hog_s - (outer_s - one['elapsed_s'])
        true(least_s - 0.02 < one['cpu_s'] < hog_s + 0.02, f"cpu_s {one['cpu_s']}, of {hog_s}")
        true(one['rusage_cpu_s'] is None and one['exit_status'] is None, 'values of a child')
        true(0.95 < one['elapsed_s'] < outer_s, f"elapsed_s {one['elapsed_s']}")
        process = start_and_await('stat', '-I', '100', '-p', hog.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
        equal(process.returncode, 0, err)
        true('elapsed' in err, 'no report after Ctrl-C')
        process = start_and_await('stat', '-I', '100', '-p', hog.pid)
    finally:
        hog.kill()
        hog.wait()
    _, err = process.communicate(timeout=PATIENCE_S)
    equal(process.returncode, 0, 'status when the process ends')
    true('elapsed' in err, 'no report when the process ends')
    one_line(run('stat', '-p', hog.pid), 1, 'no process', str(hog.pid))
    one_line(run('stat', '-p', 999999999), 1, 'no process 999999999')


def test_doctor():
    result = run('doctor')
    true(result.status in (0, 1), f'status {result.status}')
    for line in result.out.splitlines():
        true(len(line) <= 80 or ' ' not in line.strip(), f'{len(line)} columns: {line!r}')
    true(result.out.startswith('Measuring is '), 'the verdict is not the first')
    document = run('doctor', '--json').json()
    validate(document, 'wattribute-doctor-1')
    equal(document['is_possible'], result.status == 0, 'is_possible')
    names = [(source['role'], source['source']) for source in document['sources']]
    equal(len(names), len(set(names)), 'names of sources')
    for source in document['sources']:
        if source['state'] != 'available':
            true(source['why'], f"{source['source']} is {source['state']} and does not say why")


def test_doctor_is_short_where_all_is_well():
    """A board with sensors needs no advice for what it can't have; who asks is told all the same."""
    text = run('doctor', *fixture('jetson-agx-orin')).out
    true(text.startswith('Measuring is possible: power is measured by hwmon'), text)
    true('Intel' not in text and 'absent: ' in text and 'powercap' in text, text)
    text = run('doctor', '-v', *fixture('jetson-agx-orin')).out
    true('Intel' in text or 'x86' in text, 'the reason is nowhere')
    # What only x86 has is one word on Arm, though nothing measures.
    text = run('doctor', *with_its_cpus('vm-graviton')).out
    true('Intel or AMD' not in text and 'modprobe rapl' not in text, text)
    true(re.search(r'absent: perf_rapl, powercap', text), text)
    # Where nothing measures, each reason is told: this machine has counters, which stay at 0.
    text = ' '.join(run('doctor', *with_its_cpus('rapl-stuck-zero')).out.split())
    true('For measured power: powercap is stuck: 3 zones are there and all counters stay at 0' in text, text)


def test_doctor_on_fixtures():
    folder = os.path.join(TOP, 'tests', 'fixtures')
    for machine in sorted(os.listdir(folder)):
        if os.path.isdir(os.path.join(folder, machine, 'sys')):
            result = run('doctor', '--json', *fixture(machine))
            validate(result.json(), 'wattribute-doctor-1')
            result = run('sources', '--json', *fixture(machine))
            if result.status == 0:
                validate(result.json(), 'wattribute-sources-1')


def test_sources():
    document = run('sources', '--json').json()
    validate(document, 'wattribute-sources-1')
    paths = {domain['path'] for domain in document['domains']}
    for domain in document['domains']:
        true(domain['parent'] is None or domain['parent'] in paths, f'parent of {domain}')
    text = run('sources').out
    for channel in document['channels']:
        true(channel['name'] in text, f"{channel['name']} is not in the table")


def test_sources_of_a_fixture():
    result = run('sources', *fixture('xavier-nx'))
    for word in ('vdd_in', '├─ vdd_cpu_gpu_cv', '└─ residual', '3.78 W', 'computed'):
        true(word in result.out, f'no {word!r} in\n{result.out}')
    ascii_out = run('sources', *fixture('xavier-nx'), env={'LC_ALL': 'C'}).out
    true('|- vdd_cpu_gpu_cv' in ascii_out and ascii_out.isascii(), ascii_out)
    result = run('sources', *fixture('laptop-client'))
    true('duplicate' in result.out, f'no duplicate in\n{result.out}')


def new_board(folder):
    """The tree of a board that nobody knows, with two rails of one label."""
    tree = os.path.join(folder, 'machine')
    shutil.copytree(os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin'), tree, symlinks=True)
    with open(os.path.join(tree, 'sys/firmware/devicetree/base/compatible'), 'wb') as out:
        out.write(b'acme,carrier-"7"\0acme,soc\0')
    second = glob.glob(os.path.join(tree, 'sys/devices/**/1-0041/hwmon/hwmon*/in2_label'),
                       recursive=True)
    equal(len(second), 1, 'label of the second sensor')
    with open(second[0], 'w', encoding='utf-8') as out:
        out.write('VIN_SYS_5V0\n')
    return [f'--sysfs-root={tree}/sys', f'--procfs-root={tree}/proc']


def test_board():
    known = fixture('jetson-orin-nx')
    out = run('board', *known).out
    for word in ('Jetson Orin NX (built in)', 'nvidia,p3767-0000', 'VDD_CPU_GPU_CV',
                 'vdd_in/vdd_soc', 'All sensors of hwmon take ', '--rate=hwmon='):
        true(word in out, f'no {word!r} in\n{out}')
    procfs = os.path.join(TOP, 'tests', 'fixtures', 'laptop-client', 'proc')
    laptop = run('board', *fixture('laptop-client'), f'--procfs-root={procfs}')
    true('no devicetree' in laptop.out, 'a laptop')
    equal((laptop.err, set(re.findall('^context/[a-z]+', laptop.out, re.M))), ('', {'context/cpu'}), 'nothing of context but CPUs')
    one_line(run('board', '--yaml', *fixture('laptop-client')), 1, 'nothing to describe')
    one_line(run('board', '--slice=5ms'), 2, '--slice')
    one_line(run('board', 'extra'), 2, "'extra'")


def test_board_context():
    """All that can be read beside rails is measured, too, in units of its own."""
    procfs = os.path.join(TOP, 'tests', 'fixtures', 'jetson-agx-orin', 'proc')
    out = run('board', *fixture('jetson-agx-orin'), f'--procfs-root={procfs}').out
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith('context/')}
    # what a machine of files did stands still
    equal([lines.pop(f'context/cpu{cpu}/busy')[1:] for cpu in range(12)], 12 * [['-', 'no', 'data', '-']], out)
    equal({name: ' '.join(line[1:3]) for name, line in lines.items()},
          {'context/gpu/load': '52.3 %', 'context/policy0/clock': '2.20 GHz', 'context/memory/available': '27.4 GiB',
           'context/memory/used': '2.53 GiB', 'context/memory/emc': '20.0 %',
           'context/cpu-thermal/temperature': '48.2 C', 'context/tboard-thermal/temperature': '-4.5 C'}, out)
    for name, line in lines.items():
        true(float(line[3]) > 0 and line[4] in ('ns', 'us', 'ms') and line[5] in ('fast', 'medium', 'slow'), name)
    true('All sensors of context take ' in out and '--rate=context=' in out, out)


def emc_rights(tree):
    names = ('', 'cactmon', 'cactmon/mc_all', 'cactmon/sample_period_usec', 'clk', 'clk/emc', 'clk/emc/clk_rate')
    found = [os.stat(os.path.join(tree, 'sys/kernel/debug', name)) for name in names]
    return [(one.st_uid, one.st_gid, one.st_mode & 0o7777) for one in found]


def test_board_setup_emc():
    """A group reads EMC, others don't, and it is taken back to the bit."""
    if os.geteuid() != 0:
        raise Skip('only root can grant it')
    with tempfile.TemporaryDirectory() as folder:
        roots = new_board(folder)
        tree, state = os.path.join(folder, 'machine'), os.path.join(folder, 'state')
        debug = os.path.join(tree, 'sys/kernel/debug')
        os.chmod(debug, 0o700)
        os.chmod(os.path.join(debug, 'clk/emc/clk_rate'), 0o400)
        os.chmod(os.path.join(debug, 'cactmon/mc_all'), 0o440)
        before = emc_rights(tree)
        out = run('board', '--setup-emc=4321', f'--emc-state={state}', *roots).out
        equal(len(out.splitlines()), 4, f'what was changed in {out}')
        after = emc_rights(tree)
        # what all could read before is as it was
        equal([one != two for one, two in zip(before, after)], [True, False, True, False, False, False, True], after)
        equal((after[0], after[2], after[6]), ((0, 4321, 0o710), (0, 4321, 0o440), (0, 4321, 0o440)), 'rights')
        one_line(run('board', '--setup-emc=0', f'--emc-state={state}', *roots), 1, '--undo-emc')
        equal(emc_rights(tree), after, 'refused')
        equal(run('board', '--undo-emc', f'--emc-state={state}', *roots).status, 0, 'undo')
        equal(emc_rights(tree), before, 'as before')
        one_line(run('board', '--undo-emc', f'--emc-state={state}', *roots), 1, 'nothing was granted')
        with open(state, 'w', encoding='utf-8') as out:
            out.write('0 0 777 kernel/debug/../../etc\n')
        one_line(run('board', '--undo-emc', f'--emc-state={state}', *roots), 1, 'state:1:')
        equal(emc_rights(tree), before, 'nothing is changed')
        os.unlink(state)
        one_line(run('board', '--setup-emc=nobody-has-this', f'--emc-state={state}', *roots), 1, 'no group')
        os.unlink(os.path.join(debug, 'cactmon/mc_all'))
        one_line(run('board', '--setup-emc=4321', f'--emc-state={state}', *roots), 1, 'mc_all')
        true(not os.path.exists(state), 'a state of nothing')
        one_line(run('board', '--setup-emc=0', '--yaml', *roots), 2, 'give one')


def test_board_setup_emc_where_the_board_says():
    """Its own files are granted, and no others; taken back also when nobody says any more where they were."""
    if os.geteuid() != 0:
        raise Skip('only root can grant it')
    with tempfile.TemporaryDirectory() as folder:
        roots = new_board(folder)
        tree, state, config = (os.path.join(folder, name) for name in ('machine', 'state', 'board.yaml'))
        own = os.path.join(tree, 'sys/kernel/debug/my actmon')
        os.mkdir(own, 0o700)
        for name in 'busy', 'period', 'hz':
            with open(os.path.join(own, name), 'w', encoding='ascii') as out:
                out.write('1000\n')
            os.chmod(os.path.join(own, name), 0o400)
        with open(config, 'w', encoding='utf-8') as out:
            out.write(run('board', '--yaml', *roots).out + '    emc: {activity: "/sys/kernel/debug/my actmon/busy", '
                      'period: "/sys/kernel/debug/my actmon/period", rate: "/sys/kernel/debug/my actmon/hz"}\n')
        os.chmod(os.path.join(tree, 'sys/kernel/debug'), 0o700)
        before = emc_rights(tree)

        def own_rights():
            return [(os.stat(path).st_gid, os.stat(path).st_mode & 0o7777)
                    for path in (own, *(os.path.join(own, name) for name in ('busy', 'period', 'hz')))]
        out = run('board', '--setup-emc=4321', f'--emc-state={state}', f'--config={config}', *roots).out
        equal(own_rights(), [(4321, 0o710), (4321, 0o440), (4321, 0o440), (4321, 0o440)], out)
        equal((emc_rights(tree)[0], emc_rights(tree)[1:]), ((0, 4321, 0o710), before[1:]), 'the folder above, and no other')
        true('my actmon/hz: 0400 0:0 is now 0440 0:4321' in out, out)
        equal(run('board', '--undo-emc', f'--emc-state={state}', *roots).status, 0, 'undo')
        equal((emc_rights(tree), own_rights()), (before, [(0, 0o700), (0, 0o400), (0, 0o400), (0, 0o400)]), 'as before')
        with open(state, 'w', encoding='utf-8') as out:
            out.write('0 0 777 kernel/debug\n')
        os.chown(state, 4321, -1)
        one_line(run('board', '--undo-emc', f'--emc-state={state}', *roots), 1, 'somebody else')
        equal(emc_rights(tree), before, 'nothing is changed')


def test_board_that_nobody_knows():
    with tempfile.TemporaryDirectory() as folder:
        roots = new_board(folder)
        true('Board: not known' in run('board', *roots).out, 'a board that nobody knows')
        config = os.path.join(folder, 'board.yaml')
        with open(config, 'w', encoding='utf-8') as out:
            out.write(run('board', '--yaml', *roots).out)
        roots.append(f'--config={config}')
        with open(config, encoding='utf-8') as text:
            true('gpu_load: ["/sys/devices/platform/bus@0/17000000.gpu/load"]\n'
                 '    thermal: ["cpu-thermal", "tboard-thermal"]' in text.read(), 'context of a board')
        out = run('board', *roots).out
        true('acme,carrier-"7" (by the configuration file)' in out, out)
        use = {domain['path']: domain['is_summed']
               for domain in run('sources', '--json', *roots).json()['domains']}
        # what contains what is not known: nothing of it is added
        for path in ('vdd_cpu_cv', 'vin_sys_5v0-0040', 'vin_sys_5v0-0041'):
            equal(use.get(path), False, f'{path} of {use}')
        # described again, it stays as it was
        equal(run('board', '--yaml', *roots).out, open(config, encoding='utf-8').read(), 'again')


def check_conservation(document):
    """The equation, recomputed from the document alone."""
    rows = [row for row in document['rows'] if row['is_in_sum']]
    for i, domain in enumerate(document['domains']):
        if domain['energy'] is None:
            continue
        equal(sum(row['domain_window_nj'][i] for row in rows), domain['window_nj'],
              f"{domain['path']}: window")
        equal(sum(nj(row['domain_energy'][i]) for row in rows), nj(domain['energy']),
              f"{domain['path']}: energy")
        for kind in ('idle', 'unattributed'):
            own = [nj(row['domain_energy'][i]) for row in rows if row['kind'] == kind]
            equal(sum(own), nj(domain[kind]), f"{domain['path']}: {kind}")
    parts = [i for i, domain in enumerate(document['domains']) if domain['is_partition']]
    for row in document['rows']:
        equal(sum(nj(row['domain_energy'][i]) for i in parts), nj(row['energy']), row['name'])
    for kind in ('container', 'unit', 'user'):
        mine = sum(nj(row['energy']) for row in document['rows'] if row['kind'] == kind)
        everybody = sum(nj(row['energy']) for row in rows)
        true(mine <= everybody, f'all of kind {kind} used {mine} of {everybody} nJ')
    equal(document['quality']['check_failures'], 0, 'failed checks')
    equal(document['quality']['sum_failures'], 0, 'failed checks of sums')


def test_top_json_is_conserved():
    result = run('top', '--json', '-n', '4', '-d', '0.3')
    equal(result.status, 0, result.err)
    documents = [json.loads(line) for line in result.out.splitlines()]
    equal(len(documents), 4, 'documents')
    last = 0
    for document in documents:
        validate(document, 'wattribute-snapshot-1')
        check_conservation(document)
        true(document['sequence'] > last, 'sequence')
        last = document['sequence']
    energies = [nj(document['machine']['energy']) for document in documents]
    equal(energies, sorted(energies), 'energy never goes back')
    for before, after in zip(documents, documents[1:]):
        equal(nj(after['machine']['energy']) - nj(before['machine']['energy']),
              after['machine']['window_nj'], 'windows telescope')


def test_top_json_of_a_fixture():
    document = run('top', '--json', '--once', '-d', '0.5', *fixture('xavier-nx')).json()
    validate(document, 'wattribute-snapshot-1')
    check_conservation(document)
    true(abs(document['machine']['power_w'] - 3.784) < 0.01, 'power of the fixture')
    equal(document['machine']['origin'], 'measured', 'origin')


def test_a_simulated_machine():
    """A machine whose truth is known; and it says that it is none."""
    args = ['--sources=synth', '--usage=synth', '-d', '0.5']
    result = run('top', '--json', '-n', '3', *args)
    equal(result.status, 0, result.err)
    for line in result.out.splitlines():
        document = json.loads(line)
        validate(document, 'wattribute-snapshot-1')
        check_conservation(document)
        equal(document['machine']['origin'], 'simulated', 'origin')
    true(any(row['kind'] == 'process' for row in document['rows']), 'no process')
    true('simulated' in run('top', '--once', *args).out.splitlines()[0], 'not marked')


def test_idle_is_shared_when_asked():
    """A model knows its idle power from the start, so the policy shows at once."""
    args = ['--sources=estimate', '-d', '0.5']
    separate = run('top', '--once', '--json', *args).json()
    equal(separate['idle_policy'], 'separate', 'policy')
    equal(nj(separate['machine']['shared_idle']), 0, 'shared idle energy')
    true(nj(separate['machine']['idle']) > 0, 'the model has no idle energy')
    result = run('top', '--once', '--json', '--idle-policy=proportional', *args)
    equal(result.status, 0, result.err)
    shared = result.json()
    validate(shared, 'wattribute-snapshot-1')
    check_conservation(shared)
    equal(shared['idle_policy'], 'proportional', 'policy')
    true(nj(shared['machine']['shared_idle']) > 0, 'no idle energy is shared')
    true('idle known' in run('top', '--once', '--idle-policy=proportional', *args).out and
         'and shared too' in run('top', '--once', '--idle-policy=proportional', *args).out,
         'people are not told')
    document = run('stat', '--json', '--idle-policy=proportional', '--sources=estimate', '--',
                   'sh', '-c', 'exec "$@" > /dev/null', 'sh', LOAD, 'hog', '0', '0.3').json()
    validate(document, 'wattribute-stat-1')
    equal(document['idle_policy'], 'proportional', 'policy')
    true(document['runs'][0]['shared_idle_nj'] > 0, 'no idle energy is shared')


def test_share_key_of_a_domain():
    result = run('top', '--once', '--json', '-d', '0.5', '--share-key=none,package-0=auto',
                 '--sources=synth', '--usage=synth')
    equal(result.status, 0, result.err)
    document = result.json()
    check_conservation(document)
    for domain in document['domains']:
        is_auto = domain['path'] == 'package-0'
        equal(domain['share_key'], 'cpu_time' if is_auto else 'none', domain['path'])
        if not is_auto:
            equal(domain['unattributed'], domain['energy'], domain['path'])


def test_mistakes_about_attribution():
    args = ['--sources=synth', '--usage=synth']
    for option, said in (('--idle-policy=fair', 'there are: separate, proportional, requests'),
                         ('--share-key=watts', 'there are: auto, none, cpu_time'),
                         ('--share-key=gpu=none', 'there are: package-0'),
                         ('--sensor-delay=gpu=3', 'there are: synth/package-0'),
                         ('--sensor-delay=synth/*', 'is not a delay such as')):
        for command in (['top', '--once'], ['stat', '--json']):
            result = run(*command, option, *args, *(['true'] if command[0] == 'stat' else []))
            equal(result.status, 2, option)
            true(said in result.err, f'{option}: {result.err!r}')


def test_hostile_names():
    """A comm is 15 bytes of anything; arguments are anything but NUL."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'e\033[31m\nvil\xff'.encode('latin-1').decode('latin-1'))
        shutil.copy(LOAD, path)
        hog = subprocess.Popen([path, 'hog', '0', '20', '\033]0;title\a', '\xe9caf'])
        try:
            plain = run('top', '--once', '-d', '0.5')
            document = run('top', '--once', '--json', '-d', '0.5')
        finally:
            hog.kill()
            hog.wait()
    for text in (plain.out, document.out):
        for character in '\033\a\r':
            true(character not in text, f'{character!r} in the output')
    names = [row['name'] for row in document.json()['rows'] if row['process'] and
             row['process']['pid'] == hog.pid]
    true(names and names[0].startswith('e'), f'the process is not in the document: {names}')


def test_readers_that_go():
    """`| head` ends it, and nobody complains."""
    for args in (['top', '-d', '0.2', '-p'], ['top', '-d', '0.2', '--json']):
        process = start(*args)
        process.stdout.readline()
        process.stdout.close()
        process.wait(timeout=PATIENCE_S)
        equal(process.stderr.read(), '', ' '.join(args))


def test_a_full_disk_is_no_success():
    if not os.path.exists('/dev/full'):
        raise Skip('there is no /dev/full')
    with open('/dev/full', 'w', encoding='utf-8') as full:
        for args in (['doctor'], ['sources'], ['top', '--once', '-d', '0.2'],
                     ['top', '--once', '--json'], ['--help']):
            done = subprocess.run([PROGRAM, *args], stdout=full, stderr=subprocess.PIPE,
                                  check=False, timeout=60)
            equal(done.returncode, 1, f'{args} into a full disk')


def test_without_root():
    """Everything works as far as it can, and says in one line what root would add."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        raise Skip('needs root and setpriv')
    with for_anybody(PROGRAM) as program:
        check_without_root(['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                            '--bounding-set=-all', program])


def check_without_root(unprivileged):
    for args in (['top', '--once', '-d', '0.3'], ['sources'], ['stat', '-o', '/dev/null', 'true']):
        done = subprocess.run([*unprivileged, *args], capture_output=True, text=True,
                              check=False, timeout=60)
        equal(done.returncode, 0, f'{args}: {done.stderr}')
        true(done.stderr.count('\n') <= 1, f'{args}: {done.stderr!r}')
        true('root' in done.stderr, f'{args} does not say what root would add: {done.stderr!r}')
    done = subprocess.run([*unprivileged, 'doctor'], capture_output=True, text=True,
                          check=False, timeout=60)
    true('forbidden' in done.stdout, 'doctor finds nothing forbidden')


def test_hidden_processes():
    """Where procfs hides those of others, root would add more than BPF."""
    mount = ['unshare', '--mount', 'sh', '-c', 'mount -t proc -o hidepid=2 proc /proc && exec "$@"', 'sh']
    if subprocess.run([*mount, 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('no other procfs can be mounted here')
    with for_anybody(PROGRAM) as program:
        done = subprocess.run([*mount, 'setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                               '--bounding-set=-all', program, 'top', '--once', '-d', '0.3', '--sources=synth'],
                              capture_output=True, text=True, check=False, timeout=60)
    equal(done.returncode, 0, done.stderr)
    true('root would add' in done.stderr and 'more of procfs' in done.stderr, done.stderr)


def test_nothing_to_share_by():
    """A card that nobody tells of who used it: that is no 0 W of everybody's."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        raise Skip('needs root and setpriv')
    with tempfile.TemporaryDirectory() as folder, for_anybody(PROGRAM) as program:
        os.chmod(folder, 0o755)
        chip = f'{folder}/sys/class/hwmon/hwmon0'
        os.makedirs(chip)
        for name, text in (('name', 'nouveau'), ('power1_input', '41000000')):
            with open(f'{chip}/{name}', 'w', encoding='utf-8') as file:
                file.write(text)
        deadline = time.monotonic() + 120
        while True:
            done = subprocess.run(
                ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups',
                 '--bounding-set=-all', program, 'top', '--once', '-d', '0.3',
                 '--sources=hwmon', '--usage=procfs', '--sysfs-root', f'{folder}/sys'],
                capture_output=True, text=True, check=False, timeout=60)
            equal(done.returncode, 0, done.stderr)
            if 'unattributed 41' in done.stdout or time.monotonic() > deadline:
                break
    true(re.search(r'^measured 41\.0*0 W = unattributed 41\.0*0 W: nothing tells who used it$',
                   done.stdout, re.M), done.stdout)
    rows = done.stdout.split('COMMAND\n')[1].splitlines()
    said = [row for row in rows if row and not row.endswith((' unattributed', ' idle'))]
    true(said and all(re.search(r' -  +- ', row) for row in said), done.stdout)
    true('not root: root would add' in done.stderr, done.stderr)


RECIPE = ('+bpf', '+perfmon')  # what doctor tells to give


def with_capabilities(*capabilities):
    """The words that run a program with these and no others, root's own magic included."""
    words = ','.join(('-all', *capabilities))
    return ['setpriv', '--securebits=+noroot', f'--inh-caps={words}', f'--ambient-caps={words}',
            f'--bounding-set={words}']


def check_usage(words):
    """What doctor says of BPF is what a session finds."""
    done = subprocess.run([*words, PROGRAM, 'doctor', '--json'], capture_output=True, text=True,
                          check=False, timeout=60)
    document = json.loads(done.stdout)
    bpf = next((one for one in document['sources'] if one['source'] == 'bpf'), None)
    if not bpf:
        raise Skip('a build without BPF')
    done = subprocess.run([*words, PROGRAM, 'sources', '--json', '--sources=estimate'],
                          capture_output=True, text=True, check=False, timeout=60)
    equal(done.returncode, 0, f'status (it said {done.stderr!r})')
    equal(bpf['is_selected'], json.loads(done.stdout)['usage'] == 'bpf', f'what doctor says: {bpf}')
    return bpf


def test_the_recipe_of_capabilities():
    """Exactly the capabilities that doctor names are enough for BPF, and one less is not."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        raise Skip('needs root and setpriv')
    bpf = check_usage([])
    if not bpf['is_selected']:
        raise Skip(f"no BPF here: {bpf['why']}")
    true(bpf['read_cost_s'] > 0, 'it has not been loaded')
    bpf = check_usage(with_capabilities(*RECIPE))
    true(bpf['is_selected'], f'the recipe does not do: {bpf}')
    bpf = check_usage(with_capabilities('+bpf'))
    equal(bpf['state'], 'forbidden', 'state with one capability less')
    true('cap_bpf,cap_perfmon' in bpf['hint'], bpf['hint'])


def test_doctor_has_loaded_it():
    """The capabilities are there, and the kernel has no room: that is found by loading alone."""
    words = ['prlimit', '--nofile=24:24']
    if not shutil.which(words[0]):
        raise Skip('missing: prlimit')
    bpf = check_usage(words)
    true(not bpf['is_selected'] and bpf['why'], f'{bpf}')


main([value for name, value in list(globals().items()) if name.startswith('test_')])
