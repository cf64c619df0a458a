// A slider that the hand moves in this browser first: its place while it is held is never set from elsewhere, however late messages are.
//
//   moved {value, n}      a place, at most every 50 ms while it is dragged, and the last one; n counts them
//   held {value, press}   of a spring: its place, every 100 ms while it is pressed by hand or key; press counts presses
//   released              of a spring: it stands at 0 again
//
// `at` is [value, n]: the server's place, and the last move it had received then. It is shown once the slider is released and no move is under way.
// A press ends where the slider becomes unusable (inert), the window loses the focus, or the server calls release().
const PERIOD = 50; // [ms] between two moves
const AGAIN = 100; // [ms] between two signs of a spring that is held
const KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

export default {
  template: `<q-slider dense :model-value="place" :min="low" :max="high" :step="step" :aria-label="label" @update:model-value="move" />`,
  props: { at: Array, low: Number, high: Number, step: Number, label: String, spring: Boolean },
  data() {
    return { place: this.at[0] };
  },
  watch: {
    at() {
      this.settle();
    },
  },
  mounted() {
    this.pressed = ""; // "hand" or "key"
    this.moves = 0;
    this.press = 0;
    this.unsent = null;
    this.listening = [
      [this.$el, "pointerdown", () => this.begin("hand")],
      [this.$el, "keydown", (event) => KEYS.includes(event.key) && this.begin("key")],
      [document, "pointerup", () => this.end("hand")],
      [document, "pointercancel", () => this.end("hand")],
      [this.$el, "keyup", () => this.end("key")],
      [this.$el, "focusout", () => this.end("key")],
      [window, "blur", (event) => event.target === window && this.release()], // elements that lose the focus pass here, too
    ];
    for (const [target, name, act] of this.listening) target.addEventListener(name, act, true);
  },
  unmounted() {
    for (const [target, name, act] of this.listening) target.removeEventListener(name, act, true);
    this.release();
    clearTimeout(this.waiting);
  },
  methods: {
    begin(how) {
      if (this.pressed) return;
      this.pressed = how;
      this.value = null;
      this.press += 1;
      if (this.spring) this.repeating = setInterval(() => this.hold(), AGAIN);
    },
    end(how) {
      if (this.pressed === how) this.release();
    },
    release() {
      clearInterval(this.repeating);
      if (!this.pressed) return;
      this.pressed = "";
      if (this.spring) this.$emit("released");
      else this.flush();
      setTimeout(() => this.settle()); // after the slider's own end of the drag, which would put it back
    },
    hold() {
      if (this.$el.closest("[inert]")) this.release();
      else if (this.value !== null) this.$emit("held", { value: this.value, press: this.press });
    },
    move(value) {
      this.place = value;
      if (this.spring && !this.pressed) {
        this.$nextTick(() => this.settle()); // a place that comes after the release
      } else if (this.spring) {
        this.value = value;
        this.hold();
      } else {
        this.moves += 1;
        this.unsent = value;
        if (!this.waiting) this.flush();
      }
    },
    flush() {
      clearTimeout(this.waiting);
      this.waiting = null;
      if (this.unsent === null) return;
      this.$emit("moved", { value: this.unsent, n: this.moves });
      this.unsent = null;
      this.waiting = setTimeout(() => this.flush(), PERIOD);
    },
    settle() {
      if (this.pressed) return;
      if (this.spring) this.place = 0;
      else if (this.at[1] >= this.moves) this.place = this.at[0];
    },
  },
};
