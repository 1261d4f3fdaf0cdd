// The WebSocket to the server, reopened whenever it closes.
//
// Emits "opened", "closed", "binary" with an ArrayBuffer, and every JSON message by the name in its field `is`.

const FIRST_WAIT = 250;
const LONGEST_WAIT = 4000;
/** Poses wait while more than this number of bytes is unsent, so that only the newest is sent when the connection is free. */
const CROWDED = 4096;

/** The name that identifies this page to the server after a reconnect, so that the server keeps unsaved changes. */
function pageName() {
  const known = sessionStorage.getItem("page");
  if (known) return known;
  const name = [...crypto.getRandomValues(new Uint32Array(4))].map((part) => part.toString(36)).join("-");
  sessionStorage.setItem("page", name);
  return name;
}

export class Connection {
  #events;
  #socket = null;
  #wait = FIRST_WAIT;

  constructor(events) {
    this.#events = events;
    this.#open();
  }

  get open() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  get crowded() {
    return !this.open || this.#socket.bufferedAmount > CROWDED;
  }

  send(message) {
    if (this.open) this.#socket.send(JSON.stringify(message));
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/socket?page=${pageName()}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.#wait = FIRST_WAIT;
      this.#events.emit("opened");
    };
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = () => {
      this.#events.emit("closed");
      setTimeout(() => this.#open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
    };
    this.#socket = socket;
  }

  #receive(data) {
    if (typeof data !== "string") return this.#events.emit("binary", data);
    const message = JSON.parse(data);
    this.#events.emit(message.is, message);
  }
}
