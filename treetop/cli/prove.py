"""`treetop prove`: a proof of a formula or of a lemma in a file of Coq, accepted by a checker outside the search."""

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
    Seconds,
    Seed,
    Simulations,
    hang_up_is_quitting,
    refuse_missing_folder,
)
from treetop.cli.prove_files import WHAT, Run, find_work, learn_from
from treetop.cli.prove_shown import Found, find_counter_model, model_seconds, waiting, watching
from treetop.errors import ConfigError, SaveError
from treetop.text import json_text

if TYPE_CHECKING:
    from treetop.prove.config import ProofConfig
    from treetop.prove.prover import Theorem
    from treetop.search.limits import Limit

COQ, EXPERIMENTS = "Files of Coq", "Experiments"  # headings of `--help`
SECONDS = 60.0
"""How long a proof is looked for where no limit is given."""

What = Annotated[str | None, typer.Argument(metavar="WHAT", help=WHAT, show_default=False)]
Lemmas = Annotated[
    list[str] | None,
    typer.Option("--lemma", metavar="NAME", help="A lemma of the file; several may be named.", rich_help_panel=COQ),
]
AllAdmitted = Annotated[
    bool, typer.Option("--all-admitted", help="All lemmas of the file that are admitted.", rich_help_panel=COQ)
]
Write = Annotated[
    bool,
    typer.Option(
        "--write",
        help="Put each proof into the file as soon as it is found; the old file stays as File.v.bak.",
        rich_help_panel=COQ,
    ),
]
Copy = Annotated[
    Path | None,
    typer.Option(
        "--copy", metavar="NEW.v", help="Put the proofs into a copy of the file instead.", rich_help_panel=COQ
    ),
]
IncludeData = Annotated[
    bool,
    typer.Option(
        "--include-data",
        help="Look for values of what is no proposition, too (Definition d : nat -> nat. Admitted.): any value of the type will do.",
        rich_help_panel=COQ,
    ),
]
Learn = Annotated[
    list[Path] | None,
    typer.Option(
        "--learn",
        metavar="PATH",
        help="Suggest what was done at similar goals in the finished proofs of this file or folder, too; several may be named.",
        rich_help_panel=COQ,
    ),
]
Easy = Annotated[
    bool | None,
    typer.Option(
        "--allow-easy/--block-easy",
        help="Tactics that search for proofs themselves (auto, lia, ...); blocked in experiments only.",
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
        help="For formulas: invertible, or raw, where every rule is a tactic.",
        rich_help_panel=SEARCH,
    ),
]
TacticSeconds = Annotated[
    float | None,
    typer.Option("--tactic-seconds", metavar="S", help="How long a tactic may take.", rich_help_panel=LIMITS),
]
Attempts = Annotated[
    int | None, typer.Option("--attempts", metavar="N", help="At most so many tactics tried.", rich_help_panel=LIMITS)
]
Tiers = Annotated[
    str | None,
    typer.Option(
        "--tiers",
        metavar="N,N,...",
        help="Budget tiers in simulations; each goes on with the tree of the one before.",
        rich_help_panel=LIMITS,
    ),
]
ProverWorkers = Annotated[
    int, typer.Option("--workers", metavar="N", help="Provers at work on one tree; in experiments, runs at a time.")
]
Tree = Annotated[
    bool, typer.Option("--tree", help="Show the goals and the tactics that applied, as many as fit on a page.")
]
TreeAll = Annotated[
    bool, typer.Option("--tree-all", help="Show them all, and the tactics that failed with their reasons.")
]
Trace = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE.jsonl", help="Write every event of the search, one a line.")
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
        help="Run each theorem with N seeds, and tell where the proofs end.",
        rich_help_panel=EXPERIMENTS,
    ),
]
BasinBlind = Annotated[
    bool, typer.Option("--basin-blind", help="Run blind_uniform too, and tell K.", rich_help_panel=EXPERIMENTS)
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE.jsonl",
        help="Keep the runs, one a line; an experiment that is there goes on.",
        rich_help_panel=EXPERIMENTS,
    ),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the basins, and K.", rich_help_panel=EXPERIMENTS)
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
    """Look for a proof, and let a checker outside the search judge it: coqc for files of Coq, one of its own for formulas.

    Without a limit it looks for a minute at each theorem.

    Ends with 0 where everything was proved, with 1 where something was not or was skipped, with 2 where the input is wrong, and with 130 after Ctrl-C. An experiment (--suite, --basin-seeds) ends with 0 when
    it was run to its end: a theorem that is not proved there is a result, not a failure.
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
            "are about single proofs, and this is an experiment",
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
            seed=seed,
            basin_seeds=basin_seeds,
            basin_blind=basin_blind,
            out=out,
            plot=plot,
            as_json=as_json,
        )
        return
    refuse({"--out": out, "--plot": plot}, "keep or draw runs: that needs --suite or --basin-seeds")
    refuse_places(trace, copy, write=write)
    run = Run(as_json=as_json)
    options: dict[str, Any] = {
        "tree": (tree or tree_all, tree_all),
        "seed": seed,
        "allow_easy": allow_easy is not False,
    }
    try:
        with hang_up_is_quitting():
            work = find_work(
                what, lemma or [], all_admitted=all_admitted, mode=mode, write=write, copy=copy, data=include_data
            )
            run.begin(work)
            learn_from(learn or [], work)
            with _trace_to(trace) as tell, ProverSession(workers) as session:
                for theorem in work.theorems:
                    if not run.treat(
                        theorem,
                        lambda theorem: _search(theorem, config, limit, steps, trace=tell, session=session, **options),
                    ):
                        break
    except KeyboardInterrupt:
        run.interrupted = True
    run.finish()


def make_config(policy: str | None, tactic_seconds: float | None) -> ProofConfig:
    """The settings of a search from its options."""
    from dataclasses import replace

    from treetop.prove.config import ProofConfig, read_policy

    config = ProofConfig() if policy is None else read_policy(policy, ProofConfig())
    return config if tactic_seconds is None else replace(config, tactic_seconds=tactic_seconds)


def make_limit(simulations: int | None, attempts: int | None, seconds: float | None) -> Limit | None:
    """The limit that the options give, if they give one."""
    from treetop.search.limits import Limit

    return (
        None
        if simulations is attempts is seconds is None
        else Limit(simulations=simulations, calls=attempts, seconds=seconds)
    )


def read_tiers(text: str | None) -> tuple[int, ...]:
    """Numbers between commas."""
    if text is None:
        return ()
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--tiers are whole numbers between commas, such as 10,50,200,1000, not {text!r}") from None


def refuse(options: dict[str, Any], why: str) -> None:
    """Refuse options that would have no effect."""
    given = [name for name, value in options.items() if value]
    if given:
        raise ConfigError(f"{', '.join(given)} {why}")


def refuse_places(trace: Path | None, copy: Path | None, *, write: bool) -> None:
    """Refuse places where nothing could be written in the end, before there is anything to lose."""
    refuse_missing_folder(trace)
    refuse_missing_folder(copy)
    if copy is not None and write:
        raise ConfigError("--write changes the file and --copy leaves it alone: give one of them")
    if copy is not None and copy.exists():
        raise ConfigError(f"{copy} exists already: a copy is written to a new file")
    if copy is not None and copy.parent.is_dir() and not os.access(copy.parent, os.W_OK):
        raise SaveError(f"{copy} cannot be written: its folder does not allow it")


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
            file.write(json_text(event) + "\n")

        yield tell


def _search(
    theorem: Theorem,
    config: ProofConfig,
    limit: Limit | None,
    tiers: tuple[int, ...],
    *,
    tree: tuple[bool, bool],
    **options: Any,
) -> Found:
    """Look for a proof. `tree` says whether the tree is wanted, and whether all of it."""
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
        with watching(theorem.name) as show:
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
