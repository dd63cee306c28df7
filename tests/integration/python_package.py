# SPDX-License-Identifier: Apache-2.0
"""The Python package, as a wheel that is built here around the library of the build."""
import atexit
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

from command import BUILD, TOP, Skip, equal, true

FOLDER = tempfile.TemporaryDirectory(prefix='watt-python-')
atexit.register(FOLDER.cleanup)
SITE = os.path.join(FOLDER.name, 'site')
TOOLS = ('cffi', 'setuptools', 'wheel')
SYNTH = {'sources': 'synth', 'usage': 'synth'}
os.environ.pop('WATTRIBUTE_MARKS', None)


def has_module(name):
    return importlib.util.find_spec(name) is not None


def build_wheel():
    """From a copy: setuptools leaves things where it builds."""
    for name in TOOLS:
        if not has_module(name):
            raise Skip(f'missing: {name} for Python')
    top = os.path.join(FOLDER.name, 'tree')
    for name in ('python', 'include'):
        shutil.copytree(os.path.join(TOP, name), os.path.join(top, name))
    shutil.copy(os.path.join(TOP, 'meson.build'), top)
    library = os.path.join(BUILD, 'lib', 'libwattribute.so.0')
    done = subprocess.run(
        [sys.executable, '-c', 'from setuptools import build_meta; build_meta.build_wheel("..")'],
        cwd=os.path.join(top, 'python'), env={**os.environ, 'WATTRIBUTE_LIBRARY': library}, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    true(done.returncode == 0, f'no wheel: {done.stdout}')
    return glob.glob(os.path.join(top, '*.whl'))


def install():
    """Into SITE; the path of the wheel, and what is in it."""
    wheels = build_wheel()
    equal(len(wheels), 1, 'wheels')
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(SITE)
        return wheels[0], wheel.namelist()


def fails(kind, call, *words):
    """The call raises an exception of this kind, which has these words; returns it."""
    try:
        call()
    except kind as error:
        for word in words:
            true(word in str(error), f'no {word!r} in {error}')
        return error
    raise AssertionError(f'no {kind.__name__}')
