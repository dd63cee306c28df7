# SPDX-License-Identifier: Apache-2.0
"""A collector of OTLP that never was, on 127.0.0.1: it keeps what is pushed, and answers by a script.

`with Collector(answers=[503, 200]) as collector: collector.url`; after the last answer it is 200. An
answer is a status, or (status, headers, body), or 'hang'. Requests are (headers, document, status).
"""
import http.server
import json
import threading


class Collector:
    def __init__(self, answers=(), port=0):
        self.answers = list(answers)
        self.requests = []
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', port), self.handler())
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # who pushes may end at any time
        self.port = self.server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}'

    def handler(self):
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                collector.answer(self)

            def log_message(self, *_):
                pass

        return Handler

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers['Content-Length']))
        with self.lock:
            answer = self.answers.pop(0) if self.answers else 200
            status, headers, text = answer if isinstance(answer, tuple) else (answer, {}, '{}')
            self.requests.append((handler.path, dict(handler.headers), json.loads(body), status))
        if status == 'hang':
            self.is_over.wait(60)
            handler.close_connection = True
            return
        handler.send_response(status)
        for name, value in {'Content-Length': str(len(text)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text.encode())

    def taken(self):
        """Documents that it has, in the order in which they came."""
        with self.lock:
            return [document for _, _, document, status in self.requests if status == 200]

    def asked(self):
        with self.lock:
            return list(self.requests)

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
