"""What every component keeps, whatever it models. A new table of components is one more row in TABLES."""

import ast
import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from counts import examples
from pushrod.core.check import check, problems
from pushrod.core.errors import ParameterError
from pushrod.core.model import Model
from pushrod.core.purity import is_pure, offences, parsed
from pushrod.core.quantity import Choice, Q
from pushrod.core.record import Leaf, build, flat, get, leaves, numbers, put
from pushrod.core.ring import Ring
from pushrod.models import MODELS
from pushrod.pipeline import PIPELINE
from pushrod.plants import PLANTS
from pushrod.vehicles import VEHICLES, make
from pushrod.vehicles.converter import CONVERTER
from pushrod.vehicles.steer_pid import STEER_PID

TABLES: dict[str, dict[str, Model]] = {
    "models": MODELS,
    "plants": PLANTS,
    "pipeline": PIPELINE,
    "vehicles": {name: make(name, slots=32) for name in VEHICLES},
    "controllers": {"converter": CONVERTER, "steer_pid": STEER_PID},
}
EVERY = [pytest.param(model, id=f"{table}-{name}") for table, rows in TABLES.items() for name, model in rows.items()]
NUMBERED = [p for p in EVERY if numbers(p.values[0].Params)]  # type: ignore[attr-defined]

each = pytest.mark.parametrize("model", EVERY)
# a delay line counts its steps, so halving them is another delay: such components have tests of their own
each_without_line = pytest.mark.parametrize(
    "model", [row for row in EVERY if not any(isinstance(leaf.meta, Ring) for leaf in leaves(row.values[0].State))]
)
FAR = 1e6  # stands for an edge at infinity


def edges(leaf: Leaf) -> list[float]:
    if isinstance(leaf.meta, Choice):
        return [float(i) for i in range(len(leaf.meta.names))]
    assert isinstance(leaf.meta, Q)
    lo, hi = max(leaf.meta.lo, -FAR), min(leaf.meta.hi, FAR)
    return sorted({lo, hi, *(x for x in (0.0, 1.0) if lo <= x <= hi)})


def somewhere(leaf: Leaf) -> st.SearchStrategy[float]:
    """An edge of its range, or anywhere between."""
    known = edges(leaf)
    return st.one_of(st.sampled_from(known), st.floats(known[0], known[-1])) if isinstance(leaf.meta, Q) else st.sampled_from(known)


def params_at_edges(model: Model) -> st.SearchStrategy[Any]:
    """Parameters of which some, or all, are moved from their defaults."""
    moves = [st.tuples(st.just(leaf.path), somewhere(leaf)) for leaf in numbers(model.Params)]

    def moved(changes: list[tuple[str, float]]) -> Any:
        p = model.Params()
        for path, x in changes:
            p = put(p, path, x)
        return p

    return st.lists(st.one_of(moves), max_size=2 * len(moves)).map(moved) if moves else st.just(model.Params())


def inputs_at_edges(model: Model) -> st.SearchStrategy[Any]:
    def fill(values: tuple[float, ...]) -> Any:
        rest = iter(values)
        return build(model.In, lambda _: next(rest))

    return st.tuples(*(somewhere(leaf) for leaf in numbers(model.In))).map(fill)


def ordinary(record: Any) -> st.SearchStrategy[Any]:
    """Inputs of everyday size within their range."""

    def one(leaf: Leaf) -> st.SearchStrategy[float]:
        if isinstance(leaf.meta, Choice):
            return st.sampled_from(edges(leaf))
        assert isinstance(leaf.meta, Q)
        return st.floats(max(leaf.meta.lo, -2.0), min(leaf.meta.hi, 2.0))

    def fill(values: tuple[float, ...]) -> Any:
        rest = iter(values)
        return build(record, lambda _: next(rest))

    return st.tuples(*(one(leaf) for leaf in numbers(record))).map(fill)


def reached(function: Callable[..., Any], seen: set[Callable[..., Any]] | None = None) -> Iterator[Callable[..., Any]]:
    """A step and every function of ours it calls, however deep."""
    seen = set() if seen is None else seen
    if function in seen:
        return
    seen.add(function)
    yield function
    scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    for node in ast.walk(parsed(function)):
        if isinstance(node, ast.Call):
            try:
                target = eval(ast.unparse(node.func), dict(scope))
            except (NameError, AttributeError):
                continue  # a method of a local value
            if inspect.isfunction(target):
                yield from reached(target, seen)


@each
def test_every_number_carries_its_unit(model: Model) -> None:
    for record in (model.Params, model.State, model.In, model.Out):
        for leaf in leaves(record):
            assert getattr(leaf.meta, "unit", "-"), leaf.path


@each
def test_the_head_says_what_it_is(model: Model) -> None:
    head = inspect.getmodule(model.step).__doc__
    assert head is not None
    assert "=" in head, "the equation comes first"


@pytest.mark.parametrize(("table", "name"), [(t, n) for t, rows in TABLES.items() for n in rows])
def test_it_is_found_under_its_own_name(table: str, name: str) -> None:
    assert TABLES[table][name].name == name


@each
def test_defaults_are_legal(model: Model) -> None:
    check(model.Params())
    check(model.Params(), dt=0.01)
    check(model.State())


@each
def test_pure_all_the_way_down(model: Model) -> None:
    for function in reached(model.step):
        assert is_pure(function), function
        assert offences(function) == []


@each
@given(data=st.data())
@settings(max_examples=examples(25))
def test_no_time_changes_nothing(model: Model, data: st.DataObject) -> None:
    p, s = model.Params(), model.State()
    for u in data.draw(st.lists(ordinary(model.In), max_size=4)):
        s, _ = model.step(p, s, u, 0.01)
    again, y = model.step(p, s, data.draw(ordinary(model.In)), 0.0)
    assert again == s
    assert all(math.isfinite(x) for x in flat(y, model.Out))


@each
@given(data=st.data())
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large])
def test_finite_and_real_at_the_edges(model: Model, data: st.DataObject) -> None:
    p = data.draw(params_at_edges(model))
    assume(not list(problems(p)))
    dt = data.draw(st.sampled_from([1e-6, 1e-3, 0.01, 0.1]))
    s = model.State()
    for u in data.draw(st.lists(inputs_at_edges(model), min_size=1, max_size=6)):
        s, y = model.step(p, s, u, dt)
        row = flat(s) + flat(y, model.Out)
        assert all(math.isfinite(x) for x in row), (p, s, y)
    kinds = {leaf.path: type(get(s, leaf.path)) for leaf in numbers(model.State)} | {
        "out." + leaf.path: type(get(y, leaf.path)) for leaf in numbers(model.Out)
    }
    assert set(kinds.values()) <= {float}, "an integer here would be another type compiled"


@pytest.mark.parametrize("model", NUMBERED)
def test_numbers_out_of_range_are_refused_by_name(model: Model) -> None:
    p = model.Params()
    for leaf in numbers(model.Params):
        if isinstance(leaf.meta, Q):
            outside = [x for x in (math.nextafter(leaf.meta.lo, -math.inf), math.nextafter(leaf.meta.hi, math.inf)) if math.isfinite(x)] + [math.nan]
        else:
            outside = [-1.0, 0.5, 99.0]
        for x in outside:
            with pytest.raises(ParameterError) as caught:
                check(put(p, leaf.path, x), "part")
            assert any(line.startswith(f"part.{leaf.path} ") for line in caught.value.problems)


def after(model: Model, u: Any, seconds: float, n: int) -> list[float]:
    s = model.State()
    for _ in range(n):
        s, _ = model.step(model.Params(), s, u, seconds / n)
    return flat(s)


@each_without_line
@given(data=st.data())
@settings(max_examples=examples(15))
def test_halving_the_step_brings_it_nearer(model: Model, data: st.DataObject) -> None:
    """A held input for a tenth of a second: what 16 steps still miss is less than what 8 miss, or small. Its own test knows the order of each."""
    u = data.draw(ordinary(model.In))
    coarse, fine, finest = (after(model, u, 0.1, n) for n in (8, 16, 128))
    for a, b, c in zip(coarse, fine, finest, strict=True):
        assert abs(b - c) <= 0.7 * abs(a - c) + 2e-3 * (1.0 + abs(c))
