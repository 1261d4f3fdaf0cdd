// The picture's area: as large as the scene's aspect ratio allows, and the number of pixels that is requested from the server.
//
// Emits "resized" when either changes.

import { debounced } from "./dom.js";

export class Stage {
  #app;
  #stage;
  #view;
  #asked = "";
  #ask = debounced(120, () => this.#start());

  constructor(app, stage, view) {
    this.#app = app;
    this.#stage = stage;
    this.#view = view;
    new ResizeObserver(() => this.#fit()).observe(stage);
    app.on("scene", () => this.#fit());
    app.on("opened", () => {
      this.#asked = "";
      this.#start();
    });
  }

  #fit() {
    const { aspect } = this.#app;
    const { clientWidth, clientHeight } = this.#stage;
    const width = Math.max(1, Math.min(clientWidth, clientHeight * aspect));
    this.#view.style.width = `${width}px`;
    this.#view.style.height = `${width / aspect}px`;
    this.#app.emit("resized");
    this.#ask();
  }

  #start() {
    const dense = Math.min(2, devicePixelRatio || 1);
    const { clientWidth, clientHeight } = this.#view;
    const size = [clientWidth, clientHeight].map((pixels) => Math.max(16, Math.round(pixels * dense)));
    if (String(size) === this.#asked || !this.#app.connection?.open) return;
    this.#asked = String(size);
    this.#app.send({ do: "start", size });
  }
}
