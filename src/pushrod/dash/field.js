// A number or a text that can be typed. From the focus on it shows what is typed in this browser, however late messages are: the server's value comes
// back when it is left. Enter sends it (`entered`) and shows it with the digits of the field; what was not entered is forgotten.
export default {
  template: `<q-input dense hide-bottom-space :borderless="!outlined" :outlined="outlined" :type="numeric ? 'number' : 'text'" step="any" :readonly="readonly"
    :aria-label="label" :placeholder="outlined ? '' : '-'" :model-value="draft ?? shown" @update:model-value="draft = $event" @focus="begin" @blur="draft = null" @keydown.enter="enter" />`,
  props: { value: [Number, String], digits: Number, numeric: Boolean, label: String, outlined: Boolean, readonly: Boolean },
  data() {
    return { draft: null, sent: null };
  },
  computed: {
    shown() {
      if (this.value === null || this.value === undefined) return "";
      if (this.digits !== null && this.digits !== undefined) return this.value.toFixed(this.digits);
      return this.numeric ? String(Number(this.value.toPrecision(6))) : this.value;
    },
  },
  methods: {
    begin() {
      this.sent = null;
      if (!this.readonly) this.draft = this.digits === null || this.digits === undefined ? String(this.value ?? "") : this.shown; // all digits
    },
    enter() {
      const typed = this.draft === null ? "" : String(this.draft).trim();
      if (this.readonly || (this.numeric && (typed === "" || !Number.isFinite(Number(typed))))) return;
      if (!this.numeric) {
        this.$emit("entered", typed);
        return;
      }
      const value = this.sent !== null && this.sent.text === typed ? this.sent.value : Number(typed); // Enter twice sends the same number twice
      this.$emit("entered", value);
      if (this.digits === null || this.digits === undefined) return;
      this.draft = value.toFixed(this.digits);
      this.sent = { text: this.draft, value };
    },
  },
};
