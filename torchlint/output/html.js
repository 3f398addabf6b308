"use strict";
(() => {
  const form = document.getElementById("filters");
  if (!form) return;
  const fields = ["severity", "rule", "folder", "confidence", "fix"];
  const search = form.elements.namedItem("search");
  const shown = document.getElementById("shown");
  const none = document.getElementById("none");
  const files = [...document.querySelectorAll(".file")].map((section) => ({
    section,
    path: section.querySelector("h3").textContent.toLowerCase(),
    findings: [...section.querySelectorAll("details")].map((element) => ({ element, text: null })),
  }));
  const total = files.reduce((sum, file) => sum + file.findings.length, 0);

  const matches = (file, finding, wanted, words) => {
    for (const name of fields) {
      if (wanted[name] && finding.element.dataset[name] !== wanted[name]) return false;
    }
    if (!words.length) return true;
    finding.text ??= `${file.path} ${finding.element.textContent.toLowerCase()}`;
    return words.every((word) => finding.text.includes(word));
  };

  const apply = (record) => {
    const wanted = Object.fromEntries(fields.map((name) => [name, form.elements.namedItem(name).value]));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const file of files) {
      let here = 0;
      for (const finding of file.findings) {
        const hit = matches(file, finding, wanted, words);
        finding.element.hidden = !hit;
        here += hit;
      }
      file.section.hidden = !here;
      count += here;
    }
    const [some, every] = [count, total].map((number) => number.toLocaleString("en"));
    shown.textContent = count === total ? `All ${every} shown` : `${some} of ${every} shown`;
    none.hidden = count > 0;
    if (fields.some((name) => wanted[name])) expand(true);
    for (const button of document.querySelectorAll("button[data-field]")) {
      button.setAttribute("aria-pressed", String(wanted[button.dataset.field] === button.dataset.value));
    }
    keep(wanted, record);
  };

  // The filters live in the page's address: a link leads others to what is shown, a reload keeps it, and "back" undoes
  // the last choice. A search is one step however many letters it has: its later letters replace the address.
  const keep = (wanted, record) => {
    const asked = new URLSearchParams();
    for (const name of fields) if (wanted[name]) asked.set(name, wanted[name]);
    if (search.value.trim()) asked.set("search", search.value.trim());
    if (location.hash.slice(1) === String(asked)) return;
    try {
      history[record ? "pushState" : "replaceState"](null, "", `#${asked}`);
    } catch {
      // some viewers of files allow no address of a page's own: the filters work without it
    }
  };
  const restore = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const name of [...fields, "search"]) {
      const field = form.elements.namedItem(name);
      field.value = asked.get(name) ?? "";
      if (field.value !== (asked.get(name) ?? "")) field.value = "";  // the report has no such choice any more
    }
    apply(false);
  };

  // Without this script the labels of counts are plain text, since there is nothing that they could do.
  for (const label of document.querySelectorAll("[data-field]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.field = label.dataset.field;
    button.dataset.value = label.dataset.value;
    button.append(...label.childNodes);
    button.addEventListener("click", () => {
      const field = form.elements.namedItem(button.dataset.field);
      field.value = field.value === button.dataset.value ? "" : button.dataset.value;
      apply(true);
      if (field.value) document.getElementById("findings").scrollIntoView();
    });
    label.append(button);
  }
  // On a narrow screen the fields are folded away, but never a field that is in use.
  const more = document.getElementById("more");
  const expand = (expanded) => {
    more.setAttribute("aria-expanded", String(expanded));
    form.classList.toggle("expanded", expanded);
  };
  more.addEventListener("click", () => expand(more.getAttribute("aria-expanded") === "false"));

  const toggle = (open) => {
    for (const file of files) {
      for (const { element } of file.findings) if (!element.hidden) element.open = open;
    }
  };
  const searchRecorded = () => new URLSearchParams(location.hash.slice(1)).has("search");
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => apply(!searchRecorded()), 80);
  });
  form.addEventListener("change", (event) => event.target === search || apply(true));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => apply(true)));
  document.getElementById("open").addEventListener("click", () => toggle(true));
  document.getElementById("close").addEventListener("click", () => toggle(false));
  window.addEventListener("hashchange", restore);
  form.hidden = false;
  restore();
})();
