"""An anytime plot as SVG: how the best cost fell, over the candidates that a search had looked at."""
import html
import math

COLOURS = ("#1b6ca8", "#c0392b", "#1e8449", "#8e44ad", "#b9770e", "#16a085", "#7f8c8d")
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 380, 70, 36, 170, 46


def nice(value):
    return f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def places(curve, candidates):
    """A curve's corners: the best so far stands until the next is found, and until the search's end."""
    points = [(max(point["candidates"], 1), point["best"]) for point in curve]
    return points + [(max(candidates, points[-1][0]), points[-1][1])]


def plot(title, unit, searches):
    """`searches`: name, curve, candidates at the end; at least one."""
    lines = [(name, places(curve, candidates)) for name, curve, candidates in searches]
    last = max(10, max(x for _, points in lines for x, _ in points))
    costs = [y for _, points in lines for _, y in points]
    low, high = min(costs), max(costs)
    low, high = (low - 0.05 * (high - low), high) if high > low else (0.98 * low, 1.02 * high)

    def across(x):
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log10(x) / math.log10(last)

    def down(y):
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - y) / (high - low)

    text = [f'<svg xmlns="http://www.w3.org/2000/svg" xml:lang="en" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'font-family="sans-serif" font-size="12"><title>{html.escape(title)}</title>',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
            f'<text x="{LEFT}" y="20" font-size="14">{html.escape(title)}</text>']
    for power in range(int(math.log10(last)) + 1):
        x = across(10 ** power)
        text.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                    f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{10 ** power:,}</text>')
    for k in range(5):
        cost = low + (high - low) * k / 4
        text.append(f'<line x1="{LEFT}" y1="{down(cost):.1f}" x2="{WIDTH - RIGHT}" y2="{down(cost):.1f}" stroke="#ddd"/>'
                    f'<text x="{LEFT - 6}" y="{down(cost) + 4:.1f}" text-anchor="end">{nice(cost)}</text>')
    text.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">candidates looked at</text>'
                f'<text x="14" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 {HEIGHT / 2})">'
                f'best cost, {html.escape(unit)}</text>')
    for k, (name, points) in enumerate(lines):
        colour, dashes = COLOURS[k % len(COLOURS)], ("", "6 3", "2 2")[k % 3]
        way = f"M{across(points[0][0]):.1f} {down(points[0][1]):.1f}"
        way += "".join(f"H{across(x):.1f}V{down(y):.1f}" for x, y in points[1:])
        y = TOP + 12 + 18 * k
        stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}" fill="none"'
        text.append(f'<path d="{way}" {stroke}/><path d="M{WIDTH - RIGHT + 10} {y}h24" {stroke}/>'
                    f'<text x="{WIDTH - RIGHT + 40}" y="{y + 4}">{html.escape(name)}: {nice(points[-1][1])}</text>')
    return "\n".join(text) + "\n</svg>\n"
