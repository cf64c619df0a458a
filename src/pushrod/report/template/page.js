"use strict";
// The script of a report: unpacks Plotly and the numbers, draws panels as they come into view, and keeps all of them at one time.
(() => {
  const root = document.documentElement;
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const coarse = matchMedia("(pointer: coarse)").matches;
  root.dataset.theme = prefersDark.matches ? "dark" : "light";

  const report = { runs: [], span: [0, 1], arrays: [], panels: [], drawn: new Set(), range: null, printing: false };
  const el = (tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const colour = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();
  // Plotly reads a little HTML in its texts; what comes from a log is none
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  async function unpack(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  }

  function numbers(packed) {
    const bytes = Uint8Array.from(atob(packed.data), (c) => c.charCodeAt(0));
    return packed.kind === "f8" ? new Float64Array(bytes.buffer) : new Float32Array(bytes.buffer);
  }

  function array(i) {
    const found = report.arrays[i];
    return found.values || (found.values = numbers(found));
  }

  // ---- what is drawn -------------------------------------------------------------------------------------------------
  const ORDER = ["request", "command", "allocated", "achieved", "measured"];
  const STYLES = { request: 1.6, command: 1.6, allocated: 1.6, achieved: 2, measured: 1 };

  const DASHES = { request: "dot", command: "dash", allocated: "dashdot" };
  const CYCLE = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

  // of two runs the colour says which, and the dash what it is; of one the colour says what it is. What was measured is dots
  const hue = (line) => (report.runs.length > 1 ? `run-${line.run}` : line.part);
  const dash = (line) => (report.runs.length < 2 ? "solid" : DASHES[line.part] || CYCLE[(+/^series-(\d+)$/.exec(line.part)?.[1] || 0) % CYCLE.length]);

  const wide = (line) => (report.runs.length > 1 && line.run === 0 ? 1.9 : 1); // the first of two lies below: where they are equal its edges are seen

  function trace(line, stacked) {
    const made = {
      type: "scatter", mode: "lines", name: plain(line.label), x: array(line.x), y: array(line.y), hoverinfo: "none", visible: !line.off,
      line: { color: colour(hue(line)), width: wide(line) * (STYLES[line.part] || 1.7), dash: dash(line), shape: line.part === "request" ? "hv" : "linear" },
    };
    // samples that a line runs through: as a second line they would be hidden by it, or hide it
    if (line.dots || line.part === "measured") Object.assign(made, { mode: "markers", marker: { color: colour(hue(line)), size: 3 * wide(line), opacity: 0.5 } });
    if (stacked) Object.assign(made, { stackgroup: "one", line: { color: colour(line.part), width: 0.6 }, fillcolor: colour(line.part) });
    return made;
  }

  function axis(more) {
    return Object.assign({ gridcolor: colour("grid"), zerolinecolor: colour("line"), linecolor: colour("line"), tickcolor: colour("line"), automargin: false,
      ticks: "outside", ticklen: 4, fixedrange: coarse }, more);
  }

  function layout(panel, more) {
    const narrow = innerWidth < 720;
    return Object.assign({
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "x", dragmode: coarse ? false : "zoom",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colour("soft") },
      margin: { l: narrow ? 48 : 62, r: panel.type === "bars" ? 24 : narrow ? 10 : 16, t: 10, b: panel.type === "time" || panel.type === "stack" ? 26 : 40 }, uirevision: "kept",
    }, more);
  }

  // a tint over the whole height, and an edge by which overlapping bands are told apart: limits above, the rest below
  function bands(panel) {
    const rect = (a, b, y0, y1, fillcolor) => ({ type: "rect", xref: "x", yref: "paper", x0: a, x1: b, y0, y1, layer: "below", fillcolor, line: { width: 0 } });
    return (panel.bands || []).flatMap((band) => band.spans.flatMap(([a, b]) => {
      const [y0, y1] = band.kind === "saturated" ? [0.965, 1] : [0, 0.035];
      return [rect(a, b, 0, 1, colour(`band-${band.kind}`)), rect(a, b, y0, y1, colour(`edge-${band.kind}`))];
    }));
  }

  function marks(panel) {
    const soft = colour("faint"), shapes = [];
    for (const level of panel.levels || []) {
      shapes.push({ type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: level, y1: level, line: { color: colour("command"), width: 1, dash: "dot" } });
    }
    for (const step of panel.steps || []) {
      shapes.push({ type: "line", xref: "x", yref: "paper", x0: step.from, x1: step.from, y0: 0, y1: 1, line: { color: soft, width: 1, dash: "dot" } });
      shapes.push({ type: "line", xref: "x", yref: "y", x0: step.from, x1: step.to, y0: step.goal, y1: step.goal, line: { color: soft, width: 1, dash: "dot" } });
      if (step.settled !== null) {
        shapes.push({ type: "line", xref: "x", yref: "paper", x0: step.settled, x1: step.settled, y0: 0, y1: 1, line: { color: soft, width: 1, dash: "dash" } });
      }
    }
    return shapes;
  }

  const label = (unit) => (unit ? `[${plain(unit)}]` : "");

  function timeFigure(panel) {
    const range = report.range || report.span;
    const stacked = panel.type === "stack";
    return [panel.lines.map((line) => trace(line, stacked)), layout(panel, {
      shapes: [...bands(panel), ...marks(panel)],
      xaxis: axis({ range: [...range], autorange: false, ticksuffix: " s", zeroline: false }),
      yaxis: axis({ title: { text: label(panel.unit), font: { size: 11 } }, rangemode: stacked ? "tozero" : "normal" }),
    })];
  }

  function wayFigure(panel) {
    const traces = [];
    const dot = (x, y, symbol, text, run) => ({
      type: "scatter", mode: "markers+text", x: [x], y: [y], text: [text], textposition: "top center", hoverinfo: "none",
      marker: { symbol, size: 10, color: colour(hue({ part: "achieved", run })), line: { color: colour("sheet"), width: 1.5 } }, textfont: { color: colour("soft") }, opacity: run ? 0.7 : 1,
    });
    for (const way of panel.ways) {
      const x = array(way.x), y = array(way.y), t = array(way.t), n = x.length - 1;
      if (way.desired) {
        traces.push({ type: "scatter", mode: "lines", x: array(way.desired[0]), y: array(way.desired[1]), hoverinfo: "none", line: { color: colour("request"), width: 1.6, dash: "dot" } });
      }
      traces.push({ type: "scatter", mode: "lines", x, y, customdata: Array.from(t), hoverinfo: "none",
        line: { color: colour(hue({ part: "achieved", run: way.run })), width: 2 * wide(way) } });
      if (way.marks) {
        const [px, py, psi] = way.marks.map(array);
        traces.push({ type: "scatter", mode: "markers", x: px, y: py, hoverinfo: "skip", opacity: way.run ? 0.6 : 1,
          marker: { symbol: "arrow", size: 13, color: colour("command"), angle: Array.from(psi, (a) => 90 - (a * 180) / Math.PI) } });
      }
      traces.push(dot(x[0], y[0], "circle", way.ends[0], way.run), dot(x[n], y[n], "square", way.ends[1], way.run));
    }
    return [traces, layout(panel, {
      hovermode: "closest",
      xaxis: axis({ title: { text: `${panel.across} [m]`, standoff: 6, font: { size: 11 } }, zeroline: false }),
      yaxis: axis({ title: { text: `${panel.up} [m]`, font: { size: 11 } }, scaleanchor: "x", scaleratio: 1, zeroline: false }),
    })];
  }

  function span(values) {
    let low = Infinity, high = -Infinity;
    for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
    return high - low;
  }

  // of many bins only 1, 10, 100 ... have room for their names; the others say theirs when pointed at
  function few(edges, names) {
    const shown = names.filter((_, i) => names.length <= 8 || Number.isInteger(+Math.log10(edges[i]).toFixed(9)));
    return { tickmode: "array", tickvals: shown, ticktext: shown, tickangle: 0 };
  }

  function barsFigure(panel) {
    const edges = panel.edges.map((edge) => (edge >= 1e6 ? `≤ ${+(edge / 1e6).toPrecision(3)} s` : edge >= 1e3 ? `≤ ${+(edge / 1e3).toPrecision(3)} ms` : `≤ ${+edge.toPrecision(3)} µs`));
    return [panel.bars.map((bars) => ({
      type: "bar", x: edges, y: bars.counts, hovertemplate: "%{y} ticks %{x}<extra></extra>", marker: { color: colour(`series-${bars.run}`) },
    })), layout(panel, {
      hovermode: "closest", bargap: 0.15, dragmode: false,
      xaxis: axis({ type: "category", fixedrange: true, title: { text: "late by", standoff: 6, font: { size: 11 } }, ...few(panel.edges, edges) }),
      yaxis: axis({ type: "log", fixedrange: true, title: { text: "ticks", font: { size: 11 } }, dtick: 1 }),
    })];
  }

  // autocorrelation over lags, and the bound that white noise keeps
  function lagsFigure(panel) {
    const bound = (y) => ({ type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: y, y1: y, line: { color: colour("command"), width: 1, dash: "dot" } });
    return [[{ type: "bar", x: panel.lags, y: panel.values, hovertemplate: "%{y:.3f} at lag %{x}<extra></extra>", marker: { color: colour("achieved") } }], layout(panel, {
      hovermode: "closest", bargap: 0.4, dragmode: false, shapes: [bound(panel.bound), bound(-panel.bound)],
      xaxis: axis({ fixedrange: true, zeroline: false, title: { text: "lag [samples]", standoff: 6, font: { size: 11 } } }),
      yaxis: axis({ fixedrange: true, range: [Math.min(-0.1, 1.15 * Math.min(...panel.values)), Math.max(0.1, 1.15 * Math.max(...panel.values))] }),
    })];
  }

  const FIGURES = { time: timeFigure, stack: timeFigure, way: wayFigure, bars: barsFigure, lags: lagsFigure };
  const TALL = new Set(["way", "map", "sets"]);
  if (window.pushrodFigures) Object.assign(FIGURES, window.pushrodFigures({ axis, layout, colour, label, plain }));  // of a page with kinds of its own
  const CONFIG = { displaylogo: false, responsive: false, displayModeBar: false, doubleClick: false, showTips: false };

  // ---- panels --------------------------------------------------------------------------------------------------------
  const isTime = (panel) => panel.type === "time" || panel.type === "stack";

  function legend(panel) {
    const list = el("ul", "legend");
    const order = [...(panel.lines || [])].sort((a, b) => a.run - b.run || ORDER.indexOf(a.part) - ORDER.indexOf(b.part));
    for (const line of order) {
      const item = el("li", "line");
      const swatch = el("span", `swatch ${line.part === "measured" ? "dots" : panel.type === "stack" ? "solid" : dash(line)}`);
      swatch.style.setProperty("--c", `var(--${panel.type === "stack" ? line.part : hue(line)})`);
      const name = report.runs.length > 1 ? `${report.runs[line.run]} ${line.label}` : line.label;
      line.output = el("output");
      item.append(swatch, el("span", "", name), ...(line.role ? [el("span", "role", line.role)] : []), line.output);
      item.tabIndex = 0;
      item.setAttribute("role", "button");
      item.onkeydown = (key) => { if (key.key === "Enter") item.onclick(); };
      item.onclick = () => {
        line.off = !line.off;
        item.classList.toggle("off", line.off);
        Plotly.restyle(panel.plot, { visible: !line.off }, [panel.lines.indexOf(line)]);
      };
      list.append(item);
    }
    for (const step of panel.steps || []) if (step.text) list.append(el("li", "step", step.text));
    for (const band of panel.bands || []) {
      const item = el("li"), patch = el("span", "patch");
      patch.style.setProperty("--c", `var(--edge-${band.kind})`);
      item.append(patch, el("span", "", band.label));
      list.append(item);
    }
    return list;
  }

  function build(figure, panel) {
    panel.figure = figure;
    if (panel.type === "time") panel.lines.sort((a, b) => (b.part === "measured") - (a.part === "measured")); // dots lie below lines
    if (panel.lines) figure.append(legend(panel));
    panel.plot = el("div", `plot ${panel.type}`);
    if (panel.type === "way") {
      const share = Math.max(...panel.ways.map((way) => span(array(way.y)) / Math.max(span(array(way.x)), 1e-9)));
      panel.plot.style.height = `${Math.round(Math.min(Math.max(share * 0.9, 0.22), figure.clientWidth < 720 ? 0.9 : 0.48) * Math.max(figure.clientWidth, 360) + 60)}px`;
    }
    panel.cursor = el("div", panel.type === "way" ? "cursor dot" : "cursor");
    if (panel.type !== "way") panel.cursor.append(el("span"));
    else panel.cursor.style.background = colour("command");
    figure.append(panel.plot);
  }

  function draw(panel) {
    const [data, shape] = FIGURES[panel.type](panel);
    shape.width = report.printing ? 660 : panel.plot.clientWidth;
    shape.height = report.printing ? (TALL.has(panel.type) ? 300 : 185) : panel.plot.clientHeight;
    Plotly.react(panel.plot, data, shape, CONFIG);
    if (report.drawn.has(panel)) return;
    report.drawn.add(panel);
    panel.plot.append(panel.cursor);
    panel.plot.on("plotly_unhover", () => point(null));
    if (isTime(panel)) {
      panel.plot.on("plotly_relayout", (change) => zoomed(panel, change));
      panel.plot.on("plotly_hover", (at) => point(at.xvals[0]));
      panel.plot.on("plotly_doubleclick", whole);
    } else if (panel.type === "way") {
      panel.plot.on("plotly_hover", (at) => { const t = at.points[0].customdata; if (t !== undefined) point(t); });
      panel.plot.on("plotly_doubleclick", () => Plotly.relayout(panel.plot, { "xaxis.autorange": true, "yaxis.autorange": true }));
    }
  }

  // ---- one time for all ----------------------------------------------------------------------------------------------
  let busy = false;

  function zoomed(panel, change) {
    if (busy || !("xaxis.range[0]" in change)) return;
    zoom([change["xaxis.range[0]"], change["xaxis.range[1]"]], panel);
  }

  function zoom(range, origin) {
    busy = true;
    report.range = range;
    document.getElementById("unzoom").hidden = range === null;
    const shown = range || report.span;
    const all = [...report.drawn].filter((other) => isTime(other) && other !== origin);
    Promise.all(all.map((other) => Plotly.relayout(other.plot, range ? { "xaxis.range": [...shown] } : { "xaxis.range": [...shown], "yaxis.autorange": true })))
      .finally(() => { busy = false; });
  }

  const whole = () => zoom(null, null);

  function nearest(x, t) {
    let low = 0, high = x.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (x[middle] <= t) low = middle; else high = middle;
    }
    return t - x[low] <= x[high] - t ? low : high;
  }

  const digits = (v) => (Number.isNaN(v) ? "–" : Math.abs(v) >= 1e5 || (v !== 0 && Math.abs(v) < 1e-4) ? v.toExponential(2) : String(+v.toPrecision(4))).replace("-", "−");

  function point(t) {
    for (const panel of report.drawn) {
      const full = panel.plot._fullLayout;
      if (!full || !(isTime(panel) || panel.type === "way")) continue;
      panel.cursor.style.display = t === null ? "none" : "block";
      for (const line of panel.lines || []) {
        const x = array(line.x);
        line.output.textContent = t === null ? "" : digits(array(line.y)[nearest(x, t)]);
      }
      if (t === null) continue;
      if (panel.type === "way") {
        const way = panel.ways[0], i = nearest(array(way.t), t);
        panel.cursor.style.left = `${full.xaxis._offset + full.xaxis.l2p(array(way.x)[i])}px`;
        panel.cursor.style.top = `${full.yaxis._offset + full.yaxis.l2p(array(way.y)[i])}px`;
      } else {
        const left = full.xaxis.l2p(t);
        panel.cursor.style.display = left < 0 || left > full.xaxis._length ? "none" : "block";
        panel.cursor.style.left = `${full.xaxis._offset + left}px`;
        panel.cursor.style.top = `${full.yaxis._offset}px`;
        panel.cursor.style.height = `${full.yaxis._length}px`;
        panel.cursor.classList.toggle("left", left > 0.8 * full.xaxis._length);
        panel.cursor.firstChild.textContent = `${t.toFixed(3)} s`;
      }
    }
  }

  function redraw() {
    for (const panel of report.drawn) draw(panel);
    point(null);
  }

  // ---- channels by choice --------------------------------------------------------------------------------------------
  function choices(table, panel, place) {
    const chosen = new Map();
    const show = () => {
      for (const old of [...report.drawn]) if (old.chosen) { Plotly.purge(old.plot); report.drawn.delete(old); }
      place.replaceChildren();
      const units = new Map();
      [...chosen.values()].forEach((lines, i) => {
        for (const line of lines) {
          const made = Object.assign({}, line, { part: `series-${i % 8}` });
          units.set(line.unit, [...(units.get(line.unit) || []), made]);
        }
      });
      for (const [unit, lines] of units) {
        const one = { type: "time", unit, lines, bands: [], chosen: true };
        const figure = el("figure", "panel");
        place.append(figure);
        build(figure, one);
        draw(one);
      }
    };
    table.tBodies[0].querySelectorAll("tr").forEach((row, i) => {
      if (!panel.lines[i]) return;
      const box = el("input");
      box.type = "checkbox";
      box.setAttribute("aria-label", "draw");
      box.onchange = () => { if (box.checked) chosen.set(i, panel.lines[i]); else chosen.delete(i); show(); };
      const words = el("label");
      words.append(box, ` ${row.cells[0].textContent}`);
      row.cells[0].replaceChildren(words);
    });
  }

  // ---- tables --------------------------------------------------------------------------------------------------------
  function fold(table) {
    const rows = [...table.tBodies[0].rows].slice(+table.dataset.fold);
    rows.forEach((row) => row.classList.add("folded"));
    const more = el("button", "more", `Show ${rows.length} more`);
    more.type = "button";
    more.onclick = () => { rows.forEach((row) => row.classList.remove("folded")); more.remove(); };
    table.after(more);
  }

  function filter(bar) {
    const table = bar.parentElement.querySelector("table");
    const text = bar.querySelector("input[type=search]"), boxes = [...bar.querySelectorAll("input[type=checkbox]")];
    const apply = () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean), on = boxes.filter((box) => box.checked).map((box) => box.value);
      const asked = words.length > 0 || on.length < boxes.length;
      for (const row of table.tBodies[0].rows) {
        const content = row.textContent.toLowerCase();
        const match = words.every((word) => content.includes(word)) && (!boxes.length || on.includes(row.dataset.mark) || !boxes.some((box) => box.value === row.dataset.mark));
        row.classList.toggle("hidden", !match);
        if (asked && match) row.classList.remove("folded");
      }
    };
    bar.addEventListener("input", apply);
  }

  // ---- start ---------------------------------------------------------------------------------------------------------
  function theme(name) {
    root.dataset.theme = name;
    document.getElementById("theme").textContent = name === "dark" ? "Light" : "Dark";
    redraw();
  }

  async function start() {
    document.querySelectorAll("table[data-fold]").forEach(fold);
    document.querySelectorAll(".filter").forEach(filter);
    const links = document.querySelector("nav");
    document.querySelectorAll("main > section > h2").forEach((head) => {
      const link = el("a", "", head.textContent);
      link.href = `#${head.parentElement.id}`;
      links.append(link);
    });
    document.getElementById("theme").onclick = () => theme(root.dataset.theme === "dark" ? "light" : "dark");
    document.getElementById("print").onclick = () => print();
    document.getElementById("unzoom").onclick = whole;
    theme(root.dataset.theme);
    prefersDark.addEventListener("change", () => theme(prefersDark.matches ? "dark" : "light"));
    try {
      const [source, data] = await Promise.all([unpack("plotly").then((r) => r.text()), unpack("data").then((r) => r.json())]);
      Object.assign(report, data);
      const script = el("script");
      script.textContent = source;
      document.head.append(script);
    } catch (error) {
      document.querySelector("main").prepend(el("p", "warning", `The plots cannot be shown in this browser (${error}); the tables are complete.`));
      return;
    }
    const waiting = new Map();
    const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
      if (!entry.isIntersecting) return;
      seen.unobserve(entry.target);
      draw(waiting.get(entry.target));
      waiting.delete(entry.target);
    }), { rootMargin: "900px" });
    document.querySelectorAll("figure[data-panel]").forEach((figure) => {
      const panel = report.panels[+figure.dataset.panel];
      build(figure, panel);
      waiting.set(figure, panel);
      seen.observe(figure);
    });
    const place = document.querySelector("[data-panel-choice]");
    if (place) choices(document.querySelector("table.channels"), report.panels[+place.dataset.panelChoice], place);
    let width = innerWidth;
    addEventListener("resize", () => { if (innerWidth !== width && !report.printing) { width = innerWidth; redraw(); } });
    let before = root.dataset.theme, folded = [];
    addEventListener("beforeprint", () => {
      before = root.dataset.theme;
      root.dataset.theme = "light";
      report.printing = true;
      folded = [...document.querySelectorAll("#parameters details:not([open])")];
      for (const details of folded) details.open = true;
      for (const [figure, panel] of waiting) { seen.unobserve(figure); draw(panel); }
      waiting.clear();
      redraw();
    });
    addEventListener("afterprint", () => { report.printing = false; for (const details of folded) details.open = false; theme(before); });
    window.pushrodReport = report;
    root.dataset.ready = "yes";
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
