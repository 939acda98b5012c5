"""The Python package: what it gives back, what it raises, and that its types are described as they are."""

import ast
import os
import pathlib
import re
import signal
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
