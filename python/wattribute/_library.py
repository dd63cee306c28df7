# SPDX-License-Identifier: Apache-2.0
"""The C library: found, opened, asked. Everything else here goes through this file.

What is called releases the interpreter's lock while it runs, so other threads go on.
"""
import logging
import os
import sysconfig
from typing import Any, Dict, Optional

from wattribute._watt import ffi

_LIBRARY = 'libwattribute.so.0'
# Of the package's own, in a site's folder: meson-python puts it there.
_OWN = os.path.join('.wattribute.mesonpy.libs', _LIBRARY)
_logger = logging.getLogger('wattribute')
# Who wants to hear of it says so to logging; errors are exceptions.
_logger.addHandler(logging.NullHandler())
# enum watt_log_level
_LEVELS = (logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG)


class WattributeError(Exception):
    """What the library could not do, in its own words; `errno` says what kind of thing it was."""

    def __init__(self, message: str, number: int = 0):
        super().__init__(message)
        self.errno = number


def _find() -> str:
    """That of this package, where it brings one; else that of the system."""
    site = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sites = [site]
    if not os.path.exists(os.path.join(site, _OWN)):
        # where Python itself and what is a machine's own have folders apart: lib and lib64
        paths = (sysconfig.get_paths(scheme) for scheme in sysconfig.get_scheme_names())
        sites += [path['platlib'] for path in paths if path.get('purelib') == site]
    found = (os.path.join(folder, _OWN) for folder in sites)
    return next((path for path in found if os.path.exists(path)), _LIBRARY)


def _open() -> Any:
    try:
        return ffi.dlopen(_find())
    except OSError as error:
        raise ImportError(f'wattribute: its C library can not be opened: {error}') from error


lib = _open()


def text_of(chars: Any) -> Optional[str]:
    """A string of the library's; None where it has none."""
    return ffi.string(chars).decode('utf-8', 'surrogateescape') if chars else None


def bytes_of(text: Any) -> bytes:
    """A string or a path for the library."""
    data = os.fsencode(text)
    if b'\0' in data:
        raise ValueError(f'{text!r} has a NUL in it')
    return data


def new_struct(name: str) -> Any:
    """One to be filled in; those that grow begin with their size."""
    value = ffi.new(f'struct {name} *')
    if any(field == 'sz' for field, _ in ffi.typeof(value).item.fields):
        value.sz = ffi.sizeof(f'struct {name}')
    return value


class Log:
    """Takes what the library has to say: to logging, and the last error for an exception."""

    def __init__(self) -> None:
        self.error = ''
        self.handle = ffi.new_handle(self)

    def take(self, level: int, text: str) -> None:
        if level == lib.WATT_LOG_ERROR:
            self.error = text
        _logger.log(_LEVELS[min(level, len(_LEVELS) - 1)], '%s', text)

    def fail(self, number: int, what: str) -> WattributeError:
        """The exception for a negative errno."""
        sentence, self.error = self.error, ''
        return WattributeError(sentence or f'{what}: {os.strerror(-number)}', -number)


@ffi.callback('watt_log_fn')
def log_callback(data: Any, level: int, text: Any) -> None:
    ffi.from_handle(data).take(level, text_of(text) or '')


def check(result: int, what: str, log: Optional[Log] = None) -> int:
    """A result that is no error; else its exception."""
    if result >= 0:
        return result
    raise (log or Log()).fail(result, what)


def _text_of_option(value: Any) -> str:
    """An option as text: times are numbers of seconds, lists and dicts are what they look like."""
    if isinstance(value, bool):
        raise TypeError('is no switch')
    if isinstance(value, (int, float)):
        return f'{value * 1000:.15g}ms'
    if isinstance(value, dict):
        return ','.join(f'{key}={one}' for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ','.join(str(one) for one in value)
    return os.fspath(value)


def new_options(settings: Dict[str, Any], log: Optional[Log] = None) -> Any:
    """A struct watt_options from keywords, with the grammar of the command's options."""
    ret = ffi.new('struct watt_options **')
    check(lib.watt_options_new(ret), 'options')
    options = ffi.gc(ret[0], lib.watt_options_free)
    for name, value in settings.items():
        if value is None:
            continue
        if name == 'threads':
            r = lib.watt_options_set_threads(options, bool(value))
        elif name == 'open_wait':
            r = lib.watt_options_set_open_wait_ms(options, round(value * 1000))
        else:
            r = _set(options, name.replace('_', '-'), value)
        if r < 0:
            problem = text_of(lib.watt_options_get_problem(options))
            raise ValueError(f'{name}: {problem}')
    if log:
        lib.watt_options_set_log(options, log_callback, log.handle)
    return options


def _set(options: Any, name: str, value: Any) -> int:
    try:
        text = _text_of_option(value)
    except TypeError as error:
        raise TypeError(f'{name}: {value!r} is not what it takes') from error
    return lib.watt_options_set(options, bytes_of(name), bytes_of(text))
