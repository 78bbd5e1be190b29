// Elements, and numbers in readable units, as on the terminal.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (key in made && typeof value !== "string") made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const byId = (id) => document.getElementById(id);

// These print as format_number(), format_duration() and format_share() of harness/core/model/units.hpp.
function lastDigit(value, halfWidth) {
  let first = 1; // the unit of the first digit
  while (value >= 10 * first && first < 1e15) first *= 10;
  return value >= 1 && halfWidth >= first / 10 ? first / 10 : first / 100;
}

function roundToStep(value, step) {
  return Math.floor(value / step + 0.5) * step;
}

function withDecimals(value, rounded, step) {
  return (value < 0 && rounded > 0 ? "-" : "") + rounded.toFixed(step < 0.05 ? 2 : step < 0.5 ? 1 : 0);
}

function number(value, halfWidth = 0) {
  const rounded = roundToStep(Math.abs(value), lastDigit(Math.abs(value), halfWidth));
  return withDecimals(value, rounded, lastDigit(rounded, halfWidth));
}

function duration(nanoseconds, halfWidth = 0) {
  let value = nanoseconds, unit = 0;
  const rounded = (size) => roundToStep(size, lastDigit(size, halfWidth));
  for (; unit < 3 && rounded(Math.abs(value)) >= 1000; unit++) {
    value = Math.sign(value) * Math.max(Math.abs(value), 1000) / 1000;
    halfWidth /= 1000;
  }
  return `${number(value, halfWidth)} ${["ns", "us", "ms", "s"][unit]}`;
}

function rate(gbPerSecond) {
  return `${gbPerSecond < 10 ? Number(gbPerSecond.toPrecision(2)) : gbPerSecond.toFixed(0)} GB/s`;
}

function size(bytes) {
  for (const [power, unit] of [[40, "TiB"], [30, "GiB"], [20, "MiB"], [10, "KiB"]]) {
    const one = 2 ** power;
    if (bytes >= one && bytes % one === 0) return `${bytes / one} ${unit}`;
  }
  return `${bytes} B`;
}

function percent(share) {
  const value = Math.abs(share) * 100;
  if (value > 1000) return `over ${share < 0 ? "-" : ""}1000 %`;
  const rounded = roundToStep(value, value < 10 ? 0.1 : 1);
  return `${withDecimals(share, rounded, rounded < 10 ? 0.1 : 1)} %`;
}

// "\u00b13.1 %", "over \u00b11000 %".
function spread(halfWidth) {
  const text = percent(halfWidth);
  return text.startsWith("over ") ? `over \u00b1${text.slice(5)}` : `\u00b1${text}`;
}

// A word of a command line, quoted for a shell.
function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

// The text of an axis's level: bytes as a size, an empty machine as "this one".
function level(axis, value) {
  if (axis === "arrays") return value === 1 ? "1 array" : `${value} arrays`;
  return axis === "bytes" ? size(value) : value === "" ? "this one" : String(value);
}

// A table of rows, each a list of texts or elements. numbers: the right-aligned columns.
function rowsTable(caption, head, rows, numbers = []) {
  const right = new Set(numbers);
  const kind = (column) => (right.has(column) ? { class: "number" } : {});
  const top = head.map((text, i) => element("th", { scope: "col", ...kind(i) }, text));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, i) => (
    i === 0 ? element("th", { scope: "row", ...kind(i) }, cell)
      : element("td", { "data-label": head[i], ...kind(i) }, cell)))));
  return element("table", { class: "rows" }, element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...top)), element("tbody", {}, ...body));
}

// A table that shows its first rows, and all of them on request.
function longTable(place, caption, head, rows, numbers, first = 100) {
  place.replaceChildren(rowsTable(caption, head, rows.slice(0, first).map((row) => row()), numbers));
  if (rows.length <= first) return;
  const more = element("button", { type: "button" }, `show all ${rows.length} rows`);
  more.addEventListener("click", () => longTable(place, caption, head, rows, numbers, rows.length));
  place.append(more);
}

// A command and a button that copies it.
function copyable(text, kind = "code") {
  const code = element(kind, {}, text);
  const button = element("button", { type: "button", class: "copy", "aria-label": `copy ${text.split("\n")[0]}` }, "copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Without permission for the clipboard, select the text, so that it can be copied.
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  return element("div", { class: "copyable" }, code, button);
}

function picker(form, name, text, options, chosen, change) {
  const select = element("select", { name });
  for (const [value, shown] of options) {
    select.append(element("option", { value, selected: value === chosen }, shown));
  }
  select.addEventListener("change", () => change(select.value));
  form.append(element("label", {}, text, select));
}
