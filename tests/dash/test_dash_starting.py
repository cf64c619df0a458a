"""The process of the page is started by name, and never from a file of the current folder."""

import asyncio
import os

import msgspec
import pytest

from pushrod.core.errors import InputError
from pushrod.dash.starting import Beside


class Nothing(msgspec.Struct):
    pass


def test_a_module_of_the_current_folder_is_not_imported(tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("print('imported', flush=True)\ninput()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry))
    if not os.environ["PYTHONPATH"]:  # an empty entry would be the current folder
        monkeypatch.delenv("PYTHONPATH")

    async def main() -> None:
        beside = Beside("trap", "the page", print)
        try:
            with pytest.raises(InputError, match="the page has ended at its start"):
                await beside.start(Nothing())
        finally:
            await beside.close()

    asyncio.run(main())
