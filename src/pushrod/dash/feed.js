// What the server tells the page ten times a second, in one message; and what the page knows by itself: whether it still hears the server.
//
//   data-live="KEY"     an element whose text is what is told under KEY          data-bar="KEY"    one that lies from-to [%] of its parent
//   data-rows="KEY"     one that holds a table, a class and cells for each row
//   data-needs="KEY"    one that can be used only while KEY holds, never stale   data-shown="KEY"  one that is there only while KEY holds
//   data-wants="KEY"    one that is pale while KEY does not hold                 data-stale="TEXT" what a data-live says while the page is stale
//   data-marked="KEY"   one that is marked while KEY holds
//
// The space bar is the e-stop, except while somebody is typing. It is asked for by a request of its own, not by the page's socket, and what is not
// confirmed within a second is said to be so; the request still stands, since a late e-stop is better than none.
//
// That this browser has control is kept over a reload (HAD), so that the page that comes back can say that it was lost.
const HAD = "pushrod-control";
const LOOK = 100; // [ms] between two looks at what was received
const STANDSTILL = 250; // [ms] between two looks, after which this browser stood still
const GRACE = 50; // [ms] for messages that waited meanwhile

export default {
  template: `<div style="display:none"></div>`,
  props: { silence: Number, patience: Number, seat: String },
  mounted() {
    this.texts = {};
    this.bars = {};
    this.flags = {};
    this.rows = {};
    this.heard = this.looked = performance.now();
    this.deferred = false; // whether this silence was given its time of grace
    this.gone = "";
    this.since = 0;
    this.sent = 0;
    const had = sessionStorage.getItem(HAD);
    if (had) this.$emit("had", had);
    sessionStorage.removeItem(HAD);
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey, true);
    this.onPress = (event) => {
      if (event.target.closest("[data-estop]")) this.estop();
    };
    document.addEventListener("click", this.onPress, true);
    this.timer = setInterval(() => this.show(), LOOK);
    this.$emit("ready");
  },
  unmounted() {
    document.removeEventListener("keydown", this.onKey, true);
    document.removeEventListener("click", this.onPress, true);
    clearInterval(this.timer);
  },
  methods: {
    feed(told) {
      this.heard = performance.now();
      this.deferred = false;
      this.gone = told.gone;
      this.since = told.since;
      Object.assign(this.texts, told.texts);
      Object.assign(this.bars, told.bars);
      Object.assign(this.flags, told.flags);
      for (const [key, table] of Object.entries(told.rows)) this.rows[key] = { table, n: told.n };
      if (this.flags.control) sessionStorage.setItem(HAD, this.seat);
      else if (sessionStorage.getItem(HAD) === this.seat && !this.flags.lost) sessionStorage.removeItem(HAD); // given back
      document.body.dataset.state = told.state;
      this.$emit("beat", told.n);
      for (const [id, points] of Object.entries(told.plots)) getElement(Number(id))?.push?.(points, told.now);
      if (this.sent && told.sent !== this.sent + 1) this.missed();
      this.sent = told.sent;
      this.show();
    },
    missed() {
      // what was told meanwhile never came: the plots ask for it, so that no line runs straight over it
      for (const one of document.querySelectorAll(".pr-plot-box")) getElement(Number(one.id.slice(1)))?.again?.();
    },
    show() {
      const now = performance.now();
      const silence = (now - this.heard) / 1000;
      let lost = silence > this.silence;
      // While this browser stood still its messages waited, too: they come first, once, lest a press just after it is lost.
      if (lost && !this.deferred && now - this.looked > STANDSTILL) {
        this.deferred = true;
        lost = false;
        setTimeout(() => this.show(), GRACE);
      }
      this.looked = now;
      const stale = lost || this.gone !== "";
      document.body.classList.toggle("pr-stale", stale);
      const banner = document.getElementById("pr-banner");
      if (banner) {
        const since = lost ? silence + (this.gone ? this.since : 0) : this.since;
        const why = lost ? "the page has lost its server" : this.gone;
        banner.hidden = !stale;
        if (stale) banner.textContent = `STALE for ${since.toFixed(1)} s: ${why}. Nothing shown here is how the machine is now.`;
      }
      for (const one of document.querySelectorAll("[data-live]")) {
        const text = (stale && one.dataset.stale) || (this.texts[one.dataset.live] ?? "");
        if (one.textContent !== text) one.textContent = text;
      }
      for (const one of document.querySelectorAll("[data-bar]")) {
        const [from, to] = this.bars[one.dataset.bar] ?? [0, 0];
        one.style.left = `${Math.min(from, to)}%`;
        one.style.width = `${Math.abs(to - from)}%`;
      }
      for (const one of document.querySelectorAll("[data-rows]")) this.fill(one, this.rows[one.dataset.rows]);
      for (const one of document.querySelectorAll("[data-needs]")) one.inert = stale || !this.flags[one.dataset.needs];
      for (const one of document.querySelectorAll("[data-wants]")) one.dataset.pale = String(stale || !this.flags[one.dataset.wants]);
      for (const one of document.querySelectorAll("[data-shown]")) one.hidden = !this.flags[one.dataset.shown];
      for (const one of document.querySelectorAll("[data-marked]")) {
        const marked = !stale && Boolean(this.flags[one.dataset.marked]);
        one.classList.toggle("pr-marked", marked);
        if (one.tagName === "BUTTON") one.setAttribute("aria-pressed", String(marked));
      }
      // the 3-D view measures itself when the window changes, also while its tab is not there; then it must do so again
      const scene = document.querySelector(".pr-scene-box");
      const canvas = scene?.querySelector("canvas");
      if (scene?.clientWidth && canvas && canvas.clientWidth !== scene.clientWidth) window.dispatchEvent(new Event("resize"));
      if (scene && !canvas) {
        scene.textContent = "This browser offers no WebGL, which the view needs; everything else works without.";
        scene.removeAttribute("data-initializing"); // which would hide it
      }
      const dark = String(document.body.classList.contains("body--dark"));
      const view = scene && scene.dataset.dark !== dark ? getElement(Number(scene.id.slice(1))) : null;
      if (view?.renderer) {
        view.renderer.setClearColor(dark === "true" ? "#20262d" : "#e9ecf0");
        scene.dataset.dark = dark;
      }
    },
    fill(one, told) {
      if (!told || one.filled === told.n) return;
      one.filled = told.n;
      one.replaceChildren(
        ...told.table.map(([kind, ...cells]) => {
          const line = Object.assign(document.createElement("div"), { className: `pr-row-line ${kind}` });
          line.append(...cells.map((cell) => Object.assign(document.createElement("span"), { textContent: cell })));
          return line;
        }),
      );
    },
    key(event) {
      if (event.code !== "Space" || event.ctrlKey || event.altKey || event.metaKey) return;
      const at = event.target;
      const typing = at.isContentEditable || at.tagName === "TEXTAREA" || (at.tagName === "INPUT" && !["checkbox", "radio", "range", "button"].includes(at.type));
      if (typing) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) this.estop();
    },
    async estop() {
      const note = document.getElementById("pr-estop-note");
      const say = (text) => {
        if (!note) return;
        note.textContent = text;
        note.hidden = text === "";
      };
      const late = setTimeout(
        () => say(`E-STOP IS NOT CONFIRMED: the page's server has not answered for ${this.patience} s. Use the button on the machine.`),
        this.patience * 1000,
      );
      try {
        const answer = await fetch("/estop", { method: "POST" }); // no body: the request is complete with its head
        const text = await answer.text();
        say(answer.ok ? "" : `E-STOP WAS NOT DONE: ${text.trim().replace(/[.\s]+$/, "")}. Use the button on the machine.`);
      } catch (error) {
        say("E-STOP WAS NOT DELIVERED: the page does not reach its server. Use the button on the machine.");
      } finally {
        clearTimeout(late);
      }
    },
  },
};
