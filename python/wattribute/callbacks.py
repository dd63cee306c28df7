# SPDX-License-Identifier: Apache-2.0
"""Energy per epoch and step of training loops: those of PyTorch, which one writes, and Keras'.

    model.fit(x, y, callbacks=[KerasEnergy()])

    energy = EpochEnergy()
    for epoch in energy.epochs(range(10)):
        for batch in energy.steps(batches): ...

Nothing here imports a framework: they ask no more of a callback than methods of these names.
"""
from typing import Any, Dict, Iterable, Iterator, List, Optional, TypeVar

from wattribute.meter import Measurement, Result, measure

T = TypeVar('T')


class EpochEnergy:
    """Sections for epochs; steps are counted, and each epoch's energy is per step, too.

    With each_step, a step is a section of its own as well: its energy is in step_energy_j and
    step_own_energy_j of its epoch. That reads the sensors once more for each, and is for steps that
    take long.
    """

    def __init__(self, each_step: bool = False, **options: Any):
        self._options = options
        self._each_step = each_step
        self._section: Optional[Measurement] = None
        self._step_section: Optional[Measurement] = None
        self._step_results: List[Result] = []
        self._steps = 0
        self._number = 0
        self.epochs_done: List[Dict[str, Any]] = []

    def begin_epoch(self, number: Optional[int] = None) -> None:
        self.abort()
        self._number = len(self.epochs_done) if number is None else number
        self._steps = 0
        self._step_results = []
        self._section = measure(f'epoch {self._number}', **self._options).begin()

    def begin_step(self) -> None:
        """Needed where each step is measured."""
        if self._each_step:
            self._abort_step()
            self._step_section = measure(f'step {self._steps}', **self._options).begin()

    def step(self) -> None:
        """A step has ended."""
        self._steps += 1
        section, self._step_section = self._step_section, None
        if section is not None:
            self._step_results.append(section.end())

    def _abort_step(self) -> None:
        section, self._step_section = self._step_section, None
        if section is not None:
            section.end()

    def end_epoch(self) -> Dict[str, Any]:
        """What the epoch took, for logs; without a beginning there is nothing."""
        self._abort_step()
        section, self._section = self._section, None
        if section is None:
            return {}
        done = _logs(section.end(), self._number, self._steps)
        if self._each_step:
            done['step_energy_j'] = [result.energy_j for result in self._step_results]
            done['step_own_energy_j'] = [result.own_energy_j for result in self._step_results]
        self.epochs_done.append(done)
        return done

    def abort(self) -> None:
        """Ends an epoch that an error has ended, without a result."""
        self._abort_step()
        section, self._section = self._section, None
        if section is not None:
            section.end()

    def epochs(self, numbers: Iterable[T]) -> Iterator[T]:
        for number in numbers:
            self.begin_epoch()
            try:
                yield number
            except GeneratorExit:
                self.abort()
                raise
            self.end_epoch()

    def steps(self, batches: Iterable[T]) -> Iterator[T]:
        for batch in batches:
            self.begin_step()
            yield batch
            self.step()


def _logs(result: Result, number: int, steps: int) -> Dict[str, Any]:
    own_j = result.own_energy_j
    return {'epoch': number, 'steps': steps, 'energy_j': result.energy_j, 'own_energy_j': own_j,
            'own_energy_per_step_j': own_j / steps if own_j is not None and steps else None,
            'elapsed_s': result.elapsed_s, 'origin': result.origin}


class KerasEnergy(EpochEnergy):
    """For `model.fit(callbacks=[...])`; energy_j and own_energy_j join the logs of each epoch."""

    def set_model(self, model: Any) -> None:
        self.model = model

    def set_params(self, params: Any) -> None:
        self.params = params

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.begin_epoch(epoch)

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self.begin_step()

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.step()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        done = self.end_epoch()
        if logs is not None:
            logs.update({name: done[name] for name in ('energy_j', 'own_energy_j') if done.get(name) is not None})

    def on_train_end(self, logs: Any = None) -> None:
        self.abort()

    def __getattr__(self, name: str) -> Any:
        """Hooks that there is nothing to do at."""
        if name.startswith('on_'):
            return lambda *args, **keywords: None
        raise AttributeError(name)
