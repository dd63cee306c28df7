# SPDX-License-Identifier: Apache-2.0
"""The names of fastnvmetrics: programs that were written for it run unchanged, on every board.

    from wattribute import fastnvmetrics  # or: import fastnvmetrics

    with fastnvmetrics.NVMetrics('run.nvmt') as metrics:
        work()
        metrics.sync()
    trace = fastnvmetrics.read_trace('run.nvmt')

docs/python.md says what differs.
"""
import importlib
import json
import logging
import mmap
import os
import re
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from wattribute import _nvmt_sampler as nvmt
from wattribute._library import WattributeError
from wattribute.session import Session
from wattribute.session import board as describe_board

__all__ = ['BoardConfig', 'NVMetrics', 'PowerRailConfig', 'ThermalZoneConfig', 'TraceData', 'detect_board',
           'get_board_config', 'read_trace']
_logger = logging.getLogger('wattribute')
TraceData = Dict[str, Any]
_EMC = ('/sys/kernel/debug/cactmon/mc_all', '/sys/kernel/debug/cactmon/sample_period_usec',
        '/sys/kernel/debug/clk/emc/clk_rate')


@dataclass
class PowerRailConfig:
    """Files in mV and mA."""
    label: str
    voltage_path: str
    current_path: str


@dataclass
class ThermalZoneConfig:
    """A file in 0.001 degrees Celsius."""
    name: str
    temp_path: str


@dataclass
class BoardConfig:
    """What is sampled of a board. A '*' in a path stands for the number of an hwmon folder."""
    board_name: str
    num_cpu_cores: int
    gpu_load_path: str = ''
    emc_actmon_path: str = ''
    power_rails: List[PowerRailConfig] = field(default_factory=list)
    thermal_zones: List[ThermalZoneConfig] = field(default_factory=list)
    emc_period_path: str = ''
    emc_clk_path: str = ''
    procfs_path: str = '/proc'


# ---- boards ----

def _orin(name: str, cores: int, rails: List[Any], zones: List[str]) -> BoardConfig:
    def path(address: str, kind: str, channel: int) -> str:
        return f'/sys/bus/i2c/drivers/ina3221/1-{address}/hwmon/hwmon*/{kind}{channel}_input'
    return BoardConfig(
        name, cores, '/sys/devices/platform/bus@0/17000000.gpu/load', _EMC[0],
        [PowerRailConfig(label, path(address, 'in', channel), path(address, 'curr', channel))
         for label, address, channel in rails],
        [ThermalZoneConfig(f'{zone}-thermal', f'/sys/class/thermal/thermal_zone{i}/temp')
         for i, zone in enumerate(zones)], _EMC[1], _EMC[2])


def get_board_config(name: str) -> BoardConfig:
    """One of the boards that fastnvmetrics has, as it is when it is whole."""
    zones = ['cpu', 'gpu', 'cv0', 'cv1', 'cv2', 'soc0', 'soc1', 'soc2', 'tj', 'tboard', 'tdiode']
    if name == 'agx_orin':
        return _orin(name, 12, [('VDD_GPU_SOC', '0040', 1), ('VDD_CPU_CV', '0040', 2), ('VIN_SYS_5V0', '0040', 3),
                                ('VDDQ_VDD2_1V8AO', '0041', 2)], zones)
    if name == 'orin_nx':
        return _orin(name, 8, [('VDD_IN', '0040', 1), ('VDD_CPU_GPU_CV', '0040', 2), ('VDD_SOC', '0040', 3)], zones[:10])
    raise RuntimeError(f'Unknown board: {name}')


def _identify(options: Dict[str, Any]) -> str:
    """"orin_nx" of "Jetson Orin NX"; the first compatible string of a board that is not known."""
    settings = {key: value for key, value in options.items() if key in ('sysfs_root', 'procfs_root', 'config')}
    try:
        found = describe_board(**settings)
    except WattributeError as error:
        raise RuntimeError(str(error)) from error
    if not found:
        raise RuntimeError('this machine has no devicetree that names its board')
    name = found['name'] or found['compatible'][0]
    return re.sub(r'\W+', '_', re.sub(r'^Jetson ', '', name)).lower()


def _rail_of(channel: Dict[str, Any]) -> Optional[PowerRailConfig]:
    """Its two files: "DIR/in1_input x curr1_input" of hwmon, "DIR/in_power0_input" of iio."""
    path, label = channel['path'] or '', channel['label'] or channel['name'].rsplit('/', 1)[-1]
    both = re.fullmatch(r'(.*/)(in\d+_input) x (curr\d+_input)', path)
    if both:
        return PowerRailConfig(label, both[1] + both[2], both[1] + both[3])
    power = re.fullmatch(r'(.*/)in_power(\d+)_input', path)
    return power and PowerRailConfig(label, f'{power[1]}in_voltage{power[2]}_input', f'{power[1]}in_current{power[2]}_input')


def detect_board(**options: Any) -> BoardConfig:
    """This board: rails by their labels and addresses, so a number of hwmon may change.

    Options are those of a Session, such as config, a file with a board of your own.
    """
    name = _identify(options)
    try:
        with Session(**{'sources': '+context', 'usage': 'procfs', 'open_wait': 2, **options}) as session:
            channels = session.channels
    except WattributeError as error:
        raise RuntimeError(str(error)) from error
    rails = [rail for rail in map(_rail_of, (one for one in channels if one['source'] in ('hwmon', 'iio'))) if rail]
    board = BoardConfig(name, min(_count_cores(options), nvmt.MAX_CORES), power_rails=rails[:nvmt.MAX_RAILS])
    for channel in channels:
        path = channel['path'] or ''
        if channel['name'].startswith('context/') and channel['name'].endswith('/load'):
            board.gpu_load_path = board.gpu_load_path or path
        elif channel['name'] == 'context/memory/emc':
            folder = path.split(' x ')[0]
            top = folder[:-len(_EMC[0][len('/sys'):])]
            board.emc_actmon_path, board.emc_period_path, board.emc_clk_path = (
                top + file[len('/sys'):] for file in _EMC)
        elif channel['quantity'] == 'temperature' and channel['source'] == 'context':
            board.thermal_zones.append(ThermalZoneConfig(channel['label'] or channel['name'], path))
    for what, found, limit in (('rails', rails, nvmt.MAX_RAILS), ('thermal zones', board.thermal_zones, nvmt.MAX_ZONES)):
        if len(found) > limit:
            _logger.warning('NVMT has room for %d %s: %d of %d are left out', limit, what, len(found) - limit, len(found))
    del board.thermal_zones[nvmt.MAX_ZONES:]
    board.procfs_path = os.fspath(options.get('procfs_root', '/proc'))
    return board


def _count_cores(options: Dict[str, Any]) -> int:
    with open(os.path.join(options.get('procfs_root', '/proc'), 'stat'), encoding='ascii') as file:
        return sum(1 for line in file if re.match(r'cpu\d', line))


# ---- sampling ----

class NVMetrics:
    """Samples a board into a trace, for `with`; a process of its own does it."""

    def __init__(self, output_path: Any, fast_hz: int = 1000, medium_hz: int = 100, slow_hz: int = 10,
                 board: Optional[BoardConfig] = None):
        self._board = board or detect_board()
        self._hz = [int(hz) for hz in (fast_hz, medium_hz, slow_hz)]
        self._path = os.fspath(output_path)
        for what, count, least, limit in (
                ('CPU cores', self._board.num_cpu_cores, 1, nvmt.MAX_CORES),
                ('power rails', len(self._board.power_rails), 0, nvmt.MAX_RAILS),
                ('thermal zones', len(self._board.thermal_zones), 0, nvmt.MAX_ZONES),
                *(('Hz', hz, 1, 10000) for hz in self._hz)):
            if not least <= count <= limit:
                raise ValueError(f'{count} {what}: there must be {least} to {limit}')
        self._process: Optional[Any] = None
        self._is_warm = self._has_begun = False
        self._syncs = 0
        self._counts: Tuple[int, ...] = (0,) * 6
        self._memory: Optional[mmap.mmap] = None

    def _about(self, counts: int) -> Dict[str, Any]:
        board = self._board
        return {'board_name': board.board_name, 'num_cpu_cores': board.num_cpu_cores, 'gpu': board.gpu_load_path,
                'emc': [board.emc_actmon_path, board.emc_period_path or _sibling(board.emc_actmon_path),
                        board.emc_clk_path or (board.emc_actmon_path and _EMC[2])],
                'rails': [[rail.label, rail.voltage_path, rail.current_path] for rail in board.power_rails],
                'zones': [[zone.name, zone.temp_path] for zone in board.thermal_zones],
                'procfs': board.procfs_path, 'hz': self._hz, 'output': self._path, 'counts': counts}

    def start(self) -> None:
        """Begins; the first samples, which warm up, are not in the trace."""
        if self._process:
            raise RuntimeError('already running')
        self._has_begun = True
        with tempfile.TemporaryFile() as file:
            file.truncate(nvmt.COUNTS.size)
            self._memory = mmap.mmap(file.fileno(), nvmt.COUNTS.size)
            self._process = subprocess.Popen(
                [sys.executable, '-I', '-S', nvmt.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                pass_fds=[file.fileno()], text=True)
            self._syncs, self._is_warm = 0, False
            self._tell(json.dumps(self._about(file.fileno())))
            self._hear('begun')

    def _tell(self, line: str) -> None:
        assert self._process is not None
        try:
            self._process.stdin.write(line + '\n')
            self._process.stdin.flush()
        except OSError:  # it has ended: what it said is why
            pass

    def _hear(self, expected: str) -> str:
        """What the sampler says; a RuntimeError if that is why it can't."""
        assert self._process is not None
        line = self._process.stdout.readline().strip()
        if line.startswith(expected):
            return line
        process, self._process = self._process, None
        process.kill()
        process.communicate()
        raise RuntimeError(line[len('error '):] if line.startswith('error ') else f'{self._path}: the sampler has died')

    def wait_for_warmup(self) -> None:
        """Until samples are recorded."""
        if self._process and not self._is_warm:
            self._hear('warm')
            self._is_warm = True

    def sync(self) -> int:
        """Marks this moment; its number, from 1."""
        self._syncs += 1
        if self._process:
            self._tell(str(self.sample_count))
        return self._syncs

    def stop(self) -> None:
        """Ends, and finishes the trace. Of what never began it is one without samples."""
        if not self._process:
            if not self._has_begun:
                self._has_begun = True
                with open(self._path, 'wb') as file:
                    file.write(nvmt.header(self._about(0), (0, 0, 0, 0), 0))
            return
        self.wait_for_warmup()
        self._tell('stop')
        done = json.loads(self._hear('{'))
        self._read_counts()
        process, self._process = self._process, None
        process.communicate()
        if done['missing']:
            _logger.warning('NVMT has no word for what is not known: %d values are 0 in it', done['missing'])
        if self.missed_deadlines:
            _logger.info('deadlines that were missed and skipped: %d fast, %d medium, %d slow', *self.missed_by_tier)

    def _read_counts(self) -> None:
        if self._memory:
            self._counts = nvmt.COUNTS.unpack_from(self._memory)

    @property
    def sample_count(self) -> int:
        """Fast samples so far."""
        self._read_counts()
        return self._counts[0]

    @property
    def missed_deadlines(self) -> int:
        """Of all tiers: they were skipped."""
        self._read_counts()
        return sum(self._counts[3:])

    @property
    def missed_by_tier(self) -> Tuple[int, ...]:
        """The same of the fast, the medium and the slow tier."""
        self._read_counts()
        return self._counts[3:]

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def __enter__(self) -> 'NVMetrics':
        self.start()
        self.wait_for_warmup()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            self.stop()
        except RuntimeError as error:
            if kind is None:
                raise
            _logger.error('%s', error)


def _sibling(path: str) -> str:
    return os.path.join(os.path.dirname(path), 'sample_period_usec') if path else ''


# ---- reading ----

def _array(data: bytes, form: str, size: int, at: int, width: int, columns: Optional[int]) -> Any:
    """A field of all samples: an array of NumPy, or a list where there is none."""
    try:
        numpy = importlib.import_module('numpy')
    except ImportError:
        row_form = f'<{1 if columns is None else columns}{form}'
        values = [struct.unpack_from(row_form, data, begin + at) for begin in range(0, len(data), size)]
        return [list(row) for row in values] if columns is not None else [row[0] for row in values]
    kinds = {'d': '<f8', 'f': '<f4', 'H': '<u2', 'I': '<u4', 'Q': '<u8'}
    one = numpy.dtype({'names': ['x'], 'formats': [(kinds[form], (width,)) if columns is not None else kinds[form]],
                       'offsets': [at], 'itemsize': size})
    found = numpy.frombuffer(data, one)['x']
    return found[:, :columns].copy() if columns is not None else found.copy()


def _forward(syncs: List[Any], count: int) -> List[int]:
    """For each fast sample the newest sync point at or before it; 0: none."""
    ids = [0] * count
    for number, index in syncs:
        if index < count:
            ids[index] = number
    for i in range(1, count):
        ids[i] = ids[i] or ids[i - 1]
    return ids


def read_trace(path: Any) -> TraceData:
    """A trace as arrays by name."""
    with open(path, 'rb') as file:
        data = file.read()
    if len(data) < nvmt.HEADER.size:
        raise ValueError(f'File too small ({len(data)} bytes)')
    head = nvmt.HEADER.unpack_from(data)
    if head[0] != nvmt.MAGIC:
        raise ValueError(f'Bad magic: 0x{head[0]:08X} (expected 0x{nvmt.MAGIC:08X})')
    if head[1] != nvmt.VERSION:
        raise ValueError(f'Unsupported version: {head[1]}')
    if head[16].startswith(nvmt.JOURNAL):
        raise ValueError('its writer was killed before it was finished; '
                         f'wattribute export -f nvmt -o whole.nvmt {os.fspath(path)} makes a trace of it')
    cores, rails, zones, counts = head[3], head[4], head[5], head[10:14]
    if cores > nvmt.MAX_CORES or rails > nvmt.MAX_RAILS or zones > nvmt.MAX_ZONES:
        raise ValueError(f'{cores} cores, {rails} rails, {zones} zones are more than NVMT has')
    parts, at = [], nvmt.HEADER.size
    for form, count in zip((nvmt.FAST, nvmt.MEDIUM, nvmt.SLOW, nvmt.SYNC), counts):
        parts.append(data[at:at + count * form.size])
        at += count * form.size
    if at > len(data):
        raise ValueError(f'cut short: {len(data)} of {at} bytes; wattribute export reads what there is')
    fast, medium, slow = parts[:3]

    def names(field: bytes, count: int) -> List[str]:
        return [field[nvmt.NAME * i:nvmt.NAME * (i + 1)].split(b'\0')[0].decode(errors='replace') for i in range(count)]
    ids = b''.join(struct.pack('<Q', number) for number in _forward(list(nvmt.SYNC.iter_unpack(parts[3])), counts[0]))
    return {
        'board_name': head[2].split(b'\0')[0].decode(errors='replace'), 'num_cpu_cores': cores,
        'num_power_rails': rails, 'num_thermal_zones': zones, 'emc_available': bool(head[6]),
        'fast_hz': head[7], 'medium_hz': head[8], 'slow_hz': head[9],
        'power_rail_names': names(head[14], rails), 'thermal_zone_names': names(head[15], zones),
        'fast_time_s': _array(fast, 'd', 98, 0, 1, None), 'gpu_load': _array(fast, 'H', 98, 8, 1, None),
        'cpu_util': _array(fast, 'f', 98, 10, 16, cores), 'cpu_aggregate': _array(fast, 'f', 98, 74, 1, None),
        'ram_used_kb': _array(fast, 'Q', 98, 78, 1, None), 'ram_available_kb': _array(fast, 'Q', 98, 86, 1, None),
        'emc_util': _array(fast, 'f', 98, 94, 1, None),
        'medium_time_s': _array(medium, 'd', 104, 0, 1, None), 'voltage_mv': _array(medium, 'I', 104, 8, 8, rails),
        'current_ma': _array(medium, 'I', 104, 40, 8, rails), 'power_mw': _array(medium, 'f', 104, 72, 8, rails),
        'slow_time_s': _array(slow, 'd', 72, 0, 1, None), 'temp_c': _array(slow, 'f', 72, 8, 16, zones),
        'sync_id': _array(ids, 'Q', 8, 0, 1, None),
    }
