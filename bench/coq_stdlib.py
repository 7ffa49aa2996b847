"""Measure how much of Coq's standard library is proved, by the search and by Coq's automatic tactics.

    python bench/coq_stdlib.py --lemmas 330 --seconds 20 --workers 2 --out stdlib.jsonl

Lemmas are drawn by a seed from five folders of the library, equally many from each if there are enough. Each file is
replayed up to its lemma with only its own `Require`s; the lemma's proof and everything after it are hidden. A lemma
that restates another one in scope is left out, and so are those of `coq_stdlib_seen.txt`, which were used to choose the
weights of the suggestions. For each lemma, in order, in the same process:

- `union`: auto, eauto, easy, tauto, intuition, firstorder, congruence, lia, each alone and after `intros`; the unused
  time of one is passed to the next;
- `search`: the search with all tactics;
- `auto`: that tactic alone;
- `blocked`: the search without the easy tactics;
- `sauto`: CoqHammer's tactic, in a separate process, because loading it loads more than the file requires.

All have the same time. At the end `coqc` checks every proof, all proofs of a file together; a refused proof does not
count. Runs are saved in the file of `--out`, and the same command continues it. Settings of the search are tried on the
lemmas that were used for the weights:

    python bench/coq_stdlib.py --seen --seconds 10 --columns blocked --policy "puct(width=2)" --out seen.jsonl
"""

from __future__ import annotations

import argparse
import atexit
import json
import math
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from treetop.compiler.rng import Rng
from treetop.errors import SaveError
from treetop.journal import Journal, as_read
from treetop.prove.config import ProofConfig, read_policy
from treetop.prove.coq.documents import Document
from treetop.prove.coq.prover import CoqProver
from treetop.prove.coq.statements import restated
from treetop.prove.coq.theorem import CoqTheorem
from treetop.prove.coq.writing import with_proofs
from treetop.prove.prover import Place, Proof, Verdict
from treetop.prove.search import ProofSearch
from treetop.search.limits import Limit
from treetop.workers.pool import Pool
from treetop.workers.units import Unit

FOLDERS = ("Bool", "Arith", "Lists", "Logic", "Relations")
KINDS = ("Lemma", "Theorem", "Fact", "Remark", "Corollary", "Proposition", "Property")
SINGLE = ("auto", "eauto", "easy", "tauto", "intuition", "firstorder", "congruence", "lia")
COLUMNS = ("union", "search", "auto", "blocked", "sauto")
HAMMER = "From Hammer Require Import Tactics.\n"


class JudgedLater(CoqTheorem):
    """A lemma whose proofs are checked at the end, together with the others of its file."""

    def verify(self, proof: Proof) -> Verdict:  # noqa: ARG002
        """Accept the proof for now; it is checked later."""
        return Verdict(True, checker="later")


class LemmaLog(Journal):
    """The file of finished lemmas. A file with other settings is refused."""

    entry = "lemma"

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        super().__init__(path, as_read({"kind": "treetop stdlib", "version": 1, "settings": settings}))
        self.records: list[dict[str, Any]] = []

    def refuse_another(self, path: Path, found: dict[str, Any]) -> None:
        """Raise an error that names the difference."""
        theirs, ours = found.get("settings"), self.header["settings"]
        if theirs != ours:
            raise SaveError(f"{path} was made with {theirs}, not with {ours}: name another file")

    def take(self, record: dict[str, Any]) -> bool:
        """Read a lemma that was finished before."""
        self.records.append(record)
        return {"file", "lemma", "restates"} <= record.keys()

    def append(self, record: dict[str, Any]) -> None:
        """Add a lemma. It is on the disk when this returns."""
        self.write(record)
        self.records.append(record)


def library() -> Path:
    """Return the folder of the standard library."""
    return (
        Path(subprocess.run(["coqc", "-where"], capture_output=True, text=True, check=True).stdout.strip()) / "theories"
    )


@cache
def alone(file: str) -> Path:
    """Return a copy of a file of the library in an empty folder, so that its `Require`s find the installed files."""
    folder = Path(tempfile.mkdtemp(prefix="treetop-stdlib-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(shutil.copy(library() / file, folder))


def draw(count: int, seed: int) -> list[tuple[str, str]]:
    """Return files and lemmas, equally many from each folder, in random order, so that any prefix is a fair sample."""
    rng = Rng(seed)
    chosen: list[tuple[str, str]] = []
    folders = {folder: _lemmas(folder) for folder in FOLDERS}
    for place, folder in enumerate(sorted(FOLDERS, key=lambda name: len(folders[name]))):
        share = math.ceil((count - len(chosen)) / (len(FOLDERS) - place))
        chosen += rng.shuffled(folders[folder])[:share]
    return rng.shuffled(chosen)


def _lemmas(folder: str) -> list[tuple[str, str]]:
    found = []
    for file in sorted((library() / folder).glob("*.v")):
        document = Document(file.read_bytes().decode("utf-8", "surrogateescape"), file.name)
        names = [
            lemma.qualified for lemma in document.lemmas if lemma.kind in KINDS and lemma.ending in ("Qed", "Defined")
        ]
        found += [(f"{folder}/{file.name}", name) for name in names if names.count(name) == 1]
    return [lemma for lemma in found if " ".join(lemma) not in seen()]


@cache
def seen() -> frozenset[str]:
    """Return the lemmas that were used to choose the weights."""
    lines = Path(__file__).with_name("coq_stdlib_seen.txt").read_text().splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))


def measure(columns: tuple[str, ...], seconds: float, config: ProofConfig) -> Any:
    """The work of one process on a lemma."""

    def one(file: str, lemma: str) -> dict[str, Any]:
        record: dict[str, Any] = {"file": file, "lemma": lemma}
        theorem = JudgedLater(alone(file), lemma)
        began = time.perf_counter()
        prover = theorem.open()
        try:
            record["open_seconds"] = round(time.perf_counter() - began, 2)
            record["restates"] = restated(prover.root().data, prover.search)
            if record["restates"]:
                return record
            for column in columns:
                record[column] = _column(column, theorem, prover, seconds, config)
        finally:
            prover.close()
        return record

    return one


def _column(column: str, theorem: CoqTheorem, prover: CoqProver, seconds: float, config: ProofConfig) -> dict[str, Any]:
    if column == "union":
        return single(prover, SINGLE, seconds)
    if column == "auto":
        return single(prover, ("auto",), seconds)
    if column == "sauto":
        return hammered(theorem, seconds)
    with ProofSearch(theorem, config, seed=0, allow_easy=column == "search", prover=prover) as search:
        result = search.run(Limit(seconds=seconds))
    return {
        "proved": result.status == "proved",
        "script": result.script,
        "seconds": round(result.seconds, 2),
        "attempts": result.attempts,
        "goals": len(result.graph),
        "steps": result.steps,
    }


def single(prover: CoqProver, tactics: tuple[str, ...], seconds: float) -> dict[str, Any]:
    """Try tactics one after the other on the lemma."""
    place, began = Place(prover.root()), time.perf_counter()
    for number, tactic in enumerate(tactics):
        for text in (tactic, f"intros; {tactic}"):
            left = seconds - (time.perf_counter() - began)
            if left <= 0.01:
                break
            attempt = prover.attempt(place, text, left / (len(tactics) - number))
            if attempt.subgoals == ():
                return {"proved": True, "script": f"{text}.", "seconds": round(time.perf_counter() - began, 2)}
    return {"proved": False, "script": "", "seconds": round(time.perf_counter() - began, 2)}


def hammered(theorem: CoqTheorem, seconds: float) -> dict[str, Any]:
    """Return the same lemma with CoqHammer's tactics loaded right before it; loaded earlier they break other proofs."""
    assert theorem.path is not None
    text, start = theorem.document.text, theorem.lemma.statement.begin
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / theorem.path.name
        file.write_text(text[:start] + HAMMER + text[start:])
        prover = CoqTheorem(file, theorem.name).open()
        try:
            return single(prover, ("sauto",), seconds)
        finally:
            prover.close()


def judge(records: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    """Check all proofs with coqc, those of a file and column together, or one by one if that fails."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        for column in columns:
            if column != "sauto" and record.get(column, {}).get("proved") and "accepted" not in record[column]:
                grouped[record["file"], column].append(record)
    for (file, column), found in sorted(grouped.items()):
        proofs = [(CoqTheorem(alone(file), record["lemma"]), record[column]["script"]) for record in found]
        at_once = proofs[0][0].compile(with_proofs(proofs)).accepted
        for (theorem, script), record in zip(proofs, found, strict=True):
            verdict = Verdict(True) if at_once else theorem.verify_script(script)
            record[column]["accepted"] = verdict.accepted
            if not verdict.accepted:
                print(f"refused: {file} {record['lemma']} ({column}): {verdict.reason}")


def sign_test(wins: int, losses: int) -> float:
    """Return the p-value of the exact two-sided sign test."""
    total = wins + losses
    tail = sum(math.comb(total, count) for count in range(min(wins, losses) + 1)) / 2**total
    return min(1.0, 2 * tail) if total else 1.0


def solved(record: dict[str, Any], column: str) -> bool:
    """Return whether a column counts as proved."""
    found = record.get(column, {})
    return bool(found.get("proved") and found.get("accepted", column == "sauto"))


def report(records: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    """Print the table by folder, and the paired comparisons."""
    kept = [record for record in records if not record["restates"]]
    print(f"{len(kept)} lemmas; left out because they restate another in scope: {len(records) - len(kept)}\n")
    print("| folder | lemmas | " + " | ".join(columns) + " |\n|---" * 1 + "|---|" + "---|" * len(columns))
    for folder in (*FOLDERS, "all"):
        rows = [record for record in kept if folder in ("all", record["file"].partition("/")[0])]
        counts = [sum(solved(record, column) for record in rows) for column in columns]
        cells = [f"{count} ({count / max(1, len(rows)):.0%})" for count in counts]
        print(f"| {folder} | {len(rows)} | " + " | ".join(cells) + " |")
    print()
    for ours, theirs in (("search", "union"), ("blocked", "auto"), ("search", "sauto")):
        if ours in columns and theirs in columns:
            wins = sum(solved(record, ours) and not solved(record, theirs) for record in kept)
            losses = sum(solved(record, theirs) and not solved(record, ours) for record in kept)
            print(f"{ours} alone {wins}, {theirs} alone {losses}: exact sign test p = {sign_test(wins, losses):.2g}")


def main() -> None:
    """Measure the missing lemmas, check the proofs, and print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lemmas", type=int, default=330)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--columns", default=",".join(COLUMNS))
    options.add_argument("--policy", default="puct", help="the policy, with settings in brackets")
    options.add_argument("--seen", action="store_true", help="use the lemmas that chose the weights instead of drawing")
    options.add_argument("--out", type=Path, required=True)
    given = options.parse_args()
    columns, config = tuple(given.columns.split(",")), read_policy(given.policy, ProofConfig())
    lemmas = (
        [(file, name) for file, name in map(str.split, sorted(seen()))]
        if given.seen
        else draw(given.lemmas, given.seed)
    )
    settings = {"seconds": given.seconds, "columns": columns, "policy": given.policy}
    deadline = len(columns) * 2 * given.seconds + 120
    with (
        LemmaLog(given.out, settings) as log,
        Pool(measure, (columns, given.seconds, config), workers=given.workers, deadline=deadline) as pool,
    ):
        done = {(record["file"], record["lemma"]) for record in log.records}
        units = [Unit(f"{file} {lemma}", (file, lemma)) for file, lemma in lemmas if (file, lemma) not in done]
        for number, outcome in enumerate(pool.run(units), start=1):
            if not outcome.ok:
                print(f"failed: {outcome.unit.id}: {outcome.reason}", flush=True)
                continue
            log.append(outcome.value)
            marks = " ".join(
                f"{column} {'+' if outcome.value[column]['proved'] else '-'}"
                for column in columns
                if column in outcome.value
            )
            print(
                f"{number}/{len(units)} {outcome.unit.id}: {marks or 'restates ' + outcome.value['restates']}",
                flush=True,
            )
    wanted = set(lemmas)
    records = [record for record in log.records if (record["file"], record["lemma"]) in wanted]
    judge(records, columns)
    given.out.with_suffix(".judged.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    report(records, columns)


if __name__ == "__main__":
    main()
