# SPDX-License-Identifier: Apache-2.0
"""Windows: what used how much of which domain between two moments. Immutable."""
import math
from typing import Any, Dict, Iterator, List, Optional

from wattribute._library import check, ffi, lib, new_struct, text_of
from wattribute.table import Table

# Names of the columns of Window.table().
_COLUMNS = ('time_s', 'duration_s', 'kind', 'name', 'pid', 'user_id', 'container', 'unit', 'cgroup', 'cpu_s',
            'energy_j', 'power_w', 'uncertainty_j')


def _number(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


class Domain:
    """A part of the machine that takes energy, in one window."""

    def __init__(self, window: 'Window', index: int):
        self._window = window
        self._domain = lib.watt_snapshot_get_domain(window._snap, index)
        self._state = lib.watt_snapshot_get_domain_state(window._snap, index)

    path: str = property(lambda self: text_of(self._domain.path))  # type: ignore[assignment]
    kind: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_domain_kind_name(self._domain.kind)))
    origin: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_origin_name(self._domain.origin)))
    status: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_status_name(self._state.status)))
    key: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_share_key_name(self._state.key)))

    #: How idle power is known: 'unknown', 'seen', 'extrapolated', 'given'.
    idle_from: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_baseline_from_name(self._state.baseline_from)))

    @property
    def is_summed(self) -> bool:
        """Whether the machine's energy is the sum over such domains."""
        return bool(self._domain.is_summed)

    @property
    def is_known(self) -> bool:
        """Whether there is any energy of it at all."""
        return bool(lib.watt_view_has_energy(self._state)) and self._state.window_ns > 0

    def _energy_j(self, energy_nj: int) -> Optional[float]:
        return energy_nj / 1e9 if self.is_known else None

    @property
    def energy_j(self) -> Optional[float]:
        return self._energy_j(self._state.window_nj)

    @property
    def idle_j(self) -> Optional[float]:
        return self._energy_j(self._state.window_idle_nj)

    @property
    def unattributed_j(self) -> Optional[float]:
        return self._energy_j(self._state.window_unattributed_nj)

    @property
    def power_w(self) -> Optional[float]:
        return _number(lib.watt_view_power_w(self._state, self._state.window_nj))

    def __repr__(self) -> str:
        return f'<Domain {self.path}: {self.energy_j} J, {self.status}>'


class Gauge:
    """What a channel of context told in one window: a load, a temperature, a clock, memory."""

    def __init__(self, window: 'Window', index: int):
        self._window = window
        self._gauge = lib.watt_snapshot_get_gauge(window._snap, index)

    name: str = property(lambda self: text_of(self._gauge.name))  # type: ignore[assignment]
    quantity: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_quantity_name(self._gauge.quantity)))
    unit: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_quantity_unit(self._gauge.quantity)))
    status: str = property(  # type: ignore[assignment]
        lambda self: text_of(lib.watt_status_name(self._gauge.status)))

    @property
    def value(self) -> Optional[float]:
        """The newest reading."""
        return _number(self._gauge.value)

    @property
    def mean(self) -> Optional[float]:
        """Over the time in the window that is known."""
        return _number(self._gauge.mean)

    def __repr__(self) -> str:
        return f'<Gauge {self.name}: {self.mean} {self.unit}, {self.status}>'


class Row:
    """Who used energy in a window: a process, a container, a unit, a user, idle, ..."""

    def __init__(self, window: 'Window', row: Any):
        self._window = window
        self._row = row

    @property
    def _identity(self) -> Any:
        return self._row.entity.identity

    @property
    def id(self) -> int:
        """Unique in its session, and never another's."""
        return int(self._row.entity.id)

    @property
    def parent_id(self) -> Optional[int]:
        """Whom it is summed into."""
        return int(self._row.entity.parent_id) or None

    @property
    def kind(self) -> str:
        return text_of(lib.watt_entity_kind_name(self._row.entity.kind)) or ''

    @property
    def is_user(self) -> bool:
        """One of those that energy is divided among; the others are sums of them, or nobody."""
        return bool(lib.watt_view_is_user(self._row.entity.kind))

    @property
    def name(self) -> str:
        return text_of(self._row.entity.name) or ''

    @property
    def pid(self) -> Optional[int]:
        return int(self._identity.pid) if self._identity else None

    @property
    def user_id(self) -> Optional[int]:
        identity = self._identity
        if not identity or identity.missing & lib.WATT_IDENTITY_UID:
            return None
        return int(identity.uid)

    @property
    def command(self) -> Optional[str]:
        return text_of(self._identity.cmdline) if self._identity else None

    @property
    def executable(self) -> Optional[str]:
        return text_of(self._identity.exe) if self._identity else None

    def _of_cgroup(self, field: str) -> Optional[str]:
        cgroup = self._row.entity.cgroup
        return text_of(getattr(cgroup, field)) if cgroup else None

    @property
    def cgroup(self) -> Optional[str]:
        return self._of_cgroup('path')

    @property
    def container(self) -> Optional[str]:
        """Its name where somebody has told it, else its id."""
        named = self._row.entity.container
        return (text_of(named.name) if named else None) or self._of_cgroup('container')

    @property
    def unit(self) -> Optional[str]:
        return self._of_cgroup('unit')

    @property
    def cpu_s(self) -> float:
        return self._row.window_cpu_ns / 1e9

    @property
    def energy_nj(self) -> int:
        """Exactly, over what the machine's energy consists of."""
        return int(self._row.window_total_nj)

    @property
    def energy_j(self) -> float:
        return self.energy_nj / 1e9

    @property
    def power_w(self) -> Optional[float]:
        duration_s = self._window.duration_s
        return self.energy_j / duration_s if duration_s > 0 else None

    @property
    def uncertainty_j(self) -> Optional[float]:
        """Standard uncertainty of energy_j, as to who used it; None: not known. What the sensors
        may be wrong by comes on top, and is the same for all rows: Balance.uncertainty_ratio."""
        return _number(self._row.window_total_uncertainty_j)

    def domain_energy_j(self) -> Dict[str, float]:
        """Of each domain that has energy, by its path."""
        return {domain.path: self._row.window_nj[i] / 1e9
                for i, domain in enumerate(self._window.domains) if domain.is_known}

    def domain_uncertainty_j(self) -> Dict[str, Optional[float]]:
        """The same of each domain that has energy: standard uncertainties of domain_energy_j()."""
        return {domain.path: _number(self._row.window_uncertainty_j[i])
                for i, domain in enumerate(self._window.domains) if domain.is_known}

    def __repr__(self) -> str:
        return f'<Row {self.kind} {self.name!r}: {self.energy_j:.6f} J>'


class Balance:
    """What became of a window's energy: energy = attributed + idle + unattributed, to the nJ."""

    def __init__(self, window: 'Window'):
        view = ffi.new('struct watt_view **')
        check(lib.watt_view_new(window._snap, view), 'balance')
        raw = new_struct('watt_balance')
        try:
            check(lib.watt_balance_draw(view[0], raw), 'balance')
        finally:
            lib.watt_view_free(view[0])
        self.power_w = _number(raw.power_w) if raw.has_power else None
        self.attributed_w = _number(raw.attributed_w) if raw.has_power else None
        self.idle_w = _number(raw.idle_w) if raw.has_power else None
        self.unattributed_w = _number(raw.unattributed_w) if raw.has_power else None
        self.is_known = bool(raw.is_known)
        self.is_exact = bool(raw.is_exact)
        self.origin = text_of(lib.watt_origin_name(raw.origin))
        self.uncertainty_ratio = raw.uncertainty_ppm / 1e6 or None
        self.missing = text_of(raw.missing) or None


class Window:
    """A stretch of time, and what used energy in it."""

    def __init__(self, snap: Any):
        self._snap = ffi.gc(snap, lib.watt_snapshot_unref)
        self._domains: Optional[List[Domain]] = None

    @property
    def start_ns(self) -> int:
        """CLOCK_MONOTONIC, as end_ns."""
        return int(lib.watt_snapshot_get_window_start_ns(self._snap))

    @property
    def end_ns(self) -> int:
        return int(lib.watt_snapshot_get_time_ns(self._snap))

    @property
    def time_s(self) -> float:
        """Of its end, as time.time()."""
        return lib.watt_snapshot_get_realtime_ns(self._snap) / 1e9

    @property
    def duration_s(self) -> float:
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def phase(self) -> Optional[str]:
        """Label of the mark that the window began with, or that came before it."""
        return text_of(lib.watt_snapshot_get_phase(self._snap)) or None

    @property
    def idle_policy(self) -> str:
        """What became of idle energy: "separate", "proportional" or "requests"."""
        return text_of(lib.watt_idle_policy_name(lib.watt_snapshot_get_idle_policy(self._snap))) or ''

    @property
    def domains(self) -> List[Domain]:
        if self._domains is None:
            count = lib.watt_snapshot_get_domain_count(self._snap)
            self._domains = [Domain(self, i) for i in range(count)]
        return self._domains

    @property
    def gauges(self) -> List[Gauge]:
        """The context that is read: with sources='+context'."""
        count = lib.watt_snapshot_get_gauge_count(self._snap)
        return [Gauge(self, i) for i in range(count)]

    @property
    def rows(self) -> Iterator[Row]:
        """All of them, sums and nobodies included; see Row.kind."""
        for i in range(lib.watt_snapshot_get_row_count(self._snap)):
            yield Row(self, lib.watt_snapshot_get_row(self._snap, i))

    @property
    def processes(self) -> List[Row]:
        """Those that energy is divided among, the thirstiest first."""
        users = [row for row in self.rows if row.is_user]
        return sorted(users, key=lambda row: -row.energy_nj)

    def find(self, entity_id: int) -> Optional[Row]:
        """The row of an entity; None: it is not in this window."""
        row = lib.watt_snapshot_find_row(self._snap, entity_id)
        return Row(self, row) if row else None

    @property
    def energy_j(self) -> Optional[float]:
        """Of the machine; None: not known."""
        total = self.total
        return total.window_nj / 1e9 if total.n_known else None

    @property
    def total(self) -> Any:
        """struct watt_total of the machine: its energy, how well it is known, what is missing."""
        raw = new_struct('watt_total')
        check(lib.watt_snapshot_get_total(self._snap, raw), 'total')
        return raw

    @property
    def power_w(self) -> Optional[float]:
        return self.balance.power_w

    @property
    def balance(self) -> Balance:
        return Balance(self)

    def to_json(self) -> str:
        """As `wattribute top --json` has it."""
        ret = ffi.new('char **')
        check(lib.watt_snapshot_to_json(self._snap, 0, ret), 'window as JSON')
        try:
            return text_of(ret[0]) or ''
        finally:
            _free(ret[0])

    def table(self) -> Table:
        """One row for each that used energy."""
        return Table.of(list(self._records()), _COLUMNS)

    def _records(self) -> Iterator[Dict[str, Any]]:
        same = {'time_s': self.time_s, 'duration_s': self.duration_s}
        for row in self.rows:
            yield {**same, **{name: getattr(row, name) for name in _COLUMNS[2:]}}

    def __repr__(self) -> str:
        energy = 'unknown' if self.energy_j is None else f'{self.energy_j:.6f} J'
        return f'<Window of {self.duration_s:.3f} s: {energy}>'


def table_of(windows: Iterator[Window]) -> Table:
    """The tables of windows, one below the other."""
    return Table.of([record for window in windows for record in window._records()], _COLUMNS)


# What the library allocated with malloc() and leaves to its caller.
_libc = ffi.dlopen(None)


def _free(pointer: Any) -> None:
    _libc.free(pointer)
