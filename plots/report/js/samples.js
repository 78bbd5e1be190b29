// A cell's rounds in order, and their distribution.

// The share of the values that are at most each of them, as steps.
function shares(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.flatMap((value, i) => [[i / sorted.length, value], [(i + 1) / sorted.length, value]]);
}

function drawSamples(place, run, cell, workers) {
  const all = workers.flatMap((worker) => worker.samples_ns);
  const [median, low, high] = [run.median_ns[cell], run.lo_ns[cell], run.hi_ns[cell]];
  const isPositive = all.every((ns) => ns > 0);
  const times = [...all, low, high].filter((ns) => ns > 0 || !isPositive);
  const y = isPositive ? timeAxis("one exchange", times) : plainAxis("ns", times);
  const lines = (end) => [[median], [low, "2 3"], [high, "2 3"]].filter(([ns]) => ns > 0 || !isPositive)
    .map(([ns, dash]) => ({ line: [[0, ns], [end, ns]], color: "var(--grey)", width: 1, dash }));
  let round = 0;
  const points = workers.map((worker, i) => ({ ...workerStyle(run, i), name: `worker ${i + 1}`, isUnlisted: workers.length === 1,
    points: worker.samples_ns.map((ns) => ({ x: round += 1, y: ns, text: `round ${round}: ${duration(ns)}` })) }));
  const distribution = { line: shares(all), color: "var(--ink)", width: 1.5 };
  drawChart(place, { height: 200, panels: [
    { share: 0.64, x: plainAxis("round", [0, round]), y, marks: [...lines(round), ...points] },
    { share: 0.36, x: sharesAxis("share of the rounds", [0, 1]), y: { ...y, title: "", ticks: y.ticks.map(([ns]) => [ns, ""]) }, marks: [...lines(1), distribution] },
  ] });
}
