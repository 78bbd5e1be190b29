// Definitions on hover, from the glossary at the end of the page.

function definitions() {
  const found = new Map();
  for (const term of document.querySelectorAll("#glossary dt")) {
    for (const name of term.textContent.split(", ")) found.set(name, term.nextElementSibling.textContent);
  }
  return (name) => found.get(name) ?? found.get(name.replace(/s$/, ""));
}

function explainOnHover() {
  const meaning = definitions();
  document.addEventListener("mouseover", (event) => {
    const place = event.target.closest("th, td, label, h2, nav a");
    if (place === null || place.title) return;
    const found = meaning(place.childNodes[0]?.textContent.trim().toLowerCase() ?? "");
    if (found) place.title = found;
  });
}
