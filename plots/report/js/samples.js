// A cell's rounds in order, and their distribution.

function drawSamples(place, run, cell, workers) {
  const traces = [];
  let round = 0;
  const all = workers.flatMap((worker) => worker.samples_ns);
  workers.forEach((worker, i) => {
    const rounds = worker.samples_ns.map(() => (round += 1));
    const { color, symbol } = workerStyle(run, i);
    traces.push({ x: rounds, y: worker.samples_ns, mode: "markers", type: "scatter",
      name: `worker ${i + 1}`, marker: { color, symbol, size: 7 },
      text: worker.samples_ns.map(duration), hovertemplate: "round %{x}: %{text}<extra></extra>",
      showlegend: workers.length > 1 });
  });
  const sorted = [...all].sort((a, b) => a - b);
  traces.push({ x: sorted.map((_, i) => (i + 1) / sorted.length), y: sorted, mode: "lines",
    type: "scatter", line: { shape: "vh", color: styled("--ink"), width: 1.5 }, xaxis: "x2",
    text: sorted.map(duration), hovertemplate: "%{x:.0%} within %{text}<extra></extra>", showlegend: false });
  const shapes = [run.median_ns[cell], run.lo_ns[cell], run.hi_ns[cell]].map((ns, i) => ({ type: "line", xref: "paper",
    x0: 0, x1: 1, y0: ns, y1: ns, line: { color: styled("--grey"), width: 1, dash: i ? "dot" : "solid" } }));
  const times = [...all, run.lo_ns[cell], run.hi_ns[cell]].filter((ns) => ns > 0);
  const positive = all.every((ns) => ns > 0);
  return drawChart(place, traces, {
    shapes: positive ? shapes.filter((shape) => shape.y0 > 0) : shapes,
    yaxis: positive ? timeAxis("one exchange", times) : axis("ns"),
    xaxis: axis("round", { domain: [0, 0.62] }),
    xaxis2: axis("share of the rounds", { domain: [0.68, 1], tickformat: ".0%", range: [0, 1.02] }),
  });
}
