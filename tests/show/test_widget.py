"""`show`: a widget in a notebook, a page in the browser elsewhere."""

from __future__ import annotations

import json
import sys
import tempfile
import webbrowser

import pytest

import treetop as tt
from treetop.show.page import module_text
from treetop.show.widget import in_notebook, widget_of


def test_outside_of_a_notebook_the_page_is_opened_in_the_browser(results, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = results("plain").show()
    assert opened == [path.as_uri()]
    assert path.parent == tmp_path
    assert path.suffix == ".html"
    assert path.read_text(encoding="utf-8") == results("plain").html()


def test_the_widget_holds_the_module_and_the_snapshot(results):
    pytest.importorskip("anywidget", reason="needs anywidget: pip install -e '.[notebook]'")
    state = widget_of(results("plain")).get_state()
    assert state["_esm"] == module_text()
    assert json.loads(state["snapshot"])["analysis"]["move"] == results("plain").move


def test_a_notebook_is_known_by_its_kernel(results):
    pytest.importorskip("anywidget", reason="needs anywidget: pip install -e '.[notebook]'")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        assert not in_notebook()  # IPython in a terminal
        shell.kernel = object()
        assert in_notebook()
        assert results("plain").show().get_state()["_esm"]
    finally:
        InteractiveShell.clear_instance()
    assert not in_notebook()


def test_without_anywidget_the_error_names_the_extra(results, monkeypatch):
    from treetop.show import widget

    monkeypatch.setitem(sys.modules, "anywidget", None)
    widget._widget_class.cache_clear()
    with pytest.raises(tt.errors.MissingExtraError, match=r"\.\[notebook\]"):
        widget_of(results("plain"))
