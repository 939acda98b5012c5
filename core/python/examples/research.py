"""From a graph to a proof, a rewrite, a schedule and code, step by step as in a notebook.

    python3 core/python/examples/research.py FOLDER     (PYTHONPATH=build/release/python where it is not installed)

Each part that starts with # %% is a cell: editors with Jupyter support run them one by one. Leaves in FOLDER a model, a
file of proved rules, schedules that were measured, C code and a learned cost.
"""

# %% A graph, built node by node
import pathlib
import sys

import rewright

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "python-research")
folder.mkdir(parents=True, exist_ok=True)

builder = rewright.GraphBuilder()
x = builder.input("x", (8, 16))
w, v = builder.weight("w", (16, 16), 0.5), builder.weight("v", (16, 16), [k / 256 for k in range(256)])
total = builder.apply("ewadd", builder.apply("matmul", x, w), builder.apply("matmul", x, v), name="total")
builder.output(builder.apply("relu", total), "y")
graph = builder.finish()
graph.save(str(folder / "model.onnx"))
for node in graph:
    print(f"{node.index} {node.kind:8} {node.op or node.name:8} {[t.shape for t in node.outputs]} {node.attributes}")
print(f"{len(graph.edges)} edges; the relu reads {graph[-1].inputs}")

# %% A rule, as text; does it hold? A wrong one has a counterexample
axioms = rewright.axioms()
wrong = rewright.verify(rewright.parse_rule("(x:2, y:2) matmul(x, y) => matmul(y, x)"), axioms)
print(wrong.verdict, "by", wrong.decided_by)
print(wrong.counterexample)

rule = rewright.parse_rule("(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))")
verdict = rewright.verify(rule, axioms)
print(verdict.verdict, "by", verdict.decided_by, "-", verdict.rule.trust)
for chain in rewright.explain(verdict.rule, axioms):
    print("   ", chain.start)
    for step in chain:
        print("  =", step.after, " by", step.axiom)

# %% The axioms that it used, proved from what the operators compute, and evaluated
used = axioms.only(sorted({step.axiom for chain in rewright.explain(verdict.rule, axioms) for step in chain}))
for proof, audit in zip(used.prove(certify=True), used.audit()):
    print(f"{proof.name}: proved {proof.proved}, certified {proof.certified}, holds at {audit.combinations:,} sizes")

# %% Where it applies, and what the graph is then
for match in rewright.matches(verdict.rule, graph):
    print(match, {name: tensor.shape for name, tensor in match.inputs.items()})
    print(rewright.apply(verdict.rule, graph, match))

# %% A file of rules with their proofs; each is replayed when it is read
rewright.save_rules(str(folder / "mine.rules"), [verdict.rule], axioms)
assert rewright.load_rules(str(folder / "mine.rules")) == [verdict.rule]

# %% The rules on the model
result = rewright.optimize((folder / "model.onnx").read_bytes(), [verdict.rule])
print(result, "equal:", result.equal)

# %% The fastest schedule of the product, of a few
tuned = rewright.tune(
    "(x:8x16, w:16x16 weight) relu(matmul(x, w))", trials=4, records=str(folder / "schedules"), predictor="none"
)
print(f"{tuned.trials} trials: {tuned.unscheduled_us:.2f} us -> {tuned.best_us:.2f} us, {tuned.gflops:.1f} GFLOP/s")
print(tuned.schedule)

# %% The model as C, compared with the original before it is there
compiled = rewright.compile(
    result.model, str(folder / "code"), name="example", records=str(folder / "schedules"), force=True
)
print(compiled, compiled.files)

# %% A cost learned from measured kernels
cost = rewright.LearnedCost.fit(
    [str(rewright.data_folder() / "experiments/learn/onednn.kernels")], options={"rounds": 20, "models": 2}, split="none"
)
cost.save(str(folder / "cost.onnx"))
print(cost.predict("(x:512x512, w:512x512 weight) relu(matmul(x, w))"), "on", cost.device)
