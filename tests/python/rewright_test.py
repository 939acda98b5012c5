"""The Python package: what it gives back, what it raises, and that its types are described as they are."""

import ast
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import rewright

SOURCE = pathlib.Path(os.environ["REWRIGHT_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["REWRIGHT_BUILD_DIR"])
MODELS = SOURCE / "tests/models/simple"

CAMPAIGN = """
[campaign]
name = "relu"
max_operators = {operators}
inputs = [{{ name = "x", shapes = [[2, 3], [1, 2]] }}, {{ name = "y", shapes = [[2, 3], [1, 2]] }}]
pruners = ["renaming", "common_subgraph"]
verifiers = ["evaluate", "egraph"]
axioms = ["{axioms}/elementwise.smt2"]

[operators]
ewadd = {{}}
ewmul = {{}}
relu = {{}}
"""

TWO_PRODUCTS = """
x = input (1024, 256)
w = weight (256, 256)
v = weight (256, 256)
a = matmul(x, w)
b = matmul(x, v)
sum = ewadd(a, b)
output sum
"""
MERGED = "(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))"


def campaign_in(folder: str, operators: int = 2) -> str:
    file = pathlib.Path(folder) / "campaign.toml"
    file.write_text(CAMPAIGN.format(axioms=SOURCE / "axioms", operators=operators))
    return str(file)


class Campaigns(unittest.TestCase):
    def test_a_campaign_gives_rules_that_can_be_loaded_again(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = []
            summary = rewright.run_campaign(
                campaign_in(folder), folder + "/store", progress=lambda phase, done, fraction: seen.append(phase)
            )
            self.assertEqual(summary.state, "finished")
            self.assertGreater(summary.rules, 5)
            self.assertEqual(sum(level.graphs for level in summary.levels), summary.graphs)
            self.assertIn("verify", seen)
            rules = rewright.load_rules(folder + "/store")
            self.assertEqual(len(rules), summary.rules)
            self.assertTrue(all(rule.trust == "certificate" and rule.certificate for rule in rules))
            self.assertIn("relu(relu(x))", [rule.source for rule in rules])
            again = rewright.run_campaign(campaign_in(folder), folder + "/store", resume=True)
            self.assertTrue(again.was_finished)
            self.assertEqual(rewright.campaign_summary(folder + "/store").rules, summary.rules)
            self.assertEqual(repr(summary), f"<rewright.CampaignSummary relu: finished, {summary.rules} rules>")

    def test_an_exception_in_progress_ends_the_campaign_and_is_raised(self):
        def refuse(phase, done, fraction):
            raise ZeroDivisionError("enough")

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(ZeroDivisionError, "enough"):
                rewright.run_campaign(campaign_in(folder), folder + "/store", progress=refuse)
            self.assertEqual(rewright.run_campaign(campaign_in(folder), folder + "/store", resume=True).state, "finished")

    def test_ctrl_c_stops_it_and_it_can_be_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = campaign_in(folder, operators=7)  # Hours.
            with self.assertRaises(KeyboardInterrupt):
                rewright.run_campaign(
                    file, folder + "/store", progress=lambda *at: os.kill(os.getpid(), signal.SIGINT)
                )
            self.assertEqual(rewright.campaign_summary(folder + "/store").state, "stopped")

    def test_a_campaign_without_a_store_asks_for_one(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = r"where should the results go\? Give a store.*campaign\.toml"
            with self.assertRaisesRegex(rewright.Error, asked) as raised:
                rewright.run_campaign(campaign_in(folder))
            self.assertEqual(raised.exception.code, "usage")

    def test_a_campaign_at_work_is_seen_as_running(self):
        with tempfile.TemporaryDirectory() as folder:
            states = []

            def look(*at):
                states.append(rewright.campaign_summary(folder + "/store").state)
                raise StopIteration

            with self.assertRaises(StopIteration):
                rewright.run_campaign(campaign_in(folder), folder + "/store", progress=look)
            self.assertEqual(states, ["running"])

    def test_a_wrong_file_is_an_error_with_a_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(campaign_in(folder))
            file.write_text(file.read_text().replace("ewmul", "ewmull"))
            with self.assertRaisesRegex(rewright.Error, r"campaign.toml:\d+:\d+: .*ewmull") as raised:
                rewright.run_campaign(str(file), folder + "/store")
            self.assertNotEqual(raised.exception.code, "internal")


class Rules(unittest.TestCase):
    def test_a_rule_says_what_it_is(self):
        rule = rewright.parse_rule("(x:2, y:2) transpose(concat(x, y)) => concat[axis=1](transpose(x), transpose(y))")
        self.assertEqual(rule.inputs, "x:2, y:2")
        self.assertEqual(rule.source, "transpose(concat(x, y))")
        self.assertEqual(rule.trust, "none")
        self.assertRegex(rule.id, "^[0-9a-f]{32}$")
        self.assertEqual(rule.precondition, "")
        self.assertEqual(rule.name, "transpose-concat-to-concat-transpose-transpose-" + rule.id[:8])
        self.assertEqual(repr(rule), f"<rewright.Rule {rule.name}>")
        self.assertIn("digraph", rule.to_dot())

    def test_a_rule_says_where_it_holds(self):
        rule = rewright.parse_rule("(x:2) relu(transpose(x)) => relu(x)")
        self.assertEqual(rule.precondition, "x.0 = x.1")
        self.assertEqual(rule.text, "(x:2) relu(transpose(x)) => relu(x) where x.0 = x.1")

    def test_a_rule_that_cannot_be_read_says_where(self):
        with self.assertRaisesRegex(rewright.Error, "concatt"):
            rewright.parse_rule("(x:2, y:2) concatt(x, y) => concat(y, x)")

    def test_the_own_library_is_found_and_proved(self):
        rules = rewright.library()
        self.assertGreater(len(rules), 300)
        self.assertTrue(all(rule.trust == "certificate" for rule in rules))

    def test_rules_outlive_the_plugins_that_read_them(self):
        rules = [rewright.parse_rule(MERGED, plugins=rewright.Plugins()) for _ in range(2)]
        self.assertEqual(rules[0].text, MERGED)


class Optimising(unittest.TestCase):
    def test_bytes_go_in_and_cheaper_equal_bytes_come_out(self):
        model = rewright.Graph.parse(TWO_PRODUCTS).to_onnx()
        result = rewright.optimize(model, [rewright.parse_rule(MERGED)], trust="none")
        self.assertTrue(result.equal)
        self.assertLess(result.cost_after_us, result.cost_before_us)
        self.assertEqual(len(result.rewrites), 1)
        self.assertTrue(result.compared_in)
        self.assertGreaterEqual(result.max_abs_error, 0)
        self.assertLess(result.max_abs_error, 1e-3)
        self.assertRegex(repr(result), r"^<rewright.Optimized: [0-9.]+ -> [0-9.]+ us, 1 rewrites>$")
        self.assertRegex(repr(result.rewrites[0]), r"^<rewright.Rewrite ewadd-matmul.*: [0-9.]+ -> [0-9.]+ us>$")
        self.assertEqual(rewright.Graph.from_onnx(model).operator_count, 3)
        self.assertEqual(rewright.Graph.from_onnx(result.model).operator_count, 2)

    def test_a_model_is_simplified_without_rules(self):
        model = (MODELS / "conv_bn.onnx").read_bytes()
        exact, result = rewright.simplify(model, exact=True), rewright.simplify(model)
        self.assertEqual((exact.model, exact.simplifications), (model, {}))
        self.assertTrue(result.equal)
        self.assertEqual(result.simplifications["fused"], 1)
        self.assertEqual([step.rule for step in result.rewrites], ["simplification"])
        self.assertEqual(rewright.Graph.from_onnx(result.model).operator_count, 2)  # conv2d and its bias

    def test_weights_that_repeat_a_number_are_compared_as_random_ones(self):
        result = rewright.simplify((MODELS / "tiny_sigmoid.onnx").read_bytes())  # conv, batch normalisation, sigmoid
        self.assertTrue(result.equal)
        self.assertEqual(result.simplifications["fused"], 1)
        self.assertIn("the same with random weights", result.compared_in)

    def test_factors_that_a_product_rounds_too_far_stay_out_of_its_weights(self):
        result = rewright.simplify((MODELS / "matmul_add.onnx").read_bytes())  # a product, a sum, factors
        self.assertTrue(result.equal)
        self.assertEqual(result.simplifications["fused"], 1)

    def test_a_model_is_simplified_before_the_search(self):
        model = (MODELS / "mul1_add0_div1.onnx").read_bytes()
        result = rewright.optimize(model, [], trust="none")
        self.assertTrue(result.equal)
        self.assertEqual([step.rule for step in result.rewrites], ["simplification"])
        self.assertLess(len(result.model), len(model))

    def test_a_wrong_rule_is_found_out_and_named(self):
        wrong = rewright.parse_rule("(x:2, y:2, z:2) ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewmul(y, z))")
        model = rewright.Graph.parse(TWO_PRODUCTS).to_onnx()
        result = rewright.optimize(model, [wrong], trust="none")
        self.assertFalse(result.equal)
        self.assertEqual(result.culprit, result.rewrites[0].rule)
        self.assertTrue(repr(result).endswith(", not equal>"), repr(result))
        self.assertGreater(result.max_abs_error, 1e-3)
        self.assertEqual(rewright.Graph.from_onnx(result.model).operator_count, 3)

    def test_unproved_rules_are_refused(self):
        model = rewright.Graph.parse(TWO_PRODUCTS).to_onnx()
        with self.assertRaisesRegex(rewright.Error, "none of the rules is proved"):
            rewright.optimize(model, [rewright.parse_rule(MERGED)])

    def test_bad_requests_are_errors_with_a_sentence(self):
        model = rewright.Graph.parse(TWO_PRODUCTS).to_onnx()
        rule = [rewright.parse_rule(MERGED)]
        for wrong, message in [
            ({"search": "sideways"}, "sideways"),
            ({"cost_options": {"gflop": 3}}, "gflop"),
            ({"trust": "blind"}, "blind"),
            ({"runtime": "abacus"}, "abacus"),
        ]:
            with self.assertRaisesRegex(rewright.Error, message):
                rewright.optimize(model, rule, **{"trust": "none", **wrong})
        with self.assertRaises(rewright.Error):
            rewright.optimize(b"no model", rule, trust="none")

    def test_memory_that_ends_is_raised(self):
        plugins = rewright.Plugins([str(BUILD / "tests/plugins/cli/no_memory.so")])
        model = rewright.Graph.parse(TWO_PRODUCTS).to_onnx()
        with self.assertRaises(MemoryError):
            rewright.optimize(model, [], trust="none", cost="no-memory", plugins=plugins)

    def test_an_exception_in_progress_is_raised(self):
        def refuse(steps, candidates, best_us):
            raise LookupError("stop here")

        model = rewright.Graph.parse(TWO_PRODUCTS).to_onnx()
        with self.assertRaisesRegex(LookupError, "stop here"):
            rewright.optimize(model, [rewright.parse_rule(MERGED)], trust="none", progress=refuse)


class Graphs(unittest.TestCase):
    def test_text_and_onnx_and_back(self):
        graph = rewright.Graph.parse(TWO_PRODUCTS)
        self.assertEqual(graph.inputs, [("x", [1024, 256]), ("w", [256, 256]), ("v", [256, 256])])
        again = rewright.Graph.from_onnx(graph.to_onnx())
        self.assertEqual(again.operator_count, graph.operator_count)
        self.assertIn("digraph", again.to_dot())
        self.assertIn("matmul(x, w)", str(graph))
        self.assertEqual(repr(graph), "<rewright.Graph: 3 operators>")

    def test_drawings_are_svg(self):
        self.assertTrue(rewright.parse_rule(MERGED).to_svg().lstrip().startswith("<"))
        self.assertIn("<svg", rewright.Graph.parse(TWO_PRODUCTS).to_svg())


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


class Loaded(unittest.TestCase):
    def test_what_is_loaded_has_names(self):
        plugins = rewright.Plugins()
        self.assertIn("conv2d", plugins.operators)
        self.assertIn("egraph", plugins.verifiers)
        self.assertIn("common_subgraph", plugins.pruners)
        self.assertIn("backtracking", plugins.searches)
        self.assertIn("flops", plugins.costs)
        self.assertRegex(repr(plugins), r"^<rewright.Plugins: [0-9]+ of them>$")

    def test_a_plugin_that_is_not_there_is_an_error(self):
        with self.assertRaisesRegex(rewright.Error, "nothing.so"):
            rewright.Plugins(["nothing.so"])


class Description(unittest.TestCase):
    """The stub file says of every name what the module has, and nothing else; everything has a docstring."""

    def setUp(self):
        package = pathlib.Path(rewright.__file__).parent
        self.stub = ast.parse((package / "_native.pyi").read_text())

    def test_the_stub_names_what_there_is(self):
        described = {node.name for node in self.stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        native = {name for name in dir(rewright._native) if not name.startswith("_")}
        self.assertEqual(described, native)
        for node in self.stub.body:
            if not isinstance(node, ast.ClassDef) or node.name == "Error":
                continue
            members = {item.name for item in node.body if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")}
            own = {name for name in vars(getattr(rewright, node.name)) if not name.startswith("_")}
            self.assertEqual(members, own, node.name)

    def test_parameters_are_called_as_the_stub_says(self):
        for node in self.stub.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            names = [argument.arg for argument in node.args.args + node.args.kwonlyargs]
            signature = getattr(rewright._native, node.name).__doc__.splitlines()[0]
            self.assertEqual(re.findall(r"(\w+): ", signature), names, node.name)

    def test_everything_public_is_documented(self):
        for name in rewright.__all__:
            thing = getattr(rewright, name)
            if name == "__version__":
                continue
            self.assertTrue(thing.__doc__, name)
            for member in vars(thing) if isinstance(thing, type) else []:
                if not member.startswith("_"):
                    self.assertTrue(getattr(thing, member).__doc__, f"{name}.{member}")


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

    def test_the_example_script_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, str(SOURCE / "core/python/examples/find_and_use.py"), folder], capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("equal to the original: True", done.stdout)
            self.assertIn("ewadd(matmul(x, y), matmul(x, z)) => matmul(x, ewadd(y, z))", done.stdout)
            self.assertTrue((pathlib.Path(folder) / "optimised.onnx").stat().st_size > 0)


if __name__ == "__main__":
    unittest.main()
