# SPDX-License-Identifier: Apache-2.0
"""A table: columns of equal length with names, and the ways to what people work with."""
import csv
import importlib
from typing import Any, Dict, Iterator, List, Sequence


def _need(name: str) -> Any:
    """A package that is not needed for anything else."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f'this needs {name}: pip install {name}') from error


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

    def to_pandas(self) -> Any:
        """A pandas.DataFrame."""
        return _need('pandas').DataFrame(self.columns)

    def to_polars(self) -> Any:
        """A polars.DataFrame."""
        return _need('polars').DataFrame(self.columns, strict=False)

    def to_arrow(self) -> Any:
        """A pyarrow.Table."""
        return _need('pyarrow').table(self.columns)

    def to_parquet(self, path: Any) -> None:
        """A Parquet file, by pyarrow."""
        _need('pyarrow.parquet').write_table(self.to_arrow(), path)

    def to_numpy(self) -> Dict[str, Any]:
        """One numpy array per column."""
        array = _need('numpy').array
        return {name: array(values) for name, values in self.columns.items()}

    def to_csv(self, path: Any) -> None:
        """A CSV file; what is missing is empty."""
        with open(path, 'w', encoding='utf-8', newline='', errors='surrogateescape') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(self.columns)
            writer.writerows(zip(*self.columns.values()))
