// All actions with keys: title, keys and handler. The help and the buttons' tooltips are generated from this list.
//
// Keys have the names printed on a keyboard; `codes` are values of `KeyboardEvent.code` with the prefixes `Shift+` and `Ctrl+`.

import { along, toggleParallel } from "./camera.js";

/** The actions by name. Actions for keys that are held during flight have no handler; they are listed for the help only. */
export function makeActions({ app, viewpoint, flight, pointer, playback, waypoints, overlay, panel, settings, saving, still, help }) {
  const view = (name) => () => viewpoint.glideTo(along(viewpoint.camera, name));
  const group = (title, actions) => Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, { group: title, ...action }]));
  return {
    ...group("Fly", {
      fly: { title: "Forward, left, back, right", keys: ["W", "A", "S", "D"] },
      rise: { title: "Down and up", keys: ["Q", "E"] },
      roll: { title: "Roll", keys: ["Z", "C"] },
      level: { title: "Level the horizon", keys: ["X"], codes: ["KeyX"], run: () => viewpoint.glideTo({ ...viewpoint.camera, roll: 0 }) },
      fast: { title: "Four times as fast", keys: ["Shift"] },
      faster: { title: "Faster", keys: ["+", "Wheel"], codes: ["Equal", "Shift+Equal", "NumpadAdd"], run: () => flight.changeGear(1) },
      slower: { title: "Slower", keys: ["−", "Wheel"], codes: ["Minus", "NumpadSubtract"], run: () => flight.changeGear(-1) },
      lock: { title: "Look without a button, until Esc", keys: ["L"], codes: ["KeyL"], run: () => flight.toggleLock() },
    }),
    ...group("Mouse", {
      look: { title: "Look around", keys: ["Drag"] },
      orbit: { title: "Orbit about what is there", keys: ["Alt+drag", "Middle"] },
      pan: { title: "Pan", keys: ["Shift+drag", "Right"] },
      dolly: { title: "Nearer and farther", keys: ["Ctrl+wheel"] },
      select: { title: "Select", keys: ["Click", "Enter"], codes: ["Enter"], run: () => pointer.selectHere() },
      frame: { title: "Frame what is there", keys: ["F", "Double click"], codes: ["KeyF"], run: () => pointer.frameIt() },
      focus: { title: "Focus on what is there", keys: ["G", "Shift+click"], codes: ["KeyG"], run: () => pointer.focusHere() },
    }),
    ...group("Views", {
      home: { title: "Home", keys: ["H", "Home"], codes: ["KeyH", "Home"], run: () => viewpoint.goHome() },
      front: { title: "Front; back", keys: ["1", "Ctrl+1"], codes: ["Digit1", "Numpad1"], run: view("front") },
      right: { title: "Right; left", keys: ["3", "Ctrl+3"], codes: ["Digit3", "Numpad3"], run: view("right") },
      top: { title: "Top; bottom", keys: ["7", "Ctrl+7"], codes: ["Digit7", "Numpad7"], run: view("top") },
      ...opposites(view),
      parallel: { title: "Perspective or parallel", keys: ["5"], codes: ["Digit5", "Numpad5"], run: () => viewpoint.set(toggleParallel(viewpoint.camera)) },
      scene: { title: "Follow the scene's camera", keys: ["0"], codes: ["Digit0", "Numpad0"], run: () => playback.followPath("scene") },
    }),
    ...group("Time", {
      play: { title: "Play", keys: ["Space"], codes: ["Space"], run: () => playback.toggle() },
      before: { title: "A frame back", keys: ["←"], codes: ["ArrowLeft"], run: () => playback.step(-1) },
      after: { title: "A frame on", keys: ["→"], codes: ["ArrowRight"], run: () => playback.step(1) },
      before10: { title: "Ten frames back", keys: ["Shift+←"], codes: ["Shift+ArrowLeft"], run: () => playback.step(-10) },
      after10: { title: "Ten frames on", keys: ["Shift+→"], codes: ["Shift+ArrowRight"], run: () => playback.step(10) },
      loop: { title: "Loop", keys: ["R"], codes: ["KeyR"], run: () => playback.toggleLoop() },
    }),
    ...group("Waypoints", {
      add: { title: "Set a waypoint", keys: ["K"], codes: ["KeyK"], run: () => waypoints.add() },
      replace: { title: "Replace the chosen one", keys: ["Shift+K"], codes: ["Shift+KeyK"], run: () => waypoints.replace() },
      remove: { title: "Delete the chosen one", keys: ["Delete"], codes: ["Delete", "Backspace"], run: () => waypoints.remove() },
      clear: { title: "Delete all", keys: ["Shift+Delete"], codes: ["Shift+Delete", "Shift+Backspace"], run: () => waypoints.clear() },
      previous: { title: "Go to the one before", keys: [","], codes: ["Comma"], run: () => waypoints.goToNeighbour(-1) },
      next: { title: "Go to the next", keys: ["."], codes: ["Period"], run: () => waypoints.goToNeighbour(1) },
      retime: { title: "On a thumbnail: retime", keys: ["←", "→", "Drag"] },
      reorder: { title: "On a thumbnail: exchange", keys: ["Alt+←", "Alt+→"] },
      flight: { title: "Follow the waypoints", keys: ["9"], codes: ["Digit9", "Numpad9"], run: () => playback.followPath("waypoints") },
      revert: { title: "The scene's own keys again", keys: ["Shift+R"], codes: ["Shift+KeyR"], run: () => waypoints.revert() },
      save: { title: "Save", keys: ["Ctrl+S"], codes: ["Ctrl+KeyS"], run: () => saving.save() },
    }),
    ...group("Picture", {
      brighter: { title: "Brighter", keys: ["]"], codes: ["BracketRight"], run: () => settings.brighter(0.25) },
      darker: { title: "Darker", keys: ["["], codes: ["BracketLeft"], run: () => settings.brighter(-0.25) },
      integrator: { title: "Next integrator", keys: ["I"], codes: ["KeyI"], run: () => settings.cycle("integrator", 1) },
      layer: { title: "Next layer", keys: ["V"], codes: ["KeyV"], run: () => settings.cycle("view", 1) },
      overlay: { title: "Path and keys over the picture", keys: ["O"], codes: ["KeyO"], run: () => overlay.toggle() },
      still: { title: "Download a still", keys: ["P"], codes: ["KeyP"], run: () => still.show() },
      command: { title: "Copy the command that renders this", keys: ["Y"], codes: ["KeyY"], run: () => app.send({ do: "command", of: playback.follow ? "film" : "still" }) },
    }),
    ...group("Page", {
      panel: { title: "Panel", keys: ["N"], codes: ["KeyN"], run: () => panel.toggle() },
      alone: { title: "Nothing but the picture", keys: ["U"], codes: ["KeyU"], run: () => document.body.classList.toggle("alone") },
      help: { title: "Keys and mouse", keys: ["?"], run: () => help.toggle() },
    }),
  };
}

function opposites(view) {
  const opposite = (name, digit) => ({ codes: [`Ctrl+Digit${digit}`, `Ctrl+Numpad${digit}`, `Shift+Digit${digit}`], run: view(name) });
  return { back: opposite("back", 1), left: opposite("left", 3), bottom: opposite("bottom", 7) };
}
