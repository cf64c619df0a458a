"use strict";
// Figures of a study: how numbers are spread, where runs pass, maps over two parameters, and sets that runs go round.
window.pushrodFigures = ({ axis, layout, colour, label, plain }) => {
  const small = { size: 11 };
  const title = (text) => ({ text: plain(text), standoff: 6, font: small });
  const dotted = (shape) => ({ type: "line", line: { color: colour("ink"), width: 1.2, dash: "dot" }, ...shape });
  const whole = (n) => n.toLocaleString("en").replace(/,/g, "\u202f");
  const digits = (v) => (v === null || v === undefined || Number.isNaN(v) ? "–" : String(+v.toPrecision(4)).replace("-", "−"));

  // bins of a range have edges, those of few values names
  function places(bins) {
    if (bins.names) return { x: bins.names.map(plain), width: undefined, type: "category", names: bins.names.map(plain) };
    const x = [], width = [], names = [];
    for (let i = 0; i + 1 < bins.edges.length; i++) {
      const [a, b] = [bins.edges[i], bins.edges[i + 1]];
      x.push(0.5 * (a + b));
      width.push(b - a);
      names.push(`${i === 0 && bins.beyond[0] ? "below" : digits(a)} … ${i + 2 === bins.edges.length && bins.beyond[1] ? "above" : digits(b)}`);
    }
    return { x, width, type: "linear", names };
  }

  function across(bins, name, unit) {
    const { type } = places(bins);
    return axis({ type, fixedrange: true, zeroline: false, title: title(unit ? `${name} [${unit}]` : name), ...(type === "category" ? { tickangle: 0 } : {}) });
  }

  function histogram(panel) {
    const { x, width, names } = places(panel.bins);
    const bars = (counts, name, tint) => ({ type: "bar", x, y: counts, width, marker: { color: colour(tint), line: { width: 0 } }, customdata: names,
      hovertemplate: `%{customdata}: %{y} ${name}<extra></extra>` });
    const traces = panel.judged ? [bars(panel.passed, "passed", "achieved"), bars(panel.failed, "failed", "series-1")] : [bars(panel.passed, "runs", "achieved")];
    return [traces, layout(panel, {
      hovermode: "closest", barmode: "stack", bargap: 0.12, dragmode: false,
      shapes: panel.limits.map((at) => dotted({ xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1 })),
      xaxis: across(panel.bins, panel.name, panel.unit),
      yaxis: axis({ fixedrange: true, title: title("runs"), rangemode: "tozero", nticks: 5 }),
    })];
  }

  // the share that passes with its interval, above how often the value was drawn
  function share(panel) {
    const { x, width, names, type } = places(panel.bins);
    const told = panel.count.map((n, i) => (n ? `${names[i]}: ${digits(100 * panel.share[i])} % of ${whole(n)} samples` : ""));
    const most = Math.max(...panel.count, 1);
    const drawn = { type: "bar", x, y: panel.count.map((n) => (100 * 0.22 * n) / most), width, hoverinfo: "skip", marker: { color: colour("line") } };
    const line = { type: "scatter", mode: type === "category" ? "markers" : "lines+markers", x, y: panel.share.map((s) => (s === null ? null : 100 * s)), customdata: told,
      hovertemplate: "%{customdata}<extra></extra>", line: { color: colour("achieved"), width: 1.8 }, marker: { size: type === "category" ? 8 : 4, color: colour("achieved") },
      error_y: { type: "data", symmetric: false, array: panel.hi.map((h, i) => 100 * (h - panel.share[i])), arrayminus: panel.lo.map((l, i) => 100 * (panel.share[i] - l)),
        thickness: 1.2, width: 0, color: colour("achieved") } };
    return [[drawn, line], layout(panel, {
      hovermode: "closest", bargap: 0, dragmode: false, xaxis: across(panel.bins, panel.name, panel.unit),
      yaxis: axis({ fixedrange: true, range: [0, 104], ticksuffix: " %", nticks: 5 }),
    })];
  }

  function map(panel) {
    const wide = places(panel.x.bins), tall = places(panel.y.bins);
    const passing = panel.metric === null;
    const shown = panel.mean.map((row) => row.map((v) => (v === null ? null : passing ? 100 * v : v)));
    const unit = passing ? " %" : panel.metric.unit ? ` ${plain(panel.metric.unit)}` : "";
    const text = panel.mean.map((row, j) => row.map((v, i) => `${plain(panel.x.name)} ${wide.names[i]}<br>${plain(panel.y.name)} ${tall.names[j]}<br>${digits(shown[j][i])}${unit} of ${whole(panel.count[j][i])} ${passing ? "samples" : "runs"}`));
    const scale = passing ? [[0, colour("series-1")], [0.5, colour("raised")], [1, colour("achieved")]] : [[0, colour("raised")], [1, colour("achieved")]];
    const range = passing ? { zmin: 0, zmax: 100 } : {};
    const cells = panel.mean.length <= 8 && panel.mean[0].length <= 8 ? { texttemplate: "%{text}", text: shown.map((row) => row.map((v) => (v === null ? "" : `${+v.toPrecision(3)}`.replace("-", "−")))) } : {};
    return [[{ type: "heatmap", x: wide.x, y: tall.x, z: shown, hovertext: text, hovertemplate: "%{hovertext}<extra></extra>", hoverongaps: false, colorscale: scale, ...range, ...cells, xgap: 1, ygap: 1,
      colorbar: { thickness: 10, outlinewidth: 0, ticksuffix: passing ? " %" : "", tickfont: small, title: passing ? undefined : { text: label(panel.metric.unit), font: small } } }],
    layout(panel, { hovermode: "closest", dragmode: false, margin: { l: innerWidth < 720 ? 52 : 66, r: 8, t: 10, b: 42 },
      xaxis: across(panel.x.bins, panel.x.name, panel.x.unit), yaxis: { ...across(panel.y.bins, panel.y.name, panel.y.unit), automargin: true } })];
  }

  // one small plot for each pair of values, all to one scale, with the largest of them behind
  function sets(panel) {
    const nx = panel.columns.length, ny = panel.rows.length, narrow = innerWidth < 720, traces = [], notes = [], shape = {};
    const way = (cell, i, j, more) => ({ type: "scatter", mode: "lines", x: [...cell.x, cell.x[0]], y: [...cell.y, cell.y[0]], xaxis: `x${i + 1}`, yaxis: `y${j + 1}`, hoverinfo: "skip", ...more });
    const whole = panel.cells.flat().find((cell) => cell && cell.share >= 1);
    const at = (i, j) => ({ xref: `x${i + 1} domain`, yref: `y${j + 1} domain`, showarrow: false });
    panel.cells.forEach((line, j) => line.forEach((cell, i) => {
      if (!cell) return;
      if (whole && whole !== cell) traces.push(way(whole, i, j, { line: { color: colour("faint"), width: 0.8, dash: "dot" } }));
      const point = Math.max(...cell.x) - Math.min(...cell.x) < 0.005 * (panel.across.range[1] - panel.across.range[0]);  // a set of one point has no line
      traces.push(way(cell, i, j, { mode: point ? "markers" : "lines", marker: { size: 5, color: colour("achieved") }, fill: "toself", fillcolor: colour("band-set"), line: { color: colour("achieved"), width: 1.8 } }));
      notes.push({ ...at(i, j), x: 0.98, y: 0.98, xanchor: "right", yanchor: "top", text: `${Math.round(100 * cell.share)} %`, font: { size: narrow ? 9 : 11, color: colour("soft") } });
    }));
    const [low, high] = panel.across.range, [below, above] = panel.up.range;
    const gap = 0.012;
    for (let i = 0; i < nx; i++) {
      shape[`xaxis${i + 1}`] = axis({ fixedrange: true, range: [low, high], domain: [i / nx + gap, (i + 1) / nx - gap], anchor: "y1", nticks: narrow ? 2 : 4, zeroline: true, tickfont: { size: narrow ? 8 : 10 } });
      notes.push({ xref: `x${i + 1} domain`, yref: "paper", x: 0.5, y: 1, yanchor: "bottom", showarrow: false, text: digits(panel.columns[i]), font: small });
    }
    for (let j = 0; j < ny; j++) {
      shape[`yaxis${j + 1}`] = axis({ fixedrange: true, range: [below, above], domain: [j / ny + gap, (j + 1) / ny - gap], anchor: "x1", nticks: 3, zeroline: true, tickfont: { size: narrow ? 8 : 10 } });
      notes.push({ xref: "paper", yref: `y${j + 1} domain`, x: 1, y: 0.5, xanchor: "left", showarrow: false, text: digits(panel.rows[j]), font: small });
    }
    const beside = (text, more) => ({ xref: "paper", yref: "paper", showarrow: false, text: plain(text), font: small, ...more });
    notes.push(beside(panel.columnsOf, { x: 0.5, y: 1, yanchor: "bottom", yshift: 16 }), beside(panel.rowsOf, { x: 1, y: 0.5, xanchor: "center", xshift: 38, textangle: 90 }));
    notes.push(beside(`${panel.across.name} ${panel.across.unit ? `[${panel.across.unit}]` : ""}`, { x: 0.5, y: 0, yanchor: "top", yshift: -24 }));
    notes.push(beside(`${panel.up.name} ${panel.up.unit ? `[${panel.up.unit}]` : ""}`, { x: 0, y: 0.5, xanchor: "center", xshift: narrow ? -30 : -44, textangle: -90 }));
    return [traces, layout(panel, { hovermode: false, dragmode: false, annotations: notes, margin: { l: narrow ? 42 : 58, r: 52, t: 40, b: 46 }, ...shape })];
  }

  return { histogram, share, map, sets };
};
