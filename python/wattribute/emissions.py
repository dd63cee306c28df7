# SPDX-License-Identifier: Apache-2.0
"""What energy costs: CO2 and money, and a file of runs as CodeCarbon writes it.

    tracker = EmissionsTracker('training', grid_g_per_kwh=380, price_per_kwh=0.31)
    with tracker:
        train()
    print(tracker.emissions_kg, tracker.price)

Grid intensity is for the user to say: it depends on place and time, and nothing here asks a network.
Without it emissions are unknown: empty in the file, never 0.
"""
import csv
import datetime
import os
import platform
import uuid
from typing import Any, Dict, Optional

from wattribute.meter import Result, measure

# CodeCarbon's columns, in its order: those of 3.3.
COLUMNS = (
    'timestamp', 'project_name', 'run_id', 'experiment_id', 'duration', 'emissions', 'emissions_rate', 'cpu_power',
    'gpu_power', 'ram_power', 'cpu_energy', 'gpu_energy', 'ram_energy', 'energy_consumed', 'water_consumed',
    'country_name', 'country_iso_code', 'region', 'cloud_provider', 'cloud_region', 'os', 'python_version', 'codecarbon_version',
    'cpu_count', 'cpu_model', 'gpu_count', 'gpu_model', 'longitude', 'latitude', 'ram_total_size', 'tracking_mode',
    'cpu_utilization_percent', 'gpu_utilization_percent', 'ram_utilization_percent', 'ram_used_gb', 'on_cloud', 'pue', 'wue')
# Kinds of domains that a column is the sum of.
_KINDS = {'cpu': ('package', 'cpu_rail'), 'gpu': ('gpu',), 'ram': ('dram',)}
_J_PER_KWH = 3.6e6


class EmissionsTracker:
    """A run, from start() to stop() or for `with`, which adds a line to a file."""

    def __init__(self, project_name: str = 'wattribute', *, grid_g_per_kwh: Optional[float] = None,
                 price_per_kwh: Optional[float] = None, pue: float = 1.0, tracking_mode: str = 'machine',
                 output_dir: Any = '.', output_file: str = 'emissions.csv', save_to_file: bool = True,
                 country_name: str = '', country_iso_code: str = '', region: str = '', **options: Any):
        if tracking_mode not in ('machine', 'process'):
            raise ValueError(f"tracking_mode: {tracking_mode!r} is neither 'machine' nor 'process'")
        for name, value in (('grid_g_per_kwh', grid_g_per_kwh), ('price_per_kwh', price_per_kwh)):
            if value is not None and not value >= 0:
                raise ValueError(f'{name}: {value!r} is below 0')
        if not pue >= 1:
            raise ValueError(f'pue: {pue!r} is below 1')
        self._section = measure(project_name, **options)
        self._grid_g_per_kwh = grid_g_per_kwh
        self._price_per_kwh = price_per_kwh
        self._pue = pue
        self._mode = tracking_mode
        self._path = os.path.join(output_dir, output_file) if save_to_file else None
        self._said = {'project_name': project_name, 'run_id': str(uuid.uuid4()), 'country_name': country_name,
                      'country_iso_code': country_iso_code, 'region': region}
        self.result: Optional[Result] = None

    @property
    def energy_kwh(self) -> Optional[float]:
        """Of the machine or of this process, with what the building adds (PUE); None: not known."""
        if self.result is None:
            return None
        energy_j = self.result.energy_j if self._mode == 'machine' else self.result.own_energy_j
        return None if energy_j is None else energy_j * self._pue / _J_PER_KWH

    @property
    def emissions_kg(self) -> Optional[float]:
        if self.energy_kwh is None or self._grid_g_per_kwh is None:
            return None
        return self.energy_kwh * self._grid_g_per_kwh / 1000

    @property
    def price(self) -> Optional[float]:
        """In the currency of price_per_kwh."""
        if self.energy_kwh is None or self._price_per_kwh is None:
            return None
        return self.energy_kwh * self._price_per_kwh

    def start(self) -> 'EmissionsTracker':
        self._section.begin()
        return self

    def stop(self) -> Optional[float]:
        """Ends the run; its emissions in kg."""
        self.result = self._section.end()
        if self._path:
            append(self._path, self.record())
        return self.emissions_kg

    def __enter__(self) -> 'EmissionsTracker':
        return self.start()

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def record(self) -> Dict[str, Any]:
        """The run as a line of the file; what is not known is empty."""
        result = self.result
        if result is None:
            raise ValueError('the run has not ended yet')
        record: Dict[str, Any] = dict.fromkeys(COLUMNS, '')
        record.update(self._said)
        record.update(_parts(result))
        record.update({
            'timestamp': datetime.datetime.now().isoformat(timespec='seconds'),
            'duration': result.elapsed_s,
            'emissions': _text(self.emissions_kg),
            'emissions_rate': _text(_ratio(self.emissions_kg, result.elapsed_s)),
            'energy_consumed': _text(self.energy_kwh),
            'os': platform.platform(),
            'python_version': platform.python_version(),
            'cpu_count': os.cpu_count() or '',
            'tracking_mode': self._mode,
            'on_cloud': 'N',
            'pue': self._pue,
        })
        return record


def _text(value: Optional[float]) -> Any:
    return '' if value is None else value


def _ratio(value: Optional[float], by: float) -> Optional[float]:
    return value / by if value is not None and by > 0 else None


def _parts(result: Result) -> Dict[str, Any]:
    """Energy (kWh) and power (W) of CPUs, GPUs and memory, of the whole machine."""
    parts: Dict[str, Any] = {}
    for name, kinds in _KINDS.items():
        known = [energy for path, energy in result.domain_energy_j.items()
                 if result.domain_kind[path] in kinds and energy is not None]
        energy_j = sum(known) if known else None
        parts[name + '_energy'] = _text(None if energy_j is None else energy_j / _J_PER_KWH)
        parts[name + '_power'] = _text(_ratio(energy_j, result.elapsed_s))
    return parts


def append(path: Any, record: Dict[str, Any]) -> None:
    """Adds a line; the file's own columns and their order stand, if it is there already."""
    with open(path, 'a+', encoding='utf-8', newline='') as file:
        file.seek(0)
        columns = next(csv.reader(file), None)
        file.seek(0, os.SEEK_END)
        writer = csv.DictWriter(file, columns or COLUMNS, extrasaction='ignore', lineterminator='\n')
        if columns is None:
            writer.writeheader()
        writer.writerow(record)
