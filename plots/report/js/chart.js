// Charts as SVG. A chart has panels side by side; a panel has two axes and marks of four kinds:
// `line` [x, y] with null for a gap, `points` {x, y, low, high, text}, `bars` {from, to, y, text},
// and `band` [from, to] across the panel. An axis has `low`, `high` and `ticks` [value, text].

const FONT = "12px system-ui, sans-serif";
const ROW = 22;  // pixels of a category
const PAD = 0.04;  // share of an axis beyond its values

// By matplotlib's names, as in library_styles.py, about 1 in radius.
const MARKERS = {
  o: "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0Z", s: "M-.9-.9H.9V.9H-.9Z", D: "M0-1.2L1.2,0 0,1.2-1.2,0Z",
  "^": "M0-1.15L1,.75H-1Z", v: "M0,1.15L1-.75H-1Z", ">": "M1.15,0L-.75,1V-1Z", "<": "M-1.15,0L.75,1V-1Z",
  P: "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
  X: "M-1.05-.5L-.5-1.05 0-.55 .5-1.05 1.05-.5 .55,0 1.05,.5 .5,1.05 0,.55-.5,1.05-1.05,.5-.55,0Z",
  "*": "M0-1.25L.29-.4 1.19-.39 .48,.15 .73,1.01 0,.5-.73,1.01-.48,.15-1.19-.39-.29-.4Z",
};

// A library's color and marker: the same in every run and in the figures.
function libraryStyle(run, name) {
  const [color, onDark, marker] = run.styles[name];
  return { color: theme() === "dark" ? onDark : color, marker };
}

// The color and marker of a cell's worker, by its number.
const workerStyle = (run, i) => libraryStyle(run, Object.keys(run.styles)[i % Object.keys(run.styles).length]);

function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const ruler = document.createElement("canvas").getContext("2d");

function textWidth(text) {
  ruler.font = FONT;
  return ruler.measureText(text).width;
}

// The text, cut where it is wider than this.
function fitted(text, width) {
  let end = text.length;
  while (end > 1 && textWidth(`${text.slice(0, end)}\u2026`) > width) end -= 1;
  return textWidth(text) <= width ? text : `${text.slice(0, end)}\u2026`;
}

// An axis over these values, with a margin beyond them.
function axis(title, values, ticks, log = false) {
  const [to, from] = log ? [Math.log, Math.exp] : [(value) => value, (value) => value];
  const [low, high] = [Math.min(...values), Math.max(...values)].map(to);
  const pad = (high - low) * PAD || Math.abs(high) * PAD || 1;
  return { title, ticks, log, low: from(low - pad), high: from(high + pad) };
}

// Round numbers within these values, about six.
function roundTicks(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const rough = (high - low || Math.abs(high) || 1) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((one) => one * power >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high; i += 1) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

function plainAxis(title, values, text = String) {
  return axis(title, values, roundTicks(values).map((tick) => [tick, text(tick)]));
}

const sharesAxis = (title, values) => plainAxis(title, values, (share) => `${Math.round(share * 100)} %`);

// A logarithmic axis for these times, with readable units.
function timeAxis(title, times) {
  const [low, high] = [Math.min(...times), Math.max(...times)];
  const decades = Math.log10(high / low);
  const steps = decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades < 3 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = -3; power < 13; power += 1) {
    for (const step of steps) {
      const tick = step * 10 ** power;
      if (tick >= low / 2 && tick <= high * 2) ticks.push(tick);
    }
  }
  // Times that lie close together may have none of these between them.
  if (high < 3 * low) ticks.splice(0, ticks.length, ...roundTicks(times));
  const text = (ns) => {
    const [, unit] = duration(ns).split(" ");
    return `${Number((ns / { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit]).toPrecision(9))} ${unit}`;
  };
  return axis(title, times, ticks.map((ns) => [ns, text(ns)]), true);
}

// A row for each name, the first one at the top. A mark's y is the number of its row.
function rowsAxis(names) {
  return { title: "", ticks: names.map((name, i) => [i, name]), low: names.length - 0.5, high: -0.5, isRows: true };
}

function scale({ low, high, log }, from, to) {
  const at = log ? Math.log : (value) => value;
  const share = (value) => Math.max(0, Math.min(1, (at(value) - at(low)) / (at(high) - at(low))));
  return (value) => from + share(value) * (to - from);
}

function marker(kind, x, y, { color, isOpen = false, size = 4.5 }) {
  return svg("path", { d: MARKERS[kind], transform: `translate(${x},${y}) scale(${size})`, class: "point",
    "vector-effect": "non-scaling-stroke", fill: isOpen ? "var(--paper)" : color, stroke: color, "stroke-width": 1.5 });
}

function drawLine({ line, color, dash, width = 1.8 }, x, y) {
  const d = line.map((at, i) => (at === null ? "" : `${i > 0 && line[i - 1] !== null ? "L" : "M"}${x(at[0])},${y(at[1])}`));
  return [svg("path", { d: d.join(""), class: "line", fill: "none", stroke: color, "stroke-width": width,
    "stroke-dasharray": dash })];
}

// The interval is along y, or along x where y is a row.
function drawPoints(mark, x, y, isRows) {
  return mark.points.map((at) => {
    const [here, there] = [x(at.x), y(at.y)];
    const [from, to] = [at.low ?? 0, at.high ?? 0].map(isRows ? x : y);
    const bar = isRows ? `M${from},${there}H${to}M${from},${there - 4}v8M${to},${there - 4}v8`
      : `M${here},${from}V${to}M${here - 3},${from}h6M${here - 3},${to}h6`;
    return svg("g", { "data-text": at.text },
      svg("circle", { cx: here, cy: there, r: 11, fill: "transparent" }),
      ...(at.low === undefined || at.low === null ? [] : [svg("path", { d: bar, class: "interval", stroke: mark.color, fill: "none" })]),
      marker(mark.marker, here, there, { ...mark, isOpen: mark.isOpen || at.isOpen }));
  });
}

function drawBars({ bars, color, isHatched }, x, y) {
  const thick = Math.abs(y(1) - y(0)) * 0.7;
  return bars.map(({ from, to, y: row, text }) => svg("rect", { "data-text": text, class: "bar",
    x: Math.min(x(from), x(to)), width: Math.abs(x(to) - x(from)), y: y(row) - thick / 2, height: thick,
    fill: isHatched ? "url(#hatch)" : color, stroke: isHatched ? "var(--ink)" : undefined }));
}

function hatch() {
  return svg("pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("path", { d: "M0,0V5", stroke: "var(--ink)", "stroke-width": 1.5 }));
}

function drawBand({ band, color, opacity = 1 }, x, box) {
  return [svg("rect", { x: x(band[0]), width: x(band[1]) - x(band[0]), y: box.top, height: box.bottom - box.top, fill: color, opacity })];
}

function drawTicks(xAxis, yAxis, x, y, box) {
  const made = [];
  const within = ({ ticks, low, high }) => ticks.filter(([value]) => value >= Math.min(low, high) && value <= Math.max(low, high));
  let free = -Infinity;  // the end of the last label below the panel
  for (const [value, text] of within(xAxis)) {
    const at = x(value), half = textWidth(text) / 2;
    made.push(svg("path", { d: `M${at},${box.top}V${box.bottom}`, stroke: "var(--line)" }));
    if (at - half < free) continue;
    free = at + half + 8;
    made.push(svg("text", { x: at, y: box.bottom + 16, "text-anchor": "middle", class: "x-tick" }, text));
  }
  for (const [value, text] of within(yAxis)) {
    const at = y(value);
    if (!yAxis.isRows) made.push(svg("path", { d: `M${box.left},${at}H${box.right}`, stroke: "var(--line)" }));
    const label = svg("text", { x: box.left - 7, y: at + 4, "text-anchor": "end", class: "y-tick" }, fitted(text, box.label));
    if (label.textContent !== text) label.dataset.text = text;
    made.push(label);
  }
  const middle = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const center = Math.min(middle[0], box.right + 18 - textWidth(xAxis.title) / 2);
  if (xAxis.title) made.push(svg("text", { x: center, y: box.bottom + 36, "text-anchor": "middle", class: "x-title" }, xAxis.title));
  if (yAxis.title) made.push(svg("text", { "text-anchor": "middle", class: "y-title", transform: `translate(${box.left - box.label - 16},${middle[1]}) rotate(-90)` }, yAxis.title));
  return made;
}

function drawPanel({ x: xAxis, y: yAxis, marks }, box) {
  const x = scale(xAxis, box.left, box.right), y = scale(yAxis, box.bottom, box.top);
  const groups = marks.map((mark) => svg("g", { "data-name": mark.name ?? "" }, ...(mark.band ? drawBand(mark, x, box)
    : mark.line ? drawLine(mark, x, y) : mark.bars ? drawBars(mark, x, y) : drawPoints(mark, x, y, yAxis.isRows))));
  const isBelow = (group, i) => marks[i].band !== undefined;
  return [...groups.filter(isBelow), ...drawTicks(xAxis, yAxis, x, y, box), ...groups.filter((group, i) => !isBelow(group, i))];
}

// A button for each name, which hides and shows its marks.
function drawKey(place, marks) {
  const named = new Map(marks.filter((mark) => mark.name && !mark.isUnlisted).map((mark) => [mark.name, mark]));
  if (named.size === 0) return null;
  return element("div", { class: "legend" }, ...[...named].map(([name, mark]) => {
    const sign = mark.points ? marker(mark.marker, 10, 6, mark)
      : mark.bars ? drawBars({ ...mark, bars: [{ from: 2, to: 18, y: 6 }] }, (at) => at, (at) => (at === 6 ? 6 : at * 12))[0]
        : drawLine({ ...mark, line: [[0, 6], [20, 6]] }, (at) => at, (at) => at)[0];
    const button = element("button", { type: "button", "aria-pressed": "true" }, svg("svg", { width: 20, height: 12 }, sign), name);
    button.addEventListener("click", () => {
      const isShown = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(isShown));
      place.querySelectorAll("[data-name]").forEach((group) => {
        if (group.dataset.name === name) group.style.display = isShown ? "" : "none";
      });
    });
    return button;
  }));
}

// Shows the text of the mark under the pointer.
function showTexts(place) {
  const tip = element("div", { class: "tip", hidden: true });
  place.onpointerover = ({ target, clientX, clientY }) => {
    const { text } = target.closest("[data-text]")?.dataset ?? {};
    tip.hidden = text === undefined;
    if (tip.hidden) return;
    tip.textContent = text;
    const box = place.getBoundingClientRect();
    tip.style.left = `${Math.max(0, Math.min(clientX - box.left + 12, box.width - tip.offsetWidth))}px`;
    tip.style.top = `${clientY - box.top + 14}px`;
  };
  place.onpointerleave = () => { tip.hidden = true; };
  return tip;
}

// `height` is that of the panels, in pixels. Each panel takes `share` of the width.
function drawChart(place, { height, panels }) {
  const legend = drawKey(place, panels.flatMap((panel) => panel.marks));
  const width = Math.max(place.clientWidth, 280);
  const below = panels.some((panel) => panel.x.title) ? 44 : 24;
  const whole = svg("svg", { viewBox: `0 0 ${width} ${height + below + 8}`, width, height: height + below + 8, class: "drawing" });
  if (panels.some((panel) => panel.marks.some((mark) => mark.isHatched))) whole.append(hatch());
  let left = 0;
  for (const panel of panels) {
    const space = width * (panel.share ?? 1);
    const label = Math.min(Math.max(0, ...panel.y.ticks.map(([, text]) => textWidth(text))), space * 0.5);
    const box = { label, left: left + label + (panel.y.title ? 30 : 10), right: left + space - 18, top: 8, bottom: height + 8 };
    whole.append(...drawPanel(panel, box));
    left += space;
  }
  place.replaceChildren(...[legend, whole, showTexts(place)].filter(Boolean));
}

// A chart that is drawn when it comes into view, and again when its data or its width changes.
class LazyChart {
  static all = [];

  constructor(id, draw) {
    Object.assign(this, { place: byId(id), draw, stale: true, visible: false, width: 0 });
    LazyChart.all.push(this);
    new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      this.refresh();
    }, { rootMargin: "200px" }).observe(this.place);
    new ResizeObserver(() => {
      if (this.place.clientWidth !== this.width && this.width > 0) this.changed();
    }).observe(this.place);
  }

  refresh(always = false) {
    if (!this.stale || !(this.visible || always)) return;
    this.stale = false;
    this.draw(this.place);
    this.width = this.place.clientWidth;
  }

  changed() {
    this.stale = true;
    this.refresh();
  }
}
