// The comparison of two runs, dates or versions: `diff.html?a=...&b=...`.

const SAME_RUN = 0.1, OTHER_RUN = 0.25, CODE = 0.02, WORKERS = 5;
const RANK = { shared: 0, unproven: 1, copied: 2, refused: 3, absent: 3, broken: 4 };
const loading = new Map();

// A file of data calls this: a page that is opened from a file cannot fetch.
window.loaded = (id, cells) => loading.get(id)(cells);

function load(point) {
  return new Promise((resolve, reject) => {
    loading.set(point.id, resolve);
    const script = element("script", { src: document.body.dataset.root + point.path });
    script.addEventListener("error", () => reject(new Error(`cannot load ${point.path}`)));
    document.head.append(script);
  });
}

// The point of a run's name, a date, or LIBRARY@VERSION: the newest one that fits.
function pointOf(points, word) {
  const [library, version] = word.split("@");
  return points.find(({ id }) => id === word) ?? points.findLast(({ run, date, versions }) => (
    run === word || date === word || (version !== undefined && versions[library] === version)));
}

// What changed in a cell: its kind, the words, and whether it became worse (1), better (-1) or neither.
function change(before, after, isOneRun) {
  const [stateA, costA, memoryA, usedA, nsA, lowA, highA, workersA, countA] = before;
  const [stateB, costB, memoryB, usedB, nsB, lowB, highB, workersB, countB] = after;
  const text = (state, memory, cost) => (["shared", "copied", "unproven"].includes(state) ? memory : `${cost} ${memory}`.trim());
  const [was, is] = [text(stateA, memoryA, costA), text(stateB, memoryB, costB)];
  const isProven = stateA !== "unproven" && stateB !== "unproven";
  if (isProven && was !== is) return { kind: "outcome", what: `${was} \u2192 ${is}`, worse: Math.sign(RANK[stateB] - RANK[stateA]) };
  if (nsA === undefined || nsB === undefined) return null;
  const times = `${costA} \u2192 ${costB}`;
  if (usedA !== usedB) return { kind: "protocol", what: `${usedA} \u2192 ${usedB}; ${times}`, worse: 0 };
  const signed = (share) => `${share < 0 ? "-" : "+"}${percent(Math.abs(share))}`;
  if (countA && countB && Math.abs(Math.log(countB / countA)) >= Math.log1p(CODE)) {
    return { kind: "code", what: `${signed(countB / countA - 1)} instructions; ${times}`, worse: Math.sign(countB - countA) };
  }
  // Size and sign are of the times that decide: a median may move the other way.
  const hasLowest = lowA > 0 && lowB > 0;
  const ratio = hasLowest ? lowB / lowA : nsB / nsA;
  const isApart = hasLowest && (lowB > highA || lowA > highB) && Math.min(workersA, workersB) >= WORKERS;
  const isLarge = Math.abs(Math.log(ratio)) >= Math.log1p(isOneRun ? SAME_RUN : OTHER_RUN);
  const kind = countA && countB ? "layout" : "time";
  const what = `${signed(ratio - 1)} time; ${hasLowest ? `lowest ${duration(lowA)} \u2192 ${duration(lowB)}` : times}`;
  if (isApart && isLarge) return { kind, what, worse: Math.sign(ratio - 1) };
  return Math.abs(Math.log(ratio)) >= Math.log1p(SAME_RUN) ? { kind: `${kind}, not significant`, what, worse: 0, isDoubtful: true } : null;
}

function pairLink(key) {
  const [producer, consumer, ...rest] = key.split("/");
  const slug = (name) => name.replace(/[^\p{L}\p{N}_.+-]+/gu, "-").replace(/^[.-]+|[.-]+$/g, "") || "x";
  const usual = { cpu: "", 1: "", call: "", f32: "" };
  const [protocol, device, kind, arrays, bytes, clock] = rest;
  const words = [protocol, usual[device] ?? device, usual[kind] ?? kind, size(Number(bytes)), arrays === "1" ? "" : `${arrays} arrays`, usual[clock] ?? clock];
  return [element("a", { href: `${document.body.dataset.root}pair/${slug(producer)}--${slug(consumer)}.html#history` }, `${producer} \u2192 ${consumer}`),
    words.filter(Boolean).join(", ")];
}

async function drawDiff() {
  if (byId("diff-form") === null) return;
  const points = JSON.parse(byId("points").textContent);
  const form = byId("diff-form");
  const asked = new URLSearchParams(location.search);
  const text = ({ date, place, label, id }) => `${date} ${label === "default" ? "" : label} (${place}, ${id})`;
  const options = points.map((point) => [point.id, text(point)]);
  const unknown = [];
  const [last, ...earlier] = points.toReversed();
  const chosen = { a: (earlier.find(({ place }) => place === last.place) ?? earlier[0] ?? last)?.id, b: last?.id };
  for (const side of ["a", "b"]) {
    const found = asked.has(side) ? pointOf(points, asked.get(side)) : undefined;
    if (found) chosen[side] = found.id;
    else if (asked.has(side)) unknown.push(asked.get(side));
  }
  let all = asked.has("all");
  const show = async () => {
    const [a, b] = ["a", "b"].map((side) => points.find(({ id }) => id === chosen[side]));
    if (unknown.length || !a || !b) {
      byId("diff-summary").textContent = unknown.length ? `No run, date or version here is ${unknown.join(" or ")}.` : "No run here has a cell.";
      return;
    }
    history.replaceState(null, "", `?${new URLSearchParams({ a: a.id, b: b.id, ...(all ? { all: "1" } : {}) })}`);
    const [before, after] = [await load(a), await load(b)];
    const both = Object.keys(before).filter((key) => key in after);
    const isComparable = (one) => a.place === b.place || ["outcome", "protocol"].includes(one.kind);
    const found = both.map((key) => [key, change(before[key], after[key], a.run === b.run)])
      .filter(([, one]) => one !== null && isComparable(one));
    const certain = found.filter(([, one]) => !one.isDoubtful).sort((x, y) => y[1].worse - x[1].worse);
    const doubtful = found.filter(([, one]) => one.isDoubtful);
    const libraries = Object.keys({ ...a.versions, ...b.versions }).filter((name) => a.versions[name] !== b.versions[name])
      .map((name) => `${name} ${a.versions[name] ?? "none"} \u2192 ${b.versions[name] ?? "none"}`);
    const apart = a.place === b.place ? "" : " The two are of different machines or Pythons: only outcomes and protocols can be compared.";
    byId("diff-summary").textContent = `${both.length} cells in both: ${certain.length} changed, ${doubtful.length} differ in time without significance. `
      + `${Object.keys(before).length - both.length} only in A, ${Object.keys(after).length - both.length} only in B. ${libraries.join(", ") || "Same versions"}.${apart}`;
    const rows = [...certain, ...(all ? doubtful : [])].map(([key, one]) => {
      const word = { 1: "worse", "-1": "better", 0: "" }[one.worse];
      return [...pairLink(key), element("span", { class: word }, word ? `${one.kind}, ${word}` : one.kind), one.what];
    });
    byId("diff-table").replaceChildren(rows.length ? rowsTable("", ["exchange", "cell", "kind", "A \u2192 B"], rows) : "Nothing changed significantly.");
  };
  for (const [side, label] of [["a", "A, before"], ["b", "B, after"]]) {
    picker(form, side, label, options, chosen[side], (value) => { chosen[side] = value; unknown.length = 0; show(); });
  }
  const box = element("input", { type: "checkbox", name: "all", checked: all });
  box.addEventListener("change", () => { all = box.checked; show(); });
  form.append(element("label", {}, box, "also differences without significance"));
  await show();
}

prepareTheme();
filterMatrix();
drawHistories();
document.addEventListener("keydown", walk);
drawDiff().finally(() => { document.documentElement.dataset.ready = "yes"; });
