"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  // Light or dark: what the reader chose last, else what the system says.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = document.getElementById("theme");
  const store = { // a page from a file may have none
    get() { try { return localStorage.getItem("lockbench-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("lockbench-theme", value); } catch { /* it holds for this page alone */ } },
  };
  const current = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const paint = () => { theme.textContent = current() === "dark" ? "Light" : "Dark"; theme.setAttribute("aria-label", theme.textContent + " colours"); };
  if (store.get() === "light" || store.get() === "dark") root.dataset.theme = store.get();
  theme.addEventListener("click", () => {
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    store.set(root.dataset.theme);
    paint();
  });
  dark.addEventListener("change", paint);
  paint();

  // The row of an event. One row may tell several.
  const rows = [...document.querySelectorAll("tr[data-first]")];
  const rowOf = (index) => {
    const anchor = document.getElementById("e" + index);
    return anchor ? anchor.closest("tr") : rows.find((r) => Number(r.dataset.first) <= index && index <= Number(r.dataset.last));
  };
  const mark = (index) => {
    for (const r of document.querySelectorAll("tr.here")) r.classList.remove("here");
    const row = rowOf(index);
    if (row) row.classList.add("here");
    return row;
  };
  document.addEventListener("lockbench:event", (e) => mark(e.detail.index));

  // A link to an event marks its row and shows it in the picture. Beside the picture that is all;
  // from the list of events it leads to the picture, and from elsewhere to the list.
  const picture = document.querySelector("figure.picture");
  document.addEventListener("click", (e) => {
    const link = e.target.closest("a[data-event]");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    const index = Number(link.dataset.event);
    const listed = link.closest(".events") !== null;
    if (picture && (listed || link.closest(".told"))) e.preventDefault();
    if (picture && listed) picture.scrollIntoView({ block: "start" });
    mark(index);
    document.dispatchEvent(new CustomEvent("lockbench:show", { detail: { index } }));
  });

  // Copy buttons.
  for (const button of document.querySelectorAll("button.copy")) {
    const code = button.parentElement.querySelector("code");
    button.setAttribute("aria-label", "Copy: " + code.textContent);
    button.addEventListener("click", async () => {
      let done = true;
      try {
        await navigator.clipboard.writeText(code.textContent);
      } catch { // no clipboard for pages from files: the selection can be copied everywhere
        getSelection().selectAllChildren(code);
        done = document.execCommand("copy");
      }
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
  }

  // Porcupine measures its text, so it must not begin before it is seen.
  for (const frame of document.querySelectorAll("iframe[data-page]")) {
    const details = frame.closest("details");
    const load = () => { if (details.open && !frame.hasAttribute("srcdoc")) frame.setAttribute("srcdoc", frame.dataset.page); };
    details.addEventListener("toggle", load);
    load();
  }

  // On paper everything is open.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const d of opened) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of opened) d.open = false; });
})();
