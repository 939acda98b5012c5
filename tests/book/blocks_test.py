"""The pages of the book: their code blocks run, compile or parse, their commands exist, their links lead somewhere.

    console   lines after "$ " (and "> ", which continue them) are typed into one bash for each page, in an empty folder, with
              the program's folder on the PATH and nothing else prepared; the lines that follow are what is printed, where
              "..." stands for any text
    cpp       is compiled against the public headers
    python    is compiled; toml is parsed
    others    every line "rewright SUBCOMMAND ..." names a subcommand and options that there are

A comment line before a block says what it is not: <!-- long: why -->, not run here but by the test that it names;
<!-- from: FILE -->, no whole file: lines of FILE, which is compiled, in their order.
"""

import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import tomllib
import unittest

SOURCE = pathlib.Path(os.environ["REWRIGHT_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["REWRIGHT_BUILD_DIR"])
PROGRAM = BUILD / "bin" / "rewright"
FENCE = re.compile(r"^```")
# How many blocks are run by another test. A new one is a decision, so it is counted.
LONG = 0


class Block:
    def __init__(self, page, line, language, mark, text):
        self.where = f"{page}:{line}"
        self.language, self.mark, self.text = language, mark, text


def pages():
    listed = subprocess.run([SOURCE / "scripts/book", "--pages"], capture_output=True, text=True, check=True)
    return listed.stdout.split()


def blocks_of(page):
    blocks, start, before, indent = [], None, "", 0
    lines = (SOURCE / page).read_text().splitlines()
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if start is None and stripped.startswith("```"):
            start, language, indent = number, stripped[3:].strip(), len(line) - len(line.lstrip())
            mark = before.strip() if before.strip().startswith("<!--") else ""
        elif start is not None and stripped == "```":
            text = "\n".join(body[indent:] for body in lines[start : number - 1])
            blocks.append(Block(page, start, language, mark, text))
            start = None
        before = line
    return blocks


def commands_and_output(text):
    """[(command, printed)]"""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif line.startswith("> ") or line == ">":
            found[-1][0] += "\n" + line[2:]
        elif found:
            found[-1][1].append(line)
    return [(command, "\n".join(printed)) for command, printed in found]


def type_into_a_shell(commands):
    """What each prints. The shell is a reader's: it knows the program, and has an empty folder."""
    kept = {name: value for name, value in os.environ.items() if name in ("CXX", "CXXFLAGS") or name.endswith("SAN_OPTIONS")}
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as asides:
        environment = {"HOME": home, "LANG": "C.UTF-8", "PATH": f"{PROGRAM.parent}:/usr/local/bin:/usr/bin:/bin", **kept}
        outputs = [pathlib.Path(asides) / str(i) for i in range(len(commands))]
        script = "\n".join(f"eval {shlex.quote(command)} > {output} 2>&1" for command, output in zip(commands, outputs))
        subprocess.run(["bash", "-s"], input=script, cwd=home, env=environment, text=True, timeout=600)
        return [output.read_text() if output.exists() else "" for output in outputs]


def matches(expected, printed):
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, printed.strip(), re.DOTALL) is not None


def compiled(text):
    return subprocess.run(
        ["c++", "-std=c++20", "-fsyntax-only", f"-I{SOURCE / 'core/include'}", "-x", "c++", "-"],
        input=text, capture_output=True, text=True,
    )


def grammar():
    """By subcommand ("rules list"): its options. From the program's own completion script."""
    script = subprocess.run([PROGRAM, "describe", "bash"], capture_output=True, text=True, check=True).stdout
    return {
        path: options.split() for path, options in re.findall(r"^    '([^']*)'\) commands='[^']*' options='([^']*)'", script, re.M)
    }


class Pages(unittest.TestCase):
    def setUp(self):
        self.blocks = {page: blocks_of(page) for page in pages()}

    def every(self, *languages):
        return [block for blocks in self.blocks.values() for block in blocks if block.language in languages]

    def test_console_blocks_print_what_they_say(self):
        run = 0
        for page, blocks in self.blocks.items():
            typed = [
                (block.where, command, expected)
                for block in blocks
                if block.language == "console" and not block.mark.startswith("<!-- long")
                for command, expected in commands_and_output(block.text)
            ]
            printed = type_into_a_shell([command for _, command, _ in typed])
            for (where, command, expected), text in zip(typed, printed, strict=True):
                with self.subTest(where, command=command):
                    self.assertTrue(matches(expected, text), f"printed:\n{text}\nexpected:\n{expected}")
                run += 1
        self.assertGreater(run, 30)

    def test_cpp_blocks_compile(self):
        for block in self.every("cpp"):
            if block.mark.startswith("<!-- from: "):
                self.assert_quoted(block, block.mark.removeprefix("<!-- from: ").removesuffix(" -->"))
                continue
            done = compiled(block.text)
            self.assertEqual(done.returncode, 0, f"{block.where}:\n{done.stderr}")

    def assert_quoted(self, block, file):
        lines = iter(line.strip() for line in (SOURCE / file).read_text().splitlines())
        for line in block.text.splitlines():
            self.assertIn(line.strip(), lines, f"{block.where}: not in {file}, or not there in this order")

    def test_python_and_toml_blocks_are_what_they_say(self):
        for block in self.every("python"):
            compile(block.text, block.where, "exec")
        for block in self.every("toml"):
            with self.subTest(block.where):
                tomllib.loads(block.text)

    def test_commands_name_subcommands_and_options_that_there_are(self):
        known, looked_at = grammar(), 0
        for page, blocks in self.blocks.items():
            for block in blocks:
                for line in re.split(r"\n|; | \| | && ", block.text):
                    words = line.split("#")[0].removeprefix("$ ").split()
                    if not words or pathlib.Path(words[0]).name != "rewright":
                        continue
                    path = ""
                    for word in words[1:]:
                        longer = f"{path} {word}".strip()
                        path = longer if longer in known else path
                    # Alternatives ("rules list|show") and examples cut short end at their group.
                    with self.subTest(block.where, line=line):
                        self.assertTrue(path or any(word.startswith("-") for word in words[1:]) or len(words) == 1)
                        for word in words[1:]:
                            option = word.split("=")[0].strip("[]")
                            if word.startswith("--") and word != "--":
                                self.assertIn(option, known[path] + known[""])
                    looked_at += 1
        self.assertGreater(looked_at, 40)

    def test_exceptions_are_counted(self):
        marks = [block.mark for blocks in self.blocks.values() for block in blocks if block.mark]
        self.assertEqual(sum(mark.startswith("<!-- long") for mark in marks), LONG)

    def test_links_lead_somewhere(self):
        for page in self.blocks:
            text = re.sub(r"```.*?```|`[^`\n]*`", "", (SOURCE / page).read_text(), flags=re.S)
            for link in re.findall(r"(?<!\\)\[[^\[\]]*\]\(([^)\s]+)\)", text):
                if re.match(r"[a-z]+:|#", link):
                    continue
                target = (SOURCE / page).parent / link.split("#")[0]
                self.assertTrue(target.exists(), f"{page}: there is no {link}")


class Headers(unittest.TestCase):
    def test_what_operator_h_says_to_declare_is_what_it_calls(self):
        header = (SOURCE / "core/include/rewright/operator/operator.h").read_text()
        said = "\n".join(re.findall(r"^//     (.*)$", header, re.M))
        for name in ("describe", "shape", "define", "kernel"):
            self.assertIn(f" {name}(", said)
        program = (
            f"#include <rewright/operator/operator.h>\nnamespace rewright {{\nstruct Mine final : OperatorOf<Mine> {{\n"
            f"{said}\n}};\nstd::unique_ptr<Operator> mine() {{ return make_operator<Mine>(); }}\n}}\n"
        )
        done = compiled(program)
        self.assertEqual(done.returncode, 0, f"{program}:\n{done.stderr}")
        self.assertNotEqual(compiled(program.replace("describe()", "info()")).returncode, 0)


class Site(unittest.TestCase):
    @unittest.skipUnless(subprocess.run(["/usr/bin/python3", "-c", "import sphinx, myst_parser"], stderr=subprocess.DEVNULL).returncode == 0,
                         "Sphinx and the MyST parser are not installed: scripts/install-dependencies --tests")
    def test_it_holds_every_page_and_an_index_to_search(self):
        done = subprocess.run([SOURCE / "scripts/book"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        site = SOURCE / "build/book"
        for page in ["index.md", *pages()]:
            self.assertTrue((site / page).with_suffix(".html").is_file(), page)
        self.assertIn("Search.setIndex", (site / "searchindex.js").read_text()[:100])


class Itself(unittest.TestCase):
    """The test can fail."""

    def test_output_is_compared(self):
        self.assertTrue(matches("rules ...", "rules 17"))
        self.assertFalse(matches("rules 18", "rules 17"))
        self.assertFalse(matches("", "rewright: something is wrong"))

    def test_a_folder_that_is_entered_is_where_the_next_command_runs(self):
        printed = type_into_a_shell(["mkdir a && cd a", "export B=b", "basename $PWD; echo $B", "cat <<END\nc\nEND", "exit 1"])
        self.assertEqual(printed, ["", "", "a\nb\n", "c\n", ""])

    def test_nothing_is_prepared(self):
        self.assertEqual(type_into_a_shell(["ls -A", "echo $CMAKE_PREFIX_PATH$REWRIGHT_PLUGIN_PATH"]), ["", "\n"])

    def test_commands_continue_and_end(self):
        self.assertEqual(
            commands_and_output("$ cat <<END\n> a\n> END\na\n$ true"), [("cat <<END\na\nEND", "a"), ("true", "")]
        )


if __name__ == "__main__":
    unittest.main()
