R"page(
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const live = document.body.dataset.live === "true";
let report = JSON.parse($("report").textContent);
let sortBy = null, sortDown = true, isPaused = false;

// Texts -----------------------------------------------------------------------------------------------------------
const number = (n) => n === null || n === undefined ? "–" : n.toLocaleString("en-US", { maximumFractionDigits: n < 10 && n % 1 ? 2 : n < 100 && n % 1 ? 1 : 0 });
function bytes(n) {
  if (n === null || n === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) { n /= 1000; ++i; }
  return (n >= 100 || i === 0 ? Math.round(n) : n.toFixed(1)) + " " + units[i];
}
function seconds(t) {
  if (!t) return "0 s";
  const [by, unit] = t < 1e-6 ? [1e9, "ns"] : t < 1e-3 ? [1e6, "µs"] : t < 1 ? [1e3, "ms"] : [1, "s"];
  const n = t * by;
  return (n >= 100 ? Math.round(n) : n.toPrecision(3).replace(/\.?0+$/, "")) + " " + unit;
}
const percent = (x) => Math.round((x || 0) * 100) + " %";
const large = (n) => n >= 1e9 ? (n / 1e9).toFixed(1) + " G" : n >= 1e6 ? (n / 1e6).toFixed(1) + " M" : n >= 1e4 ? (n / 1e3).toFixed(1) + " k" : number(n);
const title = (s) => s.number ? s.name + " #" + s.number : s.name;
const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;

// Elements --------------------------------------------------------------------------------------------------------
function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null && value !== undefined) e.setAttribute(name, value);
  e.append(...children.filter((c) => c !== null));
  return e;
}
function svg(tag, attributes, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) e.setAttribute(name, value);
  e.append(...children);
  return e;
}
// Replaces the children, and leaves the focus where it was.
function replace(parent, ...children) {
  const key = parent.contains(document.activeElement) && document.activeElement.dataset ? document.activeElement.dataset.key : null;
  parent.replaceChildren(...children);
  if (!key) return;
  const again = [...parent.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key);
  if (again) again.focus({ preventScroll: true });
}

// Head ------------------------------------------------------------------------------------------------------------
const run = () => report.run || {};
function showHead() {
  const v = run().verdict;
  const h = $("verdict");
  const text = report.error ? "The run has failed: " + report.error.message : v ? v.text : "The run has not begun";
  if (h.textContent !== text) h.textContent = text;
  h.className = report.error ? "bad" : !v || v.kind === "unmeasured" ? "" : v.kind === "consumer-bound" ? "good" : v.kind.startsWith("highly") ? "bad" : "warn";
  $("state").textContent = report.verb + ", " + report.outcome + (report.started ? ", started " + report.started.replace("T", " ").replace("+00:00", " UTC") : "");
  replace($("notes"), ...((v && v.notes) || []).map((n) => make("li", {}, n)));
  const e = report.error, box = $("error");
  box.hidden = !e;
  if (e) {
    const at = [e.stage && "stage " + e.stage, e.file && "file " + e.file, e.offset_bytes !== null && "byte " + e.offset_bytes,
                e.record !== null && "record " + e.record, e.element !== null && "element " + e.element].filter(Boolean).join(", ");
    replace(box, e.code + ": " + e.message + (at ? " (" + at + ")" : ""));
  }
  const memory = run().memory || {};
  const rate = report.seconds > 0 ? report.elements / report.seconds : 0;
  const facts = [["Elements", number(report.elements)], ["Records", report.records === report.elements ? null : number(report.records)],
    ["Time", seconds(report.seconds)], ["Elements per second", large(rate)], ["Output in memory", bytes(report.bytes)],
    ["Peak of the ledger", memory.peak_bytes === undefined ? null : bytes(memory.peak_bytes) + " of " + bytes(memory.budget_bytes)],
    ["Peak of the process", bytes(memory.process_peak_bytes)], ["Workers", run().workers],
    ["CPU time", run().cpu_seconds === undefined ? null : seconds(run().cpu_seconds)],
    ["Dropped elements", run().dropped && run().dropped.elements ? number(run().dropped.elements) : null]];
  replace($("facts"), ...facts.filter((f) => f[1] !== null && f[1] !== undefined).map(([name, value]) =>
    make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
  $("plan-text").querySelector("pre").textContent = (report.plan || "").replaceAll(" | ", "\n  | ");
}

// The graph: inputs at the top, the consumer at the bottom ---------------------------------------------------------
function layout(stages) {
  const byPath = new Map(stages.map((s) => [s.path, { s, depth: 0, inputs: [] }]));
  for (const n of byPath.values()) n.inputs = n.s.inputs.map((p) => byPath.get(p)).filter(Boolean);
  const visit = (n, seen) => {
    if (seen.has(n)) return 0;
    seen.add(n);
    n.depth = n.inputs.length ? 1 + Math.max(...n.inputs.map((i) => visit(i, seen))) : 0;
    seen.delete(n);
    return n.depth;
  };
  if (stages.length) for (const s of stages) visit(byPath.get(s.path), new Set());
  const nodes = [...byPath.values()].sort((a, b) => a.depth - b.depth);
  // A column for each source: a stage is below the middle of its inputs.
  let columns = 0;
  const place = (n) => {
    if (n.x !== undefined) return n.x;
    n.x = 0;
    n.x = n.inputs.length ? n.inputs.map(place).reduce((a, b) => a + b, 0) / n.inputs.length : columns++;
    return n.x;
  };
  for (const n of [...nodes].reverse()) place(n);
  return { nodes, columns: Math.max(columns, 1), rows: nodes.length ? Math.max(...nodes.map((n) => n.depth)) + 1 : 0 };
}
const busyText = (s) => s.busy_share || s.input_share || s.blocked_share
  ? `works ${percent(s.busy_share)}, waits for input ${percent(s.input_share)}, blocked ${percent(s.blocked_share)} of the time` : "not measured";
function showGraph() {
  const stages = run().stages || [], edges = run().edges || [];
  const cause = run().verdict && run().verdict.path;
  $("cause-hint").textContent = cause ? "The thick border and the word cause mark what limits the run." : "";
  const { nodes, columns, rows } = layout(stages);
  const w = 236, h = 58, gapX = 90, gapY = 42, side = 96;  // side: of the labels of edges
  const width = columns * (w + gapX) - gapX + 2 * side, height = rows * (h + gapY) + 34;
  const at = new Map(nodes.map((n) => [n.s.path, { x: side + n.x * (w + gapX), y: 2 + n.depth * (h + gapY) }]));
  const text = stages.length ? stages.length + " stages. " + nodes.map((n) => `${title(n.s)}${n.s.path === cause ? " (the cause)" : ""}: ${busyText(n.s)}`).join(". ") : "No stage has run";
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": text });
  const most = Math.max(1, ...edges.map((e) => e.bytes || e.elements), stages.length ? stages[0].bytes || stages[0].elements : 0);
  const thick = (n) => 1.5 + 12 * Math.sqrt(n / most);
  const line = (x1, y1, x2, y2, n, label) => {
    const m = (y1 + y2) / 2;
    picture.append(svg("path", { class: "edge", d: `M${x1} ${y1}C${x1} ${m} ${x2} ${m} ${x2} ${y2}`, "stroke-width": thick(n).toFixed(1) }));
    picture.append(svg("text", { class: "small", x: (x1 + x2) / 2 + 12, y: m + 4 }, label));
  };
  for (const e of edges) {
    const a = at.get(e.from), b = at.get(e.to);
    if (a && b) line(a.x + w / 2, a.y + h, b.x + w / 2, b.y, e.bytes || e.elements, large(e.elements) + (e.bytes ? ", " + bytes(e.bytes) : "") + (e.channel ? ", channel" : ""));
  }
  const root = stages[0] && at.get(stages[0].path);
  if (root) line(root.x + w / 2, root.y + h, root.x + w / 2, height - 2, stages[0].bytes || stages[0].elements, large(stages[0].elements) + " to the consumer");
  nodes.forEach((n, i) => {
    const { x, y } = at.get(n.s.path), s = n.s;
    const isCause = s.path === cause;
    const name = cut(title(s), isCause ? 23 : 30);
    const work = cut(`${percent(s.busy_share)} busy` + (s.element_seconds ? `, ${seconds(s.element_seconds)} each` : ""), 36);
    // Its name for screen readers is its text, and its title.
    const a = svg("a", { href: "#stage-" + s.path, class: isCause ? "cause" : "", "data-key": "node" + s.path });
    const clip = "clip" + i;
    a.append(svg("title", {}, `${title(s)}: ${busyText(s)}`), svg("clipPath", { id: clip }, svg("rect", { x, y, width: w, height: h, rx: 8 })));
    a.append(svg("rect", { class: "node-back", x, y, width: w, height: h, rx: 8 }));
    a.append(svg("rect", { class: "node-fill", x, y, width: (w * Math.min(1, s.busy_share || 0)).toFixed(1), height: h, "clip-path": `url(#${clip})` }));
    a.append(svg("rect", { class: "node-line", x, y, width: w, height: h, rx: 8 }));
    a.append(svg("text", { x: x + 12, y: y + 24 }, name));
    a.append(svg("text", { class: "small", x: x + 12, y: y + 44 }, work));
    if (isCause) a.append(svg("text", { class: "cause-mark", x: x + w - 12, y: y + 24, "text-anchor": "end" }, "* cause"));
    picture.append(a);
  });
  replace($("graph"), picture);
}

// Charts ----------------------------------------------------------------------------------------------------------
function ticks(most) {
  const step = 10 ** Math.floor(Math.log10(most || 1));
  const by = [0.2, 0.5, 1, 2, 5].map((f) => f * step).find((s) => most / s <= 5.01) || step;
  const all = [];
  for (let t = 0; t <= most * 1.0001; t += by) all.push(t);
  return all;
}
function chart(name, times, series, write, limit) {
  const w = 380, h = 170, left = 58, right = 10, top = 8, bottom = 24;
  const values = series.flatMap((s) => s.values.filter((v) => v !== null));
  const most = Math.max(limit && limit.shown ? limit.value : 0, ...values, 1e-9) * 1.05;
  const first = times[0] || 0, span = Math.max((times[times.length - 1] || 0) - first, 1e-9);
  const x = (t) => left + (t - first) / span * (w - left - right), y = (v) => h - bottom - v / most * (h - top - bottom);
  const parts = [];
  const about = series.map((s) => {
    const known = s.values.filter((v) => v !== null);
    if (!known.length) return s.name + ": no values";
    const mean = known.reduce((a, b) => a + b, 0) / known.length;
    return `${series.length > 1 ? s.name + ": " : ""}mean ${write(mean)}, lowest ${write(Math.min(...known))}, highest ${write(Math.max(...known))}, last ${write(known[known.length - 1])}`;
  });
  if (limit) about.push(`limit ${write(limit.value)}`);
  for (const t of ticks(most)) {
    parts.push(svg("line", { class: "grid", x1: left, x2: w - right, y1: y(t), y2: y(t) }));
    parts.push(svg("text", { x: left - 6, y: y(t) + 4, "text-anchor": "end" }, write(t)));
  }
  for (const t of ticks(span)) parts.push(svg("text", { x: x(first + t), y: h - 7, "text-anchor": x(first + t) > w - right - 14 ? "end" : "middle" }, seconds(first > span / 100 ? first + t : t)));
  if (limit && limit.shown) parts.push(svg("line", { class: "limit", x1: left, x2: w - right, y1: y(limit.value), y2: y(limit.value) }));
  const dashes = ["", "7 3", "2 3", "9 3 2 3", "4 2", "1 2"];
  series.forEach((s, i) => {
    let d = "", pen = "M";
    s.values.forEach((v, k) => { if (v === null) { pen = "M"; return; } d += pen + x(times[k]).toFixed(1) + " " + y(v).toFixed(1); pen = "L"; });
    s.values.forEach((v, k) => {  // a point without neighbors has no line
      const isAlone = v !== null && (s.values[k - 1] ?? null) === null && (s.values[k + 1] ?? null) === null;
      if (isAlone) parts.push(svg("circle", { cx: x(times[k]).toFixed(1), cy: y(v).toFixed(1), r: 3, style: `fill: var(--c${i % 6})` }));
    });
    parts.push(svg("path", { class: "series", d, style: `stroke: var(--c${i % 6})`, "stroke-dasharray": dashes[i % 6] || "none" }));
  });
  const figure = make("figure", {}, make("figcaption", {}, name), make("p", { class: "summary" }, cut(about.join("; "), 300)),
    svg("svg", { viewBox: `0 0 ${w} ${h}`, role: "img", "aria-label": `${name} over ${seconds(span)}: ${about.join("; ")}` }, ...parts));
  if (series.length > 1) figure.append(make("ul", { class: "keys" }, ...series.map((s, i) => make("li", {},
    svg("svg", { viewBox: "0 0 22 10", "aria-hidden": "true" }, svg("line", { x1: 0, x2: 22, y1: 5, y2: 5, style: `stroke: var(--c${i % 6}); stroke-width: 2`, "stroke-dasharray": dashes[i % 6] || "none" })), s.name))));
  return figure;
}
function showCharts() {
  const past = report.history;
  const box = $("charts");
  if (!past || past.seconds.length < 2) { replace(box, make("p", { class: "hint" }, "The run was too short for a history: it has a value for each 200 ms.")); return; }
  const rates = [];
  past.elements.forEach((n, i) => {
    const took = i === 0 ? past.seconds[0] : past.seconds[i] - past.seconds[i - 1];
    // The last moment is the end of the run, which may follow the one before at once.
    rates.push(i > 0 && took < 0.05 ? rates[i - 1] : took > 0 ? (n - (i === 0 ? 0 : past.elements[i - 1])) / took : 0);
  });
  const memory = run().memory || {};
  const top = Math.max(...past.memory_bytes);
  const charts = [chart("Elements per second", past.seconds, [{ name: "elements", values: rates }], large),
    chart("Memory in the ledger", past.seconds, [{ name: "memory", values: past.memory_bytes }], bytes,
      memory.budget_bytes ? { value: memory.budget_bytes, shown: top * 4 > memory.budget_bytes } : null)];
  if (past.channels.length) {
    const share = past.channels.slice(0, 6).map((c) => ({ name: c.stage, values: c.blocks.map((b, i) => b === null ? null : c.blocks_max[i] ? Math.min(1, Math.max(b / c.blocks_max[i], c.elements_max[i] ? c.elements[i] / c.elements_max[i] : 0)) : 0) }));
    charts.push(chart("Fill of the channels", past.seconds, share, percent));
  }
  replace(box, ...charts);
}

// Tables ----------------------------------------------------------------------------------------------------------
const reasons = { input: "input", calls: "its calls", disk: "a disk", network: "the network", pace: "its pace", call_pool: "a thread", room: "room ahead", limit: "its parallelism", memory: "memory" };
function waitText(s) {
  const all = Object.entries(s.waits_by_reason).sort((a, b) => b[1].seconds - a[1].seconds);
  return all.length ? all.slice(0, 2).map(([why, w]) => `${seconds(w.seconds)} for ${reasons[why] || why}`).join(", ") : "–";
}
function shares(s) {
  const bar = make("div", { class: "shares", "aria-hidden": "true" });
  for (const kind of ["busy", "input", "blocked"]) bar.append(make("span", { class: kind, style: `width: ${100 * (s[kind + "_share"] || 0)}%` }));
  return bar;
}
// The mean and the standard deviation, if elements differ.
const sizeText = (s) => !s.element_bytes ? "–" : bytes(s.element_bytes) + (s.element_deviation_bytes > 0.005 * s.element_bytes ? " ± " + bytes(s.element_deviation_bytes) : "");
const columns = [
  ["Stage", null, (s) => title(s)], ["Share of the time", null, shares], ["Works", (s) => s.busy_share, (s) => percent(s.busy_share)],
  ["Waits", (s) => s.input_share, (s) => percent(s.input_share)], ["Blocked", (s) => s.blocked_share, (s) => percent(s.blocked_share)],
  ["Elements", (s) => s.elements, (s) => number(s.elements)], ["For each", (s) => s.element_seconds, (s) => s.element_seconds ? seconds(s.element_seconds) : "–"],
  ["Own time", (s) => s.own_seconds, (s) => seconds(s.own_seconds)], ["Size of each", (s) => s.element_bytes, sizeText], ["Output", (s) => s.bytes, (s) => bytes(s.bytes)],
  ["Read", (s) => s.read_bytes, (s) => s.read_bytes ? bytes(s.read_bytes) : "–"],
  ["Reads in flight", (s) => s.reads_in_flight || 0, (s) => s.reads ? number(s.reads_in_flight) : "–"], ["First byte", (s) => s.first_byte_seconds || 0, (s) => s.first_byte_seconds ? seconds(s.first_byte_seconds) : "–"], ["Memory", (s) => s.memory_peak_bytes, (s) => s.memory_peak_bytes ? bytes(s.memory_peak_bytes) : "–"],
  ["Waited", null, waitText]];
const rare = ["Read", "Reads in flight", "First byte", "Memory"];
function showStages() {
  const cause = run().verdict && run().verdict.path;
  // A column without a number is left out; the others keep their place in `columns`.
  const shown = columns.map((c, i) => i).filter((i) => !rare.includes(columns[i][0]) || (run().stages || []).some((s) => columns[i][1](s)));
  const head = shown.map((i) => {
    const [name, value] = columns[i];
    const kind = i < 2 || i === columns.length - 1 ? "text" : null;
    if (!value) return make("th", { scope: "col", class: kind }, name);
    const button = make("button", { type: "button", "data-key": "sort" + i }, name);
    button.addEventListener("click", () => { sortDown = sortBy === i ? !sortDown : true; sortBy = i; showStages(); });
    return make("th", { scope: "col", "aria-sort": sortBy === i ? (sortDown ? "descending" : "ascending") : "none" }, button);
  });
  replace($("stage-table").tHead, make("tr", {}, ...head));
  const stages = [...(run().stages || [])];
  if (sortBy !== null) stages.sort((a, b) => (columns[sortBy][1](a) - columns[sortBy][1](b)) * (sortDown ? -1 : 1));
  replace($("stage-table").tBodies[0], ...stages.map((s) => {
    const isCause = s.path === cause;
    const row = make("tr", { id: "stage-" + s.path, class: isCause ? "cause" : null });
    shown.forEach((i) => {
      const write = columns[i][2];
      if (i === 0) row.append(make("th", { scope: "row" }, isCause ? make("span", { class: "tag" }, "* cause") : null, write(s)));
      else if (i === 1) row.append(make("td", { class: "text" }, write(s), make("span", { class: "hidden" }, busyText(s))));
      else row.append(make("td", { class: i === columns.length - 1 ? "text" : null }, write(s)));
    });
    return row;
  }));
}
function table(id, names, rows) {
  replace($(id).tHead, make("tr", {}, ...names.map((n, i) => make("th", { scope: "col", class: i < 2 || i > 5 ? "text" : null }, n))));
  replace($(id).tBodies[0], ...rows.map((r) => make("tr", {}, ...r.map((c, i) => i === 0 ? make("th", { scope: "row" }, c) : make("td", { class: i < 2 || i > 5 ? "text" : null }, String(c))))));
}
// Limits of classes are powers of two.
function classLimit(n) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) { n /= 1024; ++i; }
  return n + " " + units[i];
}
// A stage is shown if its elements have different sizes.
function showSizes() {
  const rows = [];
  for (const s of run().stages || []) {
    const all = (s.by_size || []).reduce((sum, c) => sum + c.elements, 0);
    const time = (s.by_size || []).reduce((sum, c) => sum + c.elements * c.element_seconds, 0);
    const shown = (s.by_size || []).filter((c) => c.elements >= 0.01 * all || c.elements * c.element_seconds >= 0.01 * time);
    if (shown.length < 2 || s.busy_share < 0.02) continue;
    for (const c of shown) rows.push([title(s), c.bytes_max === null ? "more" : "up to " + classLimit(c.bytes_max), percent(c.elements / all), seconds(c.element_seconds)]);
  }
  table("size-table", ["Stage", "Size of an element", "Share of the elements", "For each"], rows);
  $("sizes").hidden = rows.length === 0;
}
function showKnobs() {
  const choices = (run().tuner && run().tuner.choices) || [];
  const knobs = (run().knobs || []).map((k) => {
    const c = choices.find((x) => x.path === k.path && x.name === k.name);
    return c ? { ...k, reason: c.reason } : k;
  });
  const has = knobs.some((k) => k.reason);
  table("knob-table", ["Stage", "Knob", "Value", "Least", "Most", "Set by"].concat(has ? ["Reason"] : []),
    knobs.map((k) => [title((run().stages || []).find((s) => s.path === k.path) || { name: k.stage }), k.name, number(k.value), number(k.min), number(k.max), k.auto ? "the engine" : "the plan"].concat(has ? [k.reason || ""] : [])));
  $("no-knobs").hidden = knobs.length !== 0;
  $("knob-table").parentElement.hidden = knobs.length === 0;
}
function showAdvice() {
  const v = run().verdict, lines = [];
  if (v && v.path) lines.push(v.text.slice(v.text.indexOf("the cause is ")).replace(/^the/, "The"));
  else if (v && v.kind === "consumer-bound") lines.push("Nothing in the plan limits the run: a faster pipeline would not end earlier.");
  for (const w of (run().tuner && run().tuner.what_if) || []) lines.push(`${w.change}: ${w.gain > 0 ? "+" : ""}${Math.round(100 * w.gain)} % elements per second, by the model of the tuner.`);
  for (const k of run().knobs || []) {
    const s = (run().stages || []).find((x) => x.path === k.path);
    if (s && !k.auto && k.name === "parallelism" && k.value > 1 && s.busy_share < 0.2 && s.elements > 0 && s.input_share + s.blocked_share > 0)
      lines.push(`${title(s)} works ${percent(s.busy_share)} of the time with a parallelism of ${number(k.value)}: a lower one suffices, and frees memory.`);
  }
  const memory = run().memory;
  if (memory && memory.budget_bytes && memory.peak_bytes > 0.9 * memory.budget_bytes) lines.push(`The memory budget of ${bytes(memory.budget_bytes)} was used up: raise it, or lower the largest of the lines below.`);
  for (const w of run().warnings || []) lines.push(w);
  replace($("advice"), ...(lines.length ? lines : ["No advice."]).map((t) => make("li", {}, t)));
}
function showMemory() {
  table("memory-table", ["Stage", "Purpose", "Peak"], (run().memory ? run().memory.holders : []).map((l) => [l.stage || "the run", l.purpose, bytes(l.peak_bytes)]));
}
function show() { showHead(); showGraph(); showCharts(); showStages(); showSizes(); showKnobs(); showAdvice(); showMemory(); }

// Controls --------------------------------------------------------------------------------------------------------
const themes = ["system", "light", "dark"];
let theme = 0;
$("theme").addEventListener("click", () => {
  theme = (theme + 1) % 3;
  $("theme").textContent = "Theme: " + themes[theme];
  if (theme) document.documentElement.dataset.theme = themes[theme];
  else delete document.documentElement.dataset.theme;
});
function poll() {
  const again = (ms) => setTimeout(poll, ms);
  if (isPaused || document.hidden) return again(500);
  fetch("report.json", { cache: "no-store" }).then((r) => { if (!r.ok) throw new Error("status " + r.status); return r.json(); }).then((next) => {
    report = next;
    $("connection").textContent = report.outcome === "running" ? "" : "The run has ended.";
    show();
    if (report.outcome === "running") again(1000);
  }).catch(() => { $("connection").textContent = "The program does not answer: it has ended, or the connection is lost. The numbers are the last ones."; again(5000); });
}
show();
if (live) {
  const pause = $("pause");
  pause.hidden = false;
  pause.addEventListener("click", () => { isPaused = !isPaused; pause.setAttribute("aria-pressed", isPaused); pause.textContent = isPaused ? "Resume" : "Pause"; });
  setTimeout(poll, 1000);
}
})();
)page"
