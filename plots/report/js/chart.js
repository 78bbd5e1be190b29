// Charts. plotly.js is unpacked when the first chart comes into view.

// A library's color and marker: the same in every run and in the figures.
function libraryStyle(run, name) {
  const [color, onDark, symbol] = run.styles[name];
  return { color: theme() === "dark" ? onDark : color, symbol };
}

// The color and marker of a cell's worker, by its number.
const workerStyle = (run, i) => libraryStyle(run, Object.keys(run.styles)[i % Object.keys(run.styles).length]);

let library = null;

function plotly() {
  library ??= unpackText("plotly").then((text) => {
    document.head.append(element("script", {}, text));
    return window.Plotly;
  });
  return library;
}

const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(title, more = {}) {
  return { title: { text: title, standoff: 8 }, gridcolor: styled("--line"), zeroline: false,
    linecolor: styled("--line"), automargin: true, ...more };
}

// A logarithmic axis for these times, with readable units.
function timeAxis(title, times, more = {}) {
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
  const text = ticks.map((ns) => duration(ns).replace(/^[\d.]+/, (number) => String(Number(number))));
  return axis(title, { type: "log", tickvals: ticks, ticktext: text, ...more });
}

async function drawChart(place, traces, layout) {
  const Plotly = await plotly();
  const base = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: styled("--ink"), family: "system-ui, sans-serif", size: 12 },
    margin: { l: 60, r: 20, t: 20, b: 45 }, hoverlabel: { namelength: -1 }, dragmode: false,
    legend: { bgcolor: "rgba(0,0,0,0)" } };
  return Plotly.react(place, traces, { ...base, ...layout },
    { displayModeBar: false, displaylogo: false, responsive: true });
}

// A chart that is drawn when it comes into view, and again when its data changes.
class LazyChart {
  static all = [];

  constructor(id, draw) {
    Object.assign(this, { place: byId(id), draw, stale: true, visible: false });
    LazyChart.all.push(this);
    new IntersectionObserver((entries) => {
      this.visible = entries[entries.length - 1].isIntersecting;
      this.refresh();
    }, { rootMargin: "200px" }).observe(this.place);
  }

  refresh(always = false) {
    if (!this.stale || !(this.visible || always)) return null;
    this.stale = false;
    return this.draw(this.place);
  }

  changed() {
    this.stale = true;
    this.refresh();
  }
}
