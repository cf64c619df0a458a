// Lines over time that move on by themselves. What is new is pushed; what lies further back is asked for (`history`) when somebody pauses or scrolls.
import { echarts } from "nicegui-echart";

const COLOURS = ["#2f81c6", "#d9822b", "#2e9c6a", "#b5508e", "#7a6fd0", "#8a8f98"];
const LEAST = 20;
const REQUESTS = [["#3c4753", "#a06a2c"], ["#c5ced8", "#d9b27c"]]; // light, dark: what was asked is dashed, and lies on top

export default {
  template: `<div><div class="pr-legend" ref="legend"></div><div class="pr-plot-canvas" ref="canvas"></div></div>`,
  props: { series: Array, window: Number, kept: Number },
  mounted() {
    this.data = this.series.map(() => []);
    this.now = Date.now();
    this.paused = false;
    this.view = null; // [from, to] in ms while paused
    this.chart = echarts.init(this.$refs.canvas, null, { renderer: "canvas" });
    this.chart.on("datazoom", () => this.zoomed());
    this.resizing = new ResizeObserver(() => this.chart.resize());
    this.resizing.observe(this.$refs.canvas);
    this.theming = new MutationObserver(() => this.setup());
    this.theming.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.setup();
    this.keys();
    this.ask(this.now - this.window * 1000, this.now + 1000);
  },
  unmounted() {
    this.theming.disconnect();
    this.resizing.disconnect();
    this.chart.dispose();
  },
  watch: {
    series: {
      deep: true,
      handler() {
        this.data = this.series.map(() => []);
        this.setup();
        this.again();
      },
    },
    window() {
      this.again();
    },
  },
  methods: {
    setup() {
      const css = getComputedStyle(document.body);
      const dark = document.body.classList.contains("body--dark");
      if (dark === this.dark && this.named === JSON.stringify(this.series)) return;
      this.dark = dark;
      this.named = JSON.stringify(this.series);
      const ink = css.getPropertyValue("--pr-soft").trim() || "#666";
      const grid = css.getPropertyValue("--pr-line").trim() || "#ddd";
      const units = this.series.length ? [...new Set(this.series.map((one) => one.unit))] : ["-"];
      this.chart.setOption(
        {
          animation: false,
          grid: { left: 8, right: units.length > 1 ? 8 : 14, top: 24, bottom: 4, containLabel: true },
          tooltip: { trigger: "axis", renderMode: "richText", confine: true, textStyle: { fontSize: 11 }, valueFormatter: (x) => (x == null ? "-" : Number(x).toPrecision(5)) },
          xAxis: { type: "time", axisLine: { lineStyle: { color: grid } }, axisLabel: { color: ink, fontSize: 10, hideOverlap: true }, splitLine: { show: true, lineStyle: { color: grid, opacity: 0.5 } } },
          yAxis: units.slice(0, 2).map((unit) => ({
            type: "value", scale: true, ...this.span(unit), name: unit === "-" ? "" : unit, nameTextStyle: { color: ink, fontSize: 10, padding: [0, 0, -4, 0] },
            axisLabel: { color: ink, fontSize: 10 }, splitLine: { lineStyle: { color: grid } },
          })),
          dataZoom: [{ type: "inside", filterMode: "none", zoomOnMouseWheel: true, moveOnMouseMove: true, throttle: 80, disabled: !this.paused }],
          series: this.series.map((one, i) => ({
            name: one.name, type: "line", showSymbol: false, connectNulls: false, yAxisIndex: Math.min(units.indexOf(one.unit), 1),
            step: one.step ? "end" : false, data: this.data[i],
            z: one.request ? 3 : 2, lineStyle: { width: 1.8, type: one.request ? "dashed" : "solid", color: this.colour(i) }, itemStyle: { color: this.colour(i) },
          })),
        },
        { replaceMerge: ["series", "yAxis"] },
      );
    },
    span(unit) {
      // Noise far below the digits that are shown is drawn as a flat line: an axis spans at least LEAST units of the last digit.
      const digits = this.series.find((one) => one.unit === unit)?.digits ?? 3;
      const least = LEAST * 10 ** -digits;
      const middle = ({ min, max }) => (max - min <= 0.75 * least ? Math.round((2 * (min + max)) / least) * (least / 4) : null);
      const end = (sign) => (data) => (middle(data) === null ? null : Number((middle(data) + (sign * least) / 2).toPrecision(12)));
      return { min: end(-1), max: end(1) };
    },
    colour(i) {
      const requests = this.series.slice(0, i).filter((one) => one.request).length;
      return this.series[i].request ? (this.dark ? REQUESTS[1] : REQUESTS[0])[requests % 2] : COLOURS[(i - requests) % COLOURS.length];
    },
    keys() {
      const last = this.last();
      const legend = this.$refs.legend;
      if (legend.childElementCount !== this.series.length || legend.named !== this.named + this.dark) {
        legend.named = this.named + this.dark;
        if (!this.series.length) {
          legend.replaceChildren("No channel is chosen yet: choose some on the right");
          return;
        }
        legend.replaceChildren(
          ...this.series.map((one, i) => {
            const key = document.createElement("span");
            const line = document.createElement("i");
            line.style.borderColor = this.colour(i);
            line.className = one.request ? "request" : "";
            key.append(line, one.label, document.createElement("b"));
            return key;
          }),
        );
      }
      this.series.forEach((one, i) => {
        const text = last[i] == null ? "" : `${last[i].toFixed(one.digits).replace(/^-(0\.?0*)$/, "$1")}${one.unit === "-" ? "" : ` ${one.unit}`}`;
        const value = legend.children[i].lastChild;
        if (value.textContent !== text) value.textContent = text;
      });
    },
    push(points, now) {
      this.now = now;
      points.forEach(([times, values], i) => {
        const line = this.data[i];
        if (!line) return;
        const last = line.length ? line[line.length - 1][0] : -Infinity;
        times.forEach((t, j) => t > last && line.push([t, values[j]]));
      });
      if (!this.paused) {
        const from = now - this.window * 1000 - 2000;
        for (const line of this.data) {
          let n = 0;
          while (n < line.length && line[n][0] < from) n++;
          if (n > 0) line.splice(0, n);
        }
        this.draw();
      }
    },
    show(lines) {
      this.data = lines.map(([times, values]) => times.map((t, j) => [t, values[j]]));
      this.draw();
    },
    draw() {
      // never more than a fifth of the time: a slow machine sees fewer pictures, and goes on answering
      if (this.waiting || document.hidden) return;
      this.waiting = true;
      const wait = Math.max(0, (this.next ?? 0) - performance.now());
      setTimeout(() => requestAnimationFrame(() => this.paint()), wait);
    },
    paint() {
      this.waiting = false;
      if (this.chart.isDisposed() || this.$refs.canvas.clientWidth === 0) return;
      const start = performance.now();
      const [from, to] = this.view ?? [this.now - this.window * 1000, this.now];
      const axis = this.paused ? { min: this.now_at_pause - this.kept * 1000, max: this.now_at_pause } : { min: from, max: to };
      this.chart.setOption({ xAxis: axis, series: this.data.map((data) => ({ data })) });
      this.keys();
      const end = performance.now();
      this.next = end + Math.max(60, 4 * (end - start) * document.querySelectorAll(".pr-plot-canvas").length);
    },
    pause(paused) {
      this.paused = paused;
      this.now_at_pause = this.now;
      this.view = paused ? [this.now - this.window * 1000, this.now] : null;
      this.chart.setOption({ dataZoom: [{ disabled: !paused, startValue: paused ? this.view[0] : null, endValue: paused ? this.view[1] : null, start: paused ? null : 0, end: paused ? null : 100 }] });
      this.again();
    },
    again() {
      if (this.paused) this.ask(...this.view);
      else this.ask(this.now - this.window * 1000, this.now + 1000);
    },
    zoomed() {
      if (!this.paused) return;
      const zoom = this.chart.getOption().dataZoom[0];
      this.view = [zoom.startValue, zoom.endValue];
      clearTimeout(this.asking);
      this.asking = setTimeout(() => this.ask(...this.view), 120);
    },
    ask(from, to) {
      const span = to - from;
      this.$emit("history", { from: from - (this.paused ? span : 0), to: to + (this.paused ? span : 0) });
    },
    last() {
      return this.data.map((line) => (line.length ? line[line.length - 1][1] : null));
    },
  },
};
