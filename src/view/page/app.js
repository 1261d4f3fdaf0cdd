// What all parts of the page share: the connection, the scene, and events between the parts.

import { Connection } from "./connection.js";
import { Events } from "./events.js";

export class App extends Events {
  /** The last `scene` message, or null before the first. */
  scene = null;

  constructor() {
    super();
    this.on("scene", (scene) => (this.scene = scene));
  }

  /** Opens the connection, once every part listens. */
  connect() {
    this.connection = new Connection(this);
  }

  send(message) {
    this.connection?.send(message);
  }

  /** A line that goes away by itself. */
  say(text) {
    this.emit("said", text);
  }

  /** Frames and frames per second of the animation. */
  get clock() {
    return { frames: this.scene?.frames ?? 1, fps: this.scene?.fps ?? 24 };
  }

  /** Width over height of the picture. */
  get aspect() {
    const [width, height] = this.scene?.size ?? [16, 9];
    return width / height;
  }
}
