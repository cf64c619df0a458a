"""A pytest plugin for runs that only ask whether a test fails: the same examples every time, none made smaller, none remembered."""

from hypothesis import Phase, settings

settings.register_profile("no_shrink", phases=[Phase.explicit, Phase.generate], derandomize=True, database=None, deadline=None)
