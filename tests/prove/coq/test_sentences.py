"""Files are cut where Coq cuts them, and nothing is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from treetop.errors import ProverError
from treetop.prove.coq import protocol
from treetop.prove.coq.process import CoqProcess
from treetop.prove.coq.sentences import is_one_tactic, split, without_comments
from treetop.prove.coq.settings import LoadPath


@pytest.fixture(scope="module")
def library():
    return (
        Path(subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()) / "theories"
    )


def texts(text):
    return [sentence.text for sentence in split(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("  (* nothing *) \n", []),
        ("Check 1. Check 2.", ["Check 1.", "Check 2."]),
        ("Check (* a. b *) 1. Check 2.", ["Check (* a. b *) 1.", "Check 2."]),
        ("Check 1. (* a (* b. *) c. *) Check 2.", ["Check 1.", "Check 2."]),
        ('Check 1. (* a string " *) . " in a comment *) Check 2.', ["Check 1.", "Check 2."]),
        ('Notation "x . y" := (x + y). Check 1.', ['Notation "x . y" := (x + y).', "Check 1."]),
        ('Check "a ""quoted. "" word". Check 2.', ['Check "a ""quoted. "" word".', "Check 2."]),
        ("Check Nat.add. Check 1.5.", ["Check Nat.add.", "Check 1.5."]),
        ("Check r.(f). Check x.", ["Check r.(f).", "Check x."]),
        (
            'Notation "[ x ; .. ; y ]" := (cons x .. (cons y nil) ..).',
            ['Notation "[ x ; .. ; y ]" := (cons x .. (cons y nil) ..).'],
        ),
        ("Proof with auto. intros... apply x...", ["Proof with auto.", "intros...", "apply x..."]),
        (
            "Proof. - auto. -- auto. + * ** auto. Qed.",
            ["Proof.", "-", "auto.", "--", "auto.", "+", "*", "**", "auto.", "Qed."],
        ),
        (
            "split. { auto. } 2: { auto. } [name]:{ auto. } }",
            ["split.", "{", "auto.", "}", "2: {", "auto.", "}", "[name]:{", "auto.", "}", "}"],
        ),
        ("all: auto. 1-2: lia.", ["all: auto.", "1-2: lia."]),
        ("#[local] Hint Resolve x : core.", ["#[local] Hint Resolve x : core."]),
        ("Check 1.\r\nCheck 2.\r\n", ["Check 1.", "Check 2."]),
    ],
)
def test_sentences_end_where_coq_ends_them(text, sentences):
    assert texts(text) == sentences


def test_offsets_and_lines_are_exact():
    text = "(* one *)\nCheck 1.\n\n  Check\n 2. (* end *)\n"
    first, second = split(text)
    assert (first.start, text[first.begin : first.end], first.line) == (0, "Check 1.", 2)
    assert (second.start, text[second.begin : second.end], second.line) == (first.end, "Check\n 2.", 4)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("Check 1.\nCheck 2", "line 2: the sentence has no full stop"),
        ("Check 1.\n\n(* open (* closed *)", "line 3: the comment has no end"),
        ('Check "open.', "line 1: the string has no end"),
    ],
)
def test_a_text_that_ends_too_early_is_refused_with_its_line(text, complaint):
    with pytest.raises(ProverError, match=complaint):
        split(text)


def test_the_pieces_of_every_file_of_the_library_are_the_file(library):
    files = sorted(library.rglob("*.v"))
    assert len(files) > 400
    for file in files:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        sentences = split(text)
        assert (
            "".join(text[sentence.start : sentence.end] for sentence in sentences)
            + text[sentences[-1].end if sentences else 0 :]
            == text
        ), file


@pytest.mark.parametrize(
    "name",
    [
        "Arith/Between.v",
        "Bool/BoolEq.v",
        "Lists/ListDec.v",
        "Logic/Decidable.v",
        "Sets/Relations_3_facts.v",
        "Unicode/Utf8_core.v",
    ],
)
def test_coq_takes_the_sentences_of_a_file_one_by_one(library, name):
    process = CoqProcess(LoadPath())
    try:
        state = 1
        for sentence in split((library / name).read_text(encoding="utf-8")):
            answer = process.call(protocol.add(sentence.text, state), seconds=30.0)[0]
            assert answer.good, (sentence, answer.refusal)
            state = answer.state
        answer = process.call(protocol.GOALS, seconds=60.0)[0]
        assert answer.good, answer.refusal
    finally:
        process.close()


@pytest.mark.parametrize(
    "tactic",
    ["auto", "intros *", "rewrite Nat.add_comm", 'idtac "a. b"', "auto (* a. b *)", "first [ a | b ]; c", "* x"],
)
def test_a_tactic_is_one_sentence(tactic):
    assert is_one_tactic(tactic)


@pytest.mark.parametrize(
    "tactic",
    ["", "  ", "(* auto *)", "auto.", "auto. auto", "auto). Admitted. (idtac", "auto (*", 'idtac "', "auto..."],
)
def test_what_may_be_more_or_less_than_a_tactic_is_none(tactic):
    assert not is_one_tactic(tactic)


def test_comments_and_strings_can_be_taken_out():
    assert without_comments('a (* b (* c *) "*)" *) d "(* e *)"') == 'a   d "(* e *)"'
    assert without_comments('a "admit" b', strings=False) == 'a "" b'
