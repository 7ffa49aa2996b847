"""`treetop prove`: a proof of a formula or of a lemma in a file of Coq, accepted by a checker outside the search."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.console import Group
from rich.live import Live
from rich.text import Text

from treetop.cli.common import (
    CHOSEN,
    FAILURE,
    FAINT,
    LIMITS,
    SEARCH,
    Json,
    Seconds,
    Seed,
    errors,
    facts,
    refuse_missing_folder,
    say,
    say_json,
    screen,
)
from treetop.errors import ConfigError, ProverError, SaveError

if TYPE_CHECKING:
    from treetop.prove.config import ProofConfig
    from treetop.prove.limits import ProofLimit
    from treetop.prove.prover import Theorem
    from treetop.prove.result import ProofResult
    from treetop.prove.search import ProofProgress

COQ, EXPERIMENTS = "Files of Coq", "Experiments"  # headings of `--help`
SECONDS = 60.0
"""How long a proof is looked for where no limit is given."""

_HELP_WHAT = "A formula ('p & q -> q & p'), a TPTP problem (File.p), or a file of Coq (File.v)."
What = Annotated[str | None, typer.Argument(metavar="WHAT", help=_HELP_WHAT, show_default=False)]
Lemmas = Annotated[list[str] | None, typer.Option("--lemma", metavar="NAME", help="A lemma of the file; several may be named.", rich_help_panel=COQ)]
AllAdmitted = Annotated[bool, typer.Option("--all-admitted", help="All lemmas of the file that are admitted.", rich_help_panel=COQ)]
Write = Annotated[bool, typer.Option("--write", help="Put the proofs into the file; the old one stays as File.v.bak.", rich_help_panel=COQ)]
Copy = Annotated[Path | None, typer.Option("--copy", metavar="NEW.v", help="Put the proofs into a copy of the file instead.", rich_help_panel=COQ)]
Easy = Annotated[bool | None, typer.Option("--allow-easy/--block-easy", help="Tactics that search for proofs themselves (auto, lia, ...); blocked in experiments only.", rich_help_panel=SEARCH, show_default=False)]  # fmt: skip
Policy = Annotated[str | None, typer.Option("--policy", metavar="POLICY", help="puct, ucb1, best_first, blind_uniform; with options in brackets: 'puct(c=0.5)'.", rich_help_panel=SEARCH)]  # fmt: skip
Mode = Annotated[str, typer.Option("--mode", metavar="MODE", help="For formulas: invertible, or raw, where every rule is a tactic.", rich_help_panel=SEARCH)]  # fmt: skip
TacticSeconds = Annotated[float | None, typer.Option("--tactic-seconds", metavar="S", help="How long a tactic may take.", rich_help_panel=LIMITS)]
Iterations = Annotated[int | None, typer.Option("--iterations", metavar="N", help="At most so many iterations.", rich_help_panel=LIMITS)]
Attempts = Annotated[int | None, typer.Option("--attempts", metavar="N", help="At most so many tactics tried.", rich_help_panel=LIMITS)]
Tiers = Annotated[str | None, typer.Option("--tiers", metavar="N,N,...", help="Budget tiers in iterations; each goes on with the tree of the one before.", rich_help_panel=LIMITS)]  # fmt: skip
ProverWorkers = Annotated[int, typer.Option("--workers", metavar="N", help="Provers at work on one tree; in experiments, runs at a time.")]
Tree = Annotated[bool, typer.Option("--tree", help="Show the goals and the tactics that applied.")]
Trace = Annotated[Path | None, typer.Option("--trace", metavar="FILE.jsonl", help="Write every event of the search, one a line.")]
Suite = Annotated[Path | None, typer.Option("--suite", metavar="DIR", help="Run all problems of a folder or file.", rich_help_panel=EXPERIMENTS)]
BasinSeeds = Annotated[int | None, typer.Option("--basin-seeds", metavar="N", help="Run each theorem with N seeds, and tell where the proofs end.", rich_help_panel=EXPERIMENTS)]  # fmt: skip
BasinBlind = Annotated[bool, typer.Option("--basin-blind", help="Run blind_uniform too, and tell K.", rich_help_panel=EXPERIMENTS)]
Out = Annotated[Path | None, typer.Option("--out", metavar="FILE.jsonl", help="Keep the runs, one a line; an experiment that is there goes on.", rich_help_panel=EXPERIMENTS)]  # fmt: skip
Plot = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the basins, and K.", rich_help_panel=EXPERIMENTS)]


def prove(
    what: What = None,
    lemma: Lemmas = None,
    all_admitted: AllAdmitted = False,
    write: Write = False,
    copy: Copy = None,
    seconds: Seconds = None,
    attempts: Attempts = None,
    iterations: Iterations = None,
    tiers: Tiers = None,
    tactic_seconds: TacticSeconds = None,
    policy: Policy = None,
    allow_easy: Easy = None,
    mode: Mode = "invertible",
    workers: ProverWorkers = 1,
    seed: Seed = 0,
    tree: Tree = False,
    trace: Trace = None,
    suite: Suite = None,
    basin_seeds: BasinSeeds = None,
    basin_blind: BasinBlind = False,
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Look for a proof, and let a checker outside the search judge it: coqc for files of Coq, one of its own for formulas.

    Ends with 0 where everything was proved, and with 1 where something was not.
    """
    config = make_config(policy, tactic_seconds)
    limit = make_limit(iterations, attempts, seconds)
    steps = read_tiers(tiers)
    if suite is not None or basin_seeds is not None or basin_blind:
        from treetop.cli.prove_many import run_experiment

        refuse_single({"--write": write, "--copy": copy, "--tree": tree, "--trace": trace, "--all-admitted": all_admitted})
        run_experiment(
            what, suite, lemma or [], config, limit, steps, policy=policy, allow_easy=bool(allow_easy), mode=mode, workers=workers, seed=seed,
            basin_seeds=basin_seeds, basin_blind=basin_blind, out=out, plot=plot, as_json=as_json,
        )  # fmt: skip
        return
    refuse_single({"--out": out, "--plot": plot}, "keep or draw runs: that needs --suite or --basin-seeds")
    refuse_missing_folder(trace)
    refuse_missing_folder(copy)
    theorems = find_theorems(what, lemma or [], all_admitted=all_admitted, mode=mode, written=write or copy is not None)
    results = []
    with _trace_to(trace) as tell:
        for theorem in theorems:
            result = _search(theorem, config, limit, steps, seed=seed, workers=workers, allow_easy=allow_easy is not False, trace=tell)
            results.append(result)
            if not as_json:
                _show(theorem, result, tree=tree)
    written = _write(theorems, results, copy) if write or copy is not None else None
    if as_json:
        told = [_told(theorem, result) for theorem, result in zip(theorems, results, strict=True)]
        say_json(told[0] if len(told) == 1 else {"theorems": told})
    elif written is not None:
        say(written)
    if not all(result.proved for result in results):
        raise typer.Exit(FAILURE)


def make_config(policy: str | None, tactic_seconds: float | None) -> ProofConfig:
    """The settings of a search from its options."""
    from dataclasses import replace

    from treetop.prove.config import ProofConfig
    from treetop.prove.experiments import read_policy

    config = ProofConfig() if policy is None else read_policy(policy, ProofConfig())
    return config if tactic_seconds is None else replace(config, tactic_seconds=tactic_seconds)


def make_limit(iterations: int | None, attempts: int | None, seconds: float | None) -> ProofLimit | None:
    """The limit that the options give, if they give one."""
    from treetop.prove.limits import ProofLimit

    return None if iterations is attempts is seconds is None else ProofLimit(iterations, attempts, seconds)


def read_tiers(text: str | None) -> tuple[int, ...]:
    """Numbers between commas."""
    if text is None:
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--tiers are whole numbers between commas, such as 10,50,200,1000, not {text!r}") from None


def refuse_single(options: dict[str, Any], why: str = "are about single proofs, and this is an experiment") -> None:
    """Refuse options that would have no effect."""
    given = [name for name, value in options.items() if value]
    if given:
        raise ConfigError(f"{', '.join(given)} {why}")


def find_theorems(what: str | None, lemmas: list[str], *, all_admitted: bool, mode: str, written: bool) -> list[Theorem]:
    """What is to be proved. A file of Coq must compile as it is."""
    from treetop.prove.coq.theorem import CoqTheorem
    from treetop.prove.logic.theorem import LogicTheorem

    if what is None:
        raise ConfigError(f"say what to prove: {_HELP_WHAT[0].lower()}{_HELP_WHAT[1:]}")
    if not what.endswith(".v"):
        if lemmas or all_admitted or written:
            raise ConfigError(f"--lemma, --all-admitted, --write and --copy are for files of Coq, whose names end with .v, not for {what!r}")
        return [LogicTheorem.load(what, mode=mode) if what.endswith(".p") else LogicTheorem.read(what, mode=mode)]
    document = _read_document(what)
    names = list(dict.fromkeys([*lemmas, *(lemma.qualified for lemma in document.admitted if all_admitted)]))
    if not names:
        admitted = ", ".join(lemma.qualified for lemma in document.admitted) or "none"
        raise ConfigError(f"say which lemma of {what} to prove, by --lemma NAME or --all-admitted; admitted are: {admitted}")
    found = [CoqTheorem(what, name) for name in names]
    found[0].check_compiles()
    return list(found)


def _read_document(what: str) -> Any:
    from treetop.prove.coq.documents import Document

    try:
        return Document(Path(what).read_bytes().decode("utf-8", "surrogateescape"), what)
    except OSError as error:
        raise ProverError(f"{what} cannot be read: {error.strerror or error}") from error


@contextmanager
def _trace_to(path: Path | None) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    if path is None:
        yield None
        return
    try:
        file: TextIO = path.open("w", encoding="utf-8")
    except OSError as error:
        raise SaveError(f"{path} cannot be written: {error.strerror or error}") from error
    with file:

        def tell(event: dict[str, Any]) -> None:
            file.write(json.dumps(event) + "\n")

        yield tell


def _search(theorem: Theorem, config: ProofConfig, limit: ProofLimit | None, tiers: tuple[int, ...], **options: Any) -> ProofResult:
    from treetop.prove.limits import ProofLimit
    from treetop.prove.search import ProofSearch

    trace = options["trace"]
    if trace is not None:
        trace({"event": "theorem", "theorem": theorem.name, "facts": theorem.facts()})
    console = errors()
    with console.status(f"opening {theorem.name}") if console.is_terminal else nullcontext():
        search = ProofSearch(theorem, config, **options)
    with search, _live(theorem.name) as show:
        if tiers:
            return search.run_tiers(tiers, seconds=None if limit is None else limit.seconds, progress=show)
        return search.run(limit or ProofLimit(seconds=SECONDS), progress=show)


@contextmanager
def _live(name: str) -> Iterator[Callable[[ProofProgress], None] | None]:
    """Two lines on a terminal: how far the search is, and the best partial proof. Nothing elsewhere."""
    console = errors()
    if not console.is_terminal:
        yield None
        return
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(now: ProofProgress) -> None:
            goals = Text.assemble((f"{now.open:,} open", "yellow"), "  ", (f"{now.proved:,} proved", "green"), "  ", (f"{now.dead:,} dead", "red"))
            line = Text.assemble((name, "bold"), "  goals: ", goals, f"  {now.attempts:,} attempts, {now.rate:,.0f}/s, {now.elapsed:.0f} s")
            way = Text(". ".join(now.best)[: max(20, console.width - 4)], FAINT, no_wrap=True, overflow="ellipsis")
            live.update(Group(line, way), refresh=True)

        yield show


def _show(theorem: Theorem, result: ProofResult, *, tree: bool) -> None:
    console = screen()
    refuted = _refutation(theorem, result)
    mark = Text("proved", CHOSEN) if result.proved else Text("no theorem" if refuted is not None else "not proved", "bold red")
    counts = ", ".join(f"{count:,} {status}" for status, count in result.counts().items())
    console.print(Text(theorem.name, "bold"), Text(str(theorem.facts().get("statement", "")), FAINT), soft_wrap=True)
    console.print(facts({"result": Text.assemble(mark, "  ", result.summary()), "goals": counts}), soft_wrap=True)
    if result.script:
        console.print()
        console.print(result.script.rstrip(), soft_wrap=True)
    if refuted is not None:
        console.print()
        console.print(str(refuted), soft_wrap=True)
    if tree:
        console.print()
        console.print(result.tree(), soft_wrap=True)
    console.print()


def _refutation(theorem: Theorem, result: ProofResult) -> Any:
    """A counter-model, where the theorem is none and knows how to look for one."""
    refute = getattr(theorem, "refute", None)
    return None if result.proved or refute is None else refute(5.0)


def _told(theorem: Theorem, result: ProofResult) -> dict[str, Any]:
    refuted = _refutation(theorem, result)
    return {**result.to_dict(), **({} if refuted is None else {"counter_model": refuted.to_dict()})}


def _write(theorems: list[Theorem], results: list[ProofResult], copy: Path | None) -> str:
    """Put what was proved into the file; all of it at once, so that the file is whole at any time."""
    from treetop.prove.coq.theorem import CoqTheorem
    from treetop.prove.coq.writing import write_proofs

    proofs = [(theorem, result.script) for theorem, result in zip(theorems, results, strict=True) if result.proved and isinstance(theorem, CoqTheorem)]
    if not proofs:
        return "nothing was written"
    path = write_proofs(proofs, copy=copy)
    names = ", ".join(theorem.name for theorem, _ in proofs)
    return f"{names}: written to {path}" if copy is not None else f"{names}: written; the old file is {path}"
