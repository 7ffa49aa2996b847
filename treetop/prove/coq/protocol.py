"""Coq's protocol for editors: calls as XML, and the content of the answers.

Every call is answered by one `<value>`; `<feedback>` arrives in between. Neither can contain itself, and text is
escaped, so an element ends at its closing tag. Texts arrive as Coq's documents of boxes and breaks: the texts that Coq
lays out itself are cut where they are deep, whatever `Printing Depth` is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from treetop.prove.coq.goals import CoqGoal, Hypothesis
from treetop.prove.coq.sentences import Sentence

OLDEST_PROTOCOL = 20220205
"""The protocol of Coq 8.15 and 8.16. In older ones `Add` has another form, and this form gets no answer."""

ABOUT = '<call val="About"><unit/></call>'
INIT = '<call val="Init"><option val="none"/></call>'
GOALS = (
    '<call val="Subgoals"><goal_flags><string>full</string><bool val="true"/><bool val="false"/>'
    '<bool val="true"/><bool val="true"/>'
    "</goal_flags></call>"
)
"""Requests the goals in focus, those shelved and those given up; not those in the background, which grow with the path
to a place."""

_HEAD = 400  # the characters that contain the kind of an answer; goals of any length may follow
_STATE = re.compile(r'<state_id val="(\d+)"/>')
_ABOUT = re.compile(r"<string>([^<]*)</string><string>(\d+)</string>")
_LEVEL = re.compile(r'<message_level val="(\w+)"')
_LOCATION = re.compile(r'loc_s="(\d+)" loc_e="(\d+)"')
_GIVEN = re.compile(r"([^:]+?) (:=|:) (.*)")
_BINDING = re.compile(r"\b(?:fun|forall|let|fix|cofix)\b|\bmatch\b|\bend\b|[()\[\]{}]|=>|,|:=| : ")
_NOTHING_ELSE = "<list/><list/><list/></goals></option></value>"
_PIECE = re.compile(
    r'<(?:ppdoc val="(?:'
    r'string"><string>([^<]*)</string></ppdoc>|'
    r'tag"><pair><string>[^<]*</string><ppdoc val="string"><string>([^<]*)</string></ppdoc></pair></ppdoc>|'
    r'(newline"/>|break"><pair><int>[1-9]\d*</int><int>-?\d+</int></pair></ppdoc>)|'
    r'(?:empty"/>|break"><pair><int>0</int><int>-?\d+</int></pair></ppdoc>)|'
    r"([a-z]))|(/ppdoc>|/goal>))"
)
"""A token of a goal: text, tagged text, a blank, nothing, the start of a document with others in it, an end."""
_LEAF = re.compile(r'<ppdoc val="(?:string"><string>([^<]*)|(break)"><pair><int>[1-9]|(newline)")')


def add(sentence: str, state: int) -> str:
    """Add a sentence after a state, which must be the last one. It is parsed, and run when its state is examined."""
    return (
        f'<call val="Add"><pair><pair><pair><pair><string>{escape(sentence)}</string><int>0</int></pair>'
        f'<pair><state_id val="{state}"/>'
        '<bool val="false"/></pair></pair><int>0</int></pair><pair><int>0</int><int>0</int></pair></pair></call>'
    )


def edit_at(state: int) -> str:
    """Go back to a state. All later ones are lost."""
    return f'<call val="Edit_at"><state_id val="{state}"/></call>'


def print_all(on: bool) -> str:
    """Set or unset `Printing All` for the following answers, until Coq moves to another state."""
    return (
        '<call val="SetOptions"><list><pair><list><string>Printing</string><string>All</string></list>'
        f'<option_value val="boolvalue"><bool val="{"true" if on else "false"}"/></option_value></pair></list></call>'
    )


def query(command: str, state: int) -> str:
    """Run a command that changes nothing, such as `Search`, at a state. Its output arrives as feedback."""
    return (
        f'<call val="Query"><pair><route_id val="0"/><pair><string>{escape(command)}</string>'
        f'<state_id val="{state}"/></pair></pair></call>'
    )


class Message(NamedTuple):
    """A message of Coq about a state."""

    level: str
    """`notice`, `info`, `warning`, `error` or `debug`."""
    state: int
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call, with the messages that arrived before it."""

    value: str
    feedback: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """Whether Coq executed the call."""
        return self.value.startswith('<value val="good"')

    @property
    def state(self) -> int:
        """The first state that it names: the new one after `Add`, the last good one in a refusal; 0 if none."""
        match = _STATE.search(self.value, 0, _HEAD)
        return int(match.group(1)) if match else 0

    @property
    def refusal(self) -> str:
        """Coq's message if it refused the call."""
        return _plain(self.value)

    @property
    def location(self) -> tuple[int, int] | None:
        """The offset of the error in the sentence, in bytes, as Coq counts."""
        match = _LOCATION.search(self.value[:200])
        return (int(match.group(1)), int(match.group(2))) if match else None

    @property
    def messages(self) -> list[Message]:
        """The messages before the answer."""
        return [_message(element) for element in self.feedback]

    @property
    def about(self) -> tuple[str, int]:
        """The versions of Coq and of its protocol, if those were requested."""
        match = _ABOUT.search(self.value)
        return (match.group(1), int(match.group(2))) if match else ("of an unknown version", 0)


def refused_line(answer: Answer, sentences: Mapping[int, Sentence], last: Sentence) -> int:
    """Return the line of the error that Coq refuses to continue after, given the sentence of each state.

    An error may appear only later, when Coq runs what it had postponed; `last` is the last sentence that was sent.
    """
    blamed = [message.state for message in answer.messages if message.level == "error" and message.state in sentences]
    sentence = sentences[blamed[-1]] if blamed else last
    begin = 0 if answer.location is None else answer.location[0]
    return sentence.line + sentence.text.encode("utf-8", "surrogateescape")[:begin].count(b"\n")


class Goals(NamedTuple):
    """The goals at a state."""

    subgoals: tuple[CoqGoal, ...]
    shelved: int
    """The number of shelved goals, which are to be determined by others."""
    given_up: int


def read_goals(answer: Answer) -> Goals | None:
    """Return the goals in an answer to `GOALS`; None if there is no proof in progress."""
    if "<goals>" not in answer.value:
        return None
    if answer.value.endswith(_NOTHING_ELSE):
        return Goals(tuple(_goals(answer.value)), 0, 0)
    found = ET.fromstring(answer.value.replace("&nbsp;", " ")).find("option/goals")
    shown, _, shelved, given_up = list(found) if found is not None else ((),) * 4
    return Goals(tuple(_goals(answer.value))[: len(shown)], len(shelved), len(given_up))


def _goals(value: str) -> Iterator[CoqGoal]:
    """Return all goals in a value. An XML parser would take as long as Coq takes for an easy tactic."""
    lines: list[str] = []
    parts: list[str] = []
    depth = 0
    for words, marked, blank, opening, closing in _PIECE.findall(value):
        if opening:
            depth += 1
        elif closing == "/goal>":
            *given, conclusion = lines
            yield CoqGoal(tuple(hypothesis for line in given for hypothesis in _hypotheses(line)), conclusion)
            lines = []
        else:
            if closing:
                depth -= 1
            else:
                parts.append(" " if blank else words or marked)
            if not depth:
                lines.append(_line("".join(parts)))
                parts = []


def _hypotheses(line: str) -> list[Hypothesis]:
    """Parse a line such as `n, m : nat` or `x := 3 : nat`."""
    match = _GIVEN.match(line)
    if match is None:
        return [Hypothesis(line, "")]
    names, sign, rest = match.groups()
    value, kind = _value_and_type(rest) if sign == ":=" else (None, rest)
    return [Hypothesis(name, kind, value) for name in names.split(", ")]


def _value_and_type(text: str) -> tuple[str, str]:
    """Split at the colon that belongs to no binder and is outside of all brackets."""
    depth = waiting = 0
    for match in _BINDING.finditer(text):
        found = match.group()
        if found in "([{" or found == "match":
            depth += 1
        elif found in ")]}" or found == "end":
            depth -= 1
        elif depth:
            continue
        elif found[0].isalpha():
            waiting += 1
        elif waiting:
            waiting -= 1
        elif found == " : ":
            return text[: match.start()], text[match.end() :]
    return text, ""


def _line(text: str) -> str:
    return " ".join(_unescaped(text).split())


def _message(element: str) -> Message:
    level, state = _LEVEL.search(element), _STATE.search(element)
    return Message(level.group(1) if level else "", int(state.group(1)) if state else 0, _plain(element))


def _plain(element: str) -> str:
    """Return the text in an element, with its own line breaks and no others."""
    text = "".join(
        words or (" " if space else "\n" if newline else "") for words, space, newline in _LEAF.findall(element)
    )
    return _unescaped(text).strip()


def _unescaped(text: str) -> str:
    if "&" not in text:
        return text
    for entity, sign in (
        ("&nbsp;", " "),
        ("&quot;", '"'),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&amp;", "&"),
    ):
        text = text.replace(entity, sign)
    return text
