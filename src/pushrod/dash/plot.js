// Lines over time that move on by themselves. What is new is pushed; what lies further back is asked for (`history`) when somebody pauses or scrolls.
import { echarts } from "nicegui-echart";

const COLOURS = ["#2f81c6", "#d9822b", "#2e9c6a", "#b5508e", "#7a6fd0", "#8a8f98"];

export default {
  template: `<div class="pr-plot-canvas"></div>`,
  props: { series: Array, window: Number, kept: Number },
  mounted() {
    this.data = this.series.map(() => []);
    this.now = Date.now();
    this.paused = false;
    this.view = null; // [from, to] in ms while paused
    this.chart = echarts.init(this.$el, null, { renderer: "canvas" });
    this.chart.on("datazoom", () => this.zoomed());
    this.resizing = new ResizeObserver(() => this.chart.resize());
    this.resizing.observe(this.$el);
    this.theming = new MutationObserver(() => this.setup());
    this.theming.observe(document.body, { attributes: true, attributeFilter: ["class"] });
    this.setup();
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
      const units = [...new Set(this.series.map((one) => one.unit))];
      this.chart.setOption(
        {
          animation: false,
          grid: { left: 8, right: units.length > 1 ? 8 : 14, top: 34, bottom: 6, containLabel: true },
          legend: { top: 2, left: 4, icon: "roundRect", itemWidth: 14, itemHeight: 3, textStyle: { color: ink, fontSize: 11 }, type: "scroll" },
          tooltip: { trigger: "axis", renderMode: "richText", confine: true, textStyle: { fontSize: 11 }, valueFormatter: (x) => (x == null ? "-" : Number(x).toPrecision(5)) },
          xAxis: { type: "time", axisLine: { lineStyle: { color: grid } }, axisLabel: { color: ink, fontSize: 10, hideOverlap: true }, splitLine: { show: true, lineStyle: { color: grid, opacity: 0.5 } } },
          yAxis: units.slice(0, 2).map((unit) => ({
            type: "value", scale: true, name: unit === "-" ? "" : unit, nameTextStyle: { color: ink, fontSize: 10, padding: [0, 0, -4, 0] },
            axisLabel: { color: ink, fontSize: 10 }, splitLine: { lineStyle: { color: grid } },
          })),
          dataZoom: [{ type: "inside", filterMode: "none", zoomOnMouseWheel: true, moveOnMouseMove: true, throttle: 80, disabled: !this.paused }],
          series: this.series.map((one, i) => ({
            name: one.name, type: "line", showSymbol: false, connectNulls: false, yAxisIndex: Math.min(units.indexOf(one.unit), 1),
            step: one.step ? "end" : false, data: this.data[i],
            lineStyle: { width: one.request ? 1.5 : 1.8, type: one.request ? "dashed" : "solid", color: COLOURS[i % COLOURS.length] }, itemStyle: { color: COLOURS[i % COLOURS.length] },
          })),
        },
        { replaceMerge: ["series", "yAxis"] },
      );
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
      if (this.chart.isDisposed() || this.$el.clientWidth === 0) return;
      const start = performance.now();
      const [from, to] = this.view ?? [this.now - this.window * 1000, this.now];
      const axis = this.paused ? { min: this.now_at_pause - this.kept * 1000, max: this.now_at_pause } : { min: from, max: to };
      this.chart.setOption({ xAxis: axis, series: this.data.map((data) => ({ data })) });
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
