"""Where workers are and what travels to them: places that are refused, files that are sent, things that are not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import treetop as tt
from tests.workers.own_game import SOURCE
from treetop.errors import ConfigError, MissingExtraError
from treetop.workers.places import address_of, on_cluster
from treetop.workers.sending import Luggage, files_for, pack


@pytest.mark.parametrize("on", ["", "rai", "ray:", "ray://", "ray://host", "ray://:10001", "ray://h:0", "ray://h:70000",
                                "ray://h:x", "ray://a b:1", "http://h:1", "10.0.0.1:6379", 3])  # fmt: skip
def test_a_malformed_place_is_refused(on):
    with pytest.raises(ConfigError, match="on must be 'processes', 'ray' or an address such as"):
        on_cluster(on)
    with pytest.raises(ConfigError, match="on must be"):
        tt.match("random", "random", "nim", games=2, on=on)


def test_addresses_are_read():
    assert address_of("ray://10.0.0.1:10001") == ("10.0.0.1", 10001)
    assert address_of("ray://[::1]:10001") == ("::1", 10001)
    assert address_of("ray://head.example.org:1") == ("head.example.org", 1)


def test_without_the_package_the_error_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match='pip install -e "\\.\\[ray\\]"'):
        tt.match("random", "random", "nim", games=2, on="ray")


def test_files_of_modules_are_those_that_others_may_lack(tmp_path, monkeypatch):
    (tmp_path / "stones_here.py").write_text("class Thing: pass\n")
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    import stones_here

    _, modules = pack((stones_here.Thing(), Path("x"), tt.Limit(simulations=1)), "it")
    assert list(files_for(Luggage(), modules)) == ["stones_here.py"]
    references = ("stones_here:Thing", "othello", "packed:x", "tests.arena.stand_ins:make", "json:loads", "uct(c=1)")
    assert list(files_for(Luggage(references), ())) == ["stones_here.py"]
    assert list(files_for(Luggage(("packed/__init__.py:x(2)",)), ())) == ["packed/__init__.py"]


@pytest.mark.parametrize("reference", ["/etc/game.py:Game", "../game.py:Game", "~/game.py:Game", "nowhere.py:Game"])
def test_files_outside_the_current_folder_are_refused(reference, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "cannot be sent" if reference.startswith("nowhere") else "below the current folder"
    with pytest.raises(ConfigError, match=words):
        files_for(Luggage((reference,)), ())


def test_what_is_defined_in_a_program_or_notebook_is_refused(monkeypatch):
    with pytest.raises(ConfigError, match="notebook"):
        files_for(Luggage(("__main__:Game",)), ())
    local = type("Local", (), {"__module__": "__main__"})
    for value in (local, local()):
        with pytest.raises(ConfigError, match="Local is defined in the program itself"):
            pack(value, "it")
    with pytest.raises(ConfigError, match="it cannot be sent to another machine"):
        pack(lambda: None, "it")
    for name in ("/etc/hosts", "a/../../b"):
        with pytest.raises(ConfigError, match="relative to the worker's folder"):
            files_for(Luggage(files={name: b""}), ())
    with pytest.raises(ConfigError, match="at most 50,000,000 are sent"):
        files_for(Luggage(files={"big": bytes(50_000_001)}), ())


def test_a_game_without_a_name_for_others_is_refused():
    content: dict[str, Any] = {"__name__": "__main__"}
    exec(SOURCE, content)
    with pytest.raises(ConfigError, match="Stones cannot be found by that name in another process: put it in a module"):
        tt.match("random", "random", content["Stones"], games=2, on="ray")
