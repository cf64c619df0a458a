"""Link a pure function and everything it calls into one self-contained source text.

The syntax tree of each function is rewritten: records are defined again, float literals and `float()` become the target's real,
global names become linked names, constants are written out. The text then holds every equation itself, so numba's own disk cache
and tracebacks work, and an edit anywhere in the linked code gives another text.
"""

import ast
import copy
import math
import types
from collections.abc import Callable
from typing import Any

from pushrod.core.errors import PurityError
from pushrod.core.pick import Pick
from pushrod.core.purity import is_pure, offences, parsed
from pushrod.core.record import Leaf, fields, get, is_record, leaves
from pushrod.core.ring import Ring

MATH = {getattr(math, name): name for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "atan2", "floor", "atan", "asin", "acos", "tanh", "fabs")}
BUILTINS = {"abs", "int", "float", "len", "range", "bool"}


class Linker:
    """Collects the parts of one text, as a target spells them: its `real`, a `local` line of {n} cells in a function's frame, a line's `cell` {k}."""

    def __init__(self, real: str, local: str = "local({n})", cell: str = "line[{k}]") -> None:
        self.real = real
        self.local = local
        self.cell = cell
        self.parts: list[str] = []
        self._names: dict[object, str] = {}
        self._taken: set[str] = set()

    def number(self, x: bool | int | float) -> str:
        if not isinstance(x, float):
            return repr(x)
        text = repr(x) if math.isfinite(x) else f"float({str(x)!r})"
        return text if self.real == "float" and math.isfinite(x) else f"{self.real}({text})"

    def record(self, cls: Any) -> str:
        """The linked name of a record class."""
        if cls not in self._names:
            for f in fields(cls):
                if is_record(f.type):
                    self.record(f.type)
            name = self._claim(cls, f"{cls.__module__.rsplit('.', 1)[-1]}_{cls.__qualname__.rsplit('.', 1)[-1]}")
            self.parts.append(f"{name} = namedtuple({name!r}, {' '.join(cls._fields)!r})\n")
        return self._names[cls]

    def construct(self, record: Any, leaf: Callable[[Leaf], str]) -> str:
        """Text that builds a record value, the text of each leaf given by a function."""
        if not is_record(record):
            return leaf(leaves(record)[0])

        def make(cls: Any, prefix: str) -> str:
            args = (
                make(f.type, f"{prefix}{f.name}.") if is_record(f.type) else leaf(Leaf(prefix + f.name, f.meta))  # type: ignore[arg-type]
                for f in fields(cls)
            )
            return f"{self.record(cls)}({', '.join(args)})"

        return make(record, "")

    def default(self, record: Any) -> str:
        """Text that builds the default value of a record of numbers."""
        value = record()
        return self.construct(record, lambda leaf: self.number(float(get(value, leaf.path))))

    def ring(self, ring: Ring, verb: str) -> str:
        """The linked name of `ring.get` or `ring.put`: the cells of the entry."""
        key = (ring.record, verb)  # lines of equal entries share it, however long they are
        if key not in self._names:
            entry = leaves(ring.record)
            cells = {leaf.path: self.cell.format(k=f"k * {len(entry)} + {j}") for j, leaf in enumerate(entry)}
            if verb == "get":
                body = "(line, k):\n    return " + self.construct(ring.record, lambda leaf: cells[leaf.path]) + "\n"
            else:
                stores = (f"    {cell} = value{dotted(path)}\n" for path, cell in cells.items())
                body = "(line, k, value):\n" + "".join(stores) + "    return line\n"
            name = self._claim(key, f"{verb}_{self.record(ring.record) if is_record(ring.record) else 'float'}")
            self.parts.append(f"@fn\ndef {name}{body}")
        return self._names[key]

    def pick(self, pick: Pick) -> str:
        """The linked name of a function that puts numbers of one record into another."""
        if pick not in self._names:
            name = self._claim(pick, f"pick_{self.record(pick.Record)}")
            self.parts.append(f"@fn\ndef {name}(y):\n    return {self.record(pick.Record)}({', '.join(f'y{dotted(path)}' for path in pick.paths)})\n")
        return self._names[pick]

    def local_line(self, ring: Ring) -> str:
        """Text that makes a line of default entries in the frame of the function it stands in."""
        key = (ring.record, "fill")
        if key not in self._names:
            put = self.ring(ring, "put")
            value = self.default(ring.record) if is_record(ring.record) else self.number(0.0)
            name = self._claim(key, "fill")
            self.parts.append(f"@fn\ndef {name}(line, slots):\n    for k in range(slots):\n        line = {put}(line, k, {value})\n    return line\n")
        cells = self.local.replace("{n}", str(ring.slots * len(leaves(ring.record))))
        return f"{self._names[key]}({cells}, {ring.slots})"

    def function(self, fn: Callable[..., Any], needed_by: str = "") -> str:
        """The linked name of a pure function; links it and all it calls first."""
        if fn in self._names:
            return self._names[fn]
        where = f"{fn.__module__}.{fn.__qualname__}"
        if not is_pure(fn):
            raise PurityError(f"{where} is called {needed_by or 'as a step'} but is not marked @pure: mark it, or do not call it from a step")
        try:
            tree = parsed(fn)
        except OSError as error:
            raise PurityError(f"the source of {where} cannot be read ({error}): a step must live in a file") from error
        found = offences(fn)
        if found:
            raise PurityError("\n".join(found))
        cells = zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
        scope = {**fn.__globals__, **{name: cell.cell_contents for name, cell in cells}}
        text = ast.unparse(_Rewrite(self, fn, scope).rewritten(tree))
        name = self._claim(fn, f"{fn.__module__.rsplit('.', 1)[-1]}_{fn.__name__}")
        head, _, rest = text.partition("(")
        self.parts.append(f"# {where}\n@fn\n{head.rsplit(' ', 1)[0]} {name}({rest}\n")
        return name

    def value(self, obj: Any, where: str) -> str:
        """The text of a Python object that a step names."""
        if isinstance(obj, types.FunctionType):
            return self.function(obj, where)
        if isinstance(obj, types.MethodType) and isinstance(obj.__self__, Ring):
            return self.ring(obj.__self__, obj.__name__)
        if isinstance(obj, Pick):
            return self.pick(obj)
        if is_record(obj):
            return self.record(obj)
        if isinstance(obj, (bool, int, float)):
            return self.number(obj)
        if isinstance(obj, types.BuiltinFunctionType) and obj in MATH:
            return f"math.{MATH[obj]}"
        allowed = f"numbers, records, rings, pure functions and math.{{{', '.join(MATH.values())}}}"
        raise PurityError(f"{where}: {obj!r} cannot be used in a pure step; allowed are {allowed}")

    def _claim(self, key: object, wish: str) -> str:
        name, n = wish, 1
        while name in self._taken:
            n += 1
            name = f"{wish}_{n}"
        self._taken.add(name)
        self._names[key] = name
        return name


def dotted(path: str) -> str:
    """`.a.b` for the path a.b, nothing for the empty path."""
    return f".{path}" if path else ""


class _Rewrite(ast.NodeTransformer):
    """One function's tree, with global names resolved to linked text and floats to the target's real."""

    def __init__(self, linker: Linker, fn: Callable[..., Any], scope: dict[str, Any]) -> None:
        self.linker = linker
        self.fn = fn
        self.scope = scope
        self.local = set(fn.__code__.co_varnames)

    def rewritten(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        bare = copy.deepcopy(tree)
        bare.decorator_list = []
        bare.returns = None
        bare.body = [node for node in bare.body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
        new = self.visit(bare)
        assert isinstance(new, ast.FunctionDef)
        return ast.fix_missing_locations(new)

    def static(self, node: ast.expr) -> tuple[Any] | None:
        """The Python object behind a dotted global name, if it is one."""
        if isinstance(node, ast.Name):
            return (self.scope[node.id],) if node.id not in self.local and node.id in self.scope else None
        if isinstance(node, ast.Attribute):
            owner = self.static(node.value)
            return (getattr(owner[0], node.attr),) if owner else None
        return None

    def resolve(self, node: ast.Name | ast.Attribute) -> ast.AST:
        found = self.static(node)
        if found is None:
            return self.generic_visit(node)
        where = f"by {self.fn.__module__}.{self.fn.__qualname__} ({self.fn.__code__.co_filename}:{node.lineno})"
        return _expression(self.linker.value(found[0], where))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == "float" and node.id not in self.local:
            return _expression(self.linker.real)
        if node.id in self.local or node.id in self.scope or node.id in BUILTINS:
            return self.resolve(node)
        raise PurityError(f"{self.fn.__code__.co_filename}:{node.lineno}: {self.fn.__qualname__} uses {node.id!r}, which a pure step cannot")

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self.resolve(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _is_real_floor(node):
            # by way of an integer this is slow on a GPU; the target's own floor gives the same number
            return ast.Call(_expression("real_floor"), [self.visit(node.args[0].args[0])], [])  # type: ignore[attr-defined]
        called = self.static(node.func)
        if called and isinstance(called[0], types.MethodType) and isinstance(called[0].__self__, Ring) and called[0].__name__ == "empty":
            return _expression(self.linker.local_line(called[0].__self__))
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        # an unsigned index: numba then leaves out what would make negative ones count from the end
        node.value = self.visit(node.value)
        node.slice = ast.Call(_expression("index"), [self.visit(node.slice)], [])
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return _expression(self.linker.number(node.value)) if isinstance(node.value, float) else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        return self.visit(ast.Assign([node.target], node.value, lineno=node.lineno)) if node.value else None


def _is_real_floor(node: ast.Call) -> bool:
    if not (isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1):
        return False
    inner = node.args[0]
    return isinstance(inner, ast.Call) and ast.unparse(inner.func) == "math.floor"


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body
