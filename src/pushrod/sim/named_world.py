"""A world by its name: a shipped one, or a shipped model or plant by itself (`model:servo`, `plant:joint`)."""

from pushrod.core.model import World
from pushrod.core.names import find
from pushrod.sim.alone import alone


def named_world(name: str) -> World:
    """UnknownNameError where there is none."""
    kind, colon, rest = name.partition(":")
    if colon and kind == "model":
        from pushrod.models import MODELS

        return alone(find(MODELS, rest, "model"))
    if colon and kind == "plant":
        from pushrod.plants import PLANTS

        return alone(find(PLANTS, rest, "plant"))
    from pushrod.sim.worlds import WORLDS  # here, because the vehicles take a moment to import

    return find(WORLDS, name, "world")
