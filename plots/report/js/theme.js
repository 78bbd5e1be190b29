// Light and dark colors, and the button that switches them.

const THEMES = { light: "dark", dark: "light" };

function theme() {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  return document.documentElement.dataset.theme ?? (dark ? "dark" : "light");
}

function setTheme(name) {
  const button = byId("theme");
  if (name in THEMES) document.documentElement.dataset.theme = name;
  button.textContent = `${THEMES[theme()]} colors`;
  button.setAttribute("aria-pressed", String(theme() === "dark"));
  button.hidden = false;
}

function prepareTheme(recolor = () => {}) {
  let remembered = null;
  try { remembered = localStorage.getItem("dlbench-theme"); } catch { /* no storage */ }
  setTheme(remembered);
  byId("theme").addEventListener("click", () => {
    setTheme(THEMES[theme()]);
    try { localStorage.setItem("dlbench-theme", theme()); } catch { /* the choice is lost with the page */ }
    recolor();
  });
}
