"""All that is needed to run a proof search again, and to judge what is claimed of it."""

from __future__ import annotations

from typing import Any

from treetop.prove.config import ProofConfig
from treetop.prove.prover import Provider, Theorem


def make_report(theorem: Theorem, config: ProofConfig, provider: Provider, *, seed: int | None, workers: int, hooks: dict[str, str | None]) -> dict[str, Any]:
    """The settings, the seed, who suggested, and the theorem."""
    return {"theorem": theorem.facts(), **config.to_dict(), "seed": seed, "provider": provider.name, "workers": workers, **hooks}
