#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kubelet and an API server that never were, on 127.0.0.1, with pods and with faults.

As a module: `with Kubelet(pods=[pod('web', uid, ...)], token='secret') as kubelet: kubelet.url`, and
`kubelet.api_url`. It knows what was asked of it, so that a test can tell what a client did. As a
program it prints both URLs and answers until its input ends.
"""
import http.server
import json
import os
import ssl
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NODE = 'node-1'


def container(name, ident=None, *, runtime='containerd', image=None, requests=None, limits=None, before=None,
              exit_code=None, restart=None):
    """What a specification and a status say of one; `before`: the id of the run before."""
    spec = {'name': name, 'image': image or f'registry.example/{name}:1', 'resources': {}}
    if requests:
        spec['resources']['requests'] = requests
    if limits:
        spec['resources']['limits'] = limits
    if restart:
        spec['restartPolicy'] = restart
    status = {'name': name, 'image': spec['image'], 'restartCount': 1 if before else 0, 'ready': exit_code is None,
              'state': {'waiting': {'reason': 'ContainerCreating'}}}
    if ident:
        status['containerID'] = f'{runtime}://{ident}'
        status['state'] = {'running': {'startedAt': '2024-01-01T00:00:00Z'}}
    if exit_code is not None:
        status['state'] = {'terminated': {'exitCode': exit_code, 'reason': 'Error',
                                          'containerID': f'{runtime}://{ident}'}}
    if before:
        status['lastState'] = {'terminated': {'exitCode': 137, 'containerID': f'{runtime}://{before}'}}
    return spec, status


def pod(name, uid, containers, *, namespace='default', init=(), ephemeral=(), owner=('ReplicaSet', 'web-7d4b'),
        qos='Burstable', labels=None, annotations=None, phase='Running'):
    metadata = {'name': name, 'namespace': namespace, 'uid': uid, 'labels': labels or {'app': name},
                'annotations': annotations or {}, 'resourceVersion': '1'}
    if owner:
        metadata['ownerReferences'] = [{'apiVersion': 'apps/v1', 'kind': owner[0], 'name': owner[1],
                                        'uid': 'f' * 8, 'controller': True}]
    return {'metadata': metadata,
            'spec': {'nodeName': NODE, 'containers': [spec for spec, _ in containers],
                     'initContainers': [spec for spec, _ in init],
                     'ephemeralContainers': [spec for spec, _ in ephemeral]},
            'status': {'phase': phase, 'qosClass': qos, 'containerStatuses': [status for _, status in containers],
                       'initContainerStatuses': [status for _, status in init],
                       'ephemeralContainerStatuses': [status for _, status in ephemeral]}}


class Kubelet:
    def __init__(self, pods=(), *, token=None, tls=False, answer_s=0.0):
        self.pods = {item['metadata']['uid']: item for item in pods}
        self.token, self.answer_s = token, answer_s
        self.fault = None
        self.version, self.oldest = 10, 0
        self.events = []  # (version, event)
        self.asked = []
        self.lock = threading.Condition()
        self.is_closing = False
        self.server = Server(('127.0.0.1', 0), Handler)
        self.server.kubelet = self
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(HERE, 'bmc.pem'))
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        host = 'localhost' if tls else '127.0.0.1'
        self.url = f"http{'s' if tls else ''}://{host}:{self.server.server_port}"
        self.api_url = f'{self.url}/api/v1/pods?fieldSelector=spec.nodeName={NODE}'

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error):
        with self.lock:
            self.is_closing = True
            self.lock.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def put(self, item, kind='MODIFIED'):
        """A pod that is new, or other than before, or (DELETED) no more."""
        with self.lock:
            self.version += 1
            item['metadata']['resourceVersion'] = str(self.version)
            if kind == 'DELETED':
                self.pods.pop(item['metadata']['uid'], None)
            else:
                self.pods[item['metadata']['uid']] = item
            self.events.append((self.version, {'type': kind, 'object': dict(item, kind='Pod', apiVersion='v1')}))
            self.lock.notify_all()

    def forget_events(self):
        """Who watches from before now has to list again."""
        with self.lock:
            self.version += 1
            self.oldest = self.version
            self.events.clear()
            self.lock.notify_all()

    def fail(self, fault):
        """From now on; None: no more. See Handler.do_GET()."""
        with self.lock:
            self.fault = fault
            self.lock.notify_all()

    def set_token(self, token):
        with self.lock:
            self.token = token

    def count(self, part=''):
        with self.lock:
            return sum(1 for path in self.asked if part in path)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # clients that go away are part of it


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    timeout = 60

    def log_message(self, *args):  # pylint: disable=arguments-differ
        pass

    def say(self, code, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def begin_stream(self):
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Connection', 'close')
        self.end_headers()

    def do_GET(self):  # pylint: disable=invalid-name
        kubelet = self.server.kubelet
        with kubelet.lock:
            kubelet.asked.append(self.path)
            fault, token = kubelet.fault, kubelet.token
        if token is not None and self.headers.get('Authorization') != f'Bearer {token}':
            self.say(401, {'kind': 'Status', 'code': 401})
            return
        if isinstance(fault, int):
            self.say(fault, {'kind': 'Status', 'code': fault, 'message': 'x' * 3000})
        elif fault == 'html':
            self.say(200, b'<html><body>Who are you?</body></html>')
        elif fault == 'half':
            self.say(200, self.whole_list()[:-20])
        elif fault == 'huge':
            self.endless()
        elif fault == 'close':
            self.close_connection = True
        elif self.path.startswith('/api/v1/pods') and 'watch=1' in self.path:
            self.watch()
        elif self.path == '/pods' or self.path.startswith('/api/v1/pods?'):
            time.sleep(kubelet.answer_s)
            self.say(200, self.whole_list())
        else:
            self.say(404, {'kind': 'Status', 'code': 404})

    def whole_list(self):
        kubelet = self.server.kubelet
        with kubelet.lock:
            return json.dumps({'kind': 'PodList', 'apiVersion': 'v1',
                               'metadata': {'resourceVersion': str(kubelet.version)},
                               'items': list(kubelet.pods.values())}).encode()

    def endless(self):
        """One pod that never ends."""
        self.begin_stream()
        self.wfile.write(b'{"items":[{"metadata":{"annotations":{"x":"')
        for _ in range(100):
            self.wfile.write(b'x' * 65536)
        self.close_connection = True

    def watch(self):
        kubelet = self.server.kubelet
        since = int(self.path.partition('resourceVersion=')[2].partition('&')[0] or 0)
        with kubelet.lock:
            if since < kubelet.oldest:
                kubelet.lock.release()
                try:
                    self.say(410, {'kind': 'Status', 'code': 410})
                finally:
                    kubelet.lock.acquire()
                return
        self.begin_stream()
        self.close_connection = True
        while True:
            with kubelet.lock:
                kubelet.lock.wait_for(lambda: kubelet.is_closing or kubelet.fault or since < kubelet.version, 60)
                if kubelet.is_closing or kubelet.fault:
                    return
                if since < kubelet.oldest:
                    events = [{'type': 'ERROR', 'object': {'kind': 'Status', 'code': 410}}]
                else:
                    events = [event for version, event in kubelet.events if version > since]
                    events.append({'type': 'BOOKMARK', 'object': {
                        'kind': 'Pod', 'metadata': {'resourceVersion': str(kubelet.version)}}})
                since = kubelet.version
            for event in events:
                self.wfile.write(json.dumps(event).encode() + b'\n')
            if events[0]['type'] == 'ERROR':
                return


if __name__ == '__main__':
    with Kubelet([pod('web-0', '0f1e2d3c-1111-2222-3333-444455556666', [container('web', 'a' * 64)])]) as fake:
        print(fake.url, fake.api_url, flush=True)
        sys.stdin.read()
