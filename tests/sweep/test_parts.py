"""Results in a folder: whole or not there, of one study alone, and gone on with wherever it was stopped."""

import errno
import io
import json
import os
import resource
import signal
import threading
import time

import numpy as np
import polars as pl
import pytest

from pushrod.core.errors import StudyError
from pushrod.sweep import parts
from pushrod.sweep.chunk import run_chunk
from pushrod.sweep.local import on_cores
from pushrod.sweep.run import Stopped, run
from small_study import STUDY, small


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def stopping(after):
    """An executor that is interrupted after so many chunks."""

    def go(study, chunks):
        for done, chunk in enumerate(on_cores(study, chunks)):
            if done == after:
                raise KeyboardInterrupt
            yield chunk

    return go


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    study = small(folder)
    run(study, folder / "out")
    return contents(folder / "out")


def test_the_same_seed_gives_the_same_files_to_the_last_byte(tmp_path, undisturbed):
    seen = []
    outcome = run(small(tmp_path), tmp_path / "out", progress=lambda done, of, words="": seen.append((done, of, words)))
    assert contents(tmp_path / "out") == undisturbed
    assert (outcome.runs, outcome.computed, outcome.whole) == (200, 200, True)
    assert [done for done, _, _ in seen] == [0, 64, 128, 192, 200]
    assert seen[-1][2] == f"{100 * outcome.passed / 200:.1f} % pass"
    other = run(small(tmp_path, seed=8), tmp_path / "other")
    assert parts.read(other.folder)["lag.T"].to_list() != parts.read(outcome.folder)["lag.T"].to_list()


def test_what_is_read_is_what_was_computed(tmp_path):
    study = small(tmp_path)
    run(study, tmp_path / "out")
    frame = parts.read(tmp_path / "out")
    assert frame["index"].to_list() == list(range(200))
    assert frame["scenario"].unique().to_list() == ["short"]
    for k in range(study.chunks):
        for name, column in run_chunk(study, k).columns.items():
            if name != "scenario":
                assert np.array_equal(frame[name].to_numpy()[k * 64 : k * 64 + len(column)], column)
    assert parts.study_of(tmp_path / "out").digest == study.digest
    assert pl.read_parquet(tmp_path / "out" / "part-*.parquet").height == 200  # as anybody reads it


def test_an_interrupt_keeps_what_was_done_and_the_rest_follows(tmp_path, undisturbed):
    study = small(tmp_path)
    with pytest.raises(Stopped) as stop:
        run(study, tmp_path / "out", stopping(2))
    assert stop.value.outcome.runs == 128
    assert parts.missing(tmp_path / "out", study) == [2, 3]
    assert len(parts.read(tmp_path / "out")) == 128
    outcome = run(study, tmp_path / "out")
    assert (outcome.runs, outcome.computed) == (200, 72)
    assert contents(tmp_path / "out") == undisturbed


def test_ctrl_c_while_polars_writes_comes_twice_and_is_one_stop(tmp_path):
    def slow_disk(done, of, words=""):
        if done == 64:
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
        until = time.monotonic() + 10.0
        while done == 64 and time.monotonic() < until:
            table.write_parquet(io.BytesIO())

    table = pl.DataFrame({f"c{i}": np.random.default_rng(i).random(20_000) for i in range(12)})
    for attempt in range(3):
        with pytest.raises(KeyboardInterrupt) as stop:
            run(small(tmp_path), tmp_path / f"out{attempt}", progress=slow_disk)
        assert stop.type is Stopped
        assert stop.value.outcome.runs == 64


def test_a_folder_keeps_the_chunks_it_was_begun_with(tmp_path, undisturbed):
    with pytest.raises(Stopped):
        run(small(tmp_path), tmp_path / "out", stopping(1))
    run(small(tmp_path, STUDY.replace("chunk: 64", "chunk: 10")), tmp_path / "out")
    assert contents(tmp_path / "out") == undisturbed


def test_a_byte_that_changed_is_found_or_changes_no_row(tmp_path, undisturbed):
    study = small(tmp_path)
    run(study, tmp_path / "out")
    file, whole = parts.part_file(tmp_path / "out", 1), undisturbed["part-000001.parquet"]
    rows, found = parts.read_part(file, study, 1)[0], 0
    for at in range(0, len(whole), len(whole) // 97):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x14]) + whole[at + 1 :])
        try:
            assert parts.read_part(file, study, 1)[0].equals(rows)
        except StudyError:
            found += 1
    assert found > 50  # the others are of what nobody reads, such as statistics


@pytest.mark.parametrize("how", ["cut short", "empty", "text", "another chunk", "another study"])
def test_a_part_that_is_not_as_it_was_written_is_told_and_computed_again(tmp_path, undisturbed, how):
    study = small(tmp_path)
    run(study, tmp_path / "out")
    file = parts.part_file(tmp_path / "out", 1)
    data = file.read_bytes()
    if how == "another study":
        other = small(tmp_path, seed=99)
        parts.write(tmp_path / "out", other, run_chunk(other, 1))
    else:
        wrong = {"cut short": data[:-100], "empty": b"", "text": b"hello", "another chunk": undisturbed["part-000002.parquet"]}
        file.write_bytes(wrong[how])
    with pytest.raises(StudyError, match=r"part-000001.parquet: is (damaged|of another study|chunk 2)"):
        parts.read(tmp_path / "out")
    told = []
    outcome = run(study, tmp_path / "out", told=told.append)
    assert "part-000001.parquet" in told[0]
    assert "it is computed again" in told[0]
    assert outcome.computed == 64
    assert contents(tmp_path / "out") == undisturbed


@pytest.mark.parametrize(
    ("old", "new", "where"), [("sd: 20 %", "sd: 21 %", r"study.yaml \(vary\)"), ("duration: 0.1 s", "duration: 0.11 s", "scenario_0/scenario.yaml")]
)
def test_a_study_that_changed_is_not_mixed_with_what_it_was(tmp_path, old, new, where):
    run(small(tmp_path), tmp_path / "out", stopping(99))
    before = contents(tmp_path / "out")
    changed = small(tmp_path)
    for name in ("small.yaml", "short.yaml"):
        (tmp_path / name).write_text((tmp_path / name).read_text().replace(old, new))
    from pushrod.sweep.study import load

    changed = load(tmp_path / "small.yaml")
    with pytest.raises(StudyError, match=f"out: holds the results of small as it was before it changed in {where}; nothing was changed"):
        run(changed, tmp_path / "out")
    assert contents(tmp_path / "out") == before


def test_comments_and_what_is_said_about_it_change_nothing(tmp_path):
    study = small(tmp_path)
    run(study, tmp_path / "out", stopping(99))
    again = small(tmp_path, "# a comment\n" + STUDY + "about: the same\n")
    assert again.digest == study.digest
    assert run(again, tmp_path / "out").computed == 0


def test_parts_of_another_kind_of_device_are_not_mixed(tmp_path):
    with pytest.raises(Stopped):
        run(small(tmp_path), tmp_path / "out", stopping(1))
    with pytest.raises(StudyError, match="its parts were computed by cpu, and cuda gives other last digits"):
        run(small(tmp_path), tmp_path / "out", device="cuda")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("all of it")
    with pytest.raises(StudyError, match="is not empty and holds no study"):
        run(small(tmp_path), tmp_path / "out")
    (tmp_path / "file").write_text("")
    with pytest.raises(StudyError, match="cannot be written: (Not a directory|File exists)"):
        run(small(tmp_path), tmp_path / "file")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text('{"digest": ')
    with pytest.raises(StudyError, match=r"manifest.json: is damaged: .*; start again in another folder"):
        run(small(tmp_path), tmp_path / "broken")


def test_results_of_another_pushrod_say_whose_they_are(tmp_path):
    run(small(tmp_path), tmp_path / "out")
    file = tmp_path / "out" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"pushrod": "0.0.1"}))
    with pytest.raises(StudyError, match=r"out: made by pushrod 0\.0\.1, this is .*; use that one, or run the study anew"):
        parts.read(tmp_path / "out")


def test_what_a_killed_process_left_is_no_hindrance(tmp_path, undisturbed):
    (tmp_path / "out" / "study").mkdir(parents=True)
    (tmp_path / "out" / "study" / "study.yaml").write_text("study: sm")
    (tmp_path / "out" / ".manifest.json.999999999").write_text("{")
    with pytest.raises(Stopped):
        run(small(tmp_path), tmp_path / "out", stopping(1))
    (tmp_path / "out" / ".part-000001.parquet.999999999").write_bytes(b"PAR1")
    run(small(tmp_path), tmp_path / "out")
    assert contents(tmp_path / "out") == undisturbed


def test_a_full_disk_costs_the_chunk_that_did_not_fit_and_nothing_else(tmp_path, undisturbed):
    study = small(tmp_path)
    with pytest.raises(Stopped):
        run(study, tmp_path / "out", stopping(1))
    before = contents(tmp_path / "out")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))  # no file may grow beyond: the system's own refusal
    try:
        with pytest.raises(
            StudyError, match=f"part-000001.parquet: cannot be written: {errno.EFBIG and 'File too large'}; the parts before it are kept"
        ):
            run(study, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(tmp_path / "out") == before
    run(study, tmp_path / "out")
    assert contents(tmp_path / "out") == undisturbed


def test_a_manifest_says_what_it_is_of(tmp_path, undisturbed):
    about = json.loads(undisturbed["manifest.json"])
    assert about["study"] == "small"
    assert about["digest"] == small(tmp_path).digest


def test_libraries_of_another_version_are_told(tmp_path):
    study = small(tmp_path)
    with pytest.raises(Stopped):
        run(study, tmp_path / "out", stopping(1))
    manifest = tmp_path / "out" / "manifest.json"
    about = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(about | {"numba": "0.1"}))
    told = []
    run(study, tmp_path / "out", told=told.append)
    assert f"numba 0.1 then, {about['numba']} now: last digits of new parts may differ" in told[0]
