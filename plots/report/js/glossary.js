// Definitions of terms, from the glossary at the end of the page. A term in a heading links to its
// entry. The definition appears on hover and on focus; for screen readers it is the link's
// description.

// The tables about the machine are excluded, because their words have other meanings.
const DEFINED = "main section:not(#machine) th, main h2, main label, nav a, dialog th";

// The entry of each term, and of its plural, in lower case.
function glossaryEntries() {
  const found = new Map();
  for (const term of document.querySelectorAll("#glossary dt")) {
    for (const name of term.textContent.split(", ")) found.set(name.toLowerCase(), term);
  }
  return (name) => found.get(name) ?? found.get(name.replace(/ies$/, "y").replace(/s$/, ""));
}

// The element that receives the focus for a term: a link to its entry, or the control or link that
// the term labels.
function focusable(place, entry) {
  const control = place.querySelector("select, input") ?? (place.matches("a") ? place : null);
  if (control !== null) return control;
  const link = element("a", { href: `#${entry.id}`, class: "term" });
  place.firstChild.before(link);
  link.append(place.childNodes[1]);
  return link;
}

function defineTerms(root, entryOf) {
  for (const place of root.querySelectorAll(DEFINED)) {
    if (place.firstChild?.nodeType !== Node.TEXT_NODE) continue;
    const entry = entryOf(place.firstChild.textContent.trim().toLowerCase());
    if (entry === undefined || place.dataset.term) continue;
    place.dataset.term = entry.id;
    focusable(place, entry).setAttribute("aria-describedby", entry.nextElementSibling.id);
  }
}

// Shows the definition below the place, or above it at the end of the window. An open dialog makes
// everything outside it inert, so its definitions are inside it.
function showDefinition(place, shown) {
  (place.closest("dialog") ?? document.body).append(shown);
  shown.textContent = byId(place.dataset.term).nextElementSibling.textContent;
  shown.togglePopover(true);
  const at = place.getBoundingClientRect();
  const right = document.documentElement.clientWidth - shown.offsetWidth;
  const top = at.bottom + shown.offsetHeight < innerHeight ? at.bottom : at.top - shown.offsetHeight;
  shown.style.left = `${scrollX + Math.max(0, Math.min(at.left, right))}px`;
  shown.style.top = `${scrollY + Math.max(0, top)}px`;
}

function explainTerms() {
  const entryOf = glossaryEntries();
  const define = () => defineTerms(document, entryOf);
  define();
  for (const part of document.querySelectorAll("main, dialog")) {
    new MutationObserver(define).observe(part, { childList: true, subtree: true });
  }
  const shown = byId("definition");
  const hide = () => shown.isConnected && shown.togglePopover(false);
  const follow = ({ target }) => {
    const place = target.closest("[data-term]");
    if (place !== null) showDefinition(place, shown);
    else if (target.closest("#definition") === null) hide();
  };
  for (const kind of ["mouseover", "focusin"]) document.addEventListener(kind, follow);
  document.addEventListener("focusout", hide);
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
}
