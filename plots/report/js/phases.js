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
  const bars = cells.slice(0, MOST_BARS);
  const left = [[cells.length - bars.length, "shorter"], [timed.length - cells.length, `below ${run.least_for_shares_ns} ns, too short for shares`]]
    .filter(([many]) => many > 0).map(([many, why]) => `${many} ${why}`).join(", ");
  const { device, protocol, case: kind, bytes } = shown.axes;
  byId("phases-caption").textContent = (bars.length === 0 ? `No phases for ${device} \u00b7 ${protocol} \u00b7 ${kind}.`
    : `${device} \u00b7 ${protocol} \u00b7 ${kind} \u00b7 ${size(bytes)}. Shares of the exchange in the rounds of its phases; its time is next to its name. Longest first.`
      + " Unexplained: that time minus the phases; a negative value is drawn to the left, over the phases.") + (left && ` Not shown: ${left}.`);
  place.hidden = bars.length === 0;
  if (place.hidden) return;
  const names = bars.map((cell) => `${run.value("producer", cell)} \u2192 ${run.value("consumer", cell)}  ${duration(run.parts[cell][5])}`);
  // Shares above 0 follow each other to the right, those below 0 to the left.
  const ends = bars.map(() => [0, 0]);
  const bar = (name, at, style) => ({ ...style, name, bars: bars.map((cell, y) => {
    const share = run.parts[cell][at] / run.parts[cell][5], side = share < 0 ? 0 : 1, from = ends[y][side];
    ends[y][side] = from + share;
    return { from, to: from + share, y, text: `${name}: ${duration(run.parts[cell][at])}, ${percent(share)}` };
  }) });
  const marks = [...PHASES.map(([name, color], at) => bar(name, at, { color })), bar("unexplained", 4, { isHatched: true })];
  drawChart(place, { height: ROW * bars.length, panels: [{ x: sharesAxis("", ends.flat()), y: rowsAxis(names), marks }] });
}
