# SPDX-License-Identifier: Apache-2.0
"""Sessions: windows of what the machine takes and who uses it, as they come."""
import asyncio
import atexit
import concurrent.futures
import errno
import json
import os
import threading
import time
import weakref
from typing import Any, AsyncIterator, Dict, Iterator, List, Optional

from wattribute._library import (Log, WattributeError, bytes_of, check, ffi, lib, new_options, new_struct,
                                 text_of)
from wattribute.snapshot import Window

# Waiting is done in pieces, so that Ctrl-C ends it.
_PIECE_MS = 200
_TIMEOUT_S = 30.0

_open_sessions: 'weakref.WeakSet[Session]' = weakref.WeakSet()


def _close_all() -> None:
    """At the end of the interpreter, before a thread of the library could call it."""
    for session in list(_open_sessions):
        session.close()


atexit.register(_close_all)


class Session:
    """A measurement of the machine, for `with`.

    Options are those of the command: sources, usage, slice, period, rate, idle_policy, share_key,
    sensor_delay, config, threads, ... A time is a number of seconds, or text such as "50ms".

    record: also writes a recording there; replace: over one that is there.
    """

    def __init__(self, *, record: Any = None, replace: bool = False, **options: Any):
        self._log = Log()
        self._owner = os.getpid()
        self._session = ffi.NULL
        self._cursors: 'weakref.WeakSet[_Cursor]' = weakref.WeakSet()
        self._lock = threading.Lock()
        ret = ffi.new('struct watt_session **')
        check(lib.watt_session_open(new_options(options, self._log), ret), 'session', self._log)
        self._session = ret[0]
        _open_sessions.add(self)
        if record is not None:
            self._record(record, replace)

    def _record(self, path: Any, replace: bool) -> None:
        opts = new_struct('watt_record_opts')
        opts.overwrite = bool(replace)
        try:
            check(lib.watt_session_record(self._session, bytes_of(path), opts), f'recording to {path}', self._log)
        except WattributeError:
            self.close()
            raise

    def start(self) -> 'Session':
        """Begins to measure; `with` does it."""
        check(lib.watt_session_start(self._alive()), 'start', self._log)
        return self

    def close(self) -> None:
        """Ends the measurement, and finishes its recording."""
        with self._lock:
            session, self._session = self._session, ffi.NULL
        if session and os.getpid() == self._owner:
            for cursor in list(self._cursors):
                cursor.close()
            lib.watt_session_close(session)
        _open_sessions.discard(self)

    def __enter__(self) -> 'Session':
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _alive(self) -> Any:
        if not self._session:
            raise WattributeError('the session is closed', errno.EINVAL)
        if os.getpid() != self._owner:
            raise WattributeError('a session does not survive fork(): open one in the child', errno.EINVAL)
        return self._session

    def windows(self, period_s: float = 1.0, count: Optional[int] = None) -> Iterator[Window]:
        """Windows one after the other, as long as asked, or for ever; they add up to the nJ.

        Each call has windows of its own: any number may be read at a time, at any pace. Who comes
        late gets longer windows and loses nothing.
        """
        with _Cursor(self) as cursor:
            due_ns = time.monotonic_ns()
            while count is None or count > 0:
                due_ns = max(due_ns + int(period_s * 1e9), time.monotonic_ns())
                yield cursor.window_at(due_ns)
                count = None if count is None else count - 1

    async def awindows(self, period_s: float = 1.0, count: Optional[int] = None) -> AsyncIterator[Window]:
        """The same for asyncio: a thread waits, the event loop does not."""
        loop = asyncio.get_running_loop()
        with concurrent.futures.ThreadPoolExecutor(1, 'wattribute') as thread:
            windows = self.windows(period_s, count)
            try:
                while True:
                    window = await loop.run_in_executor(thread, next, windows, None)
                    if window is None:
                        return
                    yield window
            finally:
                await loop.run_in_executor(thread, windows.close)  # type: ignore[attr-defined]

    def __iter__(self) -> Iterator[Window]:
        return self.windows()

    def __aiter__(self) -> AsyncIterator[Window]:
        return self.awindows()

    def track(self, pid: int) -> int:
        """Sums a process and all its descendants; the id of their row, for Window.find()."""
        ret = ffi.new('uint64_t *')
        check(lib.watt_session_track(self._alive(), pid, ret), f'tracking process {pid}', self._log)
        return int(ret[0])

    def profile(self) -> Dict[str, Any]:
        """What was learned of each program by now, as wattribute-profile(5) has it.

        Written as JSON to a file, it is the `prior` of a later session.
        """
        profile, text = ffi.new('struct watt_profile **'), ffi.new('char **')
        check(lib.watt_session_get_profile(self._alive(), profile), 'profile', self._log)
        try:
            check(lib.watt_profile_to_json(profile[0], 0, text), 'profile', self._log)
        finally:
            lib.watt_profile_free(profile[0])
        try:
            return json.loads(ffi.string(text[0]))  # type: ignore[no-any-return]
        finally:
            lib.free(text[0])

    @property
    def domains(self) -> List[str]:
        """Paths of what takes energy here."""
        count = lib.watt_session_get_domain_count(self._alive())
        return [text_of(lib.watt_session_get_domain(self._session, i).path) or '' for i in range(count)]

    @property
    def channels(self) -> List[Dict[str, Any]]:
        """What is read, and all that is known about reading it."""
        count = lib.watt_session_get_channel_count(self._alive())
        return [channel_of(lib.watt_session_get_channel(self._session, i)) for i in range(count)]

    @property
    def usage(self) -> str:
        """How CPU time is counted: "bpf" or "procfs"."""
        return text_of(lib.watt_session_get_usage_name(self._alive())) or ''

    @property
    def marks_address(self) -> Optional[str]:
        """For WATTRIBUTE_MARKS in the environment of programs that tell phases."""
        return text_of(lib.watt_session_get_marks_address(self._alive()))


class _Cursor:
    """One reader of a session."""

    def __init__(self, session: Session):
        ret = ffi.new('struct watt_cursor **')
        check(lib.watt_cursor_open(session._alive(), ret), 'windows', session._log)
        self._cursor = ret[0]
        self._session = session
        self._lock = threading.Lock()
        session._cursors.add(self)

    def close(self) -> None:
        with self._lock:
            cursor, self._cursor = self._cursor, ffi.NULL
            lib.watt_cursor_close(cursor)

    def __enter__(self) -> '_Cursor':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def window_at(self, t_ns: int) -> Window:
        """The window that ends then, complete; waits for it."""
        ret = ffi.new('struct watt_snapshot **')
        deadline = time.monotonic() + max(t_ns - time.monotonic_ns(), 0) / 1e9 + _TIMEOUT_S
        while True:
            with self._lock:
                self._session._alive()
                r = lib.watt_cursor_snapshot_at(self._cursor, t_ns, _PIECE_MS, ret)
            if r != -errno.ETIMEDOUT or time.monotonic() > deadline:
                break
        check(r, 'window', self._session._log)
        return Window(ret[0])


def channel_of(channel: Any) -> Dict[str, Any]:
    """A channel as a dict; what is unknown is None."""
    return {
        'name': text_of(channel.name),
        'source': text_of(channel.source),
        'domain': text_of(channel.domain),
        'label': text_of(channel.label),
        'path': text_of(channel.path),
        'kind': text_of(lib.watt_domain_kind_name(channel.kind)),
        'quantity': text_of(lib.watt_quantity_name(channel.quantity)),
        'semantics': text_of(lib.watt_semantics_name(channel.semantics)),
        'origin': text_of(lib.watt_origin_name(channel.origin)),
        'period_s': channel.period_ns / 1e9 or None,
        'delay_s': channel.delay_ns / 1e9 or None,
        'uncertainty_ratio': channel.uncertainty_ppm / 1e6 or None,
    }


def mark(label: str = '') -> bool:
    """Tells whoever measures this program that a phase begins; "" ends one. False: nobody does."""
    r = lib.watt_mark(label.encode('utf-8'))
    if r == -errno.ENOTCONN:
        return False
    if r == -errno.EINVAL:
        raise ValueError(f'{label!r} is no label: it has control characters')
    check(r, 'mark')
    return True


def doctor(**options: Any) -> List[Dict[str, Any]]:
    """What every source can do here, why not more, and what to do about it."""
    count = ffi.new('size_t *', 64)
    diags = ffi.new('struct watt_diag[]', 64)
    diags[0].sz = ffi.sizeof('struct watt_diag')
    check(lib.watt_doctor(new_options(options), diags, count), 'doctor')
    return [{
        'source': text_of(diag.source),
        'role': text_of(lib.watt_source_role_name(diag.role)),
        'state': text_of(lib.watt_availability_name(diag.state)),
        'is_selected': bool(diag.is_selected),
        'channels': int(diag.n_channels),
        'why': text_of(diag.why) or None,
        'hint': text_of(diag.hint) or None,
    } for diag in diags[0:min(count[0], 64)]]


def board(**options: Any) -> Optional[Dict[str, Any]]:
    """The board that this machine is: name (None: it is not known), is_configured, compatible strings.

    None: it has no devicetree that says. What lies in what is in the domains of a Session.
    """
    ret = ffi.new('struct watt_board_info **')
    log = Log()
    r = lib.watt_board_info_read(new_options(options, log), ret)
    if r == -errno.ENOENT:
        return None
    check(r, 'board', log)
    info = ffi.gc(ret[0], lib.watt_board_info_free)
    compatible: List[str] = []
    while True:
        text = text_of(lib.watt_board_info_get_compatible(info, len(compatible)))
        if text is None:
            break
        compatible.append(text)
    return {'name': text_of(lib.watt_board_info_get_name(info)),
            'is_configured': bool(lib.watt_board_info_is_configured(info)), 'compatible': compatible}
