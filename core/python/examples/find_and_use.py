"""From a campaign to a cheaper model, in Python.

    python3 core/python/examples/find_and_use.py FOLDER     (PYTHONPATH=build/release/python where it is not installed)

Finds rules about sums and products of matrices, draws one, and uses all of them on a model with two projections of one
tensor. Leaves in FOLDER the store, the drawing and both models.
"""

import pathlib
import sys

import rewright

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "python-example")
folder.mkdir(parents=True, exist_ok=True)

# A campaign is a TOML file; what it finds goes to a store.
axioms = rewright.data_folder() / "axioms"
campaign = folder / "campaign.toml"
campaign.write_text(f"""
[campaign]
name = "sums of products"
max_operators = 3
inputs = [
  {{ name = "x", shapes = [[2, 3], [1, 2]] }},
  {{ name = "y", shapes = [[3, 3], [2, 2]] }},
  {{ name = "z", shapes = [[3, 3], [2, 2]] }},
]
pruners = ["renaming", "common_subgraph", "specialisation", "derivable"]
verifiers = ["evaluate", "egraph"]
axioms = ["{axioms}/elementwise.smt2", "{axioms}/linear_algebra.smt2"]

[operators]
ewadd = {{}}
matmul = {{}}
""")
summary = rewright.run_campaign(str(campaign), str(folder / "store"), fresh=True)
print(f"{summary.graphs:,} graphs, {summary.candidates:,} candidates, {summary.proved:,} proved, {summary.rules} rules")

# Rules know where they hold and what that rests on.
rules = rewright.load_rules(str(folder / "store"))
for rule in rules:
    print(f"{rule.trust:12} {rule.source} => {rule.target}")
(folder / "rule.dot").write_text(rules[0].to_dot())

# A model, here from text; any bytes of an ONNX model do.
graph = rewright.Graph.parse("""
x = input (32, 256)
w = weight (256, 256)
v = weight (256, 256)
a = matmul(x, w)
b = matmul(x, v)
sum = ewadd(a, b)
output sum
""")
model = graph.to_onnx()
(folder / "model.onnx").write_bytes(model)
result = rewright.optimize(model, rules)
(folder / "optimised.onnx").write_bytes(result.model)
for step in result.rewrites:
    print(f"{step.rule}: {step.cost_before_us:.1f} us -> {step.cost_after_us:.1f} us (modelled)")
print(f"equal to the original: {result.equal}, in {', '.join(result.compared_in)}")
print(rewright.Graph.from_onnx(result.model))
