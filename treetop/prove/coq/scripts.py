"""Write a proof as a script: one tactic a line, a bullet for each of several subgoals."""

from __future__ import annotations

import re

from treetop.errors import ProverError
from treetop.prove.coq.sentences import is_one_tactic, split, without_comments
from treetop.prove.prover import Proof

_BULLETS = tuple(sign * width for width in (1, 2, 3) for sign in "-+*")
_PLAINLY_A_TACTIC = re.compile(r"[a-z_(\[]")
_COMMAND = re.compile(r"[A-Z#]")
_GIVING_UP = re.compile(r"\b(?:admit|give_up|Admitted|Abort|proof_admitted)\b")


def write_script(proof: Proof) -> str:
    """Return the lines of a proof, without `Proof` and `Qed`.

    The tactics are those that were tried, unchanged, between the same goals.
    """
    lines: list[str] = []
    pending: list[tuple[Proof | None, str, int]] = [
        (proof, "", 0)
    ]  # a proof, the text before it, the depth of bullets; None: a literal line
    while pending:
        part, lead, depth = pending.pop()
        if part is None:
            lines.append(lead)
            continue
        lines.append(f"{lead}{_sentence(part.tactic)}")
        margin = " " * len(lead)
        if len(part.parts) == 1:
            pending.append((part.parts[0], margin, depth))
            continue
        for subproof in reversed(part.parts):
            if depth < len(_BULLETS):
                pending.append((subproof, f"{margin}{_BULLETS[depth]} ", depth + 1))
            else:  # Coq has more bullets, but they are hard to tell apart
                pending.append((None, f"{margin}}}", depth))
                pending.append((subproof, f"{margin}{{ ", 0))
    return "\n".join(lines)


def command_in(script: str) -> str:
    """Return the first sentence of a script that may be a command, which can do more than a tactic; empty if there is
    none.
    """
    return next((sentence.text for sentence in split(script) if _COMMAND.match(sentence.text)), "")


def giving_up(script: str) -> str:
    """Return the word by which a script leaves something open; empty if there is none."""
    match = _GIVING_UP.search(without_comments(script, strings=False))
    return match.group() if match else ""


def _sentence(tactic: str) -> str:
    if not is_one_tactic(tactic):
        raise ProverError(f"this is not a single tactic and cannot be part of a script: {tactic!r}")
    # Commands begin with a capital letter or an attribute, tactics almost never: parentheses allow tactics only.
    return f"{tactic.strip()}." if _PLAINLY_A_TACTIC.match(without_comments(tactic).strip()) else f"( {tactic} )."
