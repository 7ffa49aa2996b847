"""Results are written as text in one way."""

from __future__ import annotations

import json
import math

from treetop.text import html_table, json_text, text_facts, text_table


def test_a_text_table_is_aligned_and_leaves_no_spaces_at_the_end_of_a_line():
    text = text_table(["move", "n"], [["a longer move", "1,000"], ["b", ""]])
    assert text.splitlines() == ["move               n", "-------------  -----", "a longer move  1,000", "b"]
    assert text_table(["only", "heads"], []).splitlines() == ["only  heads", "----  -----"]


def test_facts_stand_in_two_columns_and_no_facts_are_no_text():
    assert text_facts({"a": "one", "long": "two"}) == "a     one\nlong  two"
    assert text_facts({}) == ""


def test_an_html_table_escapes_what_it_is_given_and_marks_the_chosen_row():
    text = html_table(["move", "share"], [["<b>", "10.0%"], ["c&d", "90.0%"]], "c&d")
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    assert text.count("font-weight:600") == 1
    assert "90.0%,transparent 90.0%" in text


def test_json_holds_no_infinity_and_no_nan_at_any_depth():
    found = json.loads(json_text({"a": [math.inf, (-math.inf, math.nan)], "b": {"c": 1.5}}))
    assert found == {"a": ["inf", ["-inf", None]], "b": {"c": 1.5}}
