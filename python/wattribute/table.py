# SPDX-License-Identifier: Apache-2.0
"""A table: columns of equal length with names, and the ways to what people work with."""
import csv
import importlib
from typing import Any, Dict, Iterator, List, Sequence

# A column where nothing is known has the type that it has where something is: tables fit each other.
_TEXTS = {'kind', 'name', 'container', 'unit', 'cgroup', 'channel', 'status'}
_WHOLE = {'pid', 'user_id', 'raw'}
_REAL = ('_s', '_j', '_w', '_ratio')


def _need(name: str) -> Any:
    """A package that is not needed for anything else."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f'this needs {name}: pip install {name}') from error


def _kind(name: str, values: Sequence[Any]) -> Any:
    """str, int or float; None: another one."""
    if name in _TEXTS:
        return str
    if name in _WHOLE or name.endswith('_ns'):
        return int
    if name.endswith(_REAL) or name == 'value':
        return float
    first = next((value for value in values if value is not None), None)
    return type(first) if type(first) in (str, int, float) else None


def _clean(text: Any) -> Any:
    """A name of a process may be any bytes, and others take nothing but UTF-8."""
    return text.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace') if isinstance(text, str) else text


class Table:
    """Columns by name. Missing is None, never 0. Names of quantities end in their unit."""

    def __init__(self, columns: Dict[str, List[Any]]):
        self.columns = columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> List[Any]:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """Row by row."""
        for values in zip(*self.columns.values()):
            yield dict(zip(self.columns, values))

    def __repr__(self) -> str:
        return f'<Table of {len(self)} rows: {", ".join(self.columns)}>'

    @classmethod
    def of(cls, rows: Sequence[Dict[str, Any]], names: Sequence[str]) -> 'Table':
        """From rows that all have these names."""
        return cls({name: [row[name] for row in rows] for name in names})

    def _typed(self) -> Iterator[Any]:
        """Each column as (name, kind, values)."""
        for name, values in self.columns.items():
            kind = _kind(name, values)
            yield name, kind, [_clean(value) for value in values] if kind is str else values

    def to_pandas(self) -> Any:
        """A pandas.DataFrame. Whole numbers are Int64, in which one may be missing."""
        pandas = _need('pandas')
        how = {int: lambda values: pandas.array(values, dtype='Int64'),
               float: lambda values: [float('nan') if value is None else value for value in values]}
        return pandas.DataFrame({name: how.get(kind, list)(values) for name, kind, values in self._typed()})

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        polars = _need('polars')
        kinds = {str: polars.String, int: polars.Int64, float: polars.Float64}
        return polars.DataFrame([polars.Series(name, values, dtype=kinds.get(kind), strict=False)
                                 for name, kind, values in self._typed()])

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        pyarrow = _need('pyarrow')
        kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
        return pyarrow.table({name: pyarrow.array(values, type=kinds.get(kind)) for name, kind, values in self._typed()})

    def to_parquet(self, path: Any) -> None:
        """A Parquet file, by pyarrow."""
        _need('pyarrow.parquet').write_table(self.to_arrow(), path)

    def to_numpy(self) -> Dict[str, Any]:
        """One numpy array per column. Quantities are float64, and NaN where they are missing."""
        array = _need('numpy').array
        return {name: array(values, dtype=float) if kind is float else array(values)
                for name, kind, values in self._typed()}

    def to_csv(self, path: Any) -> None:
        """A CSV file; what is missing is empty."""
        with open(path, 'w', encoding='utf-8', newline='', errors='surrogateescape') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(self.columns)
            writer.writerows(zip(*self.columns.values()))
