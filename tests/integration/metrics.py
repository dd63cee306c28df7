# SPDX-License-Identifier: Apache-2.0
"""Reads Prometheus' text of metrics, strictly, in both its forms, with every digit."""
import re
from decimal import Decimal

from command import equal

LEVELS = ('process', 'container', 'pod', 'unit', 'user', 'vm')

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"(,|$)')
SAMPLE = re.compile(rf'({NAME})(?:\{{(.*)\}})? (\S+)$')
COMMENT = re.compile(rf'# (HELP|TYPE|UNIT) ({NAME}) (.+)$')
EXEMPLAR = re.compile(r'(.*_total(?:\{.*\})? \S+) # \{(.*)\} (\S+) (\S+)$')
SUFFIXES = {'counter': ('_total', '_created'), 'info': ('_info',), 'gauge': ('',)}


class Metrics:
    """What was read: families by name, and samples as (name, {label: value}, Decimal)."""

    def __init__(self, text, is_open):
        self.families = {}
        self.samples = []
        self.exemplars = []
        self.is_open = is_open
        self.current = None
        lines = text.split('\n')
        if lines.pop() != '':
            raise ValueError('the last line does not end')
        if is_open and (not lines or lines.pop() != '# EOF'):
            raise ValueError('no # EOF')
        for number, line in enumerate(lines, 1):
            try:
                self.comment(line) if line.startswith('#') else self.sample(line)
            except ValueError as error:
                raise ValueError(f'line {number}: {error}: {line!r}') from None
        keys = [self.key(sample) for sample in self.samples]
        if len(set(keys)) != len(keys):
            raise ValueError('a series is there twice')

    @staticmethod
    def key(sample):
        return sample[0], tuple(sorted(sample[1].items()))

    def comment(self, line):
        found = COMMENT.match(line)
        if not found:
            raise ValueError('a comment that says nothing')
        word, name, text = found.groups()
        if name != self.current and name in self.families:
            raise ValueError('a family that was there before')
        self.current = name
        family = self.families.setdefault(name, {})
        if word in family:
            raise ValueError(f'a second {word}')
        family[word] = text
        if word == 'TYPE' and text not in (SUFFIXES if self.is_open else ('counter', 'gauge')):
            raise ValueError('a type that is none')
        if word == 'UNIT' and not (self.is_open and name.endswith('_' + text)):
            raise ValueError('a unit that the name does not end with')
        if word == 'TYPE' and text == 'counter' and self.is_open == name.endswith('_total'):
            raise ValueError('a counter of the wrong name')

    def exemplar(self, line):
        """Takes the one that is behind a sample of a counter; the sample alone."""
        found = EXEMPLAR.match(line) if self.is_open else None
        if not found:
            return line
        line, text, value, at = found.groups()
        labels = {name: value for name, value, _ in LABEL.findall(text)}
        if not labels or sum(len(name) + len(value) for name, value in labels.items()) > 128:
            raise ValueError('an exemplar that is none')
        self.exemplars.append((line.split(' ')[0], labels, Decimal(value), Decimal(at)))
        return line

    def sample(self, line):
        line = self.exemplar(line)
        found = SAMPLE.match(line)
        if not found or not self.current:
            raise ValueError('no sample')
        name, text, value = found.groups()
        kind = self.families[self.current].get('TYPE')
        suffixes = SUFFIXES[kind] if self.is_open else ('',)
        if name not in [self.current + suffix for suffix in suffixes]:
            raise ValueError('a sample of another family')
        labels, at = {}, 0
        while text and at < len(text):
            label = LABEL.match(text, at)
            if not label or label.group(1) in labels:
                raise ValueError('labels that are none')
            labels[label.group(1)] = label.group(2)
            at = label.end()
        if text is not None and (not text or text.endswith(',')):
            raise ValueError('labels that end too early')
        self.samples.append((name, labels, Decimal(value)))

    def get(self, name, **labels):
        """The samples of a name that have these labels."""
        return [sample for sample in self.samples if sample[0] == name and
                all(sample[1].get(key) == value for key, value in labels.items())]

    def value(self, name, **labels):
        """Of the one sample of a name that has these labels."""
        found = self.get(name, **labels)
        if len(found) != 1:
            raise ValueError(f'{len(found)} samples {name} {labels}')
        return found[0][2]

    def sum(self, name, **labels):
        return sum((sample[2] for sample in self.get(name, **labels)), Decimal(0))


def check_sums(metrics):
    """Every level is the domain, digit by digit."""
    equal(metrics.value('wattribute_conservation_errors_total'), 0, 'conservation')
    for domain in {sample[1]['domain'] for sample in metrics.get('wattribute_process_joules_total')}:
        whole = metrics.value('wattribute_node_joules_total', domain=domain)
        for level in LEVELS:
            equal(metrics.sum(f'wattribute_{level}_joules_total', domain=domain) +
                  metrics.sum(f'wattribute_{level}_ended_joules', domain=domain), whole,
                  f'{level} {domain}')
        equal(metrics.value('wattribute_node_idle_joules_total', domain=domain) +
              metrics.value('wattribute_node_dynamic_joules_total', domain=domain), whole,
              f'idle and dynamic of {domain}')
