#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`wattribute stat` against getrusage: whatever the processes do, their time is accounted."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from command import LOAD, PROGRAM, TOP, Skip, equal, main, near, run, true, validate  # noqa: E402


def measure(*command, options=(), status=0):
    """The JSON report of a command, and what the command printed."""
    with tempfile.NamedTemporaryFile('r', suffix='.json') as report:
        result = run('stat', '--json', '-o', report.name, *options, '--', *command)
        if result.status == 77:
            raise Skip('the kernel lets nobody choose a pid here')
        if status is not None:
            equal(result.status, status, f'status of stat (it said {result.err!r})')
        import json
        document = json.load(report)
    validate(document, 'wattribute-stat-1')
    return document, result.out


def needs_deaths(document):
    if document['usage'] != 'bpf':
        raise Skip('without BPF processes that end between two sweeps are not seen')


def check_sums(document):
    """What holds in every report, whatever was measured."""
    equal(document['quality']['check_failures'], 0, 'failed conservation checks')
    equal(document['quality']['sum_failures'], 0, 'failed checks of sums')
    for one in document['runs']:
        parts = [domain for domain in one['domains']
                 if domain['is_partition'] and domain['energy_nj'] is not None]
        equal(sum(domain['energy_nj'] for domain in parts), one['energy_nj'], 'sum over domains')
        equal(sum(domain['machine_energy_nj'] for domain in parts), one['machine_energy_nj'],
              'sum of the machine over domains')
        true(one['energy_nj'] + one['idle_nj'] + one['unattributed_nj'] <= one['machine_energy_nj'],
             'the command used more than the machine')
        if one['intervals']:
            for key in ('energy_nj', 'machine_energy_nj'):
                equal(sum(part[key] for part in one['intervals']), one[key], f'intervals: {key}')


def test_what_is_shown_adds_up():
    result = run('stat', '--sources=synth', '--usage=procfs', '--per-domain', '--', 'sleep', '0.3')
    equal(result.status, 0, result.err)
    rows = re.findall(r'^ +([\d.]+|-) +J  +((?:the |all |idle|unattr).*)$', result.err, re.M)
    equal([what[:11] for _, what in rows][:2], ['the command', 'the machine'], result.err)
    whole, parts = rows[1][0], [number for number, _ in rows[2:] if number != '-']
    steps = 10 ** len(whole.partition('.')[2])
    true(len(parts) >= 3, result.err)
    equal({len(number.partition('.')[2]) for number in parts}, {len(whole.partition('.')[2])}, 'decimals')
    equal(sum(round(float(number) * steps) for number in parts), round(float(whole) * steps), f'{rows}')


def test_lines_add_up_to_the_page():
    """The lines of -I, and the domains with what lies in them, are what is said of the whole run."""
    result = run('stat', '--sources=synth', '--usage=procfs', '--per-domain', '-I', '100', '--', 'sh', '-c',
                 'i=0; while [ $i -lt 60 ]; do sleep 0.01; i=$((i+1)); done')
    equal(result.status, 0, result.err)
    lines = re.findall(r' s +(<?[\d.]+) +J .* (<?[\d.]+) +J machine', result.err)
    true(len(lines) >= 5, result.err)
    own = re.search(r'^ +([\d.]+) +J  the command', result.err, re.M).group(1)
    machine = re.search(r'^ +([\d.]+) +J  the machine', result.err, re.M).group(1)
    decimals = len(machine.partition('.')[2])

    def steps(text):
        true(text[0] == '<' or len(text.partition('.')[2]) == decimals, f'decimals of {text}: {result.err}')
        return 0 if text[0] == '<' else round(float(text) * 10 ** decimals)

    equal(sum(steps(line[0]) for line in lines), steps(own), f'the command: {result.err}')
    equal(sum(steps(line[1]) for line in lines), steps(machine), f'the machine: {result.err}')
    domains = re.findall(r'^ +([\d.]+) +J    (.*?)([\w-]+), of ([\d.]+) J', result.err, re.M)
    true(len(domains) > 3, result.err)
    for column, whole in ((0, own), (3, machine)):
        top, inside = 0, None
        for row in domains:
            if not row[1]:
                true(inside is None or inside[0] <= inside[1], f'more in it than it has: {result.err}')
                inside = [0, steps(row[column])]
                top += steps(row[column])
            elif len(row[1]) == 3:
                inside[0] += steps(row[column])
        equal(top, steps(whole), f'domains: {result.err}')


def test_the_best_total_is_the_headline():
    """A laptop on battery: what the battery says is the machine, and the estimate a part of it."""
    options = (f'--sysfs-root={TOP}/tests/fixtures/laptop-battery/sys', '--usage=procfs')
    result = run('stat', *options, '--', 'sleep', '2')
    equal(result.status, 0, result.err)
    true('the whole machine measured (supply-bat0, ' in result.err and 'of it estimated ' in result.err, result.err)

    def number(what):
        found = re.search(rf'^ +([\d.]+) +J  +{what}', result.err, re.M)
        true(found, f'{what}: {result.err}')
        return round(float(found.group(1)) * 10 ** len(found.group(1).partition('.')[2]))

    equal(number('not told apart') + number('told apart$'), number('the machine in '), result.err)
    equal(sum(number(what) for what in ('the command$', 'all others', 'unattributed$')) +
          (number('idle$') if re.search(' idle$', result.err, re.M) else 0), number('told apart$'), result.err)
    document = run('stat', '--json', *options, '--', 'sleep', '2').json()
    one = document['runs'][0]
    true(document['outside'].startswith('supply-bat0') and document['origin'] == 'estimated', f"{document['outside']}")
    near(one['outside_power_w'], 49, 0.02, 'what the supplies measure')
    true(0 < one['machine_power_w'] < one['outside_power_w'], f"{one['machine_power_w']} W are a part of it")
    document = run('stat', '--json', '--sources=synth', '--usage=procfs', '--', 'true').json()
    equal((document['outside'], document['runs'][0]['outside_power_w']), (None, None), 'nothing outside')


def test_it_says_how_sure_it_is():
    """The meter itself runs beside the command: so who used what has to be guessed."""
    script = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
    for key, is_told in (('learned', True), ('cpu_time', False)):
        options = ['--sources=synth', '--usage=procfs', f'--share-key={key}']
        one = measure('sh', '-c', script, options=options)[0]['runs'][0]
        true(one['energy_nj'] > 0, f'{one}')
        equal(one['uncertainty_j'] is not None and one['uncertainty_j'] > 0, is_told, f'by {key}: {one}')


def measure_load(kind, n, cpu_s=0, options=()):
    document, output = measure(LOAD, kind, str(n), str(cpu_s), options=options)
    check_sums(document)
    return document, document['runs'][0], float(output)


def check_threads(document):
    """They are all of the run, to the nJ."""
    for one in document['runs']:
        equal(sum(thread['energy_nj'] for thread in one['threads']), one['energy_nj'], 'energy of the threads')
        equal(sum(round(thread['cpu_s'] * 1e9) for thread in one['threads']), round(one['cpu_s'] * 1e9),
              'CPU time of the threads in ns')


def test_threads_that_nobody_saw():
    """Short ones are between two looks at /proc: what they used is told, and as nobody's."""
    script = 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do /bin/true; done'
    document, _ = measure('sh', '-c', script, options=('--sources=synth', '--usage=procfs', '--per-thread'))
    check_threads(document)
    others = [thread for thread in document['runs'][0]['threads'] if thread['tid'] is None]
    for other in others:
        equal(other['name'], '(other threads)')
        equal(other['count'], None, 'nobody counted them')


def test_threads():
    """Each thread by its name, though all have ended; what each used it tells itself."""
    document, output = measure(LOAD, 'workers', '3', '0.1', options=['--per-thread'])
    needs_deaths(document)
    told = dict(line.split() for line in output.splitlines() if line.startswith('worker-'))
    equal(len(told), 3, 'threads')
    one = document['runs'][0]
    found = {thread['name']: thread for thread in one['threads']}
    for name, used_s in told.items():
        near(found[name]['cpu_s'], float(used_s), 0.03, name)
        true(found[name]['tid'] != found[name]['pid'], f'{name} is its process')
    check_threads(document)
    result = run('stat', '--per-thread', '--sources=synth', '--', LOAD, 'workers', '2', '0.05')
    true(' Threads:' in result.err and 'worker-2 (' in result.err, result.err)


def test_tree_agrees_with_getrusage():
    document, one, truth_s = measure_load('tree', 4, 0.3)
    near(one['cpu_s'], truth_s, 0.005 if document['usage'] == 'bpf' else 0.05, 'tree')
    near(one['rusage_cpu_s'], truth_s, 0.005, 'getrusage of the child')
    true(one['energy_nj'] > 0, 'no energy for a second of work')


def test_hog_pinned_for_ten_seconds():
    cpu = max(os.sched_getaffinity(0))
    document, one, truth_s = measure_load('hog', cpu, 10, options=('-I', '1000'))
    near(one['cpu_s'], truth_s, 0.005 if document['usage'] == 'bpf' else 0.02, 'hog')
    # It is accounted while it runs, not when it ends.
    true(len(one['intervals']) >= 9, f"only {len(one['intervals'])} intervals")
    # Where others want the CPU, too, it may get a second with next to nothing, and once with nothing; who
    # got less than a tenth of ten seconds may have had several of these.
    empty = [part for part in one['intervals'][:-1] if not part['cpu_s']]
    true(len(empty) <= 1 or truth_s < 1, f'intervals with nothing, of {truth_s:.3f} s: {empty}')
    for part in one['intervals'][:-1]:
        true(part['cpu_s'] <= part['elapsed_s'] * 1.1, f'an interval with {part}')


def test_intervals_are_one_window():
    """Sensors that tell late: what they say of an interval is divided by its own length."""
    document, _ = measure('sleep', '1.5', options=('--sources', 'synth', '-I', '100'))
    check_sums(document)
    one = document['runs'][0]
    watts = [part['machine_energy_j'] / part['elapsed_s'] for part in one['intervals'] if part['elapsed_s'] > 0.001]
    true(len(watts) >= 3, f'only {len(watts)} intervals')
    # The simulated machine takes 25 to 31 W. The first interval has what was used before the command began.
    true(all(20 < power < 37 for power in watts[1:]), f'powers of the machine: {watts}')


def test_intervals_shorter_than_a_slice():
    """What nobody can tell apart is one interval, and none has no length."""
    document, _ = measure('sleep', '0.5', options=('--sources', 'synth', '--slice', '100', '-I', '20'))
    check_sums(document)
    intervals = document['runs'][0]['intervals']
    # The last one is what was told behind the command's end, which may be nothing more.
    true(len(intervals) >= 2, f'{intervals}')
    true(all(part['elapsed_s'] > 0 for part in intervals[:-1]), f'lengths: {[part["elapsed_s"] for part in intervals]}')


def test_a_command_is_none_of_the_simulated_machine():
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, 'ran')
        for words in (('stat',), ('record', '-f', '-o', os.path.join(folder, 'run.watt'))):
            result = run(*words, '--sources=synth', '--usage=synth', '--', 'touch', trace)
            equal(result.status, 2, f'{words}: {result.err}')
            true('--usage=synth' in result.err and result.err.count('\n') == 1, result.err)
        equal(os.listdir(folder), [], 'files')


def test_twenty_busy_threads():
    document, one, truth_s = measure_load('threads', 20, 0.1)
    near(one['cpu_s'], truth_s, 0.005 if document['usage'] == 'bpf' else 0.05, 'threads')


def test_five_thousand_short_lived_processes():
    document, _ = measure('sh', '-c', 'i=0; while [ $i -lt 5000 ]; do /bin/true; i=$((i+1)); done')
    needs_deaths(document)
    check_sums(document)
    one = document['runs'][0]
    print(f"    short-lived: {one['cpu_s']:.6f}, getrusage {one['rusage_cpu_s']:.6f}")
    true(one['cpu_s'] >= one['rusage_cpu_s'] * 0.99, 'more than 1 % is lost')
    # What a process does after it was counted for its parent is ours alone: its last steps.
    true(one['cpu_s'] <= one['rusage_cpu_s'] * 1.1, 'more than 10 % too much')
    equal(document['quality']['lost_records'], 0, 'records lost')


def test_fork_storm():
    document, one, truth_s = measure_load('storm', 4000)
    needs_deaths(document)
    # Grandchildren that nobody waits for are in no rusage: there can be more than the truth.
    true(one['cpu_s'] >= truth_s * 0.99, f"{one['cpu_s']} s of {truth_s} s")
    true(one['cpu_s'] <= truth_s * 1.5, f"{one['cpu_s']} s instead of {truth_s} s")
    print(f"    storm: {one['cpu_s']:.6f}, at least {truth_s:.6f}")


def test_daemons_are_followed():
    document, one, truth_s = measure_load('daemon', 0, 1)
    near(one['cpu_s'], truth_s, 0.005 if document['usage'] == 'bpf' else 0.05, 'daemon')
    true(one['rusage_cpu_s'] < 0.5, 'the daemon was waited for: the test shows nothing')


def test_daemons_are_followed_without_bpf():
    document, one, truth_s = measure_load('daemon', 0, 1, options=('--usage=procfs',))
    equal(document['usage'], 'procfs', 'usage')
    near(one['cpu_s'], truth_s, 0.05, 'daemon by procfs')


def test_hog_without_bpf():
    _, one, truth_s = measure_load('hog', 0, 2, options=('--usage=procfs',))
    near(one['cpu_s'], truth_s, 0.03, 'hog by procfs')


def test_a_pid_used_again():
    document, one, truth_s = measure_load('reuse', 100, 0.005)
    needs_deaths(document)
    print(f"    one pid, a hundred processes: {one['cpu_s']:.6f}, at least {truth_s:.6f}")
    true(one['cpu_s'] >= truth_s * 0.995, 'one of them is lost')
    # What they do after their parent was told is ours alone, and more where the machine is busy.
    true(one['cpu_s'] <= truth_s * 1.05, 'more than they can have used')


def test_neighbours_are_not_accounted():
    """A command that sleeps beside a hog has next to nothing."""
    import subprocess
    hog = subprocess.Popen([LOAD, 'hog', '0', '3'], stdout=subprocess.DEVNULL)
    try:
        document, _ = measure('sleep', '1')
    finally:
        hog.kill()
        hog.wait()
    one = document['runs'][0]
    true(one['cpu_s'] < 0.05, f"a sleeping command with {one['cpu_s']} s")
    true(one['energy_nj'] < one['machine_energy_nj'] * 0.1, 'a sleeping command used a tenth')


def test_repeated_runs():
    document, output = measure(LOAD, 'hog', '0', '0.05', options=('-r', '5'))
    check_sums(document)
    equal(len(document['runs']), 5, 'runs')
    truth_s = sum(map(float, output.split())) / 5
    near(document['summary']['cpu_mean_s'], truth_s, 0.02 if document['usage'] == 'bpf' else 0.5,
         'mean of five')
    energies = [one['energy_j'] for one in document['runs']]
    mean = sum(energies) / 5
    stddev = (sum((value - mean) ** 2 for value in energies) / 4) ** 0.5
    near(document['summary']['energy_mean_j'], mean, 1e-9, 'mean energy')
    near(document['summary']['energy_stddev_j'], stddev, 1e-6, 'deviation')
    near(document['summary']['energy_ci95_j'], 2.776 * stddev / 5 ** 0.5, 1e-3, 'interval')


def test_a_command_of_a_moment():
    """It is part of the machine, however short; what is too little for a sensor is not 0."""
    # Beside a machine that took a thousand times as much, it is not 0 either.
    result = run('stat', '--sources=estimate', '--', 'sleep', '2')
    parts = [line.split() for line in result.err.splitlines() if line.endswith(' J    the command')]
    is_too_little = 'below what could be resolved' in result.err
    true(len(parts) == 1 and (is_too_little or float(parts[0][0]) > 0), result.err)
    for _ in range(5):
        document, _ = measure('true', options=('--sources=estimate',))
        check_sums(document)
        result = run('stat', '--sources=estimate', '--', 'true')
        equal(result.status, 0, f'status (it said {result.err!r})')
        for line in result.err.splitlines():
            words = line.split()
            if 'J' in words and words[0] != 'Energy':
                true(not words[0].startswith('-') or words[0] == '-', line)
            if line.endswith('W  the command, on average') or ' J  the command' in line:
                true(words[0] == '-' or float(words[0]) > 0, line)


def repeat(n, script):
    with tempfile.TemporaryDirectory() as folder:
        document, _ = measure('sh', '-c', script.replace('DIR', folder), options=('-r', n),
                              status=None)
        return document


def test_failed_runs_are_left_out():
    """What failed did something else than what did not: it is counted, and no part of the mean."""
    document = repeat('3', '[ -e DIR/x ] && exit 0; touch DIR/x; exit 5')
    runs = document['runs']
    equal([(one['exit_status'], one['is_left_out']) for one in runs],
          [(5, True), (0, False), (0, False)], 'runs')
    equal((document['summary']['runs'], document['summary']['left_out']), (2, 1), 'counts')
    near(document['summary']['elapsed_mean_s'], (runs[1]['elapsed_s'] + runs[2]['elapsed_s']) / 2,
         1e-9, 'mean of those that did not fail')
    # Where all fail, that is what the command does.
    document = repeat('2', 'exit 3')
    equal((document['summary']['runs'], document['summary']['left_out']), (2, 0), 'all fail')
    with tempfile.TemporaryDirectory() as folder:
        result = run('stat', '-r', '2', '--sources=synth', '--', 'sh', '-c',
                     f'[ -e {folder}/x ] && exit 0; touch {folder}/x; exit 5')
        true('1 of 2 runs failed or were interrupted: left out.' in result.err, result.err)


def be_a_caller():
    """What nohup, a shell's background job and a careful parent leave behind, all at once."""
    for number in (signal.SIGPIPE, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [signal.SIGUSR2])


def signals_of(*command):
    """What the command's own report of itself says of ignored and blocked signals."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120, check=False, preexec_fn=be_a_caller, restore_signals=False)
    found = re.findall(r'^(?:SigIgn|SigBlk):\t(\w+)$', done.stdout, re.M)
    equal(len(found), 2, f'{command}: {done.stdout} {done.stderr}')
    return found


def test_the_command_has_the_callers_signals():
    """Whatever we block and ignore for ourselves is no business of the command's."""
    look = ('cat', '/proc/self/status')
    truth = signals_of(*look)
    true(int(truth[0], 16) and int(truth[1], 16), f'the caller leaves nothing: {truth}')
    equal(signals_of(PROGRAM, 'stat', '--sources=synth', '--', *look), truth, 'stat')
    with tempfile.TemporaryDirectory() as folder:
        equal(signals_of(PROGRAM, 'record', '--sources=synth', '-o', f'{folder}/x.watt', '--', *look),
              truth, 'record')


def test_the_command_outlives_its_meter():
    """A meter that dies must not take the work with it."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f'{folder}/go')
        go = os.open(f'{folder}/go', os.O_RDWR)
        script = f'echo begun; read word < {folder}/go; echo $word > {folder}/x; mv {folder}/x {folder}/done'
        meter = subprocess.Popen([PROGRAM, 'stat', '--sources=synth', '--', 'sh', '-c', script],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        equal(meter.stdout.readline(), 'begun\n', 'the command')
        meter.kill()
        meter.wait()
        os.write(go, b'alive\n')
        end = time.monotonic() + 120
        while not os.path.exists(f'{folder}/done'):
            true(time.monotonic() < end, 'the command is dead, as its meter is')
            time.sleep(0.01)
        os.close(go)
        meter.stdout.close()


main([
    test_failed_runs_are_left_out,
    test_the_command_has_the_callers_signals,
    test_the_command_outlives_its_meter,
    test_tree_agrees_with_getrusage,
    test_hog_pinned_for_ten_seconds,
    test_intervals_are_one_window,
    test_intervals_shorter_than_a_slice,
    test_a_command_is_none_of_the_simulated_machine,
    test_twenty_busy_threads,
    test_five_thousand_short_lived_processes,
    test_fork_storm,
    test_daemons_are_followed,
    test_daemons_are_followed_without_bpf,
    test_hog_without_bpf,
    test_a_pid_used_again,
    test_neighbours_are_not_accounted,
    test_repeated_runs,
    test_a_command_of_a_moment,
    test_threads,
    test_threads_that_nobody_saw,
    test_it_says_how_sure_it_is,
    test_what_is_shown_adds_up,
    test_lines_add_up_to_the_page,
    test_the_best_total_is_the_headline,
])
