"""Saves that were changed on purpose: each is refused before compiled code, which checks no index, sees it."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest

import treetop as tt
from treetop.search import saved_checks
from treetop.search.saving import KIND, VERSION
from treetop.tree.files import read, write


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    search = tt.Search("nim", seed=1)
    search.run(tt.Limit(simulations=200))
    path = tmp_path_factory.mktemp("saves") / "nim.treetop"
    search.save(path)
    return path


def _field(name, column, value, row=1):
    def change(header, arrays):
        array = arrays[name].copy()
        array[column][row] = value
        arrays[name] = array

    return change


def _set(**changes):
    def change(header, arrays):
        header.update({key: value for key, value in changes.items() if key in header})
        arrays.update({key: value for key, value in changes.items() if key not in header})

    return change


def _swap_actions(header, arrays):
    links = arrays["links"].copy()
    links["action"][1:3] = links["action"][1]
    arrays["links"] = links


def _second_action_none(header, arrays):
    links = arrays["links"].copy()
    links["action"][2] = -1
    arrays["links"] = links


@pytest.mark.parametrize("change", [
    _second_action_none,
    _field("links", "action", 99), _field("links", "action", -1), _swap_actions, _field("links", "first_child", 10**6, 0), _field("links", "num_children", 60_000, 0),
    _field("links", "flags", 4), _field("links", "flags", 16), _field("links", "flags", 32, 0), _field("links", "parent", 10**6), _field("stats", "visits", -5),
    _field("stats", "visits", 2**31 - 1), _field("stats", "value_sum", np.nan), _field("stats", "prior", np.nan), _field("stats", "prior", -0.3),
    _field("control", "turn", -1, 0), _field("control", "arms", 50, 0), _field("control", "paranoid_target", 7, 0), _field("control", "blocks", 2**60, 0), _field("control", "masked", 5, 0),
    _field("root", "heap", 100, 0), _field("start", "heap", -5, 0), _field("root", "player", 1, 0),
    _set(actions=[9]), _set(actions=["1"]), _set(actions=None), _set(actions=7), _set(actions=[True]), _set(config=7), _set(config={"c": "high"}),
    _set(seed="x"), _set(seed=None), _set(seed=[1]), _set(evaluator=5), _set(evaluator="os:system('true')"), _set(evaluator="mixed(" * 50),
    _set(game=7), _set(game=None), _set(game="nim(stones=0x" + "f" * 999 + ")"), _set(rules=None), _set(totals=np.array([np.nan, 0.0])), _set(totals=np.zeros(1)),
    _set(stats=np.zeros(0)), _set(links=np.zeros((3, 3))), _set(control=np.zeros(1)), _set(work_mask=np.zeros(3, np.int32)), _set(work_table=np.zeros(3, np.uint64)),
])  # fmt: skip
def test_a_changed_save_is_refused(saved, tmp_path, change):
    header, arrays = read(saved, KIND, VERSION)
    change(header, arrays)
    path = tmp_path / "changed.treetop"
    write(path, header, arrays)
    with pytest.raises(tt.errors.SaveError, match=r"changed\.treetop"):
        tt.Search.load(path)


def test_settings_in_the_control_record_of_a_file_have_no_effect(saved, tmp_path):
    header, arrays = read(saved, KIND, VERSION)
    control = arrays["control"].copy()
    control["num_actions"], control["players"], control["most_children"], control["size"], control["capacity"] = (
        10**6,
        99,
        10**6,
        10**6,
        10**9,
    )
    write(tmp_path / "s", header, {**arrays, "control": control})
    changed, plain = tt.Search.load(tmp_path / "s"), tt.Search.load(saved)
    assert changed.run(tt.Limit(simulations=100)).visits == plain.run(tt.Limit(simulations=100)).visits


def test_the_compiled_walk_refuses_what_the_interpreted_one_refuses(saved, tmp_path, monkeypatch):
    monkeypatch.setattr(saved_checks, "_SMALL", 0)
    tt.Search.load(saved)
    header, arrays = read(saved, KIND, VERSION)
    _swap_actions(header, arrays)
    write(tmp_path / "s", header, arrays)
    with pytest.raises(tt.errors.SaveError, match="not legal there"):
        tt.Search.load(tmp_path / "s")


def _zip(parts, **options):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return file.getvalue()


def _npy(text, data=b""):
    head = text.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


HEADER = _npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", b"{}")


@pytest.mark.parametrize("content", [
    b"", b"PK", b"PK\x05\x06" + bytes(18), b"\x93NUMPY\x01\x00", b"\x80\x04N.", b"[1, 2]",
    _zip([("treetop.npy", HEADER)], compression=zipfile.ZIP_DEFLATED), _zip([("treetop.npy", HEADER)], compression=zipfile.ZIP_LZMA),
    _zip([("treetop.npy", b"")]), _zip([("treetop.npy", b"\x93NUMPY\x09\x00")]), _zip([("treetop.npy", _npy("{'descr': ("))]), _zip([("treetop.npy", _npy("(" * 100))]),
    _zip([("treetop.npy", _npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"\x80\x04N."))]),
    _zip([("treetop.npy", _npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000,), }", b"{}"))]),
    _zip([("treetop.npy", _npy("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }"))]),
    _zip([("treetop.npy", _npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-2, -1), }", b"{}"))]),
    _zip([("treetop.npy", HEADER), ("x.npy", HEADER)]), _zip([("treetop.npy", _npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", b"[["))]),
])  # fmt: skip
def test_what_is_no_file_of_ours_is_refused_in_our_own_words(tmp_path, content):
    path = tmp_path / "some.treetop"
    path.write_bytes(content)
    with pytest.raises(tt.errors.SaveError) as caught:
        tt.Search.load(path)
    assert "some.treetop" in str(caught.value)
    assert "pickle" not in str(caught.value)


def test_a_zip_bomb_and_a_device_are_refused(tmp_path):
    path = tmp_path / "bomb.treetop"
    path.write_bytes(_zip([("treetop.npy", bytes(50_000_000))], compression=zipfile.ZIP_DEFLATED))
    with pytest.raises(tt.errors.SaveError, match="larger than the file"):
        tt.Search.load(path)
    for other in ("/dev/zero", tmp_path, "a\0b"):
        with pytest.raises(tt.errors.SaveError):
            tt.Search.load(other)


def test_an_encrypted_part_is_refused(saved, tmp_path):
    content = bytearray(saved.read_bytes())
    for place in (content.find(b"PK\x03\x04") + 6, content.find(b"PK\x01\x02") + 8):
        content[place] |= 1
    (tmp_path / "s").write_bytes(bytes(content))
    with pytest.raises(tt.errors.SaveError, match="encrypted"):
        tt.Search.load(tmp_path / "s")


def test_duplicate_names_and_deep_nesting_in_a_header_are_refused(saved, tmp_path):
    _, arrays = read(saved, KIND, VERSION)
    good = {"kind": KIND, "version": VERSION}
    for text in (
        json.dumps(good)[:-1] + ', "kind": 1}',
        "[" * 100_000,
        json.dumps(good)[:-1] + ', "seed": NaN}',
        '"\ud800"',
    ):
        content = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
        with (tmp_path / "s").open("wb") as file:
            np.savez(file, treetop=content, **arrays)
        with pytest.raises(tt.errors.SaveError):
            tt.Search.load(tmp_path / "s")
