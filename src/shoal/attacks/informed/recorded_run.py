"""A run of an algorithm, and what the models answered it: proves for other worlds that they end the same.

In the run that is recorded the table has no secrets. Every record has a number of its own instead, and only the models
know the value that it stands for. So what the algorithm does follows from the tuples, the order of the rows and the
answers of the models. In a world with the same tuples in the same order, in which every class that a model was asked
about gets the same answer, it does the same: that is certain without running it. Only classes in which a value has
changed need an answer again. Where one differs, or the order, nothing follows, and the algorithm has to be run.

An algorithm that reads the secrets itself, or more of a model than whether it holds, cannot be recorded
(`ReadsSecrets`): a table of records counts them for models, and refuses everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NoReturn

import numpy as np

from shoal.attacks.released_classes import Codes, Ints
from shoal.models.base import Model
from shoal.search.problem import Problem
from shoal.table.classes import ClassStats, ClassView, Histogram, Mask, SensitiveDomain
from shoal.table.encoded import EncodedTable, Pairs, distinct_codes, spans
from shoal.table.recoding import Recoding

_NUMERIC_ANSWERS = ("strengths", "least_removed", "part_could_fail")


class ReadsSecrets(Exception):  # noqa: N818 - no error: what cannot be recorded is run
    """An algorithm asks for more than whether models hold."""


class _Refused(Mapping[str, Any]):
    """Columns whose names are known, and nothing else."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)

    def __getitem__(self, name: str) -> NoReturn:
        raise ReadsSecrets(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class RecordTable(EncodedTable):
    """A table with the number of each record instead of its secrets."""

    def codes_to_count(self, column: str) -> Codes:  # noqa: ARG002 - the same in every column
        """The number of each record."""
        return np.arange(len(self.row_tuple), dtype=np.int32)

    def pairs_to_count(self, column: str) -> Pairs:
        """The tuple of each record."""
        return Pairs(self.row_tuple, self.codes_to_count(column), np.ones(len(self.row_tuple), dtype=np.int64))


class _RecordDomain(SensitiveDomain):
    """The numbers of records as the values of a column: they have no order, categories or distances."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"ordered", "categories", "category_of", "hierarchy", "numbers"}:
            raise ReadsSecrets(name)
        return super().__getattribute__(name)


@dataclass(frozen=True, eq=False)
class _Question:
    """Classes that a model was asked about, each as the numbers of its records."""

    sizes: Ints
    starts: Ints
    records: Codes
    reference: bytes | None  # how often each record counts in the whole release; None where the classes are all of it
    answer: Mask | bool  # for each class, or for all of them together

    @property
    def together(self) -> bool:
        """Whether one answer is about all the classes."""
        return isinstance(self.answer, bool)


@dataclass(eq=False)
class _Answers:
    """The questions to one model, and the values that it answers by."""

    model: Model
    domain: SensitiveDomain
    values: Codes  # of each record
    questions: list[_Question] = field(default_factory=list)

    def view(self, question: _Question, values: Codes) -> ClassView:
        """What the model sees of some classes if records have these values."""
        name, width, number = self.domain.column, len(self.domain.values), len(question.sizes)
        owner = np.repeat(np.arange(number), np.diff(question.starts))
        histogram = Histogram.of(owner, values[question.records], number, width)
        reference = None
        if question.reference is not None:
            counted = np.frombuffer(question.reference, dtype=np.int64)
            reference = {name: np.bincount(values, weights=counted, minlength=width).astype(np.int64)}
        return ClassStats(question.sizes, {name: histogram}, {name: self.domain}, reference).view(name)

    def ask(self, ask: Callable[[Model, ClassView], Any], seen: ClassView) -> Any:
        """The answer about classes of numbers of records, which is noted."""
        histogram, reference = seen.histogram, seen.reference
        assert not callable(reference), "only records are counted"
        known = None if reference is None else reference.astype(np.int64).tobytes()
        asked = _Question(seen.sizes, histogram.starts, histogram.values, known, answer=True)
        answer = ask(self.model, self.view(asked, self.values))
        self.questions.append(replace(asked, answer=answer))
        return answer

    def recorded_model(self) -> Model:
        """The model, with its answers noted; it says nothing but whether it holds."""

        def holds(_: Model, view: ClassView) -> Mask:
            return np.asarray(self.ask(lambda model, seen: model.holds(seen), view)).copy()

        def table_holds(_: Model, view: ClassView) -> bool:
            return bool(self.ask(lambda model, seen: bool(model.table_holds(seen)), view))

        def refuse(*_: Any) -> NoReturn:
            raise ReadsSecrets(self.model.name)

        refused = dict.fromkeys(_NUMERIC_ANSWERS, refuse)
        kind = type(self.model)
        recorded = type(kind.__name__, (kind,), {"holds": holds, "table_holds": table_holds, **refused})
        return recorded(**{each.name: getattr(self.model, each.name) for each in fields(self.model)})  # type: ignore[no-any-return]


class _AnswersByRecord:
    """The answers of a model by the records that they are about, each class once."""

    def __init__(self, answers: _Answers) -> None:
        self._answers = answers
        alone = defaultdict[bytes | None, list[_Question]](list)
        whole = answers.model.whole_table
        self._jointly = [each for each in answers.questions if each.together or (whole and each.reference is None)]
        for each in answers.questions:
            if not each.together and not (whole and each.reference is None):
                alone[each.reference].append(each)
        self._alone = [_distinct(questions, len(answers.values)) for questions in alone.values()]
        self._by_record = [_classes_by_record(each, len(answers.values)) for each in self._alone]

    def same(self, values: Codes) -> bool:
        """Whether every answer is the same if records have these values."""
        answers = self._answers
        changed = np.flatnonzero(values != answers.values)
        if not len(changed):
            return True
        for question, (classes, starts) in zip(self._alone, self._by_record, strict=True):
            asked = question
            if question.reference is None or self._same_reference(question.reference, values):
                concerned = distinct_codes(classes[spans(starts[changed], np.diff(starts)[changed])])
                asked = _some_of(question, concerned)
            if not np.array_equal(answers.model.holds(answers.view(asked, values)), asked.answer):
                return False
        return all(self._same_jointly(each, values) for each in self._jointly)

    def _same_reference(self, reference: bytes, values: Codes) -> bool:
        counted, width = np.frombuffer(reference, dtype=np.int64), len(self._answers.domain.values)
        before, after = (np.bincount(each, counted, width) for each in (self._answers.values, values))
        return np.array_equal(before, after)

    def _same_jointly(self, question: _Question, values: Codes) -> bool:
        model, view = self._answers.model, self._answers.view(question, values)
        if question.together:
            return bool(model.table_holds(view)) == question.answer
        return np.array_equal(model.holds(view), question.answer)


def _distinct(questions: Sequence[_Question], n_records: int) -> _Question:
    """Several questions as one that asks about each class once."""
    sizes, records = (np.concatenate([getattr(each, name) for each in questions]) for name in ("sizes", "records"))
    lengths = np.concatenate([np.diff(each.starts) for each in questions])
    joined = _Question(
        sizes,
        np.concatenate([[0], np.cumsum(lengths)]),
        records,
        questions[0].reference,
        np.concatenate([np.asarray(each.answer) for each in questions]),
    )
    marks = np.random.default_rng(0).integers(2**64, size=(2, n_records), dtype=np.uint64)  # equal sums: equal classes
    sums = [_sums(mark[records], joined.starts) for mark in marks]
    order = np.lexsort(sums)
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = np.any([np.diff(each[order]) != 0 for each in sums], axis=0)
    return _some_of(joined, np.sort(order[first]))


def _sums(figures: Any, starts: Ints) -> Any:
    """The sum of the figures of each class."""
    totals = np.concatenate([np.zeros(1, dtype=figures.dtype), np.cumsum(figures)])
    return totals[starts[1:]] - totals[starts[:-1]]


def _some_of(question: _Question, classes: Ints) -> _Question:
    """The same question about some of the classes."""
    lengths = np.diff(question.starts)[classes]
    records = question.records[spans(question.starts[classes], lengths)]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return _Question(question.sizes[classes], starts, records, question.reference, np.asarray(question.answer)[classes])


def _classes_by_record(question: _Question, n_records: int) -> tuple[Ints, Ints]:
    """The classes of each record, record by record, and where those of each start."""
    owner = np.repeat(np.arange(len(question.sizes)), np.diff(question.starts))
    order = np.argsort(question.records, kind="stable")
    return owner[order], np.searchsorted(question.records[order], np.arange(n_records + 1))


class RecordedRun:
    """What came out of a run, and the answers that led to it."""

    def __init__(self, table: EncodedTable, recoding: Recoding | None, answers: Sequence[_Answers]) -> None:
        self.recoding = recoding
        self._row_tuple, self._answers = table.row_tuple, [_AnswersByRecord(each) for each in answers]
        self._columns = [each.domain.column for each in answers]

    @staticmethod
    def of(problem: Problem, run: Callable[[Problem], Recoding | None]) -> RecordedRun | None:
        """The run on a problem, a row per record; None where it cannot be recorded."""
        table = problem.table
        everywhere = all((codes >= 0).all() for codes in table.row_sensitive.values())  # not of linked tables
        if table.person is not None or table.weights is not None or problem.veto is not None or not everywhere:
            return None
        answers, models = [], []
        for model in problem.models:
            recorded = model
            if model.column is not None:
                answers.append(_Answers(model, problem.domains[model.column], table.row_sensitive[model.column]))
                recorded = answers[-1].recorded_model()
            models.append(recorded)
        names = list(table.row_sensitive)
        bare = {each.name: getattr(table, each.name) for each in fields(EncodedTable)}
        bare |= {"row_sensitive": _Refused(names), "pairs": _Refused(names)}
        numbers = tuple(map(str, range(len(table.row_tuple))))
        domains = {name: _RecordDomain(name, numbers) for name in names}
        try:
            recoding = run(replace(problem, table=RecordTable(**bare), models=tuple(models), domains=domains))
        except ReadsSecrets:
            return None
        return RecordedRun(table, recoding, answers)

    def covers(self, row_tuple: Codes) -> bool:
        """Whether it says anything about a table, given the tuple of each row."""
        return np.array_equal(row_tuple, self._row_tuple)

    def repeats(self, values: Mapping[str, Codes]) -> bool:
        """Whether a table that it covers certainly has the same recoding, given the values of each row."""
        return all(each.same(values[column]) for each, column in zip(self._answers, self._columns, strict=True))
