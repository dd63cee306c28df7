#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of pods from a kubelet and an API server: when they come late, change, lie or are not there."""
import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'fake')]
from agent import PATIENCE_S, Agent as Process  # noqa: E402
from command import TOP, Skip, equal, main, run, true  # noqa: E402
from kubelet import Kubelet, container, pod  # noqa: E402
from metrics import Metrics  # noqa: E402

UID = '0f1e2d3c-1111-2222-3333-444455556666'
HASH = '0123456789abcdef0123456789abcdef'
ID = '8f1c' + '0' * 59 + '1'
STATIC_ID = '8f1c' + '0' * 59 + '2'
PEM = os.path.join(TOP, 'tests', 'fake', 'bmc.pem')


def web(*, ident=ID):
    return pod('web-1', UID, [container('nginx', ident, requests={'cpu': '250m'})], namespace='shop')


def etcd():
    """A static pod, as the API server has it."""
    return pod('etcd-node-1', '9' * 8 + '-1111-2222-3333-444455556666', [container('etcd', STATIC_ID)],
               namespace='kube-system', owner=('Node', 'node-1'),
               annotations={'kubernetes.io/config.hash': HASH, 'kubernetes.io/config.mirror': HASH})


@contextlib.contextmanager
def node():
    """A machine of files on which two containers run; where its procfs is."""
    with tempfile.TemporaryDirectory(prefix='watt-kube-') as folder:
        shutil.copytree(os.path.join(TOP, 'tests', 'fixtures', 'kube-node', 'proc'), os.path.join(folder, 'proc'))
        is_over = threading.Event()
        runner = threading.Thread(target=keep_running, args=(os.path.join(folder, 'proc'), is_over))
        runner.start()
        try:
            yield os.path.join(folder, 'proc')
        finally:
            is_over.set()
            runner.join()


def keep_running(proc, is_over):
    """CPU time goes on, written over what is there: readers keep their files open."""
    files = [os.open(f'{proc}/{pid}/stat', os.O_RDWR) for pid in (1201, 1301)]
    texts = [os.pread(file, 4096, 0).decode().rpartition(') ') for file in files]
    ticks = 100000
    while not is_over.is_set():
        ticks += 2
        for file, (name, _, rest) in zip(files, texts):
            fields = rest.split(' ')
            fields[11] = str(ticks)
            os.pwrite(file, f"{name}) {' '.join(fields)}".encode(), 0)
        is_over.wait(0.02)
    for file in files:
        os.close(file)


class Agent(Process):
    """One that asks a kubelet about the containers of a machine of files."""

    def __init__(self, proc, url, *args, sources='synth'):
        super().__init__('--min-age=0s', f'--sources={sources}', '--usage=procfs', f'--procfs-root={proc}',
                         f'--kubelet-url={url}', *args)

    def metrics(self):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}/metrics', timeout=PATIENCE_S) as answer:
            return Metrics(answer.read().decode(), False)

    def questions(self, kubelet, n):
        """How often it asks while it refreshes n times."""
        def refreshes():
            return self.metrics().value('wattribute_agent_refreshes_total')
        asked, seen = kubelet.count('/pods'), refreshes()
        self.wait_for(lambda: refreshes() > seen + n, 'no refresh')
        return kubelet.count('/pods') - asked

    def labels(self, ident=ID):
        """Of the newest series of a container."""
        for sample in self.metrics().get('wattribute_container_watts'):
            if sample[1].get('container_id') == ident:
                return sample[1]
        return {}

    def wait_for_name(self, name, ident=ID):
        return self.wait_for(lambda: self.labels(ident).get('container') == name and self.labels(ident),
                             f'{ident[:4]} is not called {name}')


def check_web(labels):
    for key, value in {'container': 'nginx', 'pod': 'web-1', 'namespace': 'shop', 'pod_uid': UID,
                       'image': 'registry.example/nginx:1', 'runtime': 'containerd'}.items():
        equal(labels.get(key), value, key)


def check_sums(metrics):
    for domain in {sample[1]['domain'] for sample in metrics.get('wattribute_container_joules_total')}:
        for level in ('container', 'pod'):
            equal(metrics.sum(f'wattribute_{level}_joules_total', domain=domain) +
                  metrics.sum(f'wattribute_{level}_ended_joules', domain=domain),
                  metrics.value('wattribute_node_joules_total', domain=domain), f'{level} {domain}')


def test_kubelet_that_knows_late():
    """Asked when somebody new is seen, and again until it knows; nothing is lost meanwhile."""
    with node() as proc, Kubelet() as kubelet, Agent(proc, kubelet.url) as agent:
        agent.wait_for(lambda: kubelet.count('/pods'), 'the kubelet is not asked')
        agent.wait_for(lambda: agent.labels().get('container_id') == ID, 'the container is not seen')
        equal(agent.labels().get('container'), None, 'a name that nobody told')
        kubelet.put(web())
        kubelet.put(etcd())
        check_web(agent.wait_for_name('nginx'))
        equal(agent.wait_for_name('etcd', STATIC_ID).get('pod_uid'), HASH, 'uid of a static pod')
        metrics = agent.metrics()
        check_sums(metrics)
        pods = {sample[1].get('pod'): sample[1] for sample in metrics.get('wattribute_pod_watts')}
        equal(pods['web-1']['namespace'], 'shop', 'namespace of the pod')
        # who knows everybody is left in peace, but for what was wanted while the last answer came
        true(any(agent.questions(kubelet, 15) == 0 for _ in range(3)), 'questions when all is known')


def test_idle_by_requests():
    """Who requests an eighth of the CPUs pays for that part of idle energy, who runs without a request for the rest."""
    with node() as proc, Kubelet([web(), etcd()]) as kubelet, \
            Agent(proc, kubelet.url, '--idle-policy=requests', sources='estimate') as agent:
        agent.wait_for_name('nginx')
        agent.wait_for_name('etcd', STATIC_ID)

        def energies(metrics):
            domain = metrics.get('wattribute_container_joules_total')[0][1]['domain']
            found = {name: metrics.sum('wattribute_container_joules_total', container=name, domain=domain)
                     for name in ('nginx', 'etcd')}
            return found, metrics.sum('wattribute_container_joules_total', kind='idle', domain=domain)

        time.sleep(1.5)  # requests are looked up once a second
        metrics = agent.metrics()
        before, idle_before = energies(metrics)
        first = metrics.value('wattribute_agent_refreshes_total')
        agent.wait_for(lambda: agent.metrics().value('wattribute_agent_refreshes_total') > first + 10, 'no refresh')
        metrics = agent.metrics()
        after, idle_after = energies(metrics)
        gained = {name: after[name] - before[name] for name in after}
        true(gained['nginx'] > 0, f'energy {gained}')
        true(5 * gained['etcd'] > 6 * gained['nginx'], f'energy {gained}: idle energy was not shared by requests')
        true(2 * (idle_after - idle_before) < gained['etcd'], "idle energy is still nobody's")
        equal(metrics.get('wattribute_build_info')[0][1]['idle_policy'], 'requests', 'policy')
        check_sums(metrics)


@contextlib.contextmanager
def real_container(ident):
    """One that runc runs, in a cgroup as the kubelet names it, and that is busy."""
    busybox = shutil.which('busybox')
    if os.getuid() or not shutil.which('runc') or not busybox:
        raise Skip('missing: root, runc and busybox')
    with tempfile.TemporaryDirectory(prefix='watt-runc-') as folder:
        os.makedirs(os.path.join(folder, 'rootfs', 'bin'))
        shutil.copy(busybox, os.path.join(folder, 'rootfs', 'bin', 'busybox'))
        parent = f'/kubepods/burstable/pod{UID}'
        with open(os.path.join(folder, 'config.json'), 'w', encoding='ascii') as file:
            json.dump({'ociVersion': '1.0.2', 'root': {'path': 'rootfs'},
                       'process': {'user': {'uid': 0, 'gid': 0}, 'cwd': '/', 'env': ['PATH=/bin'],
                                   'args': ['/bin/busybox', 'sh', '-c', 'while :; do :; done']},
                       'mounts': [{'destination': '/proc', 'type': 'proc', 'source': 'proc'}],
                       'linux': {'cgroupsPath': f'{parent}/{ident}', 'resources': {},
                                 'namespaces': [{'type': 'pid'}, {'type': 'mount'}, {'type': 'ipc'}]}}, file)
        runc = ['runc', '--root', os.path.join(folder, 'run')]
        name = f'watt-agent-{os.getpid()}'
        try:
            # the container has its output as long as it runs: no pipe, which would be waited for
            with open(os.path.join(folder, 'log'), 'w+', encoding='utf-8') as log:
                done = subprocess.run([*runc, 'run', '--detach', '--bundle', folder, name], stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=log, check=False, timeout=PATIENCE_S)
                log.seek(0)
                if done.returncode:
                    raise Skip(f"runc can't start a container here: {log.read().strip()}")
            yield
        finally:
            subprocess.run([*runc, 'delete', '--force', name], capture_output=True, check=False)
            for path in (f'{parent}/{ident}', parent, '/kubepods/burstable', '/kubepods'):
                for group in glob.glob(f'/sys/fs/cgroup{path}') + glob.glob(f'/sys/fs/cgroup/*{path}'):
                    with contextlib.suppress(OSError):
                        os.rmdir(group)


def test_a_real_container():
    """A container of runc has energy under its id, in the pod that the kubelet tells of."""
    if run('doctor').status != 0:
        raise Skip('nothing can be measured here')
    ident = f'{os.getpid():064x}'
    with real_container(ident), Kubelet([web(ident=ident)]) as kubelet, \
            Process('--min-age=0s', '--sources=synth', f'--kubelet-url={kubelet.url}') as agent:
        def energy():
            with urllib.request.urlopen(f'http://127.0.0.1:{agent.port}/metrics', timeout=PATIENCE_S) as answer:
                metrics = Metrics(answer.read().decode(), False)
            found = [(labels, value) for _, labels, value in metrics.get('wattribute_container_joules_total')
                     if labels.get('container_id') == ident and labels.get('pod') and value > 0]
            return found and (found[0], metrics)
        (labels, _), metrics = agent.wait_for(energy, 'the container has no energy in its pod')
        for key, value in {'container': 'nginx', 'pod': 'web-1', 'namespace': 'shop', 'pod_uid': UID}.items():
            equal(labels.get(key), value, key)
        true(metrics.sum('wattribute_pod_joules_total', pod='web-1') > 0, 'the pod has no energy')
        check_sums(metrics)


def test_faults():
    """Each is said once, in words; the names come when it is over."""
    for fault, words in ((500, 'code 500'), ('html', 'no list of pods'), ('half', 'not all of it'),
                         ('close', ''), ('huge', 'no list of pods'), (403, 'may not get nodes/pods')):
        with node() as proc, Kubelet([web()]) as kubelet:
            kubelet.fail(fault)
            with Agent(proc, kubelet.url) as agent:
                agent.wait_for(lambda: 'kubernetes: ' in agent.said(), f'{fault} is not told of')
                true(words in agent.said(), f'{fault}: {agent.said()}')
                kubelet.fail(None)
                check_web(agent.wait_for_name('nginx'))
                agent.wait_for(lambda: 'answers again' in agent.said(), 'that it is over is not told')
                equal(agent.said().count('kubernetes: '), 2, f'lines about it: {agent.said()}')


def test_tls_and_tokens():
    """The token is read anew each time; nobody is trusted without a reason."""
    with tempfile.TemporaryDirectory(prefix='watt-kube-') as folder, node() as proc:
        token = os.path.join(folder, 'token')

        def set_token(text):
            with open(token + '.new', 'w', encoding='ascii') as file:
                file.write(text + '\n')
            os.replace(token + '.new', token)

        set_token('first')
        with Kubelet([web(ident=None)], token='first', tls=True) as kubelet:
            def ask(*args):
                found = run('doctor', '--json', f'--kubelet-url={kubelet.url}', *args).json()['sources']
                return next(source for source in found if source['source'] == 'kubernetes')
            equal(ask(f'--kubelet-token={token}')['state'], 'forbidden', 'one that nobody trusts')
            trust = (f'--kubelet-tls={PEM}', f'--kubelet-token={token}')
            equal(ask(*trust)['state'], 'available', 'one that is trusted')
            equal(ask(f'--kubelet-tls={PEM}')['state'], 'forbidden', 'without a token')
            with Agent(proc, kubelet.url, *trust) as agent:
                agent.wait_for(lambda: kubelet.count('/pods') > 4, 'it is not asked again')
                kubelet.set_token('second')
                kubelet.put(web())
                agent.wait_for(lambda: 'does not accept the token' in agent.said(), 'an old token')
                set_token('second')
                check_web(agent.wait_for_name('nginx'))


def test_api_server():
    """Listed once, and then watched; what it forgot is listed anew."""
    with node() as proc, Kubelet([etcd()]) as kubelet, Agent(proc, kubelet.api_url) as agent:
        equal(agent.wait_for_name('etcd', STATIC_ID).get('pod_uid'), HASH, 'uid of a static pod')
        agent.wait_for(lambda: kubelet.count('watch=1'), 'it is not watched')
        equal(kubelet.count() - kubelet.count('watch=1'), 1, 'lists')
        kubelet.put(web(ident=None), 'ADDED')
        kubelet.put(web())
        check_web(agent.wait_for_name('nginx'))
        check_sums(agent.metrics())
        watched = kubelet.count('watch=1')
        kubelet.forget_events()
        agent.wait_for(lambda: kubelet.count() - kubelet.count('watch=1') > 1, 'it is not listed anew')
        agent.wait_for(lambda: kubelet.count('watch=1') > watched, 'it is not watched again')
        true('kubernetes: ' not in agent.said(), agent.said())


def test_ends_while_it_asks():
    """A server that takes its time does not keep us."""
    with node() as proc, Kubelet([web()], answer_s=30) as kubelet, Agent(proc, kubelet.url) as agent:
        agent.wait_for(lambda: kubelet.count('/pods'), 'the kubelet is not asked')
        begin = time.monotonic()
        equal(agent.end(), 0, 'status')
        true(time.monotonic() - begin < 15, 'it waited for the kubelet')


def test_no_url():
    for url, words in (('ftp://x', 'no https://'), ('https://', 'names no host'), ('https://a:b@c', 'no password')):
        found = run('doctor', '--json', f'--kubelet-url={url}').json()['sources']
        found = next(source for source in found if source['source'] == 'kubernetes')
        equal(found['state'], 'broken', url)
        true(words in found['why'], found['why'])


if __name__ == '__main__':
    main([test_kubelet_that_knows_late, test_idle_by_requests, test_a_real_container, test_faults, test_tls_and_tokens,
          test_api_server, test_ends_while_it_asks, test_no_url])
