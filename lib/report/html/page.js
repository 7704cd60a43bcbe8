"use strict";
// Everything on the page is there without this script. It zooms pictures, shows what a span is, copies code and opens
// tables. Text enters the page by textContent alone: what a trace holds is never read as markup.
const data = JSON.parse(document.getElementById("data").textContent);

const hasPictures = document.querySelector("figure.plot") !== null;
for (const element of document.querySelectorAll(".script")) {
  element.hidden = element.classList.contains("pictures") && !hasPictures;
}

/** The value that a JSON pointer (RFC 6901) names in the page's data. */
function valueAt(pointer) {
  return pointer.split("/").slice(1).reduce((value, key) => value?.[key.replace(/~1/g, "/").replace(/~0/g, "~")], data);
}

/** "2.57 ms", as everywhere on the page. */
function timeText(us) {
  for (const [unit, size] of [["s", 1e6], ["ms", 1e3], ["us", 1]]) {
    if (Math.abs(us) >= size) return Number((us / size).toPrecision(4)) + " " + unit;
  }
  return us === 0 ? "0" : Number(us.toPrecision(3)) + " us";
}

/** Zooms one picture: its boxes lie in an inner <svg> in per cent, so two attributes move them all. */
function makeZoomable(figure) {
  const length = Number(figure.dataset.length);
  const inner = figure.querySelector("svg.z");
  const axis = figure.querySelector(".axis");
  if (!(length > 0) || !inner || !axis) return;
  const top = Number(axis.querySelector("line").getAttribute("y1"));
  const first = Number(figure.dataset.first) || 0;
  const show = figure.dataset.unit === "us" ? timeText : (value) => String(Number((first + value).toPrecision(6)));
  let from = 0;
  let to = 1;

  function svg(name, attributes) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  }

  function drawAxis() {
    axis.replaceChildren();
    const width = (to - from) * length;
    const power = 10 ** Math.floor(Math.log10(width));
    const finest = figure.dataset.unit === "count" ? 1 : 0;
    const distance = Math.max(finest, power * [0.1, 0.2, 0.5, 1].find((factor) => width / (power * factor) <= 8));
    for (let tick = Math.ceil(from * length / distance - 1e-9) * distance; tick <= to * length * 1.0001; tick += distance) {
      const part = (tick / length - from) / (to - from);
      const x = (part * 100).toFixed(3) + "%";
      axis.append(svg("line", { x1: x, x2: x, y1: top, y2: top + 5 }));
      const side = part < 0.03 ? "start" : part > 0.95 ? "end" : "middle";
      const odd = Math.round(tick / distance) % 2 === 1 ? " odd" : "";
      const label = svg("text", { x, y: top + 17, class: side + odd });
      label.textContent = show(Math.abs(tick) < distance / 1e6 ? 0 : tick);
      axis.append(label);
    }
  }

  function zoomTo(newFrom, newTo) {
    const width = Math.min(1, Math.max(newTo - newFrom, 1e-6));
    from = Math.min(Math.max(0, newFrom), 1 - width);
    to = from + width;
    inner.setAttribute("width", 100 / width + "%");
    inner.setAttribute("x", -100 * from / width + "%");
    drawAxis();
  }

  function zoomAt(part, factor) {
    const at = from + part * (to - from);
    zoomTo(at - (at - from) * factor, at + (to - at) * factor);
  }

  // n and p go through the spans: what each is stands below the picture.
  let current = -1;
  function tellNext(distance) {
    const start = (span) => parseFloat(span.getAttribute("x"));
    const spans = [...figure.querySelectorAll(".z > g")].flatMap((lane) =>
      [...lane.querySelectorAll("[data-ref] rect")].sort((one, other) => start(one) - start(other)));
    if (spans.length === 0) return;
    spans[current]?.classList.remove("current");
    current = (current + distance + spans.length + (current < 0 && distance < 0 ? 1 : 0)) % spans.length;
    spans[current].classList.add("current");
    showDetails(figure, spans[current].closest("[data-ref]"), spans[current]);
  }

  const keys = {
    n: () => tellNext(1), p: () => tellNext(-1),
    "+": () => zoomAt(0.5, 0.5), "=": () => zoomAt(0.5, 0.5), "-": () => zoomAt(0.5, 2),
    ArrowLeft: () => zoomTo(from - (to - from) / 4, to - (to - from) / 4),
    ArrowRight: () => zoomTo(from + (to - from) / 4, to + (to - from) / 4),
    "0": () => zoomTo(0, 1), Escape: () => zoomTo(0, 1),
  };
  figure.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  const partAt = (event) => {
    const box = figure.getBoundingClientRect();
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  // A wheel without Ctrl scrolls the page, as everywhere.
  figure.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoomAt(partAt(event), event.deltaY > 0 ? 1.25 : 0.8);
  }, { passive: false });
  figure.addEventListener("dblclick", () => zoomTo(0, 1));

  let selection = null;
  let begin = 0;
  figure.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || !event.target.closest("svg.picture")) return;
    begin = partAt(event);
    selection = document.createElement("div");
    selection.className = "selection";
    figure.append(selection);
    select(begin);
  });
  function select(end) {
    selection.style.left = Math.min(begin, end) * 100 + "%";
    selection.style.width = Math.abs(end - begin) * 100 + "%";
  }
  window.addEventListener("pointermove", (event) => {
    if (selection) select(partAt(event));
  });
  window.addEventListener("pointerup", (event) => {
    if (!selection) return;
    const end = partAt(event);
    selection.remove();
    selection = null;
    if (Math.abs(end - begin) < 0.01) return;  // a click
    const width = to - from;
    zoomTo(from + Math.min(begin, end) * width, from + Math.max(begin, end) * width);
  });
}

/** Below the picture: what the page's data say of the span that was clicked. */
function showDetails(figure, span, clicked) {
  figure.querySelector(".span-details")?.remove();
  const box = document.createElement("div");
  box.className = "span-details";
  box.setAttribute("role", "status");
  const title = document.createElement("p");
  title.textContent = (clicked.querySelector("title") ?? span.querySelector("title"))?.textContent ?? "";
  const list = document.createElement("dl");
  const add = (key, value) => {
    const term = document.createElement("dt");
    const text = document.createElement("dd");
    term.textContent = key.replace(/_us$/, "").replaceAll("_", " ");
    text.textContent = key.endsWith("_us") ? timeText(value) : String(value);
    list.append(term, text);
  };
  if (figure.dataset.unit === "us") add("time", timeText(figure.dataset.length * parseFloat(clicked.getAttribute("width")) / 100));
  for (const [key, value] of Object.entries(valueAt(span.dataset.ref) ?? {})) {
    if (key === "source" && value) add(key, `${value.file}:${value.line}${value.code ? "  " + value.code : ""}`);
    else if (key === "attributes") for (const [name, of] of Object.entries(value)) add(name, of);
    else if (value !== null && typeof value !== "object") add(key, value);
  }
  box.append(title, list);
  figure.append(box);
}

for (const figure of document.querySelectorAll("figure.plot")) {
  makeZoomable(figure);
  figure.addEventListener("click", (event) => {
    const span = event.target.closest("[data-ref]");
    if (span) showDetails(figure, span, event.target);
  });
}

// The same stage lights up on the whole page.
const sameStage = (reference) => document.querySelectorAll(`[data-ref="${CSS.escape(reference)}"]`);
for (const element of document.querySelectorAll("[data-ref]")) {
  element.addEventListener("pointerenter", () => {
    for (const same of sameStage(element.dataset.ref)) same.classList.add("on");
    document.body.classList.add("lit");
  });
  element.addEventListener("pointerleave", () => {
    for (const same of sameStage(element.dataset.ref)) same.classList.remove("on");
    document.body.classList.remove("lit");
  });
}

for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("pre").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
      button.textContent = "Selected";
    }
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "t" || event.ctrlKey || event.metaKey || event.altKey) return;
  const tables = [...document.querySelectorAll("details.table")];
  const open = !tables.every((table) => table.open);
  for (const table of tables) table.open = open;
});
// A link to a part that is folded away unfolds it.
function unfoldTarget() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
window.addEventListener("hashchange", unfoldTarget);
unfoldTarget();
