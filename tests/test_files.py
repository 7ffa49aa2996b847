"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import stat

import pytest

from treetop.errors import SaveError
from treetop.files import replacing


def write(path, content=b"new"):
    with replacing(path) as file:
        file.write(content)


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "out.html"
    write(path, b"old")
    write(path)
    assert path.read_bytes() == b"new"
    assert [one.name for one in tmp_path.iterdir()] == ["out.html"]


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.html"
    write(path, b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("a text")
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == ["out.html"]


@pytest.mark.skipif(os.name != "posix", reason="needs permissions, links and pipes")
def test_a_file_has_the_permissions_of_other_new_files(tmp_path):
    write(tmp_path / "out.html")
    (tmp_path / "other").write_bytes(b"")
    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs permissions, links and pipes")
def test_a_link_is_followed(tmp_path):
    target, link, broken = tmp_path / "target", tmp_path / "link", tmp_path / "broken"
    target.write_bytes(b"old")
    link.symlink_to(target)
    broken.symlink_to(tmp_path / "made")
    write(link)
    write(broken)
    assert link.is_symlink()
    assert target.read_bytes() == (tmp_path / "made").read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix", reason="needs permissions, links and pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(SaveError, match="not an ordinary file"):
        write(path)
    assert stat.S_ISFIFO(path.stat().st_mode)
