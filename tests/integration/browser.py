# SPDX-License-Identifier: Apache-2.0
"""Chromium without a screen, by its debugging pipe: no port, no websocket, nothing but stdlib.

    with Browser() as browser:
        page = browser.open('file:///tmp/page.html', width=390, height=800)
        page.eval('document.title')
        page.problems     # what the console and the network had to say
"""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking',
         '--disable-component-update', '--disable-sync', '--no-first-run', '--no-default-browser-check',
         '--hide-scrollbars', '--mute-audio', '--remote-debugging-pipe', '--force-color-profile=srgb']


def find():
    """Path of a Chromium, or None."""
    for name in ('chromium', 'chromium-browser', 'google-chrome', 'chrome'):
        path = shutil.which(name)
        if path:
            return path
    return None


class BrowserFailed(Exception):
    pass


class Browser:
    """One process with a profile of its own."""

    def __init__(self, timeout_s=30):
        self.timeout_s = timeout_s
        self.folder = tempfile.mkdtemp(prefix='wattribute-browser-')
        self.number = 0
        self.buffer = b''
        self.pages = {}
        to_read, self.to = os.pipe()
        self.from_, from_write = os.pipe()

        def wire():
            # The pipe's ends are 3 and 4 there; move them out of each other's way first.
            high_read, high_write = os.dup2(to_read, 100), os.dup2(from_write, 101)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen(
            [find()] + FLAGS + ['--user-data-dir=' + self.folder, 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=wire, start_new_session=True)
        os.close(to_read)
        os.close(from_write)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call('Browser.close', {})
        except BrowserFailed:
            pass
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.from_)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self, deadline):
        """The next message, or None when there is none in time."""
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.from_], [], [], left)[0]:
                return None
            data = os.read(self.from_, 1 << 20)
            if not data:
                raise BrowserFailed('the browser ended')
            self.buffer += data
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def handle(self, message):
        page = self.pages.get(message.get('sessionId'))
        if page and 'method' in message:
            page.hear(message['method'], message.get('params', {}))

    def call(self, method, params, session=None):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': params}
        if session:
            request['sessionId'] = session
        data = json.dumps(request).encode() + b'\0'
        while data:
            data = data[os.write(self.to, data):]
        deadline = time.monotonic() + self.timeout_s
        while True:
            message = self.receive(deadline)
            if message is None:
                raise BrowserFailed(f'{method}: no answer in {self.timeout_s} s')
            if message.get('id') == self.number:
                if 'error' in message:
                    raise BrowserFailed(f"{method}: {message['error'].get('message')}")
                return message.get('result', {})
            self.handle(message)

    def open(self, url, width=1200, height=900, scheme='light', mobile=False):
        target = self.call('Target.createTarget', {'url': 'about:blank'})['targetId']
        session = self.call('Target.attachToTarget', {'targetId': target, 'flatten': True})['sessionId']
        page = Page(self, session, target)
        self.pages[session] = page
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            page.call(domain + '.enable')
        page.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        page.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        page.url = url
        page.call('Page.navigate', url=url)
        page.wait("document.documentElement?.dataset.ready === 'yes'")
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        self.url = None
        self.problems = []

    def call(self, method, **params):
        return self.browser.call(method, params, self.session)

    def hear(self, method, params):
        if method == 'Runtime.exceptionThrown':
            details = params['exceptionDetails']
            self.problems.append('exception: ' + details.get('exception', {}).get('description', details['text']))
        elif method == 'Runtime.consoleAPICalled' and params['type'] in ('error', 'warning', 'assert'):
            self.problems.append('console: ' + ' '.join(str(a.get('value', a.get('description'))) for a in params['args']))
        elif method == 'Log.entryAdded' and params['entry']['level'] in ('error', 'warning'):
            self.problems.append('log: ' + params['entry']['text'])
        elif method == 'Network.requestWillBeSent':
            url = params['request']['url']
            if url.split('#')[0] != self.url and not url.startswith('data:'):
                self.problems.append('request: ' + url)

    def eval(self, expression):
        answer = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in answer:
            details = answer['exceptionDetails']
            raise BrowserFailed(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return answer['result'].get('value')

    def wait(self, expression, timeout_s=20):
        deadline = time.monotonic() + timeout_s
        while not self.eval(expression):
            if time.monotonic() > deadline:
                raise BrowserFailed(f'never true: {expression}; ' + '; '.join(self.problems))
            time.sleep(0.02)

    def settle(self):
        """Two frames: all that was asked for is on the screen."""
        self.eval('new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))')

    def mouse(self, kind, x, y, clicks=0):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, clickCount=clicks,
                  button='left' if kind != 'mouseMoved' or clicks else 'none', buttons=1 if clicks else 0)

    def drag(self, x0, y0, x1, y1):
        self.mouse('mouseMoved', x0, y0)
        self.mouse('mousePressed', x0, y0, 1)
        for i in range(1, 6):
            self.call('Input.dispatchMouseEvent', type='mouseMoved', x=x0 + (x1 - x0) * i / 5, y=y0 + (y1 - y0) * i / 5,
                      button='left', buttons=1)
        self.call('Input.dispatchMouseEvent', type='mouseReleased', x=x1, y=y1, button='left', buttons=0, clickCount=1)
        self.settle()

    def double_click(self, x, y):
        for count in (1, 2):
            self.mouse('mousePressed', x, y, count)
            self.call('Input.dispatchMouseEvent', type='mouseReleased', x=x, y=y, button='left', buttons=0, clickCount=count)
        self.settle()

    def key(self, key, text=None):
        self.call('Input.dispatchKeyEvent', type='keyDown', key=key, **({'text': text} if text else {}))
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key)
        self.settle()

    def screenshot(self, path):
        import base64
        size = self.call('Page.getLayoutMetrics')['cssContentSize']
        shot = self.call('Page.captureScreenshot', captureBeyondViewport=True,
                         clip={'x': 0, 'y': 0, 'width': size['width'], 'height': min(size['height'], 4000), 'scale': 1})
        with open(path, 'wb') as file:
            file.write(base64.b64decode(shot['data']))

    def close(self):
        self.browser.call('Target.closeTarget', {'targetId': self.target})
        del self.browser.pages[self.session]
