# SPDX-License-Identifier: Apache-2.0
"""What a section of code takes: `with wattribute.measure() as m:`, or a decorator."""
import asyncio
import atexit
import concurrent.futures
import errno
import functools
import inspect
import math
import os
import threading
from typing import Any, Callable, Dict, List, Optional, Protocol, TypeVar, overload

from wattribute._library import WattributeError, ffi, lib, new_options, new_struct, text_of


T_co = TypeVar('T_co', covariant=True)
T = TypeVar('T')


def _number(value: float) -> Optional[float]:
    return None if math.isnan(value) else value


class Result:
    """What a section took. Energy that is not known is None, never 0."""

    def __init__(self, raw: Any, domains: List[Any], label: Optional[str] = None):
        self.label = label
        self.energy_j: Optional[float] = _number(raw.energy_j)
        self.own_energy_j: Optional[float] = _number(raw.own_energy_j)
        self.power_w: Optional[float] = _number(raw.power_w)
        self.elapsed_s: float = raw.elapsed_s
        self.cpu_s: float = raw.cpu_s
        self.gap_s: float = raw.gap_s
        self.status: str = text_of(lib.watt_status_name(raw.status)) or ''
        self.origin: str = text_of(lib.watt_origin_name(raw.origin)) or ''
        self.uncertainty_ratio: Optional[float] = raw.uncertainty_ppm / 1e6 or None
        self.domain_energy_j: Dict[str, Optional[float]] = {
            text_of(domain.path) or '': _number(raw.domain_energy_j[i]) for i, domain in enumerate(domains)}
        self.domain_kind: Dict[str, str] = {
            text_of(domain.path) or '': text_of(lib.watt_domain_kind_name(domain.kind)) or ''
            for domain in domains}

    def __str__(self) -> str:
        name = f'{self.label}: ' if self.label else ''
        if self.energy_j is None:
            return f'{name}energy not known ({self.status}), {_people("time", self.elapsed_s)}'
        sure = '' if self.origin == 'measured' else f', {self.origin}'
        if self.uncertainty_ratio:
            sure += f' \u00b1{self.uncertainty_ratio * 100:.2g} %'
        own = '' if self.own_energy_j is None else f'; {_people("energy", self.own_energy_j)} of it this process'
        return (f'{name}{_people("energy", self.energy_j)} in {_people("time", self.elapsed_s)} '
                f'({_people("power", self.power_w)}{sure}){own}')

    def __repr__(self) -> str:
        return f'<Result {self}>'

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from wattribute.jupyter import html_of
        return html_of(self)


def _people(kind: str, value: Optional[float]) -> str:
    """A number with its unit, as the command writes it."""
    buffer = ffi.new('char[]', 32)
    make = getattr(lib, f'watt_units_{kind}')
    return text_of(make(buffer, math.nan if value is None else value, 3)) or '-'


class Meter:
    """A meter of its own, with options as sessions have them. Any thread may use it."""

    def __init__(self, **options: Any):
        self._owner = os.getpid()
        meter = lib.watt_meter_open(new_options(options) if options else ffi.NULL)
        if not meter:
            raise MemoryError('a meter')
        self._meter = meter
        self._lock = threading.Lock()

    @property
    def problem(self) -> Optional[str]:
        """Why nothing can be measured; None: it can."""
        return text_of(lib.watt_meter_get_problem(self._meter))

    def begin(self) -> None:
        """Begins a section of the calling thread."""
        self._check(lib.watt_meter_begin(self._alive()))

    def end(self, label: Optional[str] = None) -> Result:
        """Ends the newest section of the calling thread."""
        raw = new_struct('watt_meter_result')
        self._check(lib.watt_meter_end(self._alive(), raw))
        return Result(raw, self._domains(raw.n_domains), label)

    def close(self) -> None:
        meter, self._meter = self._meter, ffi.NULL
        # A child of fork() has none of the threads, and must leave it alone.
        if meter and os.getpid() == self._owner:
            lib.watt_meter_close(meter)

    def measure(self, label: Optional[str] = None, then: Optional[Callable[[Result], Any]] = None
                ) -> 'Measurement':
        """A section, for `with`, `async with` or as a decorator; `then` is told each result."""
        return Measurement(lambda: self, label, then)

    def __enter__(self) -> 'Meter':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _alive(self) -> Any:
        if not self._meter:
            raise WattributeError('the meter is closed', errno.EINVAL)
        if os.getpid() != self._owner:
            raise WattributeError('a meter does not survive fork(): open one in the child', errno.EINVAL)
        return self._meter

    def _check(self, result: int) -> None:
        if result >= 0:
            return
        sentence = self.problem
        if not sentence and result == -errno.EINVAL:
            sentence = 'no section of this thread was begun'
        elif not sentence and result == -errno.ETIMEDOUT:
            sentence = 'the sensors did not answer in time'
        raise WattributeError(sentence or os.strerror(-result), -result)

    def _domains(self, count: int) -> List[Any]:
        domains = [lib.watt_meter_get_domain(self._meter, i) for i in range(count)]
        return [domain for domain in domains if domain]


class Measured(Protocol[T_co]):
    """A function of which each call is a section."""

    results: List[Result]

    def __call__(self, *args: Any, **keywords: Any) -> T_co: ...


class Measurement:
    """A section of code. Its result is there when it has ended.

    With `with`, sections of a thread are nested. Tasks of asyncio are not: with `async with` each
    has a thread of its own that begins and ends it, so that they may overlap in any way.
    """

    # the result's, by __getattr__()
    energy_j: Optional[float]
    own_energy_j: Optional[float]
    power_w: Optional[float]
    elapsed_s: float
    cpu_s: float
    gap_s: float
    status: str
    origin: str
    uncertainty_ratio: Optional[float]
    domain_energy_j: Dict[str, Optional[float]]
    domain_kind: Dict[str, str]

    def __init__(self, meter: Callable[[], Meter], label: Optional[str] = None,
                 then: Optional[Callable[[Result], Any]] = None):
        self._find_meter = meter
        self._label = label
        self._then = then
        self._meter: Optional[Meter] = None
        self._thread: Optional[concurrent.futures.ThreadPoolExecutor] = None
        self._result: Optional[Result] = None

    @property
    def result(self) -> Result:
        if self._result is None:
            raise WattributeError('the section has not ended yet, or was not measured', errno.EAGAIN)
        return self._result

    def __getattr__(self, name: str) -> Any:
        """What the result has, the measurement has too, once it has ended."""
        if name.startswith('_'):
            raise AttributeError(name)
        try:
            return getattr(self.result, name)
        except WattributeError as error:
            raise AttributeError(f'{name}: {error}') from error

    def begin(self) -> 'Measurement':
        meter = self._find_meter()
        meter.begin()
        self._meter = meter
        return self

    def end(self) -> Result:
        if self._meter is None:
            raise WattributeError('the section was not begun', errno.EINVAL)
        meter, self._meter = self._meter, None
        self._result = meter.end(self._label)
        return self._result

    def _tell(self) -> None:
        if self._then and self._result:
            self._then(self._result)

    def __enter__(self) -> 'Measurement':
        return self.begin()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.end()
        except WattributeError:
            # What the section itself raised matters more.
            if kind is None:
                raise
        self._tell()

    async def __aenter__(self) -> 'Measurement':
        self._thread = concurrent.futures.ThreadPoolExecutor(1, 'wattribute')
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self.begin)
        except BaseException:
            self._thread.shutdown(wait=False)
            raise
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        assert self._thread is not None
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self.end)
        except WattributeError:
            if kind is None:
                raise
        finally:
            self._thread.shutdown(wait=False)
        self._tell()

    def _again(self) -> 'Measurement':
        return Measurement(self._find_meter, self._label, self._then)

    def __call__(self, function: Callable[..., T]) -> Measured[T]:
        """As a decorator: every call is a section; `function.results` has them."""
        results: List[Result] = []
        label = self._label or function.__qualname__

        def new() -> 'Measurement':
            one = self._again()
            one._label = label
            return one

        if inspect.iscoroutinefunction(function):
            @functools.wraps(function)
            async def wrapper(*args: Any, **keywords: Any) -> Any:
                async with new() as section:
                    value = await function(*args, **keywords)
                results.append(section.result)
                return value
        else:
            @functools.wraps(function)
            def wrapper(*args: Any, **keywords: Any) -> Any:
                with new() as section:
                    value = function(*args, **keywords)
                results.append(section.result)
                return value
        wrapper.results = results  # type: ignore[attr-defined]
        return wrapper  # type: ignore[return-value]


class _Shared:
    """The meters of measure(): one for each choice of options, opened when it is first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.meters: Dict[Any, Meter] = {}

    def find(self, options: Dict[str, Any]) -> Meter:
        key = repr(sorted(options.items()))
        with self.lock:
            if key not in self.meters:
                self.meters[key] = Meter(**options)
            return self.meters[key]

    def forget(self) -> None:
        """In a child of fork(): its parent's meters are none of its own."""
        self.lock = threading.Lock()
        self.meters = {}

    def close(self) -> None:
        with self.lock:
            meters, self.meters = self.meters, {}
        for meter in meters.values():
            meter.close()


_shared = _Shared()
os.register_at_fork(after_in_child=_shared.forget)
atexit.register(_shared.close)


@overload
def measure(label: Callable[..., T]) -> Measured[T]: ...


@overload
def measure(label: Optional[str] = None, then: Optional[Callable[[Result], Any]] = None,
            **options: Any) -> Measurement: ...


def measure(label: Any = None, then: Optional[Callable[[Result], Any]] = None, **options: Any) -> Any:
    """A section of code, for `with`, `async with` or as a decorator.

    Options are those of sessions. The meter stays open for the next section.
    """
    if callable(label):
        return Measurement(lambda: _shared.find(options))(label)
    return Measurement(lambda: _shared.find(options), label, then)
