"""Rewright: a superoptimizer workbench for tensor programs.

    import rewright

    summary = rewright.run_campaign("campaign.toml", "my.store")
    rules = rewright.load_rules("my.store")
    result = rewright.optimize(open("model.onnx", "rb").read(), rules)

    verdict = rewright.verify(rewright.parse_rule("(x:2) relu(relu(x)) => relu(x)"), rewright.axioms())
    graph = rewright.Graph.load("model.onnx")
    for match in rewright.matches(verdict.rule, graph):
        print(match, rewright.apply(verdict.rule, graph, match))

Whatever goes wrong is a `rewright.Error` that carries the library's sentence.
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from ._native import (
    Axiom,
    AxiomAudit,
    AxiomProof,
    Axioms,
    CampaignSummary,
    Compiled,
    Error,
    Graph,
    GraphBuilder,
    LearnedCost,
    Level,
    Match,
    Node,
    Optimized,
    Plugins,
    Prediction,
    ProofChain,
    ProofStep,
    Rewrite,
    Rule,
    Tensor,
    Tuned,
    Verdict,
    __version__,
    apply,
    campaign_summary,
    check_certificate,
    compile,
    explain,
    load_rules,
    matches,
    optimize,
    parse_rule,
    run_campaign,
    save_rules,
    simplify,
    tune,
    verify,
)

__all__ = [
    "Axiom",
    "AxiomAudit",
    "AxiomProof",
    "Axioms",
    "CampaignSummary",
    "Compiled",
    "Error",
    "Graph",
    "GraphBuilder",
    "LearnedCost",
    "Level",
    "Match",
    "Node",
    "Optimized",
    "Plugins",
    "Prediction",
    "ProofChain",
    "ProofStep",
    "Rewrite",
    "Rule",
    "Tensor",
    "Tuned",
    "Verdict",
    "__version__",
    "apply",
    "axioms",
    "campaign_summary",
    "check_certificate",
    "compile",
    "data_folder",
    "explain",
    "library",
    "load_rules",
    "matches",
    "optimize",
    "parse_rule",
    "run_campaign",
    "save_rules",
    "simplify",
    "tune",
    "verify",
]


def data_folder() -> pathlib.Path:
    """Where what came with Rewright lies: `axioms`, `experiments`."""
    for parent in pathlib.Path(__file__).resolve().parents:
        installed = parent / "share" / "rewright"
        if (installed / "axioms").is_dir():
            return installed
    from . import _source  # Of a build folder alone.

    return pathlib.Path(_source.FOLDER)


def axioms(files: Sequence[str] | None = None, *, plugins: Plugins | None = None) -> Axioms:
    """The axioms of these SMT-LIB files, or those that came with Rewright."""
    if files is None:
        shipped = sorted((data_folder() / "axioms").glob("*.smt2"))
        files = [str(file) for file in shipped if file.name not in ("rejected.smt2", "taso.smt2")]
    return Axioms.load(files, plugins=plugins)


def library(*, plugins: Plugins | None = None) -> list[Rule]:
    """The rules that came with Rewright; every proof is replayed, which takes a second."""
    folder = data_folder() / "experiments" / "library"
    rules: list[Rule] = []
    for name in ("library.rules", "networks.rules", "constants.rules"):
        if (folder / name).is_file():
            rules += load_rules(str(folder / name), plugins=plugins)
    return rules
