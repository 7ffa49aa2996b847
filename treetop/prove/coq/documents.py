"""The contents of a Coq file: its lemmas, the positions of their proofs, and the sections and modules around them.

The file is read by the form of its sentences, without Coq, so a file that redefines `Lemma` is not understood. Every
proof is compiled in its file, so Coq always decides.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cached_property

from treetop.errors import ConfigError, ProofFileError, ProverError
from treetop.prove.coq.sentences import Sentence, split, without_comments

_STATING = (
    "Lemma", "Theorem", "Fact", "Remark", "Corollary", "Proposition", "Property", "Example", "Definition", "Instance",
    "Let", "Fixpoint", "CoFixpoint"
)  # fmt: skip
_MAY_HAVE_BODY = ("Example", "Definition", "Instance", "Let", "Fixpoint", "CoFixpoint")
_ATTRIBUTES = re.compile(
    r"\s*(?:#\[[^\]]*\]|(?:Local|Global|Polymorphic|Monomorphic|Cumulative|NonCumulative|Private|Time|Timeout\s+\d+|"
    r"Redirect\s+\"\")(?!\w))\s*"
)
_STATEMENT = re.compile(
    rf"(?:Program\s+(?!Instance\b))?(?:Let\s+(?=(?:Co)?Fixpoint))?({'|'.join(_STATING)})\s+([^\W\d][\w']*)(?=\W)"
)
_OTHER_PROOF = re.compile(
    r"(Goal|Program|Fixpoint|CoFixpoint|Next\s+Obligation|Obligation|Solve\s+Obligation|Add\s+\w+|Instance|Derive|"
    r"Equations)\b"
)
_ADMITS_ALL = re.compile(r"Admit\s+Obligations\b")
_ENDING = re.compile(r"(Qed|Defined|Admitted|Abort|Save)\b")
_PROOF_TERM = re.compile(r"Proof\s+(?!using\b|with\b|\.\s*\Z)\S")
_ADMIT = re.compile(r"\b(?:admit|give_up)\b")
_OPENING = re.compile(r"(Section|Module(?:\s+Type)?)\s+(?:(?:Import|Export)\s+)?([^\W\d][\w']*)(.*)", re.DOTALL)
_CLOSING = re.compile(r"End\s+([^\W\d][\w']*)\s*\.")
_BRACKETS = re.compile(r"[()\[\]{}]|:=|\blet\b|\bwith\s+(?:Definition|Module)\b")


@dataclass(frozen=True)
class Lemma:
    """A statement followed by a proof."""

    name: str
    kind: str
    """`Lemma`, `Theorem`, ... `Definition`, `Instance`, `Let`."""
    statement: Sentence
    proof: tuple[Sentence, ...]
    """The sentences after the statement up to and including `Qed`, `Defined`, `Admitted`, `Abort` or `Save`; without an
    end if the file has none."""
    ending: str
    """The word that ends the proof; `Proof` if it is given as a term; empty if there is no end."""
    admitted: bool
    """Whether it has no proof yet: `Admitted`, or `admit` within."""
    modules: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()

    @property
    def qualified(self) -> str:
        """The name with those of the modules around it."""
        return ".".join([*self.modules, self.name])

    @property
    def line(self) -> int:
        """The line of the statement, from 1."""
        return self.statement.line

    @property
    def begin(self) -> int:
        """The offset at which the proof begins, with the white space before it."""
        return self.statement.end

    @property
    def end(self) -> int:
        """The offset after the last sentence of the proof."""
        return self.proof[-1].end if self.proof else self.statement.end


@dataclass(frozen=True)
class Unnamed:
    """Something that is admitted and has no name to prove it by."""

    what: str
    """The command that starts it: `Goal`, `Next Obligation`, ..."""
    line: int
    reason: str


@dataclass(frozen=True)
class Document:
    """The text of a file and its contents."""

    text: str
    name: str = "the text"
    """The name in error messages."""

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences of the whole text."""
        try:
            return split(self.text)
        except ProverError as error:
            raise ProofFileError(f"{self.name}, {error}") from None

    @property
    def lemmas(self) -> tuple[Lemma, ...]:
        """All lemmas, in order."""
        return self._read[0]

    @property
    def unnamed(self) -> tuple[Unnamed, ...]:
        """Everything that is admitted and is not a named lemma."""
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[tuple[Lemma, ...], tuple[Unnamed, ...]]:
        return _read(self.sentences)

    @property
    def admitted(self) -> tuple[Lemma, ...]:
        """The lemmas that are admitted."""
        return tuple(lemma for lemma in self.lemmas if lemma.admitted)

    def lemma(self, name: str) -> Lemma:
        """Return the lemma of that name, which may include modules: `foo`, `List.foo`.

        If a name is used again, the last one counts.
        """
        exact = [lemma for lemma in self.lemmas if lemma.qualified == name]
        found = exact or [lemma for lemma in self.lemmas if lemma.qualified.endswith(f".{name}")]
        if len({lemma.qualified for lemma in found}) > 1:
            choice = ", ".join(f"{lemma.qualified} (line {lemma.line})" for lemma in found)
            raise ConfigError(f"{self.name} has several lemmas {name}; choose one of {choice}")
        if not found:
            raise ConfigError(f"{self.name} has no lemma {name!r}; {self._near(name)}")
        if not found[-1].ending:
            raise ProofFileError(
                f"{self.name}, line {found[-1].line}: the proof of {name} has no end: add Admitted or Qed"
            )
        return found[-1]

    def before(self, lemma: Lemma) -> tuple[Sentence, ...]:
        """Return the sentences before the lemma's statement."""
        return self.sentences[: self.sentences.index(lemma.statement)]

    def after_sections(self, lemma: Lemma) -> int | None:
        """Return the offset at which the outermost section around a lemma ends; None if it is in no section."""
        depth = len(lemma.sections)
        for sentence in self.sentences:
            if depth and sentence.begin >= lemma.end:
                text = bare(sentence)
                depth += bool(re.match(r"Section\s", text)) - bool(_CLOSING.match(text))
                if not depth:
                    return sentence.end
        return None

    def _near(self, name: str) -> str:
        names = sorted({lemma.qualified for lemma in self.lemmas})
        if not names:
            return "it contains no proofs"
        near = difflib.get_close_matches(name, names, n=5, cutoff=0.5)
        if not near:
            last = name.rpartition(".")[2].lower()
            near = [other for other in names if last and last in other.lower()][:5]
        if near:
            return f"did you mean {', '.join(near)}?"
        return f"it has {', '.join(names[:10])}{', ...' if len(names) > 10 else ''}"


def bare(sentence: Sentence) -> str:
    """Return a sentence without comments, contents of strings and leading attributes such as `#[local]` or `Global`."""
    text = without_comments(sentence.text, strings=False)
    while attribute := _ATTRIBUTES.match(text):
        text = text[attribute.end() :]
    return text


def _read(sentences: tuple[Sentence, ...]) -> tuple[tuple[Lemma, ...], tuple[Unnamed, ...]]:
    lemmas: list[Lemma] = []
    unnamed: list[Unnamed] = []
    other: tuple[str, Sentence] | None = None  # the start of a proof that belongs to no lemma
    around: list[tuple[str, str]] = []  # the open sections and modules: Section or Module, and the name
    open_lemma: tuple[str, str, Sentence, int] | None = None
    for number, sentence in enumerate(sentences):
        text = bare(sentence)
        if stated := _stated(text):
            if open_lemma:
                lemmas.append(_made(open_lemma, sentences[open_lemma[3] : number], "", around))
            open_lemma, other = (*stated, sentence, number + 1), None
        elif ending := _ending(text):
            if open_lemma:
                lemmas.append(_made(open_lemma, sentences[open_lemma[3] : number + 1], ending, around))
            elif ending == "Admitted":
                unnamed.append(_unnamed(*other) if other else _unnamed("Admitted", sentence))
            open_lemma = other = None
        elif opening := _OTHER_PROOF.match(text):
            open_lemma, other = None, (" ".join(opening.group(1).split()), sentence)
        elif _ADMITS_ALL.match(text):
            unnamed.append(_unnamed("Admit Obligations", sentence))
        else:
            _follow(around, text)
    if open_lemma:
        lemmas.append(_made(open_lemma, sentences[open_lemma[3] :], "", around))
    return tuple(lemmas), tuple(unnamed)


def _unnamed(what: str, sentence: Sentence) -> Unnamed:
    """Return why a proof that belongs to no lemma cannot be searched."""
    if "Obligation" in what:
        reason = "an obligation of Program has no statement in the file"
    elif what == "Admitted":
        reason = "the command that starts this proof is unknown"
    elif what.startswith("Add") or what in ("Derive", "Equations"):
        reason = f"the statement of {what} is not in the file"
    else:
        reason = "it has no name: state it as a Lemma"
    return Unnamed(what, sentence.line, reason)


def _stated(text: str) -> tuple[str, str] | None:
    """Return the kind and name of what this sentence states, if a proof follows."""
    match = _STATEMENT.match(text)
    if match is None or (match.group(1) in _MAY_HAVE_BODY and _bodies(text) > 0):
        return None
    return match.group(1), match.group(2)


def _ending(text: str) -> str:
    match = _ENDING.match(text)
    if match:
        return match.group(1)
    return "Proof" if _PROOF_TERM.match(text) else ""


def _made(
    stated: tuple[str, str, Sentence, int], proof: tuple[Sentence, ...], ending: str, around: list[tuple[str, str]]
) -> Lemma:
    kind, name, statement, _ = stated
    admitted = ending == "Admitted" or any(
        _ADMIT.search(without_comments(sentence.text, strings=False)) for sentence in proof
    )
    modules = tuple(name for what, name in around if what == "Module")
    return Lemma(
        name,
        kind,
        statement,
        proof,
        ending,
        admitted,
        modules,
        tuple(name for what, name in around if what == "Section"),
    )


def _follow(around: list[tuple[str, str]], text: str) -> None:
    """Update the stack of open sections and modules."""
    closing = _CLOSING.match(text)
    if closing:
        if around and around[-1][1] == closing.group(1):
            around.pop()
        return
    opening = _OPENING.match(text)
    if opening and (opening.group(1) == "Section" or _bodies(opening.group(3)) <= 0):
        around.append(("Section" if opening.group(1) == "Section" else "Module", opening.group(2)))


def _bodies(text: str) -> int:
    """Return how many `:=` are outside of all brackets and belong neither to a `let` nor to a `with Definition`."""
    depth = count = 0
    for match in _BRACKETS.finditer(text):
        found = match.group()
        if found in "([{":
            depth += 1
        elif found in ")]}":
            depth -= 1
        elif depth == 0:
            count += 1 if found == ":=" else -1
    return count
