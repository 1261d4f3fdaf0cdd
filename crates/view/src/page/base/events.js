// A minimal event emitter: named events with listeners.

export class Events {
  #listeners = new Map();

  on(name, listener) {
    const known = this.#listeners.get(name) ?? [];
    this.#listeners.set(name, [...known, listener]);
  }

  emit(name, what) {
    for (const listener of this.#listeners.get(name) ?? []) listener(what);
  }
}
