# SPDX-License-Identifier: Apache-2.0
"""Where did every joule go? Wattribute measures the energy of a machine and who uses it.

    import wattribute

    with wattribute.measure() as m:
        work()
    print(m.energy_j, m.own_energy_j)

docs/python.md is the guide.
"""
from wattribute._library import WattributeError, lib as _lib, text_of as _text_of
from wattribute.meter import Measurement, Meter, Result, measure
from wattribute.recording import Recording, formats
from wattribute.session import Session, board, doctor, mark
from wattribute.snapshot import Balance, Domain, Row, Window
from wattribute.table import Table

__version__: str = _text_of(_lib.watt_version()) or ''

__all__ = ['Balance', 'Domain', 'Measurement', 'Meter', 'Recording', 'Result', 'Row', 'Session', 'Table',
           'WattributeError', 'Window', 'board', 'doctor', 'formats', 'mark', 'measure']


def load_ipython_extension(shell: object) -> None:
    """For `%load_ext wattribute`."""
    from wattribute.jupyter import load_ipython_extension as load
    load(shell)
