// The state of the page, in its address after `#`: a link opens the same view.

const chosen = readAddress();

function readAddress() {
  const text = location.hash.slice(1);
  // A cell's name alone is also a link to the cell.
  if (/^[\w-]+(\/|%2F)producer/.test(text)) {
    try {
      return new URLSearchParams({ cell: decodeURIComponent(text) });
    } catch {
      return new URLSearchParams(); // a truncated link
    }
  }
  return new URLSearchParams(text.includes("=") ? text : "");
}

// Stores values by key; an empty value removes its key.
function keep(values) {
  for (const [key, value] of Object.entries(values)) {
    if (value === null || value === undefined || value === "") chosen.delete(key);
    else chosen.set(key, value);
  }
  const text = chosen.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

// Links inside the page move the view and the focus, but do not change the address.
function followInside(event) {
  const link = event.target.closest('a[href^="#"]');
  if (link === null) return;
  event.preventDefault();
  const target = byId(link.getAttribute("href").slice(1));
  link.closest("dialog")?.close();
  target.closest("details")?.setAttribute("open", "");
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
  target.scrollIntoView();
}

// A search field that stores its text in the address.
function searchField(form, key, text, hint, change) {
  const input = element("input", { type: "search", name: key, placeholder: hint, value: chosen.get(key) ?? "" });
  input.addEventListener("input", () => { keep({ [key]: input.value.trim() }); change(); });
  form.append(element("label", {}, text, input));
  form.addEventListener("submit", (event) => event.preventDefault());
}

// The words of such a field.
const wordsOf = (key) => (chosen.get(key) ?? "").toLowerCase().split(/[\s,]+/).filter(Boolean);
