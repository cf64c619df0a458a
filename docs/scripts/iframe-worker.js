// The search of the site runs in a worker, and browsers start none for pages opened as files. There, a hidden frame takes its place: a frame
// without an address of its own has the origin of its page, so that the page can run the script in it and exchange messages with it.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = Object.assign(document.createElement("iframe"), { hidden: true, srcdoc: "" });
      this.ready = new Promise((resolve, reject) => {
        this.frame.onload = () => {
          const scope = this.frame.contentWindow;
          scope.postMessage = (data) => this.onmessage?.(new MessageEvent("message", { data: structuredClone(data) }));
          const script = scope.document.createElement("script");
          Object.assign(script, { src: address, onload: () => resolve(scope), onerror: reject });
          scope.document.head.append(script);
        };
      });
      this.ready.catch(() => this.onerror?.(new ErrorEvent("error", { message: `${address} cannot be loaded` })));
      document.documentElement.append(this.frame);
    }
    postMessage(data) {
      this.ready.then((scope) => scope.dispatchEvent(new scope.MessageEvent("message", { data: structuredClone(data) })), () => {});
    }
    terminate() {
      this.frame.remove();
    }
  };
}
