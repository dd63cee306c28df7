# SPDX-License-Identifier: Apache-2.0
"""The Python package, as a wheel that is built here around the library of the build."""
import atexit
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from command import BUILD, TOP, Skip, equal, true

FOLDER = tempfile.TemporaryDirectory(prefix='watt-python-')
atexit.register(FOLDER.cleanup)
SITE = os.path.join(FOLDER.name, 'site')
TOOLS = ('cffi', 'mesonpy')
LIBRARY = '.wattribute.mesonpy.libs/libwattribute.so.0'
SYNTH = {'sources': 'synth', 'usage': 'synth'}
os.environ.pop('WATTRIBUTE_MARKS', None)


def has_module(name):
    return importlib.util.find_spec(name) is not None


def build_wheel():
    """From a copy of what pip needs where the library is built already: meson-python leaves things where it builds."""
    for name in TOOLS:
        if not has_module(name):
            raise Skip(f'missing: {name} for Python')
    top = os.path.join(FOLDER.name, 'tree')
    for name in ('python', 'include'):
        shutil.copytree(os.path.join(TOP, name), os.path.join(top, name), ignore=shutil.ignore_patterns('__pycache__'))
    for name in ('meson.build', 'meson_options.txt', 'pyproject.toml'):
        shutil.copy(os.path.join(TOP, name), top)
    library = os.path.join(BUILD, 'lib', 'libwattribute.so.0')
    done = subprocess.run(
        [sys.executable, '-c', 'import sys, mesonpy; mesonpy.build_wheel("..", {"setup-args": [sys.argv[1]]})',
         f'-Dpython_library={library}'],
        cwd=top, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    true(done.returncode == 0, f'no wheel: {done.stdout}')
    return glob.glob(os.path.join(FOLDER.name, '*.whl'))


def install():
    """Into SITE, as pip does; the path of the wheel, and what is in it, by where it is put."""
    wheels = build_wheel()
    equal(len(wheels), 1, 'wheels')
    names = []
    with zipfile.ZipFile(wheels[0]) as wheel:
        for name in wheel.namelist():
            names.append(re.sub(r'^[^/]+\.data/purelib/', '', name))
            path = os.path.join(SITE, names[-1])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(wheel.read(name))
    return wheels[0], names


def true_tag(path, machine):
    """For any Python 3 on that machine. Debian 12's meson-python thinks that no machine is meant."""
    import mesonpy
    wanted = f'py3-none-linux_{machine}'
    if tuple(map(int, mesonpy.__version__.split('.')[:2])) < (0, 15):
        wanted = 'py3-none-any'
    true(path.endswith(f'-{wanted}.whl'), f'{path} is not for {wanted}')


def fails(kind, call, *words):
    """The call raises an exception of this kind, which has these words; returns it."""
    try:
        call()
    except kind as error:
        for word in words:
            true(word in str(error), f'no {word!r} in {error}')
        return error
    raise AssertionError(f'no {kind.__name__}')
