#!/usr/bin/env python3
"""Tries to catch wrong rules: a second, slow and simple meaning of the operators, in exact fractions.

  rule_oracle.py [--samples N] [--seed S] FILE.rules...        (or what `rewright rules export` writes, a rule a line)

Shares no code with the program: it reads the text form (core/rule/README.md), draws sizes at which a rule's source is
defined, and computes both sides on random numbers. Where the precondition holds the target must be defined too, of the
same shapes and with the same elements. Of sizes that break the precondition some should make a difference; a rule
without such sizes among those drawn has a precondition that is too narrow, perhaps, and is named, which is no failure.

Functions such as tanh are any function: a random one, the same wherever it occurs. Ends with 1 if a rule is wrong.
"""
import argparse
import itertools
import random
import re
import sys
from fractions import Fraction


class Undefined(Exception):
    """An operator does not take these shapes. `equal`: two sizes that would have to agree; `multiple`: a size and of
    what it would have to be a multiple."""

    def __init__(self, why, equal=None, multiple=None):
        super().__init__(why)
        self.equal, self.multiple = equal, multiple


# --- the text form ----------------------------------------------------------------------------------------------------

TOKEN = re.compile(r"\s*(?:([A-Za-z_][A-Za-z_0-9]*(?:\.\d+)?)|(-?\d+(?:\.\d+)?(?:e-?\d+)?)|(=>|!=|>=|<=|[()\[\]:,=|+*-]))")


class Reader:
    def __init__(self, text):
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            if not match:
                raise SyntaxError(f"cannot read '{text[at:at + 20]}'")
            self.tokens.append(match.group(0).strip())
            at = match.end()
        self.at = 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, token):
        if self.peek() != token:
            return False
        self.at += 1
        return True

    def need(self, token):
        if not self.take(token):
            raise SyntaxError(f"expected '{token}', found '{self.peek()}'")

    def rule(self):
        self.need("(")
        inputs = {}
        while not self.take(")"):
            name = self.next()
            self.need(":")
            inputs[name] = int(self.next())
            self.take(",")
        source = self.side()
        self.need("=>")
        target = self.side()
        conditions = []
        if self.take("where"):
            conditions.append(self.condition())
            while self.take(","):
                conditions.append(self.condition())
        if self.peek():
            raise SyntaxError(f"'{self.peek()}' after the rule")
        return inputs, source, target, conditions

    def side(self):
        bindings = []
        while self.take("let"):
            names = [self.next()]
            while self.take(","):
                names.append(self.next())
            self.need("=")
            bindings.append((names, self.term()))
            self.need("in")
        return bindings, self.terms()

    def terms(self):
        terms = [self.term()]
        while self.peek() == "," and self.peek(1) not in ("where",):
            self.need(",")
            terms.append(self.term())
        return terms

    def term(self):
        name = self.next()
        params, operands, is_call = {}, [], False
        if self.take("["):
            is_call = True
            while not self.take("]"):
                key = self.next()
                self.need("=")
                params[key] = self.value()
                self.take(",")
        if self.take("("):
            is_call = True
            if not self.take(")"):
                operands = self.terms()
                self.need(")")
        return ("call", name, params, operands) if is_call else ("name", name)

    def value(self):
        if not self.take("["):
            if re.fullmatch(r"[A-Za-z_]+", self.peek()):
                return self.next()
            return self.size()
        values = []
        while not self.take("]"):
            values.append(self.size())
            self.take(",")
        return values

    def condition(self):
        left = self.size()
        relation = self.next()
        return relation, left, self.size()

    def size(self):
        """A size as a function of the sizes' values."""
        terms = [self.product()]
        while self.peek() in ("+", "-") or re.match(r"-\d", self.peek()):
            sign = 1
            if self.peek() in ("+", "-"):
                sign = 1 if self.next() == "+" else -1
            terms.append((sign, self.product()))
        if len(terms) == 1:
            return terms[0]
        return ("sum", [(1, terms[0])] + terms[1:])

    def product(self):
        factors = [self.factor()]
        while self.take("*"):
            factors.append(self.factor())
        return factors[0] if len(factors) == 1 else ("product", factors)

    def factor(self):
        token = self.next()
        if token == "floor":
            self.need("(")
            size = self.size()
            if self.take(")"):
                return size
            raise SyntaxError("floor is not read yet")
        if token == "(":
            size = self.size()
            self.need(")")
            return size
        if re.match(r"-?\d", token):
            return ("number", Fraction(token))
        return ("size", token)


def value_of(size, sizes):
    kind, what = size
    if kind == "number":
        return int(what) if what.denominator == 1 else what
    if kind == "size":
        if what not in sizes:
            raise Undefined(f"nothing binds {what}")
        return sizes[what]
    if kind == "sum":
        return sum(sign * value_of(term, sizes) for sign, term in what)
    result = 1
    for factor in what:
        result *= value_of(factor, sizes)
    return result


def variables_of(size):
    kind, what = size
    if kind == "size":
        yield what
    elif kind == "sum":
        for _, term in what:
            yield from variables_of(term)
    elif kind == "product":
        for factor in what:
            yield from variables_of(factor)


# --- the meaning of operators -----------------------------------------------------------------------------------------


class Dim(int):
    """A size that knows the variable it is, if it is one."""

    name = None

    @staticmethod
    def of(value, name=None):
        dim = Dim(value)
        dim.name = name
        return dim


class Tensor:
    def __init__(self, shape, elements):
        self.shape, self.elements = list(shape), elements

    def __getitem__(self, index):
        at = 0
        for i, size in zip(index, self.shape):
            at = at * size + i
        return self.elements[at]


def indices(shape):
    return itertools.product(*(range(size) for size in shape))


def filled(shape, element):
    return Tensor(shape, [element(index) for index in indices(shape)])


def equal(a, b):
    if a != b:
        raise Undefined(f"{a} and {b} differ", (a, b))
    return a if getattr(a, "name", None) else b


def same_shape(a, b):
    if len(a.shape) != len(b.shape):
        raise Undefined("ranks differ")
    return [equal(p, q) for p, q in zip(a.shape, b.shape)]


def rank(tensor, wanted):
    if len(tensor.shape) != wanted:
        raise Undefined("wrong rank")


def relu(x):
    return x if x > 0 else 0


FUNCTIONS = {}


def any_function(name):
    def function(x):
        key = (name, x)
        if key not in FUNCTIONS:
            FUNCTIONS[key] = Fraction(random.Random(repr(key)).randint(-50, 50), 7)
        return FUNCTIONS[key]

    return function


ACTIVATIONS = {"none": lambda x: x, "relu": relu, "sigmoid": any_function("sigmoid"), "tanh": any_function("tanh")}


def elementwise(function):
    return lambda params, x: [Tensor(x.shape, [function(e) for e in x.elements])]


def of_two(function):
    return lambda params, x, y: [Tensor(same_shape(x, y), [function(a, b) for a, b in zip(x.elements, y.elements)])]


def smul(params, x, s):
    rank(s, 0)
    return [Tensor(x.shape, [e * s.elements[0] for e in x.elements])]


def matmul(params, a, b):
    if len(a.shape) != len(b.shape) or not 2 <= len(a.shape) <= 4:
        raise Undefined("ranks of a matrix product")
    batch = [equal(p, q) for p, q in zip(a.shape[:-2], b.shape[:-2])]
    inner = equal(a.shape[-1], b.shape[-2])

    def element(index):
        *n, i, j = index
        return sum(a[(*n, i, k)] * b[(*n, k, j)] for k in range(inner))

    return [filled([*batch, a.shape[-2], b.shape[-1]], element)]


def transpose(params, x):
    perm = params.get("perm", [1, 0])
    if sorted(perm) != list(range(len(x.shape))):
        raise Undefined("no permutation of the axes")

    def element(index):
        original = [0] * len(perm)
        for axis, i in zip(perm, index):
            original[axis] = i
        return x[original]

    return [filled([x.shape[axis] for axis in perm], element)]


def concat(params, *parts):
    axis = params.get("axis", 0)
    if len(parts) < 2 or any(len(p.shape) != len(parts[0].shape) for p in parts) or axis >= len(parts[0].shape):
        raise Undefined("parts of a concat")
    shape = list(parts[0].shape)
    for part in parts[1:]:
        shape = [p if a == axis else equal(p, q) for a, (p, q) in enumerate(zip(shape, part.shape))]
    shape[axis] = sum(int(part.shape[axis]) for part in parts)

    def element(index):
        index = list(index)
        for part in parts:
            if index[axis] < part.shape[axis]:
                return part[index]
            index[axis] -= part.shape[axis]
        raise AssertionError

    return [filled(shape, element)]


def split(params, x):
    axis, sizes = params.get("axis", 0), params["sizes"]
    if len(sizes) < 2 or axis >= len(x.shape) or any(size < 0 for size in sizes):
        raise Undefined("sizes of a split")
    if sum(sizes) != x.shape[axis]:
        raise Undefined("a split's sizes do not add up", ("sum", sizes, x.shape[axis]))
    parts, start = [], 0
    for size in sizes:
        shape = list(x.shape)
        shape[axis] = size
        parts.append(filled(shape, lambda i, start=start: x[[p + (start if a == axis else 0) for a, p in enumerate(i)]]))
        start += size
    return parts


def padding_of(params, extents):
    kind = params.get("padding", "same")
    if kind == "same":
        return [((e - 1) // 2, e // 2) for e in extents]
    if kind == "valid":
        return [(0, 0), (0, 0)]
    top, left, bottom, right = params["pads"]
    return [(top, bottom), (left, right)]


def window(params, sizes, taps, dilations):
    """Output sizes and zeros before, by axis."""
    strides = params.get("strides", [1, 1])
    extents = [(k - 1) * d + 1 for k, d in zip(taps, dilations)]
    outputs, before = [], []
    for axis, (first, last) in enumerate(padding_of(params, extents)):
        if params.get("padding", "same") == "same":
            outputs.append(sizes[axis] if strides[axis] == 1 else (sizes[axis] - 1) // strides[axis] + 1)
        else:
            if sizes[axis] + first + last < extents[axis]:
                raise Undefined("the window does not fit")
            outputs.append((sizes[axis] + first + last - extents[axis]) // strides[axis] + 1)
        before.append(first)
    return outputs, before, strides


def conv2d(params, x, w):
    rank(x, 4), rank(w, 4)
    groups, dilations = params.get("groups", 1), params.get("dilations", [1, 1])
    activation = ACTIVATIONS[params.get("activation", "none")]
    if w.shape[0] % groups != 0:
        raise Undefined("groups against output channels", multiple=(w.shape[0], groups))
    channels = w.shape[1]
    equal(x.shape[1], channels if groups == 1 else channels * groups)
    per_group = w.shape[0] // groups
    (rows, columns), (top, left), strides = window(params, x.shape[2:], w.shape[2:], dilations)

    def element(index):
        n, o, i, j = index
        total = 0
        for c in range(channels):
            for s in range(w.shape[2]):
                row = i * strides[0] - top + s * dilations[0]
                if not 0 <= row < x.shape[2]:
                    continue
                for t in range(w.shape[3]):
                    column = j * strides[1] - left + t * dilations[1]
                    if 0 <= column < x.shape[3]:
                        total += x[(n, o // per_group * channels + c, row, column)] * w[(o, c, s, t)]
        return activation(total)

    return [filled([x.shape[0], w.shape[0], rows, columns], element)]


def pool(params, x, of_window):
    rank(x, 4)
    kernel = params["kernel"]
    (rows, columns), (top, left), strides = window(params, x.shape[2:], kernel, [1, 1])

    def element(index):
        n, c, i, j = index
        inside = [
            x[(n, c, row, column)]
            for row in range(i * strides[0] - top, i * strides[0] - top + kernel[0])
            for column in range(j * strides[1] - left, j * strides[1] - left + kernel[1])
            if 0 <= row < x.shape[2] and 0 <= column < x.shape[3]
        ]
        return of_window(inside, kernel)

    return [filled([x.shape[0], x.shape[1], rows, columns], element)]


def pool2d_avg(params, x):
    if params.get("count_include_pad", "yes") == "yes":
        return pool(params, x, lambda inside, kernel: Fraction(sum(inside), kernel[0] * kernel[1]))
    return pool(params, x, lambda inside, kernel: Fraction(sum(inside), len(inside)))


def enlarge(params, w):
    rank(w, 4)
    kernel = params["kernel"]
    if any(k > size for k, size in zip(w.shape[2:], kernel)):
        raise Undefined("the kernel is larger already")
    before = [(size - 1) // 2 - (k - 1) // 2 for k, size in zip(w.shape[2:], kernel)]

    def element(index):
        o, i, *taps = index
        taps = [tap - shift for tap, shift in zip(taps, before)]
        inside = all(0 <= tap < k for tap, k in zip(taps, w.shape[2:]))
        return w[(o, i, *taps)] if inside else 0

    return [filled([*w.shape[:2], *kernel], element)]


def merge_gconv(params, w):
    rank(w, 4)
    count, groups = params["count"], params.get("groups", 1)
    if w.shape[0] % (count * groups) != 0:
        raise Undefined("groups against output channels", multiple=(w.shape[0], count * groups))
    outputs, channels = w.shape[:2]
    blocks = [[[] for _ in range(count)] for _ in range(groups)]  # The output channels of each group that there was.
    for o in range(outputs):
        group = o // (outputs // (count * groups))
        blocks[group // count][group % count].append(o)
    place = {o: p for merged in blocks for p, block in enumerate(merged) for o in block}

    def element(index):
        o, i, s, t = index
        first = place[o] * channels
        return w[(o, i - first, s, t)] if first <= i < first + channels else 0

    return [filled([outputs, count * channels, *w.shape[2:]], element)]


def constant(count, element):
    def operator(params):
        sizes = params["sizes"]
        if (count is not None and len(sizes) not in count) or any(size < 1 for size in sizes):
            raise Undefined("sizes of a constant")
        return [filled(sizes, lambda index: element(index, sizes))]

    return operator


def identity(params):
    sizes = params["sizes"]
    if len(sizes) not in (2, 3, 4):
        raise Undefined("rank of an identity matrix")
    equal(sizes[-1], sizes[-2])
    return [filled(sizes, lambda index: int(index[-1] == index[-2]))]


def is_centre(index, sizes):
    return all(tap == (size - 1) // 2 for tap, size in zip(index[2:], sizes[2:]))


def bias_add(params, x, b):
    rank(b, 1)
    axis = params.get("axis", 1)
    if axis >= len(x.shape):
        raise Undefined("the bias's axis")
    equal(x.shape[axis], b.shape[0])
    return [filled(x.shape, lambda index: x[index] + b[(index[axis],)])]


def broadcast(function):
    def operator(params, a, b):
        result, shapes = max(len(a.shape), len(b.shape)), []
        for tensor, stretched in ((a, params.get("stretch_left", [])), (b, params.get("stretch_right", []))):
            missing = result - len(tensor.shape)
            for axis in stretched:
                if axis < missing or tensor.shape[axis - missing] != 1:
                    raise Undefined("a stretched axis", (tensor.shape[axis - missing], 1))
            shapes.append([None] * missing + [None if axis + missing in stretched else size
                                              for axis, size in enumerate(tensor.shape)])
        shape = [q if p is None else p if q is None else equal(p, q) for p, q in zip(*shapes)]
        if None in shape:
            raise Undefined("both are stretched")

        def at(tensor, own, index):
            missing = result - len(tensor.shape)
            return tensor[[0 if own[axis] is None else index[axis] for axis in range(missing, result)]]

        return [filled(shape, lambda index: function(at(a, shapes[0], index), at(b, shapes[1], index)))]

    return operator


def reshape(params, x):
    sizes = params["sizes"]
    count = 1
    for size in sizes:
        count *= size
    if count != len(x.elements):
        raise Undefined("a reshape keeps the number of elements")
    return [Tensor(sizes, x.elements)]


def batch_norm(params, x, scale, bias, mean, variance):
    if len(x.shape) < 2:
        raise Undefined("rank of a normalised tensor")
    for of_channel in (scale, bias, mean, variance):
        rank(of_channel, 1)
        equal(x.shape[1], of_channel.shape[0])
    root = any_function("1 / sqrt")  # Of variance + epsilon; any function of the two.

    def element(index):
        c = (index[1],)
        return (x[index] - mean[c]) * root((variance[c], params.get("epsilon"))) * scale[c] + bias[c]

    return [filled(x.shape, element)]


OPERATORS = {
    "ewadd": of_two(lambda a, b: a + b),
    "ewmul": of_two(lambda a, b: a * b),
    "smul": smul,
    "matmul": matmul,
    "transpose": transpose,
    "concat": concat,
    "split": split,
    "relu": elementwise(relu),
    "sigmoid": elementwise(ACTIVATIONS["sigmoid"]),
    "tanh": elementwise(ACTIVATIONS["tanh"]),
    "exp": elementwise(any_function("exp")),
    "erf": elementwise(any_function("erf")),
    "conv2d": conv2d,
    "pool2d_max": lambda params, x: pool(params, x, lambda inside, kernel: max(inside)),
    "pool2d_avg": pool2d_avg,
    "enlarge": enlarge,
    "merge_gconv": merge_gconv,
    "constant_pool": constant((4,), lambda i, sizes: Fraction(int(i[0] % sizes[1] == i[1]), sizes[2] * sizes[3])),
    "constant_conv": constant((4,), lambda i, sizes: int(i[0] % sizes[1] == i[1] and is_centre(i, sizes))),
    "constant_identity": identity,
    "constant_one": constant(None, lambda i, sizes: 1),
    "bias_add": bias_add,
    "batch_norm": batch_norm,
    "reshape": reshape,
    "broadcast_add": broadcast(lambda a, b: a + b),
    "broadcast_sub": broadcast(lambda a, b: a - b),
    "broadcast_mul": broadcast(lambda a, b: a * b),
}


# --- both sides of a rule ---------------------------------------------------------------------------------------------


def parameter(value, sizes):
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [Dim.of(value_of(each, sizes), each[1] if each[0] == "size" else None) for each in value]
    return value_of(value, sizes)


def compute(side, inputs, sizes):
    bindings, outputs = side
    known = dict(inputs)

    def evaluate(term):
        """All outputs of the term."""
        if term[0] == "name":
            return [known[term[1]]]
        _, name, params, operands = term
        values = [value for operand in operands for value in evaluate(operand)]
        if name not in OPERATORS:
            raise NotImplementedError(name)
        return OPERATORS[name]({key: parameter(value, sizes) for key, value in params.items()}, *values)

    for names, term in bindings:
        known.update(zip(names, evaluate(term)))
    return [value for term in outputs for value in evaluate(term)]


class Rule:
    def __init__(self, text):
        self.text = text
        self.inputs, self.source, self.target, self.conditions = Reader(text).rule()
        self.sizes = [f"{name}.{axis}" for name, count in self.inputs.items() for axis in range(count)]
        bound = [token for token in Reader(text).tokens if re.fullmatch(r"s\d+", token) and token not in self.inputs]
        self.bound = sorted(set(bound))

    def holds(self, sizes):
        for relation, left, right in self.conditions:
            a, b = value_of(left, sizes), value_of(right, sizes)
            if not {"=": a == b, "!=": a != b, ">=": a >= b, "<=": a <= b, "|": relation == "|" and b % a == 0}[relation]:
                return False
        return True

    def draw(self, random):
        """Sizes at which the source is defined, and what it computes; nothing if none are found."""
        most = random.choice([2, 2, 3, 4])
        sizes = {name: random.randint(1, most) for name in self.sizes}
        sizes.update({name: random.randint(0, most) for name in self.bound})
        keep = random.random() < 0.7
        for _ in range(60):
            if keep:
                self.mend_conditions(sizes, random)
            inputs = {}
            for name, count in self.inputs.items():
                shape = [Dim.of(sizes[f"{name}.{axis}"], f"{name}.{axis}") for axis in range(count)]
                inputs[name] = filled(shape, lambda index: random.randint(-4, 4))
            try:
                return sizes, inputs, compute(self.source, inputs, sizes)
            except Undefined as error:
                self.mend(sizes, error, random, most)
        return None

    def mend(self, sizes, error, random, most):
        """Changes sizes so that the source is defined, perhaps."""
        if getattr((error.multiple or [None])[0], "name", None) in sizes:
            size, of = error.multiple
            sizes[size.name] = of * (random.randint(1, 2) if of < 8 else 1)
            if of >= 8:  # Many channels: the rest small.
                sizes.update({name: random.randint(1, 2) for name in sizes if sizes[name] > 2 and name != size.name})
        elif error.equal is None:
            name = random.choice(list(sizes))
            sizes[name] = random.randint(0 if name in self.bound else 1, most)
        elif error.equal[0] == "sum":
            _, parts, whole = error.equal
            named = [part for part in parts if part.name in sizes]
            if getattr(whole, "name", None) in sizes and (not named or random.random() < 0.5) and sum(parts) >= 1:
                sizes[whole.name] = sum(parts)
            elif named:
                part = random.choice(named)
                wanted = whole - (sum(parts) - part)
                sizes[part.name] = max(wanted, 0 if part.name in self.bound else 1)
                if wanted < 0:
                    other = random.choice(named)
                    sizes[other.name] = 0 if other.name in self.bound else 1
        else:
            a, b = error.equal
            names = [(side.name, other) for side, other in ((a, b), (b, a)) if getattr(side, "name", None) in sizes]
            if names and random.random() < 0.9:
                name, value = random.choice(names)
                sizes[name] = int(value)
            else:
                sizes[random.choice(list(sizes))] = random.randint(1, most)

    def mend_conditions(self, sizes, random):
        for relation, left, right in self.conditions:
            if relation != "=":
                continue
            sides = [(left, right), (right, left)]
            random.shuffle(sides)
            for side, other in sides:
                if side[0] == "size" and side[1] in sizes:
                    wanted = value_of(other, sizes)
                    if wanted >= (0 if side[1] in self.bound else 1):
                        sizes[side[1]] = wanted
                        break


class Finding(Exception):
    pass


def differ(rule, sizes, inputs, source):
    """Why the target is not what the source is; nothing if it is."""
    try:
        target = compute(rule.target, inputs, sizes)
    except Undefined as error:
        return f"the target is not defined: {error}"
    if len(source) != len(target):
        return f"{len(source)} outputs and {len(target)}"
    for number, (a, b) in enumerate(zip(source, target)):
        if a.shape != b.shape:
            return f"output {number}: shapes {list(map(int, a.shape))} and {list(map(int, b.shape))}"
        if a.elements != b.elements:
            return f"output {number}: the elements differ"
    return None


def try_rule(rule, samples, seed):
    """Samples inside and outside of the precondition, and of these outside how many make a difference."""
    draws = random.Random(f"{seed} {rule.text}")
    inside = outside = different = tries = 0
    while inside < samples and tries < samples * 20 + 100:
        tries += 1
        drawn = rule.draw(draws)
        if drawn is None:
            continue
        sizes, inputs, source = drawn
        if any(not output.elements for output in source) and inside > 0 and draws.random() < 0.9:
            continue
        why = differ(rule, sizes, inputs, source)
        if rule.holds(sizes):
            inside += 1
            if why:
                raise Finding(f"{why}, at {', '.join(f'{name} = {size}' for name, size in sizes.items())}")
        else:
            outside += 1
            different += why is not None
    return inside, outside, different


def rules_of(file):
    with open(file, encoding="ascii") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith(("rule ", "(")):
                yield number, line.removeprefix("rule ").strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE.rules")
    parser.add_argument("--samples", type=int, default=1000, help="inside each precondition (default 1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only every N-th rule")
    arguments = parser.parse_args()
    wrong = unreached = 0
    for file in arguments.files:
        count = inside = outside = different = 0
        narrow = []
        for number, text in itertools.islice(rules_of(file), 0, None, arguments.every):
            try:
                rule = Rule(text)
                of_rule = try_rule(rule, arguments.samples, arguments.seed)
            except (SyntaxError, NotImplementedError) as error:
                print(f"{file}:{number}: not understood: {error}", file=sys.stderr)
                return 2
            except Finding as finding:
                print(f"{file}:{number}: wrong: {finding}\n  {text}")
                wrong += 1
                continue
            if of_rule[0] == 0:
                print(f"{file}:{number}: no sizes found\n  {text}")
                unreached += 1
            if rule.conditions and of_rule[1] > 0 and of_rule[2] == 0:
                narrow.append(number)
            count, inside = count + 1, inside + of_rule[0]
            outside, different = outside + of_rule[1], different + of_rule[2]
            if sys.stderr.isatty():
                print(f"\r{file}: {count} rules, {inside} samples", end="", file=sys.stderr)
        print(f"{file}: {count} rules hold on {inside} samples; outside their preconditions {different} of {outside} differ")
        for number in narrow:
            print(f"{file}:{number}: the precondition is too narrow, perhaps: no difference outside")
    return 1 if wrong or unreached else 0


if __name__ == "__main__":
    sys.exit(main())
