// Phases: a bar for each exchange, with its phases as shares.

const PHASES = [["query", "#e69f00"], ["export", "#d55e00"], ["import", "#0072b2"], ["release", "#56b4e9"]];
const MOST_BARS = 40;

const hasPhases = (run) => Object.keys(run.parts).length > 0;

function drawPhases(choice, place) {
  const { run } = choice;
  const shown = choice.shown.axes.phase === "exchange" ? choice.shown
    : choice.nearest({ phase: "exchange" }) ?? choice.shown;
  const timed = shown.cells.filter((cell) => cell in run.parts);
  const cells = timed.filter((cell) => run.parts[cell][5] >= run.least_for_shares_ns)
    .sort((a, b) => run.parts[b][5] - run.parts[a][5]);
  const bars = cells.slice(0, MOST_BARS).reverse();
  const left = [[cells.length - bars.length, "shorter"], [timed.length - cells.length, `below ${run.least_for_shares_ns} ns, too short for shares`]]
    .filter(([many]) => many > 0).map(([many, why]) => `${many} ${why}`).join(", ");
  const { device, protocol, case: kind, bytes } = shown.axes;
  byId("phases-caption").textContent = (bars.length === 0 ? `No phases for ${device} \u00b7 ${protocol} \u00b7 ${kind}.`
    : `${device} \u00b7 ${protocol} \u00b7 ${kind} \u00b7 ${size(bytes)}. Shares of the exchange in the rounds of its phases; its time is next to its name. Longest first.`
      + " Unexplained: that time minus the phases; a negative value is drawn to the left, over the phases.") + (left && ` Not shown: ${left}.`);
  place.hidden = bars.length === 0;
  if (place.hidden) return null;
  const names = bars.map((cell) => chartText(`${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}`) + `  ${duration(run.parts[cell][5])}`);
  const bar = (name, at, marker) => ({ type: "bar", orientation: "h", name, y: names, marker,
    x: bars.map((cell) => run.parts[cell][at] / run.parts[cell][5]),
    text: bars.map((cell) => duration(run.parts[cell][at])), textposition: "none",
    hovertemplate: `${name}: %{text}, %{x:.0%}<extra></extra>` });
  const traces = PHASES.map(([name, color], at) => bar(name, at, { color }));
  traces.push(bar("unexplained", 4, { color: "rgba(0,0,0,0)", line: { color: styled("--ink"), width: 1 },
    pattern: { shape: "/", fgcolor: styled("--ink"), size: 5 } }));
  return drawChart(place, traces, { barmode: "relative", height: 110 + 22 * bars.length, bargap: 0.3,
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", traceorder: "normal" },
    xaxis: axis("", { tickformat: ".0%" }), yaxis: axis("", { automargin: true, ticks: "" }) });
}
