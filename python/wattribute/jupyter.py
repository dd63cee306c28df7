# SPDX-License-Identifier: Apache-2.0
"""`%%wattribute` for Jupyter and IPython: what a cell takes, below what it shows."""
import html
from typing import Any

from wattribute.meter import _people, measure


def html_of(result: Any) -> str:
    """A result as a small table."""
    parts = [(path, energy) for path, energy in result.domain_energy_j.items() if energy is not None]
    most = max([energy for _, energy in parts] + [1e-12])
    rows = ''.join(
        f'<tr><td style="text-align:left">{html.escape(path)}</td><td>{_people("energy", energy)}</td>'
        f'<td style="text-align:left"><div style="background:#4878cf;height:0.7em;'
        f'width:{max(energy, 0) / most * 12:.2f}em"></div></td></tr>' for path, energy in parts)
    return f'<div><b>{html.escape(str(result))}</b></div><table>{rows}</table>'


def _magic(line: str, cell: Any = None) -> Any:
    """%%wattribute [LABEL] measures the cell; %wattribute STATEMENT the statement."""
    from IPython import get_ipython
    return run(get_ipython(), line, cell)


def run(shell: Any, line: str, cell: Any = None) -> Any:
    """Runs a cell, or else a line, in a shell, and shows what it took."""
    label = (line.strip() or None) if cell is not None else None
    with measure(label) as section:
        done = shell.run_cell(line if cell is None else cell)
    done.raise_error()
    return section.result


def load_ipython_extension(shell: Any) -> None:
    """For `%load_ext wattribute`."""
    shell.register_magic_function(_magic, 'line_cell', 'wattribute')
