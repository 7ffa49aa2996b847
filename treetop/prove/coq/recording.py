"""Record goals and the tactics used there: the finished proofs of a file, run again sentence by sentence.

Records are files of JSON lines, one a lemma, named by the digest of the text: an incomplete record is continued, and a
file that has changed is recorded again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from treetop.errors import ProofFileError, SaveError
from treetop.files import parse_json, read_bytes
from treetop.prove.coq import protocol
from treetop.prove.coq.documents import Document, Lemma, bare
from treetop.prove.coq.goals import CoqGoal, Hypothesis
from treetop.prove.coq.process import CoqDied, CoqProcess
from treetop.prove.coq.sentences import Sentence, without_comments
from treetop.prove.coq.settings import CoqSettings, LoadPath

_FORMAT = 1
_PRINTING = ("Set Printing All.", "Set Printing Depth 100000.")
_NO_TACTIC = re.compile(
    r"[A-Z]|[-+*{}]|(?:\d+|all|par|!|\[)[\w\s,\-\]]*:"
)  # a command, a bullet, a brace, or a tactic for goals other than the first
_SECONDS = 60.0  # for one sentence


class Example(NamedTuple):
    """A goal and the tactic that was used there in a finished proof."""

    goal: CoqGoal
    tactic: str
    lemma: str


def recorded(
    path: Path | str,
    folder: Path | str,
    *,
    until: str | None = None,
    settings: CoqSettings | None = None,
    warn: Callable[[str], None] | None = None,
) -> list[Example]:
    """Return the examples of a file, from the record in `folder`, which is completed first if necessary.

    `until`: the name of a lemma; it and everything after it is left out and not run. A file that cannot be read or does
    not compile is an error with the file and the line; if `warn` is given, it is called with the message instead, and
    the proofs above the error are used.
    """
    try:
        return _recorded(Path(path), Path(folder), until, settings or CoqSettings(), warn)
    except ProofFileError as error:
        if warn is None:
            raise
        warn(str(error))
        return []


def _recorded(
    file: Path, folder: Path, until: str | None, settings: CoqSettings, warn: Callable[[str], None] | None
) -> list[Example]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ProofFileError(f"{file} cannot be read: {error.strerror or error}") from error
    document = Document(content.decode("utf-8", "surrogateescape"), str(file))
    lemmas = [lemma for lemma in document.lemmas if not lemma.admitted and lemma.ending in ("Qed", "Defined", "Save")]
    if until is not None:
        lemmas = [lemma for lemma in lemmas if lemma.end <= document.lemma(until).statement.begin]
    record = folder / f"{hashlib.sha256(content).hexdigest()[:32]}.jsonl"
    known = _read(record)
    if any(_key(lemma) not in known for lemma in lemmas):
        try:
            _complete(document, lemmas, known, record, LoadPath.of(file), settings)
        except ProofFileError as error:
            if warn is None:
                raise
            warn(str(error))
    return [example for lemma in lemmas for example in known.get(_key(lemma), ())]


def _key(lemma: Lemma) -> str:
    return f"{lemma.qualified}@{lemma.line}"


def _read(record: Path) -> dict[str, list[Example]]:
    """Return what was recorded, up to the first incomplete line."""
    found: dict[str, list[Example]] = {}
    if not record.exists():
        return found
    for line in read_bytes(record).split(b"\n"):
        try:
            entry = parse_json(line)
            if entry["format"] != _FORMAT:
                break
            lemma = _text(entry["lemma"])
            examples = [Example(_goal(goal), _text(tactic), lemma) for goal, tactic in entry["pairs"]]
        except (ValueError, KeyError, TypeError):
            break
        found[lemma] = examples
    return found


def _goal(entry: dict[str, Any]) -> CoqGoal:
    hypotheses = [
        Hypothesis(_text(name), _text(kind), None if value is None else _text(value))
        for name, kind, value in entry["hypotheses"]
    ]
    return CoqGoal(tuple(hypotheses), _text(entry["conclusion"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _line(lemma: str, examples: list[Example]) -> str:
    pairs = [
        [
            {
                "hypotheses": [[given.name, given.type, given.value] for given in goal.hypotheses],
                "conclusion": goal.conclusion,
            },
            tactic,
        ]
        for goal, tactic, _ in examples
    ]
    return json.dumps({"format": _FORMAT, "lemma": lemma, "pairs": pairs}, ensure_ascii=False)


def _complete(
    document: Document,
    lemmas: list[Lemma],
    known: dict[str, list[Example]],
    record: Path,
    load_path: LoadPath,
    settings: CoqSettings,
) -> None:
    """Run the file, and add the missing lemmas to the known ones and to the record, each as soon as it is complete."""
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        with record.open("w", encoding="utf-8") as output:  # the incomplete line is dropped, the rest is written again
            output.writelines(_line(label, examples) + "\n" for label, examples in known.items())
            for lemma, examples in _replay(document, lemmas, dict(known), load_path, settings):
                known[_key(lemma)] = examples
                output.write(_line(_key(lemma), examples) + "\n")
                output.flush()
    except OSError as error:
        raise SaveError(f"{record} cannot be written: {error.strerror or error}") from error


def _replay(
    document: Document, lemmas: list[Lemma], known: dict[str, list[Example]], load_path: LoadPath, settings: CoqSettings
) -> Iterator[tuple[Lemma, list[Example]]]:
    wanted = {sentence.begin: lemma for lemma in lemmas if _key(lemma) not in known for sentence in lemma.proof}
    last = max(sentence for sentence in wanted)
    process = CoqProcess(load_path, memory_mb=settings.memory_mb)
    run = _Run(process, document.name)
    try:
        for command in _PRINTING:
            run.add(Sentence(command, 0, 0, 0, 1))
        examples: list[Example] = []
        for sentence in document.sentences:
            if sentence.begin > last:
                break
            lemma = wanted.get(sentence.begin)
            if lemma is not None and not _NO_TACTIC.match(bare(sentence)):
                examples.extend(_seen(run, sentence, lemma))
            run.add(sentence)
            if lemma is not None and sentence == lemma.proof[-1]:
                run.goals()  # now Coq has accepted the proof
                yield lemma, examples
                examples = []
    except CoqDied as error:
        raise ProofFileError(f"{document.name}: {error}") from error
    finally:
        process.close()


class _Run:
    """Sentences that are sent to Coq one after the other."""

    def __init__(self, process: CoqProcess, source: str) -> None:
        self._process, self._source = process, source
        self._state = 1
        self._sentences: dict[int, Sentence] = {}
        self._last = Sentence("", 0, 0, 0, 1)

    def add(self, sentence: Sentence) -> None:
        """Send the next sentence. Coq may run it later."""
        self._last = sentence
        self._state = self._call(protocol.add(sentence.text, self._state)).state
        self._sentences[self._state] = sentence

    def goals(self) -> protocol.Goals | None:
        """Let Coq run everything so far, and return the goals at the present state."""
        return protocol.read_goals(self._call(protocol.GOALS))

    def _call(self, call: str) -> protocol.Answer:
        answer = self._process.call(call, seconds=_SECONDS)[0]
        if not answer.good:
            line = protocol.refused_line(answer, self._sentences, self._last)
            raise ProofFileError(f"{self._source}, line {line}: {' '.join(answer.refusal.split())}")
        return answer


def _seen(run: _Run, sentence: Sentence, lemma: Lemma) -> Iterator[Example]:
    """Return the goal at which a tactic is used."""
    goals = run.goals()
    tactic = " ".join(without_comments(sentence.text).split()).removesuffix(".").rstrip(".").strip()
    if goals is not None and goals.subgoals and tactic:
        yield Example(goals.subgoals[0], tactic, _key(lemma))
