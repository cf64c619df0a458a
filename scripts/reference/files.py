"""The keys of machine, scenario, study and robot files, from their JSON Schemas."""

from collections.abc import Iterator
from typing import Any

from page_text import code, joined, table

Schema = dict[str, Any]
OPEN = {"signal"}  # told in a page of their own


def machine() -> str:
    from pushrod.sim.json_schema import machine_schema

    made = machine_schema({})
    return joined(
        "# Machine files",
        """A machine names a world and puts values over its parameters, which are in [Worlds](worlds.md). How one is written is told in
[Machines and scenarios](../howto/machine.md); `pushrod schema machine` gives all of this to an editor.""",
        *_tables(made),
    )


def scenario() -> str:
    from pushrod.sim.fault import fault_schema
    from pushrod.sim.json_schema import scenario_schema
    from pushrod.sim.worlds import WORLDS

    made = scenario_schema()
    made["properties"]["faults"]["items"] = fault_schema(WORLDS["car"])
    made["properties"]["faults"]["items"]["properties"]["channel"] = {"description": "what breaks, one of those the world can break"}
    return joined(
        "# Scenario files",
        """What is asked of a machine over time, and what must hold. Channels and signals are those of its world ([Worlds](worlds.md)), signals are
made of [kinds](signals.md), what is measured is in [Metrics](metrics.md). `pushrod schema scenario --machine car` gives all of this to an editor.""",
        *_tables(made),
    )


def study() -> str:
    from pushrod.sweep import study_file, varying
    from pushrod.sweep.json_schema import study_schema

    return joined(
        "# Study files",
        """One machine many times, with parameters that are drawn. `pushrod schema study --machine car` gives all of this to an editor, with every
parameter that can vary; `pushrod list studies` names those that are shipped.""",
        _example(study_file),
        "Under `vary` stands how each parameter is drawn:",
        _example(varying),
        """`nominal` is the value that the machine has, after `--set`, and a text in % is a share of it. A parameter is named by its path, a state at
the start as `initial.PATH`, the time of a fault as `faults.CHANNEL.at`. What the metrics are is told in [Metrics](metrics.md): all but `delay`,
`rise_time` and `overshoot`, which need a whole run.""",
        *_tables(study_schema()),
    )


def _example(module: Any) -> str:
    """The example in the head of a module."""
    lines = (module.__doc__ or "").split("\n\n")
    return f"```yaml\n{lines[1].strip()}\n```"


def robot() -> str:
    from pushrod.robot.robot_file import schema

    return joined(
        "# Robot files, key by key",
        """What they mean is told in [Describe a robot](robot.md); `pushrod schema robot` gives all of this to an editor. Where a number stands,
`{parameter: NAME}` may stand as well.""",
        *_tables(schema()),
    )


def _tables(made: Schema) -> Iterator[str]:
    """The file itself, then everything that is nested in it, under its own heading."""
    named = made.get("$defs", {})
    yield _table(made)
    waiting, seen = list(_nested(made, "", named)), set()
    while waiting:
        path, part = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        yield joined(f"## {path}", _sentence(part.get("description", "")), _table(part))
        waiting += _nested(part, path, named)


def _nested(part: Schema, at: str, named: Schema) -> Iterator[tuple[str, Schema]]:
    for key, inner in part.get("properties", {}).items():
        yield from _objects(inner, f"{at}.{key}" if at else key, named)


def _objects(part: Schema, path: str, named: Schema) -> Iterator[tuple[str, Schema]]:
    """Every object with keys of its own in a value: itself, an element of a list, a value by name, one of several forms."""
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        if name not in OPEN:
            yield from _objects(named[name], path, named)
        return
    if part.get("properties"):
        yield path, part
    if isinstance(part.get("items"), dict):
        yield from _objects(part["items"], f"{path}[]", named)
    if isinstance(part.get("additionalProperties"), dict):
        yield from _objects(part["additionalProperties"], f"{path}.NAME", named)
    for one in (*part.get("anyOf", ()), *part.get("oneOf", ())):
        yield from _objects(one, path, named)


def _table(part: Schema) -> str:
    required = part.get("required", ())
    rows = ((code(key), "yes" if key in required else "", _default(inner), _about(inner)) for key, inner in part.get("properties", {}).items())
    return table(("key", "needed", "default", "what"), rows)


def _default(part: Schema) -> str:
    value = part.get("default")
    return "" if value in (None, "", [], {}, ()) else code(str(value).lower() if isinstance(value, bool) else str(value))


def _about(part: Schema) -> str:
    names = part.get("enum") or next((one["enum"] for one in part.get("anyOf", ()) if "enum" in one), ())
    choices = f"one of {', '.join(code(str(name)) for name in names if name is not None)}" if names else ""
    return "; ".join(filter(None, (part.get("description", "").strip(), choices)))


def _sentence(text: str) -> str:
    text = text.strip()
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""
