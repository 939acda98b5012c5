"""Pages as readers see them: what the program writes, in a browser (look.mjs).

    pages_test.py NAME [--pictures FOLDER]    the pages of one line of pages.tsv
    pages_test.py --use                       a page of rewrites answers clicks, keys and links (use.mjs)
    pages_test.py --search                    the book finds a word and quotes the page that has it
    pages_test.py --broken                    small pages with a fault each: look.mjs finds it, and nothing on one that is whole

Reads REWRIGHT_SOURCE_DIR and REWRIGHT_BUILD_DIR; without them the tree that it lies in, and its build/release.
"""

import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = pathlib.Path(os.environ.get("REWRIGHT_SOURCE_DIR", HERE.parent.parent))
BUILD = pathlib.Path(os.environ.get("REWRIGHT_BUILD_DIR", SOURCE / "build/release"))

# A fault, what is said of it, and the page.
STYLE = "<style>body{margin:8px} .box{width:300px} td{min-width:120px}</style>"
TABLE = "<table><caption>Numbers</caption><tr>" + "<td>some cell</td>" * 4 + "</tr></table>"
BROKEN = [
    ("whole", "", "<p>A page.</p><div style='overflow:auto' tabindex=0 role=group aria-label=Numbers>" + TABLE + "</div>"),
    ("cut table", "cut: ", f"<div class=box style='overflow:hidden'>{TABLE}</div>"),
    ("cut text", "cut: ", "<div style='width:120px;overflow:hidden;white-space:nowrap'>a sentence that is long</div>"),
    ("cut below", "cut: ", "<div style='height:30px;overflow:hidden'>one<br>two<br>three</div>"),
    ("wide page", "wide: ", "<div style='width:1400px'>wide</div>"),
    ("wide on a phone", "wide: ", f"<div style='width:500px'>{TABLE}</div>"),
    ("text beyond a drawing", "cut: ", "<svg width=100 height=30 role=img aria-label=a><text x=60 y=20>a long label</text></svg>"),
    ("overlap", "overlap: ", "<p>first text</p><p style='margin-top:-30px'>other text</p>"),
    ("label on a point", "overlap: ", "<svg class=rw-plot width=100 height=30 role=img aria-label=a><circle cx=30 cy=15 r=3 /><text x=20 y=20>seven</text></svg>"),
    ("letters of a plot for a desk", "small: ", "<svg width=300 height=90 viewBox='0 0 900 270' role=img aria-label=a><text x=20 y=40 font-size=16>label</text></svg>"),
    ("path of this machine", "frame: it names a file of this machine", "<h2>Schedules of /home/me/product.loop</h2>"),
    ("overlap when unfolded", "overlap: ", "<details style='height:20px'><summary>more</summary><p>one</p></details><p>other</p>"),
    ("picture without words", "image-alt", "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw=' width=9 height=9>"),
    ("picture that is not there", "errors: ", "<img src='no.png' alt=none>"),
    ("headings out of order", "heading-order", "<h4>deep</h4>"),
    ("pale text", "color-contrast", "<p style='color:#ddd'>pale</p>"),
    ("scrolls by the mouse alone", "scrollable-region-focusable", f"<div class=box style='overflow:auto'>{TABLE}</div>"),
    ("no sign of focus", "keys: ", "<style>a{outline:none!important}</style><p><a href='#main'>link</a></p>"),
    ("two headings", "frame: 2 headings", "<h1>Another</h1>"),
    ("an id twice", "frame: the id 'a'", "<p id=a>one</p><p id=a>two</p>"),
    ("drawing without a name", "svg-img-alt", "<svg width=9 height=9 role=img></svg>"),
    ("link to the network", "frame: it names http://example.org", "<p><a href='http://example.org/'>elsewhere</a></p>"),
    ("script fails", "errors: ", "<script>null.x</script>"),
    ("network", "errors: it asks for", "<script src='http://127.0.0.1:9/a.js'></script>"),
]
MOST_BYTES = {"report": 300_000}
FRAME = "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content='width=device-width'><title>t</title>{}</head><body><a href=#main>to the page</a><main id=main><h1>Page</h1>{}</main><footer>end</footer></body></html>"
BARE = FRAME.replace("<a href=#main>to the page</a>", "").replace("<footer>end</footer>", "").replace(" lang=en", "").replace("name=viewport", "name=none")


def node(*command):
    environment = {**os.environ, "REWRIGHT_PAGES_MODULES": str(SOURCE / ".cache/pages")}
    return subprocess.run(["node", *command], capture_output=True, text=True, env=environment, timeout=1500)


def look(pages, pictures=None):
    return node(HERE / "look.mjs", *(["--pictures", pictures] if pictures else []), *pages)


def write(command, folder):
    environment = {**os.environ, "PATH": f"{BUILD}/bin:{os.environ['PATH']}", "SOURCE": str(SOURCE), "BUILD": str(BUILD)}
    written = subprocess.run(["bash", "-ec", command], capture_output=True, text=True, env=environment, timeout=900, cwd=folder)
    if written.returncode != 0:
        sys.exit(f"pages_test.py: {command}: exit {written.returncode}\n{written.stdout[-2000:]}{written.stderr[-2000:]}")


def chosen(pattern):
    """The files of FOLDER/*.html:3, spread over all of them."""
    pattern, _, most = pattern.partition(":")
    files = sorted(glob.glob(pattern, recursive=True))
    if not files:
        sys.exit(f"pages_test.py: the command wrote no page '{pattern}'")
    count = min(int(most or len(files)), len(files))
    return [files[i * len(files) // count] for i in range(count)]


def lines():
    for line in (HERE / "pages.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, command, pages = line.split("\t")
            yield name, command, pages


def check(name, pictures):
    found = [(command, pages) for known, command, pages in lines() if known == name]
    if not found:
        sys.exit(f"pages_test.py: pages.tsv has no '{name}'; there are: {', '.join(line[0] for line in lines())}")
    (command, pages), = found
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write(command, folder)
        files = [page for pattern in pages.split() for page in chosen(pattern)]
        large = [f"{file}: {os.path.getsize(file)} bytes" for file in files if os.path.getsize(file) > MOST_BYTES.get(name, 1e9)]
        answer = look(files, pictures)
    print(answer.stdout + answer.stderr + "\n".join(large))
    return 1 if large else answer.returncode


def check_use():
    with tempfile.TemporaryDirectory() as folder:
        write("rewright optimize $BUILD/models/quickstart.onnx -o out.onnx --candidates 2000 --no-measure --no-record --report out", folder)
        answer = node(HERE / "use.mjs", f"{folder}/out/index.html")
    print(answer.stdout + answer.stderr)
    return answer.returncode


def check_search():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([SOURCE / "scripts/book", "-o", folder], check=True, stdout=subprocess.DEVNULL, timeout=300)
        address = f"file://{folder}/search.html?q=UndefinedBehaviorSanitizer"
        browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=5000"]
        environment = {**os.environ, "HOME": folder}
        dom = subprocess.run([*browser, "--dump-dom", address], capture_output=True, text=True, env=environment, timeout=120).stdout
    found = re.search(r'<ul class="search">.*?</ul>', dom, re.S)
    results = re.sub(r"<[^>]+>", "", found[0]) if found else ""
    print(results)
    return 0 if "undefinedbehaviorsanitizer" in results.lower() else 1


def check_broken():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        pages = []
        for i, (_, _, body) in enumerate(BROKEN):
            pages.append(pathlib.Path(folder) / f"page{i}.html")
            pages[-1].write_text(FRAME.format(STYLE, body))
        pages.append(pathlib.Path(folder) / "bare.html")
        pages[-1].write_text(BARE.format(STYLE, "<p>A page.</p>"))
        answer = look(pages)
    print(answer.stdout + answer.stderr)
    for i, (fault, expected, _) in enumerate(BROKEN):
        said = [line for line in answer.stdout.splitlines() if f"page{i}.html: " in line]
        if bool(said) != bool(expected) or expected and not any(expected in line for line in said):
            print(f"{fault}: expected {expected or 'nothing'}, found {said}")
            wrong += 1
    for missing in ["no link leads past", "the language", "viewport", "no footer"]:
        if not re.search(rf"bare.html: frame: .*{missing}", answer.stdout):
            print(f"a page without its frame: '{missing}' is not said")
            wrong += 1
    return 1 if wrong or answer.returncode != 1 else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    pictures = None
    if "--pictures" in arguments:
        at = arguments.index("--pictures")
        pictures = os.path.abspath(arguments[at + 1])
        del arguments[at : at + 2]
    if len(arguments) != 1:
        sys.exit(__doc__)
    special = {"--broken": check_broken, "--search": check_search, "--use": check_use}.get(arguments[0])
    sys.exit(special() if special else check(arguments[0], pictures))
