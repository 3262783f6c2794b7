"""Programs as SVG: a layered graph of the program, and one of each region below it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from raxis.ptir.primitives import FAMILIES
from raxis.ptir.program import Instruction, Parameter, Program, Region, Value
from raxis.ptir.text import Names, attributes_text
from raxis.ptir.tools.layering import Edge, Placement, place

_CHARACTER, _LINE = 6.7, 14.0
_PADDING, _MARGIN, _ROW_GAP = 8.0, 16.0, 30.0
_LONGEST, _LONGEST_TIP = 34, 400
_BOX_CORNER = 4
_SAID_BY_TYPES = frozenset({"dtype", "shape"})

_STYLE = """
svg { background: #ffffff; }
text { font: 11px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b1f24; }
text.title { font-weight: bold; }
text.type { fill: #59636e; }
rect { fill: #f6f8fa; stroke: #8c959f; }
rect.panel { fill: none; stroke-dasharray: 4 3; }
rect.parameter { fill: #ddf4ff; stroke: #0969da; }
rect.result { fill: #dafbe1; stroke: #1a7f37; }
rect.contraction { fill: #fff1e5; stroke: #bc4c00; }
rect.reductions { fill: #fff8c5; stroke: #9a6700; }
rect.control { fill: #fbefff; stroke: #8250df; }
rect.random { fill: #ffeff7; stroke: #bf3989; }
path { fill: none; stroke: #8c959f; }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117; }
  text { fill: #e6edf3; }
  text.type { fill: #9198a1; }
  rect { fill: #161b22; stroke: #656c76; }
  rect.parameter { fill: #0c2d6b; }
  rect.result { fill: #033a16; }
  rect.contraction { fill: #5a1e02; }
  rect.reductions { fill: #4b2900; }
  rect.control { fill: #3c1e70; }
  rect.random { fill: #5e103e; }
}
""".strip()


class _Node(NamedTuple):
    """A box: its class, lines of text, and the text shown when it is pointed at."""

    kind: str
    lines: tuple[str, ...]
    tip: str

    @property
    def width(self) -> float:
        return max(map(len, self.lines)) * _CHARACTER + 2 * _PADDING

    @property
    def height(self) -> float:
        return len(self.lines) * _LINE + _PADDING


class _Panel(NamedTuple):
    """A drawn function."""

    width: float
    height: float
    body: str


def to_svg(program: Program) -> str:
    """The drawing of a program, an SVG document that any browser shows.

    Example:
        >>> from raxis.ptir.builder import Builder
        >>> to_svg(Builder("empty").build([])).startswith("<svg")
        True
    """
    panels = list(_panels(Region(program.parameters, program.instructions, program.results), program.name))
    width = max(panel.width for panel in panels) + 2 * _MARGIN
    y, body = _MARGIN, []
    for panel in panels:
        body.append(f'<g transform="translate({_MARGIN:.0f} {y:.1f})">\n{panel.body}</g>')
        y += panel.height + _MARGIN
    size = f'width="{width:.0f}" height="{y:.0f}" viewBox="0 0 {width:.0f} {y:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<title>{_text(program.name)}</title>\n'
        f"<style>{_STYLE}</style>\n" + "\n".join(body) + "\n</svg>\n"
    )


def _panels(function: Region, title: str) -> Iterator[_Panel]:
    """The function's own panel, then those of its regions."""
    names = Names()
    yield _panel(function, title, names)
    for instruction in function.instructions:
        for number, region in enumerate(instruction.regions):
            place = f"{title} / {names.all(instruction.results)} {instruction.primitive}"
            yield from _panels(region, f"{place}, region {number}" if len(instruction.regions) > 1 else place)


def _panel(function: Region, title: str, names: Names) -> _Panel:
    nodes, edges = _graph(function, names)
    placement = place([node.width for node in nodes], edges)
    tops, height = _tops(nodes, placement)
    drawn = [
        _path(route, tops, nodes[edge.source].height)
        for edge, route in zip(edges, placement.routes, strict=True)
    ]
    drawn += [
        _box(node, center, tops[layer][0])
        for node, center, layer in zip(nodes, placement.centers, placement.layers, strict=True)
    ]
    width = max(placement.width, len(title) * _CHARACTER) + 2 * _MARGIN
    header = _LINE + _MARGIN
    body = (
        f'<rect class="panel" width="{width:.0f}" height="{height + header + _MARGIN:.0f}" rx="{_BOX_CORNER}"/>\n'
        f'<text class="title" x="{_PADDING:.0f}" y="{_LINE:.0f}">{_text(title)}</text>\n'
        f'<g transform="translate({_MARGIN:.0f} {header:.0f})">\n' + "\n".join(drawn) + "\n</g>\n"
    )
    return _Panel(width, height + header + _MARGIN, body)


def _graph(function: Region, names: Names) -> tuple[list[_Node], list[Edge]]:
    nodes = [_parameter(value, names) for value in function.parameters]
    home: dict[Value, int] = {value: number for number, value in enumerate(function.parameters)}
    edges: dict[Edge, None] = {}
    for instruction in function.instructions:
        number = len(nodes)
        edges.update(dict.fromkeys(Edge(home[value], number) for value in instruction.operands))
        nodes.append(_instruction(instruction, names))
        home.update(dict.fromkeys(instruction.results, number))
    edges.update(dict.fromkeys(Edge(home[value], len(nodes)) for value in function.results))
    returned = f"return {names.all(function.results)}".rstrip()
    return [*nodes, _Node("result", (_shortened(returned),), returned)], list(edges)


def _parameter(parameter: Parameter, names: Names) -> _Node:
    label = names(parameter) + (f" {parameter.name}" if parameter.name else "")
    type = f"scalar {parameter.type}" if parameter.by_value else str(parameter.type)
    tip = label if parameter.stable_id is None else f"{label} @{parameter.stable_id:032x}"
    return _Node("parameter", (_shortened(label), type), f"{tip}: {type}")


def _instruction(instruction: Instruction, names: Names) -> _Node:
    operands = names.all(instruction.operands)
    attributes = attributes_text(instruction.attributes)[1:-1]
    types = ", ".join(str(value.type) for value in instruction.results)
    title = f"{names.all(instruction.results)} {instruction.primitive}"
    label = _label(instruction.attributes)
    lines = [title, label, types] if label else [title, types]
    tip = _shortened(f"{title}({operands}) {attributes} : {types}", _LONGEST_TIP)
    return _Node(FAMILIES[instruction.primitive], tuple(map(_shortened, lines)), tip)


def _label(attributes: Mapping[str, Any]) -> str:
    """The attributes that say something the types do not."""
    shown = {name: value for name, value in attributes.items() if name not in _SAID_BY_TYPES and value != ()}
    if shown.keys() == {"value"}:
        return str(shown["value"])
    return attributes_text(shown)[1:-1]


def _shortened(line: str, longest: int = _LONGEST) -> str:
    return line if len(line) <= longest else line[: longest - 1] + "…"


def _tops(nodes: Sequence[_Node], placement: Placement) -> tuple[list[tuple[float, float]], float]:
    """Top and bottom of each layer, and the height of all."""
    heights = [0.0] * (max(placement.layers, default=-1) + 1)
    for node, layer in zip(nodes, placement.layers, strict=True):
        heights[layer] = max(heights[layer], node.height)
    tops, y = [], 0.0
    for height in heights:
        tops.append((y, y + height))
        y += height + _ROW_GAP
    return tops, max(y - _ROW_GAP, 0.0)


def _path(route: Sequence[tuple[float, int]], tops: Sequence[tuple[float, float]], height: float) -> str:
    """The line along a route that starts below a box of that height."""
    (x, layer), *rest = route
    commands = [f"M{x:.1f} {tops[layer][0] + height:.1f}V{tops[layer][1]:.1f}"]
    for target_x, target_layer in rest:
        start, end = tops[target_layer - 1][1], tops[target_layer][0]
        middle = (start + end) / 2
        commands.append(f"C{x:.1f} {middle:.1f} {target_x:.1f} {middle:.1f} {target_x:.1f} {end:.1f}")
        if target_layer != route[-1][1]:
            commands.append(f"V{tops[target_layer][1]:.1f}")
        x = target_x
    return f'<path d="{"".join(commands)}"/>'


def _box(node: _Node, center: float, top: float) -> str:
    left = center - node.width / 2
    lines = "".join(
        f'<text{"" if number == 0 else " class=" + quoteattr("type")} x="{left + _PADDING:.1f}" '
        f'y="{top + _LINE * (number + 1) - 1:.1f}">{_text(line)}</text>'
        for number, line in enumerate(node.lines)
    )
    return (
        f'<g><title>{_text(node.tip)}</title><rect class="{node.kind}" x="{left:.1f}" y="{top:.1f}" '
        f'width="{node.width:.1f}" height="{node.height:.1f}" rx="{_BOX_CORNER}"/>{lines}</g>'
    )


def _text(text: str) -> str:
    """XML text; characters that XML does not have become U+FFFD."""
    return escape(
        "".join(each if each.isprintable() or each == " " else "\N{REPLACEMENT CHARACTER}" for each in text)
    )
