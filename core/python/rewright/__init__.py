"""Rewright: a superoptimizer workbench for tensor programs.

    import rewright

    summary = rewright.run_campaign("campaign.toml", "my.store")
    rules = rewright.load_rules("my.store")
    result = rewright.optimize(open("model.onnx", "rb").read(), rules)

Whatever goes wrong is a `rewright.Error` that carries the library's sentence.
"""

from __future__ import annotations

import pathlib

from ._native import (
    CampaignSummary,
    Error,
    Graph,
    Level,
    Optimized,
    Plugins,
    Rewrite,
    Rule,
    __version__,
    campaign_summary,
    load_rules,
    optimize,
    parse_rule,
    run_campaign,
    simplify,
)

__all__ = [
    "CampaignSummary",
    "Error",
    "Graph",
    "Level",
    "Optimized",
    "Plugins",
    "Rewrite",
    "Rule",
    "__version__",
    "campaign_summary",
    "data_folder",
    "library",
    "load_rules",
    "optimize",
    "parse_rule",
    "run_campaign",
    "simplify",
]


def data_folder() -> pathlib.Path:
    """Where what came with Rewright lies: `axioms`, `experiments`."""
    for parent in pathlib.Path(__file__).resolve().parents:
        installed = parent / "share" / "rewright"
        if (installed / "axioms").is_dir():
            return installed
    from . import _source  # Of a build folder alone.

    return pathlib.Path(_source.FOLDER)


def library(*, plugins: Plugins | None = None) -> list[Rule]:
    """The rules that came with Rewright; every proof is replayed, which takes a second."""
    folder = data_folder() / "experiments" / "library"
    rules: list[Rule] = []
    for name in ("library.rules", "networks.rules", "constants.rules"):
        if (folder / name).is_file():
            rules += load_rules(str(folder / name), plugins=plugins)
    return rules
