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

function significant(value) {
  if (value < 9.995) return value.toFixed(2);
  return value < 99.95 ? value.toFixed(1) : value.toFixed(0);
}

// Three digits, or fewer: the last digit is not finer than the first digit of the interval's
// half-width, in ns. values.duration() has the same rule.
function duration(nanoseconds, halfWidth = 0) {
  let value = Math.abs(nanoseconds), power = 0, digits = Infinity;
  if (halfWidth > 0 && value > 0) {
    const place = Math.floor(Math.log10(Math.min(halfWidth, value)));
    value = Math.floor(value / 10 ** place + 0.5) * 10 ** place;
    digits = -place;
  }
  while (power < 9 && value >= 999.5) {
    value /= 1000;
    power += 3;
  }
  const text = significant(value);
  const supported = Math.min(Math.max(power + digits, 0), (text.split(".")[1] ?? "").length);
  return `${nanoseconds < 0 ? "-" : ""}${value.toFixed(supported)} ${{ 0: "ns", 3: "us", 6: "ms", 9: "s" }[power]}`;
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
  if (share > 10) return "over 1000 %";
  return `${(share * 100).toFixed(Math.abs(share) >= 0.0995 ? 0 : 1)} %`;
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

// Escapes text for a chart, because plotly.js interprets tags, entities and its own %{...}.
function chartText(text) {
  return text.replace(/[&<%]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

// The text of an axis's level: bytes as a size, an empty machine as "this one".
function level(axis, value) {
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
