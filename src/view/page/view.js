"use strict";
// A minimal page: shows pictures, flies with W A S D Q E and the mouse.
const canvas = document.getElementById("picture");
const context = canvas.getContext("2d");
const state = document.getElementById("state");
const socket = new WebSocket(`ws://${location.host}/socket`);
socket.binaryType = "arraybuffer";
const send = (message) => socket.readyState === 1 && socket.send(JSON.stringify(message));
const start = () => send({ do: "start", size: [innerWidth, innerHeight].map((side) => Math.round(side * devicePixelRatio)) });
let camera = null, speed = 1, key = 0;
const held = new Set();
socket.onopen = start;
addEventListener("resize", start);
socket.onmessage = async ({ data }) => {
  if (typeof data === "string") {
    const message = JSON.parse(data);
    if (message.is === "scene") {
      const { min, max } = message.bounds;
      camera = message.camera;
      speed = Math.hypot(...max.map((x, i) => x - min[i])) / 8;
    } else if (message.is === "camera") camera = message;
    else if (message.is === "state") state.textContent = `frame ${message.frame} · ${message.samples} of ${message.of} samples · ${message.pictures_per_second.toFixed(0)}/s`;
    else if (message.is === "error") state.textContent = message.message;
    return;
  }
  const view = new DataView(data);
  const picture = view.getUint32(4, true), width = view.getUint16(8, true), height = view.getUint16(10, true);
  const stripes = [];
  for (let i = 0, at = 32; i < view.getUint16(20, true); i++) {
    const bytes = view.getUint32(at, true), top = view.getUint16(at + 4, true);
    stripes.push(createImageBitmap(new Blob([new Uint8Array(data, at + 8, bytes)])).then((image) => ({ image, top })));
    at += 8 + bytes;
  }
  const images = await Promise.all(stripes);
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  images.forEach(({ image, top }) => context.drawImage(image, 0, top));
  send({ do: "shown", picture });
};
const sub = (a, b) => a.map((x, i) => x - b[i]), add = (a, b, s = 1) => a.map((x, i) => x + s * b[i]);
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / (Math.hypot(...a) || 1));
const turn = (v, axis, angle) => {
  const s = Math.sin(angle), c = Math.cos(angle), d = v[0] * axis[0] + v[1] * axis[1] + v[2] * axis[2];
  return add(add(v.map((x) => x * c), cross(axis, v), s), axis, d * (1 - c));
};
const tell = () => {
  const { eye, target, up, fov, height } = camera;
  send({ do: "camera", eye, target, up, fov, height, key: ++key });
};
addEventListener("keydown", (e) => held.add(e.code));
addEventListener("keyup", (e) => held.delete(e.code));
addEventListener("mousemove", (e) => {
  if (!camera || !e.buttons) return;
  let forward = sub(camera.target, camera.eye);
  forward = turn(forward, camera.up, -e.movementX / 400);
  forward = turn(forward, unit(cross(forward, camera.up)), -e.movementY / 400);
  camera.target = add(camera.eye, forward);
  tell();
});
let last = performance.now();
const step = (now) => {
  const time = Math.min(0.1, (now - last) / 1000) * speed * (held.has("ShiftLeft") ? 4 : 1);
  last = now;
  if (camera && held.size) {
    const forward = unit(sub(camera.target, camera.eye)), right = unit(cross(forward, camera.up));
    let move = [0, 0, 0];
    for (const [code, axis, sign] of [["KeyW", forward, 1], ["KeyS", forward, -1], ["KeyD", right, 1], ["KeyA", right, -1], ["KeyE", camera.up, 1], ["KeyQ", camera.up, -1]])
      if (held.has(code)) move = add(move, axis, sign * time);
    if (move.some((x) => x)) {
      camera.eye = add(camera.eye, move);
      camera.target = add(camera.target, move);
      tell();
    }
  }
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
