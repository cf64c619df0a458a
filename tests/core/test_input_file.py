"""Input files beyond a size limit are refused before they are read, packed ones by what they unpack to."""

import errno
import gzip
import os
from pathlib import Path

import pytest

from pushrod.core import input_file
from pushrod.core.input_file import FileTooLargeError


def sparse(file: Path, size: int) -> Path:
    """A file that takes no room on the disk."""
    file.touch()
    os.truncate(file, size)
    return file


@pytest.mark.parametrize(
    "read", [input_file.open_binary, input_file.open_text, input_file.read_bytes, input_file.read_text, input_file.read_unpacked]
)
def test_a_file_beyond_the_limit_is_refused(tmp_path, read):
    with pytest.raises(FileTooLargeError, match=f"too large: {input_file.TEXT + 1} bytes; allowed are {input_file.TEXT}") as raised:
        read(sparse(tmp_path / "large", input_file.TEXT + 1))
    assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(tmp_path / "large"))


def test_a_file_at_the_limit_is_read(tmp_path):
    file = tmp_path / "small"
    file.write_bytes(b"abc")
    assert input_file.read_bytes(file, 3) == b"abc"
    assert input_file.read_text(file, largest=3) == "abc"
    assert input_file.read_unpacked(file, 3) == b"abc"
    with pytest.raises(FileTooLargeError):
        input_file.read_bytes(file, 2)


def test_a_streamed_file_may_be_of_any_size(tmp_path):
    with input_file.open_binary(sparse(tmp_path / "large", 2**40), input_file.STREAMED) as file:
        assert file.read(2) == b"\0\0"


def test_a_packed_file_is_limited_by_its_unpacked_size(tmp_path):
    file = tmp_path / "packed.gz"
    file.write_bytes(gzip.compress(b"abc" * 1000))
    assert input_file.read_unpacked(file, 3000) == b"abc" * 1000
    with pytest.raises(FileTooLargeError):
        input_file.read_unpacked(file, 2999)


@pytest.mark.parametrize(("change", "why"), [(lambda data: data[:-9], "cut short"), (lambda data: data[:12] + b"\xff" * 9 + data[21:], "damaged")])
def test_a_packed_file_that_is_damaged_is_a_problem(tmp_path, change, why):
    file = tmp_path / "packed.gz"
    file.write_bytes(change(gzip.compress(os.urandom(1000))))
    with pytest.raises(ValueError, match=f"packed.gz is {why}"):
        input_file.read_unpacked(file)
