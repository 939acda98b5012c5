"""The Python package for research: graphs node by node, verdicts and proofs, single rewrites, schedules, learned costs."""

import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import rewright

SOURCE = pathlib.Path(os.environ["REWRIGHT_SOURCE_DIR"])
MERGED = "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))"
RELU = "(x:2) relu(relu(x)) => relu(x)"


def tiny() -> rewright.Graph:
    builder = rewright.GraphBuilder()
    x = builder.input("x", (2, 4))
    w, v = builder.weight("w", (4, 4), 0.5), builder.weight("v", (4, 4), [float(k) for k in range(16)])
    builder.output(builder.apply("ewadd", builder.apply("matmul", x, w), builder.apply("matmul", x, v), name="sum"), "y")
    return builder.finish()


class Nodes(unittest.TestCase):
    def test_a_graph_is_built_and_read_node_by_node(self):
        graph = tiny()
        self.assertEqual(len(graph), 6)
        self.assertEqual([node.kind for node in graph], ["input", "weight", "weight", "operator", "operator", "operator"])
        self.assertEqual([node.index for node in graph.nodes], list(range(6)))
        last = graph[-1]
        self.assertEqual((last.op, last.name, graph["sum"]), ("ewadd", "sum", last))
        self.assertEqual([tensor.shape for tensor in last.outputs], [(2, 4)])
        self.assertEqual([graph.nodes[tensor.node].op for tensor in last.inputs], ["matmul", "matmul"])
        self.assertEqual(graph.outputs, [last.outputs[0]])
        self.assertEqual(graph.output_names, ["y"])
        self.assertEqual(len(graph.edges), 6)
        self.assertIn((graph["x"].outputs[0], graph[3], 0), graph.edges)
        self.assertEqual(repr(graph["w"]), "<rewright.Node 1: weight w>")
        self.assertEqual(graph["v"].outputs[0].dtype, "float32")
        self.assertEqual(struct.unpack("<16f", graph["v"].value), tuple(float(k) for k in range(16)))
        self.assertIsNone(graph["x"].value)

    def test_attributes_are_those_of_the_operator(self):
        builder = rewright.GraphBuilder()
        x = builder.input("x", (1, 3, 8, 8))
        w = builder.weight("w", (4, 3, 3, 3))
        halves = builder.apply("split", builder.apply("conv2d", x, w, strides=[2, 2], padding="same"), axis=1, sizes=[1, 3])
        self.assertEqual([tensor.shape for tensor in halves], [(1, 1, 4, 4), (1, 3, 4, 4)])
        builder.output(halves[1])
        conv, split = builder.finish().nodes[2:]
        self.assertEqual((conv.attributes["strides"], conv.attributes["padding"]), ([2, 2], "same"))
        self.assertEqual((split.attributes["sizes"], split.attributes["axis"]), ([1, 3], 1))

    def test_what_does_not_fit_is_an_error_with_a_sentence(self):
        builder = rewright.GraphBuilder()
        x = builder.input("x", (2, 3))
        for message, wrong in [
            ("inner sizes", lambda: builder.apply("matmul", x, x)),
            ("matmull", lambda: builder.apply("matmull", x, x)),
            ("axes", lambda: builder.apply("transpose", x, axes=[1, 0])),
            ("'x'", lambda: builder.input("x", (2, 3))),
            ("sizes are 1 at least", lambda: builder.input("z", (2, 0))),
            ("at most 8 axes", lambda: builder.input("z", (1,) * 9)),
            ("no element type", lambda: builder.input("z", (2,), dtype="real")),
            ("takes 6 numbers, and 2 are given", lambda: builder.weight("w", (2, 3), [1.0, 2.0])),
            ("takes 24 bytes, and 3 are given", lambda: builder.weight("w", (2, 3), b"abc")),
        ]:
            with self.assertRaisesRegex(rewright.Error, message):
                wrong()
        with self.assertRaisesRegex(TypeError, "operand 0 of relu is no rewright.Tensor, but 'x'"):
            builder.apply("relu", "x")
        with self.assertRaisesRegex(TypeError, "parameter axis of concat is None"):
            builder.apply("concat", x, x, axis=None)
        graph = tiny()
        with self.assertRaisesRegex(IndexError, "6 nodes, and none at 6"):
            graph[6]
        with self.assertRaisesRegex(KeyError, "'nothing'"):
            graph["nothing"]

    def test_files_keep_values_and_names(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("tiny.onnx", "tiny.graph"):
                tiny().save(f"{folder}/{name}")
                again = rewright.Graph.load(f"{folder}/{name}")
                self.assertEqual(again, tiny())
                self.assertEqual(hash(again), hash(tiny()))
                self.assertEqual(again["v"].value, tiny()["v"].value)
                self.assertEqual([node.name for node in again.nodes if node.kind == "weight"], ["w", "v"])
            self.assertNotEqual(rewright.Graph.parse("x = input (2)\noutput x\n"), tiny())
            with self.assertRaisesRegex(rewright.Error, "none.graph"):
                rewright.Graph.load(f"{folder}/none.graph")

    def test_nodes_outlive_the_graph_that_was_asked(self):
        node = tiny()[3]
        self.assertEqual(node.op, "matmul")


class Proofs(unittest.TestCase):
    def setUp(self):
        self.axioms = rewright.axioms()

    def test_a_true_rule_is_proved_and_its_proof_can_be_read(self):
        verdict = rewright.verify(rewright.parse_rule(MERGED), self.axioms)
        self.assertEqual((verdict.verdict, verdict.proved, verdict.decided_by), ("proved", True, "egraph"))
        self.assertEqual(verdict.rule.trust, "certificate")
        self.assertEqual(verdict.rule.certificate, verdict.certificate)
        self.assertIsNone(rewright.check_certificate(verdict.rule, self.axioms))
        chains = rewright.explain(verdict.rule, self.axioms)
        self.assertEqual(len(chains), 1)
        self.assertEqual(chains[0].start, "ewadd(matmul(x, y), matmul(x, z))")
        self.assertEqual([step.after for step in chains[0]][-1], "matmul(x, ewadd(y, z))")
        self.assertTrue(all(step.axiom in self.axioms for step in chains[0]))

    def test_a_false_rule_is_refuted_with_numbers(self):
        verdict = rewright.verify(rewright.parse_rule("(x:2, y:2) matmul(x, y) => matmul(y, x)"), self.axioms)
        self.assertEqual((verdict.verdict, verdict.proved), ("refuted", False))
        self.assertIn("x", verdict.counterexample)
        self.assertEqual((verdict.certificate, verdict.rule.trust), ("", "none"))

    def test_what_the_axioms_do_not_say_is_unknown(self):
        few = self.axioms.only(["relu-relu"])
        verdict = rewright.verify(rewright.parse_rule(MERGED), few)
        self.assertEqual((verdict.verdict, verdict.certificate, verdict.rule.trust), ("unknown", "", "none"))
        self.assertTrue(verdict.reason)

    def test_a_certificate_of_another_rule_is_rejected(self):
        proved = rewright.verify(rewright.parse_rule(RELU), self.axioms).rule
        other = rewright.parse_rule(MERGED)
        with self.assertRaises(rewright.Error) as raised:
            rewright.check_certificate(other, self.axioms, proved.certificate)
        self.assertIn(raised.exception.code, ("mismatch", "parse"))
        with self.assertRaisesRegex(rewright.Error, "has no certificate"):
            rewright.check_certificate(other, self.axioms)
        with self.assertRaisesRegex(rewright.Error, "has no certificate"):
            rewright.save_rules("/tmp/never.rules", [other], self.axioms)

    def test_rules_are_saved_with_their_proofs(self):
        proved = [rewright.verify(rewright.parse_rule(text), self.axioms).rule for text in (RELU, MERGED)]
        with tempfile.TemporaryDirectory() as folder:
            rewright.save_rules(f"{folder}/mine.rules", proved, self.axioms)
            again = rewright.load_rules(f"{folder}/mine.rules")
            self.assertEqual(again, proved)
            self.assertEqual([rule.trust for rule in again], ["certificate", "certificate"])
            damaged = pathlib.Path(folder) / "mine.rules"
            damaged.write_text(damaged.read_text().replace("relu-relu@", "relu-relu@0", 1))
            with self.assertRaises(rewright.Error):
                rewright.load_rules(str(damaged))

    def test_axioms_are_listed_proved_and_audited(self):
        self.assertGreater(len(self.axioms), 100)
        axiom = self.axioms["relu-relu"]
        self.assertIn("relu-relu", self.axioms)
        self.assertEqual(axiom, next(each for each in self.axioms if each.name == "relu-relu"))
        self.assertIn(":named relu-relu", axiom.text)
        self.assertEqual(axiom.variables[0][1], "Tensor")
        self.assertTrue(axiom.file.endswith(".smt2") and axiom.line > 0)
        few = self.axioms.only(["relu-relu"])
        self.assertEqual(len(few), 1)
        proof, audit = few.prove(certify=True)[0], few.audit()[0]
        self.assertEqual((proof.name, proof.proved, proof.certified), ("relu-relu", True, True))
        self.assertEqual((audit.holds, audit.counterexample), (True, ""))
        self.assertGreater(audit.combinations, 0)
        with self.assertRaisesRegex(KeyError, "nothing"):
            self.axioms.only(["nothing"])

    def test_a_false_axiom_fails_its_audit_and_proves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "false.smt2"
            file.write_text(
                "(set-logic ALL)\n(declare-sort Tensor 0)\n(declare-fun relu (Tensor) Tensor)\n"
                "(assert (! (forall ((x Tensor)) (= (relu x) x)) :named relu-nothing :ranks \"x 2\" :source \"wrong\"))\n"
            )
            false = rewright.axioms([str(file)])
            self.assertFalse(false.audit()[0].holds)
            self.assertTrue(false.audit()[0].counterexample)
            self.assertFalse(false.prove()[0].proved)
            with self.assertRaisesRegex(rewright.Error, "relu-nothing"):
                rewright.verify(rewright.parse_rule(RELU), false)

    def test_ctrl_c_ends_an_audit(self):
        with self.assertRaises(KeyboardInterrupt):
            self.axioms.audit(max_dim=4, progress=lambda done, total: os.kill(os.getpid(), signal.SIGINT))

    def test_unknown_verifiers_are_an_error(self):
        with self.assertRaisesRegex(rewright.Error, "oracle"):
            rewright.verify(rewright.parse_rule(RELU), self.axioms, verifiers=["oracle"])


class Steps(unittest.TestCase):
    def test_a_rule_is_matched_and_applied(self):
        rule, graph = rewright.parse_rule(MERGED), tiny()
        found = rewright.matches(rule, graph)
        self.assertEqual(len(found), 2)  # A sum has no order.
        self.assertEqual([node.op for node in found[0].nodes].count("matmul"), 2)
        self.assertEqual({name: tensor.shape for name, tensor in found[0].inputs.items()}, {"x": (2, 4), "y": (4, 4), "z": (4, 4)})
        for match in found:
            after = rewright.apply(rule, graph, match)
            self.assertEqual([node.op for node in after.nodes if node.kind == "operator"], ["ewadd", "matmul"])
            self.assertEqual(after.output_names, ["y"])
        self.assertEqual(len(graph), 6)
        self.assertEqual(rewright.matches(rule, rewright.apply(rule, graph, found[0])), [])

    def test_a_match_of_another_graph_is_refused(self):
        rule = rewright.parse_rule(RELU)
        graph = rewright.Graph.parse("x = input (2, 3)\na = relu(x)\nb = relu(a)\noutput b\n")
        other = rewright.Graph.parse("x = input (2, 3)\na = tanh(x)\nb = relu(a)\nc = relu(b)\noutput c\n")
        with self.assertRaisesRegex(rewright.Error, "no match of rule"):
            rewright.apply(rule, other, rewright.matches(rule, graph)[0])

    def test_conditions_are_kept(self):
        rule = rewright.parse_rule("(x:2) relu(transpose(x)) => relu(x)")
        square, other = (f"x = input ({shape})\nt = transpose(x)\ny = relu(t)\noutput y\n" for shape in ("3, 3", "2, 3"))
        self.assertEqual(len(rewright.matches(rule, rewright.Graph.parse(square))), 1)
        self.assertEqual(rewright.matches(rule, rewright.Graph.parse(other)), [])

    def test_two_graphs_are_a_rule(self):
        source = rewright.Graph.parse("x = input (2, 3)\na = relu(x)\nb = relu(a)\noutput b\n")
        target = rewright.Graph.parse("x = input (2, 3)\na = relu(x)\noutput a\n")
        rule = rewright.Rule.from_graphs(source, target)
        self.assertEqual(rule, rewright.parse_rule(RELU))
        self.assertEqual(len({rule, rewright.parse_rule(RELU)}), 1)
        with self.assertRaises(rewright.Error):
            rewright.Rule.from_graphs(source, rewright.Graph.parse("y = input (4)\na = relu(y)\noutput a\n"))


class Kernels(unittest.TestCase):
    def test_a_kernel_is_tuned_and_goes_on_from_records(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = []
            tuned = rewright.tune(
                "(x:8x16, w:16x16 weight) relu(matmul(x, w))", trials=2, predictor="none", tuner="random",
                records=folder + "/records", progress=lambda trials, best: seen.append(trials),
            )
            self.assertEqual(tuned.trials, 2)
            self.assertGreater(tuned.best_us, 0)
            self.assertLessEqual(tuned.best_us, tuned.unscheduled_us)
            self.assertTrue(tuned.schedule)
            self.assertGreaterEqual(tuned.outcomes["ok"], 2)
            self.assertTrue(seen)
            again = rewright.tune(
                "(x:8x16, w:16x16 weight) relu(matmul(x, w))", trials=2, predictor="none", tuner="random", records=folder + "/records"
            )
            self.assertEqual(again.trials, 2)
            compiled = rewright.compile(tiny_model(), folder + "/code", name="tiny", records=folder + "/records")
            self.assertTrue(compiled.equal)
            self.assertEqual((compiled.name, compiled.difference, compiled.not_compiled), ("tiny", "", []))
            self.assertIn("tiny.h", os.listdir(folder + "/code"))
            self.assertGreater(compiled.kernels, 0)
            self.assertIsNone(compiled.us)
            with self.assertRaisesRegex(rewright.Error, "code") as raised:
                rewright.compile(tiny_model(), folder + "/code")
            self.assertEqual(raised.exception.code, "usage")

    def test_a_convolution_is_compiled_by_algorithms(self):
        with tempfile.TemporaryDirectory() as folder:
            model = convolution_model()
            page = folder + "/kernels.html"
            one = rewright.compile(model, folder + "/one", algorithm="im2col", report=page)
            self.assertTrue(one.equal)
            self.assertGreater(one.us, 0)
            self.assertEqual(len(one.kernel_times), one.kernels)
            self.assertTrue(all(name and us > 0 and limit >= 0 for name, _, us, limit in one.kernel_times))
            self.assertEqual(one.algorithms, [])
            self.assertIn("<h1>", pathlib.Path(page).read_text())
            several = rewright.compile(model, folder + "/several", algorithms=["direct", "im2col"])
            self.assertTrue(several.equal)
            self.assertGreater(several.us, 0)
            ((node, algorithm, us, usual_us),) = several.algorithms
            self.assertIn(algorithm, ("usual", "direct", "im2col"))
            self.assertLessEqual(us, usual_us)
            self.assertTrue(node)
            for wrong, code in (({"algorithm": "fft"}, "not found"), ({"algorithm": "im2col", "algorithms": ["all"]}, "usage"),
                                ({"algorithms": ["fft"]}, "not found")):
                with self.assertRaises(rewright.Error) as raised:
                    rewright.compile(model, folder + "/wrong", **wrong)
                self.assertEqual(raised.exception.code, code)
            with self.assertRaisesRegex(rewright.Error, "fits no node") as raised:
                rewright.compile(tiny_model(), folder + "/wrong", algorithm="im2col")
            self.assertFalse(os.path.exists(folder + "/wrong"))

    def test_ctrl_c_ends_a_search(self):
        with self.assertRaises(KeyboardInterrupt):
            rewright.tune(
                "(x:64x64, w:64x64) matmul(x, w)", trials=500, predictor="none", progress=lambda *at: os.kill(os.getpid(), signal.SIGINT)
            )

    def test_wrong_kernels_are_errors_with_their_place(self):
        with self.assertRaisesRegex(rewright.Error, "column 16"):
            rewright.tune("(x:8x4, w:5x6) matmul(x, w)", trials=1)
        with self.assertRaisesRegex(rewright.Error, "divination"):
            rewright.tune("(x:8x4) relu(x)", trials=1, tuner="divination")


def convolution_model() -> bytes:
    text = "x = input (1, 8, 12, 12)\nw = weight (8, 8, 3, 3)\ny = conv2d(x, w)\nz = relu(y)\noutput z\n"
    with tempfile.TemporaryDirectory() as folder:
        rewright.Graph.parse(text).save(folder + "/convolution.onnx")
        return pathlib.Path(folder, "convolution.onnx").read_bytes()


def tiny_model() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        tiny().save(folder + "/tiny.onnx")
        return pathlib.Path(folder, "tiny.onnx").read_bytes()


class Learning(unittest.TestCase):
    def test_a_cost_is_learned_saved_and_asked(self):
        data = str(SOURCE / "experiments/learn/onednn.kernels")
        cost = rewright.LearnedCost.fit([data], options={"rounds": 20, "models": 2}, split="none")
        self.assertGreater(cost.kernels, 500)
        small, large = (cost.predict(f"(x:{n}x{n}, w:{n}x{n} weight) matmul(x, w)").us for n in (64, 512))
        self.assertLess(small, large)
        with tempfile.TemporaryDirectory() as folder:
            cost.save(folder + "/cost.onnx")
            again = rewright.LearnedCost.load(folder + "/cost.onnx")
            self.assertEqual(again.device, cost.device)
            self.assertAlmostEqual(again.predict("(x:64x64, w:64x64 weight) matmul(x, w)").us, small, places=6)
        with self.assertRaisesRegex(rewright.Error, "none.kernels"):
            rewright.LearnedCost.fit(["none.kernels"])


class Example(unittest.TestCase):
    def test_the_cells_of_the_research_example_run(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, str(SOURCE / "core/python/examples/research.py"), folder], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in ("refuted by evaluate", "proved by egraph - certificate", "equal: True", "GFLOP/s", "4 trials"):
                self.assertIn(line, done.stdout)
            for file in ("model.onnx", "mine.rules", "cost.onnx", "code/example.c"):
                self.assertGreater((pathlib.Path(folder) / file).stat().st_size, 0, file)

    @unittest.skipUnless(shutil.which("mypy", path="/usr/bin"), "mypy is missing: scripts/install-dependencies --tests")
    def test_the_examples_have_types_that_mypy_takes(self):
        examples = sorted(str(file) for file in (SOURCE / "core/python/examples").glob("*.py"))
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "MYPYPATH": str(pathlib.Path(rewright.__file__).parent.parent)}
            for example in examples:
                done = subprocess.run(
                    ["/usr/bin/mypy", "--strict", f"--cache-dir={cache}", example], capture_output=True, text=True, env=environment
                )
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
