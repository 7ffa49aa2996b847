"""`treetop prove`: prove a formula or the lemmas of a Coq file. A checker outside the search verifies every proof."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from treetop.cli.common import (
    LIMITS,
    SEARCH,
    Json,
    On,
    Seconds,
    Seed,
    Simulations,
    hangup_as_interrupt,
    refuse_missing_folder,
)
from treetop.cli.prove_display import Found, find_counter_model, live_progress, model_seconds, waiting
from treetop.cli.prove_files import WHAT, Run, find_work, learn_from
from treetop.errors import ConfigError, SaveError
from treetop.text import json_text

if TYPE_CHECKING:
    from treetop.prove.config import ProofConfig
    from treetop.prove.prover import Theorem
    from treetop.search.limits import Limit

COQ, EXPERIMENTS = "Coq files", "Experiments"  # headings of `--help`
SECONDS = 60.0
"""The default time limit for each theorem."""

What = Annotated[str | None, typer.Argument(metavar="WHAT", help=WHAT, show_default=False)]
Lemmas = Annotated[
    list[str] | None,
    typer.Option("--lemma", metavar="NAME", help="A lemma of the file; may be repeated.", rich_help_panel=COQ),
]
AllAdmitted = Annotated[
    bool, typer.Option("--all-admitted", help="All admitted lemmas of the file.", rich_help_panel=COQ)
]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Write each proof to the file as soon as it is found; the old file is kept as File.v.bak.",
        rich_help_panel=COQ,
    ),
]
Copy = Annotated[
    Path | None,
    typer.Option(
        "--copy", metavar="NEW.v", help="Write the proofs to a copy of the file instead.", rich_help_panel=COQ
    ),
]
IncludeData = Annotated[
    bool,
    typer.Option(
        "--include-data",
        help="Also find values for data (Definition d : nat -> nat. Admitted.): any value of the type counts.",
        rich_help_panel=COQ,
    ),
]
Learn = Annotated[
    list[Path] | None,
    typer.Option(
        "--learn",
        metavar="PATH",
        help="Also suggest tactics of similar goals in the finished proofs of this file or folder; may be repeated.",
        rich_help_panel=COQ,
    ),
]
Easy = Annotated[
    bool | None,
    typer.Option(
        "--allow-easy/--block-easy",
        help="Tactics that search for proofs themselves (auto, lia, ...). Default: blocked in experiments only.",
        rich_help_panel=SEARCH,
        show_default=False,
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="POLICY",
        help="puct, ucb1, best_first, blind_uniform; with options in brackets: 'puct(c=0.5)'.",
        rich_help_panel=SEARCH,
    ),
]
Mode = Annotated[
    str,
    typer.Option(
        "--mode",
        metavar="MODE",
        help="For formulas: invertible, or raw, in which every rule is a tactic.",
        rich_help_panel=SEARCH,
    ),
]
TacticSeconds = Annotated[
    float | None,
    typer.Option("--tactic-seconds", metavar="S", help="The time limit of one tactic.", rich_help_panel=LIMITS),
]
Attempts = Annotated[
    int | None, typer.Option("--attempts", metavar="N", help="Try at most this many tactics.", rich_help_panel=LIMITS)
]
Tiers = Annotated[
    str | None,
    typer.Option(
        "--tiers",
        metavar="N,N,...",
        help="Budget tiers in simulations; each continues with the graph of the one before.",
        rich_help_panel=LIMITS,
    ),
]
ProverWorkers = Annotated[
    int,
    typer.Option("--workers", metavar="N", help="Provers that work on one theorem; in experiments, runs at a time."),
]
Tree = Annotated[
    bool, typer.Option("--tree", help="Show the goals and the tactics that applied, as many as fit on a page.")
]
TreeAll = Annotated[
    bool, typer.Option("--tree-all", help="Show all of them, and the tactics that failed with the reasons.")
]
Trace = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE.jsonl", help="Write every event of the search, one JSON object a line."),
]
Suite = Annotated[
    Path | None,
    typer.Option("--suite", metavar="DIR", help="Run all problems of a folder or file.", rich_help_panel=EXPERIMENTS),
]
BasinSeeds = Annotated[
    int | None,
    typer.Option(
        "--basin-seeds",
        metavar="N",
        help="Run each theorem with N seeds, and report which proofs are found how often.",
        rich_help_panel=EXPERIMENTS,
    ),
]
BasinBlind = Annotated[
    bool, typer.Option("--basin-blind", help="Also run blind_uniform, and report K.", rich_help_panel=EXPERIMENTS)
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE.jsonl",
        help="Save the runs, one a line; an experiment in the file is continued.",
        rich_help_panel=EXPERIMENTS,
    ),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Plot the basins, and K.", rich_help_panel=EXPERIMENTS)
]


def prove(
    what: What = None,
    lemma: Lemmas = None,
    all_admitted: AllAdmitted = False,
    write: Write = False,
    copy: Copy = None,
    learn: Learn = None,
    include_data: IncludeData = False,
    seconds: Seconds = None,
    attempts: Attempts = None,
    simulations: Simulations = None,
    tiers: Tiers = None,
    tactic_seconds: TacticSeconds = None,
    policy: Policy = None,
    allow_easy: Easy = None,
    mode: Mode = "invertible",
    workers: ProverWorkers = 1,
    on: On = None,
    seed: Seed = 0,
    tree: Tree = False,
    tree_all: TreeAll = False,
    trace: Trace = None,
    suite: Suite = None,
    basin_seeds: BasinSeeds = None,
    basin_blind: BasinBlind = False,
    out: Out = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Search for a proof, and check it outside the search: by coqc for Coq files, by an independent checker for
    formulas.

    The default limit is one minute for each theorem.

    Exit codes: 0 if everything was proved, 1 if something was not proved or was skipped, 2 if the input is wrong, 130
    after Ctrl-C. An experiment (--suite, --basin-seeds) exits with 0 when it is complete: a theorem that is not proved
    is a result there, not a failure.
    """
    from treetop.prove.sessions import ProverSession

    config = make_config(policy, tactic_seconds)
    limit = make_limit(simulations, attempts, seconds)
    steps = read_tiers(tiers)
    if suite is not None or basin_seeds is not None or basin_blind:
        from treetop.cli.prove_many import run_experiment

        refuse(
            {
                "--write": write,
                "--copy": copy,
                "--tree": tree,
                "--tree-all": tree_all,
                "--trace": trace,
                "--all-admitted": all_admitted,
                "--learn": learn,
                "--include-data": include_data,
            },
            "only for single proofs, not for experiments",
        )
        run_experiment(
            what,
            suite,
            lemma or [],
            config,
            limit,
            steps,
            policy=policy,
            allow_easy=bool(allow_easy),
            mode=mode,
            workers=workers,
            on=on,
            seed=seed,
            basin_seeds=basin_seeds,
            basin_blind=basin_blind,
            out=out,
            plot=plot,
            as_json=as_json,
        )
        return
    refuse({"--out": out, "--plot": plot}, "only for experiments, with --suite or --basin-seeds")
    refuse_places(trace, copy, write=write)
    run = Run(as_json=as_json)
    options: dict[str, Any] = {
        "tree": (tree or tree_all, tree_all),
        "seed": seed,
        "allow_easy": allow_easy is not False,
    }
    try:
        with hangup_as_interrupt():
            work = find_work(
                what, lemma or [], all_admitted=all_admitted, mode=mode, write=write, copy=copy, data=include_data
            )
            run.begin(work)
            learn_from(learn or [], work)
            with _trace_to(trace) as record, ProverSession(workers, on=on) as session:
                for theorem in work.theorems:
                    if not run.treat(
                        theorem,
                        lambda theorem: _search(
                            theorem, config, limit, steps, trace=record, session=session, **options
                        ),
                    ):
                        break
    except KeyboardInterrupt:
        run.interrupted = True
    run.finish()


def make_config(policy: str | None, tactic_seconds: float | None) -> ProofConfig:
    """Return the configuration that the options give."""
    from dataclasses import replace

    from treetop.prove.config import ProofConfig, read_policy

    config = ProofConfig() if policy is None else read_policy(policy, ProofConfig())
    return config if tactic_seconds is None else replace(config, tactic_seconds=tactic_seconds)


def make_limit(simulations: int | None, attempts: int | None, seconds: float | None) -> Limit | None:
    """Return the limit that the options give, or None."""
    from treetop.search.limits import Limit

    return (
        None
        if simulations is attempts is seconds is None
        else Limit(simulations=simulations, calls=attempts, seconds=seconds)
    )


def read_tiers(text: str | None) -> tuple[int, ...]:
    """Return the numbers between commas."""
    if text is None:
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(
            f"--tiers must be whole numbers between commas, such as 10,50,200,1000, not {text!r}"
        ) from None


def refuse(options: dict[str, Any], why: str) -> None:
    """Raise ConfigError for options that would have no effect."""
    given = [name for name, value in options.items() if value]
    if given:
        raise ConfigError(f"{', '.join(given)}: {why}")


def refuse_places(trace: Path | None, copy: Path | None, *, write: bool) -> None:
    """Raise an error for paths to which nothing could be written later, before the search starts."""
    refuse_missing_folder(trace, stream=True)
    refuse_missing_folder(copy)
    if copy is not None and write:
        raise ConfigError("--write and --copy exclude each other: give one of them")
    if copy is not None and copy.exists():
        raise ConfigError(f"{copy} exists already: a copy is written to a new file")
    if copy is not None and copy.parent.is_dir() and not os.access(copy.parent, os.W_OK):
        raise SaveError(f"{copy} cannot be written: its folder is read-only")


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

        def record(event: dict[str, Any]) -> None:
            file.write(json_text(event) + "\n")

        yield record


def _search(
    theorem: Theorem,
    config: ProofConfig,
    limit: Limit | None,
    tiers: tuple[int, ...],
    *,
    tree: tuple[bool, bool],
    **options: Any,
) -> Found:
    """Search for a proof. `tree` holds whether the tree is shown, and whether all of it is."""
    from dataclasses import replace

    from treetop.prove.outline import LINES
    from treetop.prove.search import ProofSearch
    from treetop.search.limits import Limit

    trace = options["trace"]
    if trace is not None:
        trace({"event": "theorem", "theorem": theorem.name, "facts": theorem.facts()})
    with waiting(f"opening {theorem.name}"):
        search = ProofSearch(theorem, config, **options)
    limit = limit or (None if tiers else Limit(seconds=SECONDS))
    seconds = None if limit is None else limit.seconds
    if limit is not None and seconds is not None:
        limit = replace(limit, seconds=seconds - model_seconds(theorem, seconds))
    with search:
        with live_progress(theorem.name) as show:
            if tiers:
                result = search.run_tiers(tiers, seconds=None if limit is None else limit.seconds, progress=show)
            else:
                assert limit is not None
                result = search.run(limit, progress=show)
        wanted, everything = tree
        drawn = search.tree(lines=None if everything else LINES, everything=everything) if wanted else None
    return Found(
        theorem,
        result,
        drawn,
        find_counter_model(theorem, result, None if seconds is None else seconds - result.seconds),
    )
