// Draws incoming pictures and acknowledges each of them. While one is being decoded, only the newest later picture is kept.
//
// Emits "drawn" with the picture once it is on the canvas.

import { parsePicture } from "./message.js";

export class Picture {
  #app;
  #context;
  #busy = false;
  #waiting = null;

  constructor(app, canvas) {
    this.#app = app;
    this.canvas = canvas;
    this.#context = canvas.getContext("2d", { alpha: false });
    app.on("binary", (buffer) => this.#receive(buffer));
  }

  #receive(buffer) {
    const picture = parsePicture(buffer);
    if (!picture) return;
    if (this.#waiting) this.#acknowledge(this.#waiting);
    this.#waiting = picture;
    if (!this.#busy) this.#work();
  }

  async #work() {
    this.#busy = true;
    while (this.#waiting) {
      const picture = this.#waiting;
      this.#waiting = null;
      try {
        await this.#draw(picture);
        this.#app.emit("drawn", picture);
      } catch (error) {
        console.warn("a picture cannot be decoded:", error);
      }
      this.#acknowledge(picture);
    }
    this.#busy = false;
  }

  async #draw(picture) {
    const images = await Promise.all(picture.stripes.map((stripe) => createImageBitmap(stripe.data)));
    // Resizing clears the canvas, so all stripes must be decoded before.
    if (this.canvas.width !== picture.width || this.canvas.height !== picture.height) {
      Object.assign(this.canvas, { width: picture.width, height: picture.height });
    }
    images.forEach((image, i) => {
      this.#context.drawImage(image, 0, picture.stripes[i].top);
      image.close();
    });
  }

  #acknowledge(picture) {
    this.#app.send({ do: "shown", picture: picture.number });
  }
}
