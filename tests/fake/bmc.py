#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A BMC that never was: Redfish on 127.0.0.1, as several makers do it, with a truth and with faults.

As a module: `with Bmc('ilo', truth=lambda t: 300.0) as bmc: bmc.url`. As a program it prints its URL
and answers until its input ends. It knows what was asked of it, so that a test can tell what a
client did.

What a sensor says is the truth as it was `delay_s` ago, its mean over `window_s`, in steps of
`quantum_w`, and anew every `period_s`; the clock of the BMC is `skew_s` ahead.
"""
import argparse
import base64
import datetime
import email.utils
import http.server
import json
import math
import os
import ssl
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
USER, PASSWORD = 'meter', 'so,secret"'
ROOT = '/redfish/v1'


class Bmc:
    """One machine. Times of its truth are seconds since it was made."""

    def __init__(self, maker='openbmc', truth=lambda t: 250.0, *, delay_s=0.0, window_s=0.0, quantum_w=1.0,
                 period_s=1.0, skew_s=0.0, answer_s=0.0, tls=False, has_sessions=True, has_login=True,
                 clock=time.time):
        self.maker, self.truth = maker, truth
        self.delay_s, self.window_s, self.quantum_w = delay_s, window_s, quantum_w
        self.period_s, self.skew_s, self.answer_s = period_s, skew_s, answer_s
        self.has_sessions, self.has_login = has_sessions, has_login
        self.clock = clock
        self.begin_s = clock()
        self.lock = threading.Lock()
        self.sessions, self.n_sessions = {}, 0
        self.asked = []  # (method, path)
        self.faults = {}  # path, or '': all: what befalls it
        self.retry_after_s = 1  # what it says with each number of an error
        self.is_closing = threading.Event()
        self.energy_s, self.energy_j = 0.0, 4321.5
        self.server = Server(('127.0.0.1', 0), Handler)
        self.server.bmc = self
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(HERE, 'bmc.pem'))
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
        self.url = f"http{'s' if tls else ''}://{'localhost' if tls else '127.0.0.1'}:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={'poll_interval': 0.02}, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.is_closing.set()
        self.server.shutdown()
        self.server.server_close()

    def fail(self, fault, path=''):
        """From now on; None: no more. See Handler.befall()."""
        with self.lock:
            self.faults[path] = fault

    def forget_sessions(self):
        with self.lock:
            self.sessions.clear()

    def count(self, method, part=''):
        with self.lock:
            return sum(1 for how, path in self.asked if how == method and part in path)

    # ---- what it measures ----

    def now_s(self):
        return self.clock() - self.begin_s

    def published_s(self):
        """When the value that is shown now was taken."""
        return math.floor(self.now_s() / self.period_s) * self.period_s

    def watts_at(self, t_s):
        steps = 20 if self.window_s else 1
        mean = sum(self.truth(t_s - self.window_s * (i + 0.5) / steps if self.window_s else t_s)
                   for i in range(steps)) / steps
        return round(mean / self.quantum_w) * self.quantum_w

    def watts(self):
        return self.watts_at(self.published_s() - self.delay_s)

    def joules(self):
        """Counted in steps of 10 ms since it was made; a counter has no delay of a filter."""
        with self.lock:
            end_s = self.published_s()
            while self.energy_s + 0.01 <= end_s:
                self.energy_j += self.truth(self.energy_s) * 0.01
                self.energy_s += 0.01
            return round(self.energy_j, 3)

    def stamp(self, t_s):
        """A time since it was made, by its own clock."""
        moment = datetime.datetime.fromtimestamp(self.begin_s + t_s + self.skew_s, datetime.timezone.utc)
        return moment.strftime('%Y-%m-%dT%H:%M:%S.%f')[:-3] + 'Z'


def link(*parts):
    return {'@odata.id': '/'.join((ROOT,) + parts)}


def collection(path, names):
    return {'@odata.id': f'{ROOT}/{path}', 'Members': [link(path, name) for name in names],
            'Members@odata.count': len(names)}


def root(vendor, **more):
    return dict({'@odata.id': ROOT + '/', 'RedfishVersion': '1.15.0', 'Vendor': vendor,
                 'Chassis': link('Chassis'), 'SessionService': link('SessionService'),
                 'Links': {'Sessions': link('SessionService', 'Sessions')}}, **more)


def chassis(name, *, inside=None, computers=('1',), **links):
    doc = {'@odata.id': f'{ROOT}/Chassis/{name}', 'Id': name,
           'Links': {'ComputerSystems': [link('Systems', c) for c in computers]}}
    if inside:
        doc['Links']['ContainedBy'] = link('Chassis', inside)
    doc.update({key: link(*path.split('/')) for key, path in links.items()})
    return doc


def ilo(bmc):
    newest_s = math.floor(bmc.now_s() / 10) * 10
    detail = [{'Time': bmc.stamp(newest_s - 10 * i), 'Average': round(bmc.watts_at(newest_s - bmc.delay_s - 10 * i)),
               'Peak': 999, 'CpuWatts': 40} for i in range(120)]
    return {'': root('HPE', Product='ProLiant XL000'),
            'Chassis': collection('Chassis', ['1']),
            'Chassis/1': chassis('1', Power='Chassis/1/Power'),
            'Chassis/1/Power': {'PowerControl': [{
                'MemberId': '0', 'PowerConsumedWatts': bmc.watts(), 'PowerCapacityWatts': 800,
                'PowerMetrics': {'IntervalInMin': 20, 'AverageConsumedWatts': bmc.watts()}}],
                'Oem': {'Hpe': {'Links': {'FastPowerMeter': link('Chassis', '1', 'Power', 'FastPowerMeter')}}}},
            'Chassis/1/Power/FastPowerMeter': {'PowerDetail': detail, 'Average': 1}}


def idrac(bmc):
    return {'': root('Dell', TelemetryService=link('TelemetryService')),
            'Chassis': collection('Chassis', ['System.Embedded.1', 'Enclosure.Internal.0-1']),
            'Chassis/System.Embedded.1': chassis('System.Embedded.1', Power='Chassis/System.Embedded.1/Power'),
            'Chassis/Enclosure.Internal.0-1': chassis('Enclosure.Internal.0-1', inside='System.Embedded.1',
                                                      computers=()),
            'Chassis/System.Embedded.1/Power': {'PowerControl': [
                {'MemberId': 'PowerControl', 'PowerConsumedWatts': str(bmc.watts()), 'PowerLimit': None}]},
            'TelemetryService': {'MetricReports': link('TelemetryService', 'MetricReports')},
            'TelemetryService/MetricReports': collection('TelemetryService/MetricReports', ['PowerMetrics']),
            'TelemetryService/MetricReports/PowerMetrics': {
                'ReportSequence': str(int(bmc.published_s())), 'MetricValues': [
                    {'MetricId': 'TotalCPUPower', 'MetricValue': '60', 'Timestamp': bmc.stamp(0)},
                    {'MetricId': 'SystemInputPower', 'MetricValue': f'{bmc.watts():.0f}',
                     'Timestamp': bmc.stamp(bmc.published_s())}]}}


def xcc(bmc):
    return {'': root('Lenovo'),
            'Chassis': collection('Chassis', ['1']),
            'Chassis/1': chassis('1', Power='Chassis/1/Power'),
            'Chassis/1/Power': {'PowerControl': [
                {'MemberId': '1', 'Name': 'CPU Sub-system Power', 'PhysicalContext': 'CPU',
                 'PowerConsumedWatts': bmc.watts() / 3},
                {'MemberId': '0', 'Name': 'Server Power Control', 'PhysicalContext': 'Chassis',
                 'PowerConsumedWatts': bmc.watts()},
                {'MemberId': '2', 'Name': 'Memory Sub-system Power', 'PhysicalContext': 'Memory',
                 'PowerConsumedWatts': None}]}}


def supermicro(bmc):
    docs = {'': root('Supermicro'),
            'Chassis': collection('Chassis', ['1']),
            'Chassis/1': chassis('1', Power='Chassis/1/Power', PowerSubsystem='Chassis/1/PowerSubsystem'),
            # as old firmware does: a number that means nothing
            'Chassis/1/Power': {'PowerControl': [{'MemberId': '0', 'PowerConsumedWatts': 0,
                                                  'PowerMetrics': {'IntervalInMin': 5}}]},
            'Chassis/1/PowerSubsystem': {'PowerSupplies': link('Chassis/1/PowerSubsystem/PowerSupplies')},
            'Chassis/1/PowerSubsystem/PowerSupplies':
                collection('Chassis/1/PowerSubsystem/PowerSupplies', ['0', '1', '2'])}
    for i, share in enumerate((0.5, 0.5, None)):
        place = f'Chassis/1/PowerSubsystem/PowerSupplies/{i}'
        docs[place] = {'Id': str(i), 'Status': {'State': 'Absent' if share is None else 'Enabled'},
                       'Metrics': link(place, 'Metrics')}
        if share is not None:
            docs[place + '/Metrics'] = {'InputPowerWatts': {'Reading': bmc.watts() * share},
                                        'OutputPowerWatts': {'Reading': bmc.watts() * share * 0.94}}
    return docs


def openbmc(bmc):
    place = 'Chassis/chassis/Sensors'
    return {'': root('OpenBMC'),
            'Chassis': collection('Chassis', ['chassis']),
            'Chassis/chassis': chassis('chassis', Sensors=place, Power='Chassis/chassis/Power'),
            'Chassis/chassis/Power': {'PowerControl': [{'MemberId': '0', 'Name': 'Chassis Power Control'}]},
            place: collection(place, ['fantach_fan0', 'power_cpu0', 'power_total_power']),
            place + '/power_cpu0': {'Reading': 70.0, 'ReadingType': 'Power', 'ReadingUnits': 'W'},
            place + '/power_total_power': {'Id': 'power_total_power', 'Reading': bmc.watts(),
                                           'ReadingType': 'Power', 'ReadingUnits': 'W'}}


def hgx(bmc):
    docs = {'': root('NVIDIA'),
            'Chassis': collection('Chassis', ['HGX_GPU_0', 'HGX_Chassis_0', 'DGX'])}
    for name, inside, share in (('HGX_GPU_0', 'HGX_Chassis_0', 0.3), ('HGX_Chassis_0', 'DGX', 0.6),
                                ('DGX', None, 1.0)):
        place = f'Chassis/{name}'
        docs[place] = chassis(name, inside=inside, computers=('1',) if name == 'DGX' else (),
                              EnvironmentMetrics=place + '/EnvironmentMetrics')
        docs[place + '/EnvironmentMetrics'] = {
            'PowerWatts': {'Reading': bmc.watts() * share, 'DataSourceUri': f'{ROOT}/{place}/Sensors/p'},
            'EnergyJoules': {'Reading': bmc.joules() * share} if name != 'HGX_GPU_0' else None}
        docs[place + '/Sensors/p'] = {'Reading': bmc.watts() * share, 'ReadingType': 'Power',
                                      'ReadingTime': bmc.stamp(bmc.published_s())}
    return docs


def timed(bmc):
    """No maker's: a sensor that says when it looked."""
    docs = openbmc(bmc)
    docs['Chassis/chassis']['EnvironmentMetrics'] = link('Chassis/chassis/EnvironmentMetrics')
    docs['Chassis/chassis/EnvironmentMetrics'] = {'PowerWatts': {
        'Reading': bmc.watts(), 'DataSourceUri': f'{ROOT}/Chassis/chassis/Sensors/power_total_power'}}
    docs['Chassis/chassis/Sensors/power_total_power']['ReadingTime'] = bmc.stamp(bmc.published_s())
    return docs


def fujitsu(bmc):
    """iRMC: PowerControl has no power, its own part of the document does."""
    return {'': root('Fujitsu'),
            'Chassis': collection('Chassis', ['0']),
            'Chassis/0': chassis('0', Power='Chassis/0/Power'),
            'Chassis/0/Power': {
                'PowerControl': [{'MemberId': '0', 'Name': 'System Power Control', 'PowerConsumedWatts': None}],
                'Oem': {'ts_fujitsu': {
                    'ChassisPowerConsumption': {'CurrentPowerConsumptionW': bmc.watts(), 'MinimumPowerW': 70,
                                                'PeakPowerW': 990, 'Designation': 'Total Power'},
                    'ChassisPowerSensors': [{'Designation': 'PSU1 Power', 'EntityId': 'Power Supply',
                                             'CurrentPowerConsumptionW': bmc.watts() / 2}]}}}}


def inspur(bmc):
    return {'': root('Inspur'),
            'Chassis': collection('Chassis', ['1']),
            'Chassis/1': chassis('1', Power='Chassis/1/Power'),
            'Chassis/1/Power': {'PowerControl': [], 'Oem': {'Public': {'TotalPower': bmc.watts()}}}}


def huawei(bmc):
    """iBMC: PowerControl has no power, each supply tells what it takes; one stands by, one bay is empty."""
    def supply(i, watts, state='Enabled'):
        return {'MemberId': str(i), 'Name': f'PS{i + 1}', 'Status': {'State': state},
                'Oem': {'Huawei': {'ActiveStandby': 'Active' if watts else 'Standby', 'DeviceLocator': f'PS{i + 1}',
                                   'PowerInputWatts': watts, 'PowerOutputWatts': watts and round(watts * 0.92)}}}
    watts = bmc.watts()
    return {'': root('Huawei'),
            'Chassis': collection('Chassis', ['1']),
            'Chassis/1': chassis('1', Power='Chassis/1/Power'),
            'Chassis/1/Power': {
                'PowerControl': [{'MemberId': '0', 'Name': 'System Power Control 1', 'PowerConsumedWatts': None}],
                'PowerSupplies': [supply(0, round(watts / 3)), supply(1, watts - round(watts / 3)), supply(2, 0),
                                  supply(3, None, 'Absent')]}}


def gigabyte(bmc):
    """Beside PowerConsumedWatts, energy of which no document says when it begins anew."""
    return {'': root('GIGABYTE'),
            'Chassis': collection('Chassis', ['Self']),
            'Chassis/Self': chassis('Self', Power='Chassis/Self/Power'),
            'Chassis/Self/Power': {'PowerControl': [{
                'MemberId': '0', 'PhysicalContext': 'Intake', 'PowerConsumedWatts': bmc.watts(),
                'Oem': {'Vendor': {'PowerMetrics': {'AccumulatedEnergyJoules': 719,
                                                    'Timestamp': '2000-01-02T01:06:29'}}}}]}}


def sensing(bmc):
    """No maker's: a sensor that says how often it is measured, and has the mean of as long."""
    docs = openbmc(bmc)
    interval = f'PT{bmc.period_s}S'
    docs['Chassis/chassis/Sensors/power_total_power'].update({
        'Reading': bmc.watts() + 50, 'SensingInterval': interval, 'AveragingInterval': interval,
        'AverageReading': bmc.watts()})
    return docs


MAKERS = {'ilo': ilo, 'idrac': idrac, 'xcc': xcc, 'supermicro': supermicro, 'openbmc': openbmc, 'hgx': hgx,
          'timed': timed, 'fujitsu': fujitsu, 'inspur': inspur, 'huawei': huawei,
          'gigabyte': gigabyte, 'sensing': sensing}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients that hang up, or trust nobody, are what it is for."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = 1 << 16
    disable_nagle_algorithm = True
    timeout = 60

    def log_message(self, format, *args):  # noqa: A002
        pass

    def send(self, code, body=b'', **headers):
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        self.send_response_only(code)
        self.send_header('Date', email.utils.formatdate(self.server.bmc.clock() + self.server.bmc.skew_s,
                                                         usegmt=True))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def path_inside(self):
        """Without the root and slashes around it; None: it is outside."""
        path = self.path.split('?')[0].rstrip('/')
        if path != ROOT and not path.startswith(ROOT + '/'):
            return None
        return path[len(ROOT):].strip('/')

    def befall(self, path):
        """Does what is wrong today. True: that was the answer."""
        bmc = self.server.bmc
        with bmc.lock:
            fault = bmc.faults.get(path, bmc.faults.get(''))
        if fault is None:
            return False
        if isinstance(fault, int):
            self.send(fault, {'error': {'code': 'Base.1.0.GeneralError', 'message': 'no'}}, Retry_After=str(bmc.retry_after_s))
        elif fault == 'garbage':
            self.send(200, b'{"PowerControl": [}')
        elif fault == 'text':
            self.send(200, b'<html>Please log in</html>')
        elif fault == 'list':
            self.send(200, [1, 2])
        elif fault == 'deep':
            self.send(200, b'[' * 100000)
        elif fault == 'long':
            self.send(200, b'{"x": "' + b'y' * (10 << 20) + b'"}')
        elif fault == 'licence':
            self.send(200, {'error': {'code': 'iLO.0.10.ExtendedInfo', '@Message.ExtendedInfo': [
                {'MessageId': 'iLO.2.32.LicenseKeyRequired'}]}})
        elif fault == 'circle':
            self.send(302, Location=self.path)
        elif fault == 'elsewhere':
            self.send(302, Location='http://127.0.0.1:9/redfish/v1/')
        elif fault == 'slash' and not self.path.endswith('/'):
            self.send(301, Location=self.path + '/')
        elif fault == 'hang':
            bmc.is_closing.wait(60)
            self.close_connection = True
        elif fault == 'cut':
            self.close_connection = True
        elif callable(fault):
            self.send(200, fault(MAKERS[bmc.maker](bmc)[path]))
        else:
            return False
        return True

    def is_known(self):
        bmc = self.server.bmc
        if not bmc.has_login:
            return True
        with bmc.lock:
            if self.headers.get('X-Auth-Token') in bmc.sessions:
                return True
        basic = base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()
        return self.headers.get('Authorization') == 'Basic ' + basic

    def note(self):
        bmc = self.server.bmc
        with bmc.lock:
            bmc.asked.append((self.command, self.path))
        if bmc.answer_s:
            bmc.is_closing.wait(bmc.answer_s)

    def do_GET(self):
        self.note()
        bmc, path = self.server.bmc, self.path_inside()
        if path is None:
            self.send(404)
        elif path and not self.is_known():
            self.send(401, {'error': {'code': 'Base.1.0.NoValidSession'}})
        elif not self.befall(path):
            doc = MAKERS[bmc.maker](bmc).get(path)
            if doc is None:
                self.send(404, {'error': {'code': 'Base.1.0.ResourceMissingAtURI'}})
            else:
                self.send(200, doc)

    def do_POST(self):
        self.note()
        bmc, path = self.server.bmc, self.path_inside()
        text = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        if path != 'SessionService/Sessions' or not bmc.has_sessions:
            self.send(404)
            return
        if self.befall(path):
            return
        login = json.loads(text)
        if (login.get('UserName'), login.get('Password')) != (USER, PASSWORD):
            self.send(401, {'error': {'code': 'Base.1.0.ResourceAtUriUnauthorized'}})
            return
        with bmc.lock:
            bmc.n_sessions += 1
            name, token = f's{bmc.n_sessions}', f'token{bmc.n_sessions}'
            bmc.sessions[token] = name
        self.send(201, {'Id': name}, X_Auth_Token=token, Location=f'{ROOT}/SessionService/Sessions/{name}')

    def do_DELETE(self):
        self.note()
        bmc, name = self.server.bmc, self.path.rsplit('/', 1)[-1]
        with bmc.lock:
            bmc.sessions = {t: n for t, n in bmc.sessions.items() if n != name}
        self.send(204)


def wave(text):
    """watts | low:high:seconds, half of which are high"""
    if ':' not in text:
        return lambda t: float(text)
    low, high, seconds = map(float, text.split(':'))
    return lambda t: high if t % seconds < seconds / 2 else low


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('maker', choices=sorted(MAKERS))
    parser.add_argument('--truth', type=wave, default=wave('250'), metavar='WATTS|LOW:HIGH:SECONDS')
    for name in ('delay', 'window', 'period', 'skew', 'answer'):
        parser.add_argument('--' + name, type=float, metavar='SECONDS')
    parser.add_argument('--quantum', type=float, metavar='WATTS')
    parser.add_argument('--tls', action='store_true')
    parser.add_argument('--open', action='store_true', help='let everybody in')
    args = parser.parse_args()
    given = {name + '_s': getattr(args, name) for name in ('delay', 'window', 'period', 'skew', 'answer')}
    given['quantum_w'] = args.quantum
    with Bmc(args.maker, args.truth, tls=args.tls, has_login=not args.open,
             **{k: v for k, v in given.items() if v is not None}) as bmc:
        print(bmc.url, flush=True)
        sys.stdin.read()


if __name__ == '__main__':
    main()
