# SPDX-License-Identifier: Apache-2.0
"""pytest --energy: joules per test, and limits that fail a test.

    pytest --energy
    pytest --energy --energy-max=5J

    @pytest.mark.energy(max_j=0.5)
    def test_quick(): ...

A limit counts what was attributed to the process of the tests, idle energy left out, minus its
standard uncertainty: a test fails when it has surely used more. Where energy is not known, no limit
fails, and the report says so.
"""
import re
from typing import Any, List, Optional, Tuple

import pytest

_UNITS = {'uJ': 1e-6, 'mJ': 1e-3, 'J': 1.0, 'kJ': 1e3}
_KEY = 'wattribute_energy'


def parse_energy(text: str) -> float:
    """ "5J", "200mJ": in joules."""
    found = re.fullmatch(r'(\d+(?:\.\d+)?)\s*(uJ|mJ|J|kJ)', text)
    if not found:
        raise ValueError(f"'{text}' is no energy such as 5J or 200mJ")
    return float(found.group(1)) * _UNITS[found.group(2)]


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup('energy')
    group.addoption('--energy', action='store_true', help='measure the energy of each test')
    group.addoption('--energy-max', metavar='ENERGY', help='fail tests that use more, such as 5J or 200mJ')
    group.addoption('--energy-top', metavar='N', type=int, default=10, help='show that many tests (10)')


def pytest_configure(config: Any) -> None:
    config.addinivalue_line('markers', 'energy(max_j): fail the test if it uses more joules')
    limit = config.getoption('--energy-max')
    if not config.getoption('--energy') and not limit:
        return
    try:
        limit_j = parse_energy(limit) if limit else None
    except ValueError as error:
        raise pytest.UsageError(f'--energy-max: {error}') from error
    config.pluginmanager.register(EnergyPlugin(limit_j, config.getoption('--energy-top')), 'wattribute-energy')


class EnergyPlugin:
    """Measures each test's own part: neither its fixtures nor what others do."""

    def __init__(self, limit_j: Optional[float], top: int):
        # Not before it is asked for: nobody else waits for a library that they don't use.
        import wattribute
        self.wattribute = wattribute
        self.limit_j = limit_j
        self.top = top
        self.problem: Optional[str] = None
        self.results: List[Tuple[str, Any]] = []

    def _limit_of(self, item: Any) -> Optional[float]:
        marker = item.get_closest_marker('energy')
        if marker is None:
            return self.limit_j
        limit = marker.kwargs.get('max_j', marker.args[0] if marker.args else None)
        return self.limit_j if limit is None else float(limit)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: Any) -> Any:
        section = self.wattribute.measure(item.nodeid)
        try:
            section.begin()
        except self.wattribute.WattributeError as error:
            self.problem = str(error)
            yield
            return
        outcome = yield
        try:
            result = section.end()
        except self.wattribute.WattributeError as error:
            self.problem = str(error)
            return
        self.results.append((item.nodeid, result))
        item.user_properties.append((_KEY + '_j', result.own_energy_j))
        limit_j = self._limit_of(item)
        if outcome.excinfo is None and limit_j is not None:
            why = excess(result, limit_j)
            if why:
                outcome.force_exception(pytest.fail.Exception(why, pytrace=False))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section('energy')
        if self.problem:
            terminalreporter.write_line(f'not measured: {self.problem}')
        for line in summary(self.results, self.top):
            terminalreporter.write_line(line)


def excess(result: Any, limit_j: float) -> Optional[str]:
    """Why a test has surely used too much; None: it has not."""
    own_j = result.own_energy_j
    if own_j is None or own_j * (1 - min(result.uncertainty_ratio or 0, 1)) <= limit_j:
        return None
    return f'the test used {own_j:.6g} J, more than the {limit_j:.6g} J that it may ({result.origin})'


def summary(results: List[Tuple[str, Any]], top: int) -> List[str]:
    """The thirstiest tests."""
    known = [(name, result) for name, result in results if result.own_energy_j is not None]
    known.sort(key=lambda one: -one[1].own_energy_j)
    lines = [f'{result.own_energy_j:12.6f} J {result.elapsed_s:9.3f} s  {name}' for name, result in known[:top]]
    if known:
        whole_j = sum(result.own_energy_j for _, result in known)
        lines.append(f'{whole_j:12.6f} J in all {len(known)} tests ({known[0][1].origin})')
    if len(known) < len(results):
        lines.append(f'of {len(results) - len(known)} tests the energy is not known')
    return lines
