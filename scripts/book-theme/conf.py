"""Sphinx's settings for scripts/book: the theme furo, and what makes its pages readable from the disk and by keys."""

import json
import pathlib
import re

project = "Rewright"
html_title = "Rewright"
extensions = ["myst_parser"]
html_theme = "furo"
html_static_path = ["theme"]
html_css_files = ["book.css"]
html_js_files = ["book.js"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
html_last_updated_fmt = None
myst_heading_anchors = 3
pygments_style = "default"
pygments_dark_style = "github-dark"
# Links to files of the tree that are no pages stay as text; pages quote languages that Pygments does not know.
suppress_warnings = ["ref.myst", "myst.header", "misc.highlighting_failure", "toc.not_readable"]
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5fbf", "color-brand-content": "#1f5fbf"},
    "dark_css_variables": {"color-brand-primary": "#86b4ff", "color-brand-content": "#86b4ff"},
}

texts = {}  # Of each page, for excerpts beside what the search finds.


def finish_page(app, page, template, context, tree):
    """What scrolls can be reached by keys; the text of the page is kept."""
    if page == "search":
        app.add_js_file("excerpts.js", priority=900)
        app.add_js_file("offline_search.js", priority=901)
    body = context.get("body")
    if not body:
        return
    context["body"] = body.replace("<pre>", '<pre tabindex="0">').replace(
        '<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'
    )
    # A corner without words is no heading.
    context["body"] = re.sub(r"<th [^>]*>(?:<p></p>)?</th>", "<td></td>", context["body"])
    text = re.sub(r"<(style|script)\b.*?</\1>|<a class=\"headerlink.*?</a>|<[^>]+>", " ", body, flags=re.S)
    texts[page] = re.sub(r"\s+", " ", text).strip()


# What the theme lacks for readers who do not see, or have no mouse: names and levels, by what stands there.
NAMES = [
    ("<body>", '<body>\n<a class="past-the-lists" href="#matter">To the page</a>'),
    ('<article role="main">', '<article role="main" id="matter">'),
    ('role="heading"', 'role="heading" aria-level="2"'),
    ('<aside class="sidebar-drawer"', '<aside class="sidebar-drawer" aria-label="All pages"'),
    ('<aside class="toc-drawer', '<aside aria-label="On this page" class="toc-drawer'),
    ('<label class="overlay', '<label aria-hidden="true" class="overlay'),
    ('<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">'),
]


def finish_site(app, failed):
    if failed is not None:
        return
    out = pathlib.Path(app.outdir)
    text = "const kPageTexts = " + json.dumps(texts).replace("</", "<\\/") + ";\n"
    (out / "_static/excerpts.js").write_text(text)
    for page in out.rglob("*.html"):
        html = page.read_text()
        for there, instead in NAMES:
            html = html.replace(there, instead)
        # Labels that keys do not reach become buttons; book.js opens what they name.
        html = re.sub(
            r'<label class="((?:toc|nav)-overlay-icon[^"]*)" for="(\w+)">(.*?)</label>',
            r'<button type="button" class="\1" data-opens="\2">\3</button>',
            html,
            flags=re.S,
        )
        page.write_text(html)
    # Debian's package leaves a script and a sheet outside the page, which a page read from the disk does not get, and the
    # dark colours to those who ask for them by the button alone.
    styles, scripts = out / "_static/styles/furo.css", out / "_static/scripts"
    normalize = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css").read_text()
    sheet = re.sub(r"@import url\(/javascript/[^)]*\);", lambda _: normalize, styles.read_text())
    dark = re.search(r'body\[data-theme="dark"\] (\{[^}]*\})', sheet)
    if dark and "prefers-color-scheme: dark" not in sheet:
        sheet += '@media screen and (prefers-color-scheme: dark) { body:not([data-theme="light"]) ' + dark[1] + " }\n"
    styles.write_text(sheet)
    furo = re.sub(r"^import .*$", "", (scripts / "furo.js").read_text(), flags=re.M)
    (scripts / "furo.js").write_text((scripts / "gumshoe-patched.js").read_text() + "(() => {\n" + furo + "\n})();\n")


def setup(app):
    app.connect("html-page-context", finish_page, priority=900)  # After the theme.
    app.connect("build-finished", finish_site)
