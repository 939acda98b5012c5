"""The oracle itself: catches rules that are wrong, takes those that are right, knows some values by heart."""
import tempfile
import unittest

import rule_oracle
from rule_oracle import Finding, Rule, Tensor, Undefined


def tried(text, samples=40):
    return rule_oracle.try_rule(Rule(text), samples, 1)


class Oracle(unittest.TestCase):
    def test_catches_wrong_rules(self):
        for text in (
            "(x:2, y:2) relu(ewadd(x, y)) => ewadd(relu(x), relu(y))",
            "(x:2, y:2) matmul(x, y) => matmul(y, x)",
            "(x:4, w:4) relu(conv2d(x, w)) => conv2d(x, relu(w))",
            "(x:4) pool2d_avg[kernel=[3, 3], count_include_pad=no](x) => pool2d_avg[kernel=[3, 3]](x)",
            "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v))",  # Kernels of unequal size.
            "(x:4) pool2d_max[kernel=[3, 3]](relu(x)) => pool2d_max[kernel=[3, 2]](relu(x))",
            "(x:2, y:2) concat(x, y) => concat(y, x)",
            "(x:2) let v0, v1 = split[sizes=[s0, s1]](x) in v0 => let v0, v1 = split[sizes=[s1, s0]](x) in v0",
            "(x:4, w:4) conv2d(x, w) => conv2d(x, enlarge[kernel=[3, 3]](w))",  # Kernels of more than 3 taps.
            "(x:2) transpose(x) => x",
        ):
            with self.subTest(text), self.assertRaises(Finding):
                tried(text, 200)

    def test_takes_right_ones(self):
        for text in (
            "(x:2, y:2, z:2) matmul(matmul(x, y), z) => matmul(x, matmul(y, z))",
            "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) where w.2 = v.2, w.3 = v.3",
            "(x:4, w:4) conv2d(x, w) => conv2d(x, enlarge[kernel=[3, 3]](w)) where 3 >= w.2, 3 >= w.3",
            "(x:2, y:2) split[sizes=[x.0, y.0]](concat(x, y)) => x, y",
            "(x:4) pool2d_avg[kernel=[3, 3]](x) => conv2d(x, constant_pool[sizes=[x.1, x.1, 3, 3]])",
            "(x:3, s:0) smul(tanh(x), s) => ewmul(tanh(x), smul(constant_one[sizes=[x.0, x.1, x.2]], s))",
        ):
            with self.subTest(text):
                self.assertEqual(tried(text)[0], 40)

    def test_tells_where_a_precondition_matters(self):
        inside, outside, different = tried("(x:2, y:2) ewadd(x, y) => ewadd(y, x) where x.0 = 2", 100)
        self.assertEqual((inside, different), (100, 0))
        self.assertGreater(outside, 0)
        text = "(x:4, w:4, v:4) ewadd(conv2d(x, w), conv2d(x, v)) => conv2d(x, ewadd(w, v)) where w.2 = v.2, w.3 = v.3"
        inside, outside, different = tried(text, 100)
        self.assertEqual(outside, different)
        self.assertGreater(outside, 0)

    def test_refuses_what_it_does_not_understand(self):
        for text in ("(x:2) relu(x => x", "(x:2) relu(x) => x x", "(x:2) relu(x) => x where", "(x:2) relu(x)"):
            with self.subTest(text), self.assertRaises((SyntaxError, IndexError, AttributeError)):
                tried(text)
        with self.assertRaises(NotImplementedError):
            tried("(x:2) softmax(x) => x")

    def test_reads_libraries_and_lists(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write("axioms a.smt2\n\nrule (x:2) relu(relu(x)) => relu(x)\ncertificate 1\noutput 0\n. > a@1 x=x\n\n")
            file.write("(x:2) transpose(transpose(x)) => x\n")
            file.flush()
            self.assertEqual(
                list(rule_oracle.rules_of(file.name)),
                [(3, "(x:2) relu(relu(x)) => relu(x)"), (8, "(x:2) transpose(transpose(x)) => x")],
            )

    def test_computes_what_was_worked_out_by_hand(self):
        image = Tensor([1, 1, 2, 3], [1, 2, 3, 4, 5, 6])
        kernel = Tensor([1, 1, 3, 3], [0, 1, 0, 0, 0, 2, 0, 0, 0])
        self.assertEqual(rule_oracle.conv2d({}, image, kernel)[0].elements, [4, 6, 0, 11, 14, 3])
        self.assertEqual(rule_oracle.conv2d({"strides": [2, 2]}, image, kernel)[0].elements, [4, 0])
        pooled = rule_oracle.OPERATORS["pool2d_max"]({"kernel": [3, 3]}, Tensor([1, 1, 2, 2], [-1, -2, -3, -4]))
        self.assertEqual(pooled[0].elements, [-1, -1, -1, -1])
        self.assertEqual(rule_oracle.matmul({}, Tensor([1, 2], [1, 2]), Tensor([2, 1], [3, 4]))[0].elements, [11])
        with self.assertRaises(Undefined):
            rule_oracle.matmul({}, Tensor([1, 2], [1, 2]), Tensor([1, 2], [3, 4]))


if __name__ == "__main__":
    unittest.main()
