// State shared by all parts of the page: the connection, the scene, and events between the parts.

import { Connection } from "./connection.js";
import { Events } from "./events.js";

export class App extends Events {
  /** The last `scene` message, or null before the first. */
  scene = null;

  constructor() {
    super();
    this.on("scene", (scene) => (this.scene = scene));
  }

  /** Opens the connection. Call it after all parts have registered their listeners. */
  connect() {
    this.connection = new Connection(this);
  }

  send(message) {
    this.connection?.send(message);
  }

  /** Shows a message that disappears by itself. */
  say(text) {
    this.emit("said", text);
  }

  /** Frames, frames per second, start time and number of the first frame of the animation. */
  get clock() {
    const { frames = 1, fps = 24, start = 0, first_frame: first = 1 } = this.scene ?? {};
    return { frames, fps, start, first };
  }

  /** Width over height of the picture. */
  get aspect() {
    const [width, height] = this.scene?.size ?? [16, 9];
    return width / height;
  }
}
