# SPDX-License-Identifier: Apache-2.0
"""Recordings: everything that a session was told, to be asked again, by other rules too."""
import errno
from typing import Any, Dict, Iterator, List, Optional

from wattribute._library import (Log, WattributeError, bytes_of, check, ffi, lib, log_callback, new_options,
                                 new_struct, text_of)
from wattribute.session import channel_of
from wattribute.snapshot import Window, table_of
from wattribute.table import Table

# Samples that are asked for at a time.
_BLOCK = 4096


class Recording:
    """A recording, for `with`. Iterating gives its windows."""

    def __init__(self, path: Any):
        self.path = path
        self._log = Log()
        ret = ffi.new('struct watt_recording **')
        check(lib.watt_recording_open(bytes_of(path), log_callback, self._log.handle, ret), str(path), self._log)
        self._recording = ret[0]

    def close(self) -> None:
        recording, self._recording = self._recording, ffi.NULL
        lib.watt_recording_close(recording)

    def __enter__(self) -> 'Recording':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, '_recording', None):
            self.close()

    def _alive(self) -> Any:
        if not self._recording:
            raise WattributeError('the recording is closed', errno.EINVAL)
        return self._recording

    @property
    def info(self) -> Dict[str, Any]:
        """What it says of itself: host, command, start_ns, samples, lost_ns, is_complete, ..."""
        raw = lib.watt_recording_get_info(self._alive())
        values: Dict[str, Any] = {}
        for name, field in ffi.typeof(raw).item.fields:
            value = getattr(raw, name)
            if name != 'sz':
                values[name] = int(value) if field.type.kind == 'primitive' else text_of(value)
        return values

    @property
    def duration_s(self) -> float:
        raw = lib.watt_recording_get_info(self._alive())
        return (raw.end_ns - raw.start_ns) / 1e9

    @property
    def channels(self) -> List[Dict[str, Any]]:
        count = lib.watt_recording_get_channel_count(self._alive())
        return [channel_of(lib.watt_recording_get_channel(self._recording, i)) for i in range(count)]

    @property
    def marks(self) -> List[Dict[str, Any]]:
        """t_ns (CLOCK_MONOTONIC), label and pid of each."""
        count = lib.watt_recording_get_mark_count(self._alive())
        marks = [lib.watt_recording_get_mark(self._recording, i) for i in range(count)]
        return [{'t_ns': int(mark.t_ns), 'label': text_of(mark.label), 'pid': int(mark.pid) or None}
                for mark in marks]

    @property
    def losses(self) -> List[Dict[str, Any]]:
        """Times of which something is missing in the file, and why."""
        count = lib.watt_recording_get_loss_count(self._alive())
        losses = [lib.watt_recording_get_loss(self._recording, i) for i in range(count)]
        return [{'t0_ns': int(loss.t0_ns), 't1_ns': int(loss.t1_ns), 'samples': int(loss.samples),
                 'usage_records': int(loss.usage_records), 'why': text_of(loss.why)} for loss in losses]

    def windows(self, window_s: Optional[float] = None, **options: Any) -> Iterator[Window]:
        """Its windows, of a length that is asked or fits; they end at marks.

        Options as idle_policy and share_key attribute the same readings by other rules.
        """
        session = self._open_session(options)
        try:
            yield from self._cut(session, window_s)
        finally:
            lib.watt_session_close(session)

    def _open_session(self, options: Dict[str, Any]) -> Any:
        self._alive()
        ret = ffi.new('struct watt_session **')
        how = new_options(options, self._log)
        check(lib.watt_session_open_recording(bytes_of(self.path), how, ret), str(self.path), self._log)
        r = lib.watt_session_start(ret[0])
        if r < 0:
            lib.watt_session_close(ret[0])
            check(r, str(self.path), self._log)
        return ret[0]

    def _cut(self, session: Any, window_s: Optional[float]) -> Iterator[Window]:
        info = lib.watt_recording_get_info(self._alive())
        opts = new_struct('watt_windows_opts')
        opts.start_ns, opts.end_ns = info.start_ns, info.end_ns
        opts.window_ns = round(window_s * 1e9) if window_s else 0
        marks = self._copy_marks()
        opts.marks, opts.n_marks = marks, len(marks)
        ret = ffi.new('struct watt_windows **')
        check(lib.watt_windows_open(session, opts, ret), 'windows', self._log)
        window = ffi.new('struct watt_window *')
        try:
            while check(lib.watt_windows_next(ret[0], window), 'window', self._log) == 0:
                yield Window(window.snap)
        finally:
            lib.watt_windows_close(ret[0])

    def _copy_marks(self) -> Any:
        count = lib.watt_recording_get_mark_count(self._recording)
        marks = ffi.new('struct watt_mark[]', count)
        for i in range(count):
            marks[i] = lib.watt_recording_get_mark(self._recording, i)[0]
        return marks

    def __iter__(self) -> Iterator[Window]:
        return self.windows()

    def replay(self) -> Iterator[Window]:
        """The very windows that the live run showed."""
        session = self._open_session({})
        try:
            while True:
                ret = ffi.new('struct watt_snapshot **')
                if check(lib.watt_session_next_snapshot(session, ret), 'replay', self._log) == 1:
                    return
                yield Window(ret[0])
        finally:
            lib.watt_session_close(session)

    def table(self, window_s: Optional[float] = None, **options: Any) -> Table:
        """One row for each window and who used energy in it."""
        return table_of(self.windows(window_s, **options))

    def samples(self) -> Table:
        """Every reading: t_before_ns, t_after_ns, channel, raw, value, status.

        value is in J of a counter, in W of a power, and of context in its unit: 1, C, Hz, B or rpm;
        None where the reading gave none.
        """
        channels = [lib.watt_recording_get_channel(self._alive(), i)
                    for i in range(lib.watt_recording_get_channel_count(self._recording))]
        names = [text_of(channel.name) for channel in channels]
        scales = [channel.scale_num / channel.scale_den / lib.watt_quantity_per_unit(channel.quantity)
                  for channel in channels]
        columns: Dict[str, List[Any]] = {
            'channel': [], 't_before_ns': [], 't_after_ns': [], 'raw': [], 'value': [], 'status': []}
        for sample in self._read_samples():
            is_ok = sample.status == lib.WATT_STATUS_OK
            columns['channel'].append(names[sample.channel])
            columns['t_before_ns'].append(sample.t_before_ns)
            columns['t_after_ns'].append(sample.t_after_ns)
            columns['raw'].append(sample.raw if is_ok else None)
            columns['value'].append(sample.raw * scales[sample.channel] if is_ok else None)
            columns['status'].append(text_of(lib.watt_status_name(sample.status)))
        return Table(columns)

    def _read_samples(self) -> Iterator[Any]:
        check(lib.watt_recording_seek(self._alive(), 0), 'samples', self._log)
        block = ffi.new('struct watt_sample[]', _BLOCK)
        while True:
            count = check(lib.watt_recording_read_samples(self._recording, block, _BLOCK), 'samples', self._log)
            if count == 0:
                return
            yield from block[0:count]

    def to_pandas(self, window_s: Optional[float] = None, **options: Any) -> Any:
        return self.table(window_s, **options).to_pandas()

    def to_polars(self, window_s: Optional[float] = None, **options: Any) -> Any:
        return self.table(window_s, **options).to_polars()

    def to_arrow(self, window_s: Optional[float] = None, **options: Any) -> Any:
        return self.table(window_s, **options).to_arrow()

    def export(self, path: Any, format: str, window_s: Optional[float] = None, **choices: Any) -> None:
        """Writes it as the command's `export --format` does; choices are the format's own."""
        part = new_struct('watt_excerpt')
        part.window_ns = round(window_s * 1e9) if window_s else 0
        with open(path, 'wb') as file:
            export(self.path, file, format, part, choices, self._log)


class _Writer:
    """Takes what a sink writes; keeps what went wrong, as no exception passes through C."""

    def __init__(self, file: Any):
        self.file = file
        self.error: Optional[OSError] = None


@ffi.callback('watt_write_fn', error=-errno.EIO)
def _write(data: Any, chars: Any, count: int) -> int:
    writer = ffi.from_handle(data)
    try:
        writer.file.write(ffi.buffer(chars, count))
    except OSError as error:
        writer.error = error
        return -(error.errno or errno.EIO)
    return 0


def export(path: Any, file: Any, format: str, part: Any, choices: Dict[str, Any], log: Log) -> None:
    """Puts a recording into a sink."""
    writer = _Writer(file)
    handle = ffi.new_handle(writer)
    opts = new_struct('watt_sink_opts')
    opts.write, opts.write_data = _write, handle
    opts.log, opts.log_data = log_callback, log.handle
    ret = ffi.new('struct watt_sink **')
    if lib.watt_sink_open(format.encode(), opts, ret) < 0:
        raise ValueError(f'there is no format {format!r}; there are: {", ".join(formats())}')
    try:
        for name, value in choices.items():
            if lib.watt_sink_set(ret[0], name.replace('_', '-').encode(), bytes_of(str(value))) < 0:
                raise ValueError(f'format {format} can not have {name}={value!r}')
        r = lib.watt_sink_put_recording(ret[0], bytes_of(path), part)
        if r >= 0:
            r = lib.watt_sink_finish(ret[0])
    finally:
        lib.watt_sink_close(ret[0])
    if writer.error:
        raise writer.error
    check(r, f'export as {format}', log)


def formats() -> List[str]:
    """What recordings can be exported as."""
    names: List[str] = []
    while True:
        info = lib.watt_sink_get_info(len(names))
        if not info:
            return names
        names.append(text_of(info.name) or '')
