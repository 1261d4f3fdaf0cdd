// The camera as angles about the scene's up axis, and operations on it. All functions are pure and return a new camera.
//
// A camera is { eye, yaw, pitch, roll, distance, up, fov, height, focus, f_stop, radius }. Angles are in radians. `distance` is from the
// eye to the target, `up` is the axis of yaw, and `height` is the height of the view; it is null for a perspective camera.

import { add, combine, cross, dot, length, normalize, scale, sub } from "./vectors.js";

const STEEPEST = (89.9 * Math.PI) / 180;
const OPTICS = ["fov", "height", "focus", "f_stop", "radius"];

/** The coordinate axis nearest to `up`. */
export function nearestAxis(up) {
  const widest = [0, 1, 2].reduce((best, i) => (Math.abs(up[i]) > Math.abs(up[best]) ? i : best), 1);
  return [0, 1, 2].map((i) => (i === widest ? Math.sign(up[i]) || 1 : 0));
}

/** Direction of yaw 0, and the direction to its right. For +Y these are -Z and +X. */
function compass(up) {
  const right = Math.abs(up[0]) > 0.5 ? [0, 0, -up[0]] : [1, 0, 0];
  return { north: cross(up, right), east: right };
}

/** Converts a pose, as in messages, to a camera. */
export function fromPose(pose, axis = nearestAxis(pose.up ?? [0, 1, 0])) {
  const { north, east } = compass(axis);
  const towards = sub(pose.target, pose.eye);
  const forward = normalize(towards);
  const pitch = Math.asin(Math.max(-1, Math.min(1, dot(forward, axis))));
  const up = pose.up ?? axis;
  // If the camera looks straight up or down, the up vector defines north.
  const level = Math.abs(pitch) > STEEPEST ? scale(up, -Math.sign(pitch)) : forward;
  const yaw = Math.atan2(dot(level, east), dot(level, north));
  const camera = { eye: [...pose.eye], yaw, pitch, roll: 0, distance: length(towards) || 1, up: axis };
  for (const name of OPTICS) camera[name] = pose[name] ?? null;
  camera.fov ??= 40;
  const { right, top } = basis(camera);
  return { ...camera, roll: Math.atan2(dot(up, right), dot(up, top)) };
}

/** Converts a camera to a pose, as in messages. */
export function toPose(camera) {
  const { forward, top } = basis(camera);
  const pose = { eye: camera.eye, target: combine([camera.eye, 1], [forward, camera.distance]), up: top };
  if (!camera.roll && Math.abs(camera.pitch) < STEEPEST) pose.up = camera.up;
  for (const name of OPTICS) if (camera[name] !== null) pose[name] = camera[name];
  return pose;
}

/** Unit vectors of the camera: forward, right and top. */
export function basis(camera) {
  const { north, east } = compass(camera.up);
  const [cy, sy, cp, sp] = [Math.cos(camera.yaw), Math.sin(camera.yaw), Math.cos(camera.pitch), Math.sin(camera.pitch)];
  const forward = combine([north, cy * cp], [east, sy * cp], [camera.up, sp]);
  const right = combine([east, cy], [north, -sy]);
  const top = cross(right, forward);
  const [c, s] = [Math.cos(camera.roll), Math.sin(camera.roll)];
  return { forward, right: combine([right, c], [top, -s]), top: combine([top, c], [right, s]) };
}

/** Rotates the camera in place by angles to the right and upwards. */
export function look(camera, right, upwards) {
  const [c, s] = [Math.cos(camera.roll), Math.sin(camera.roll)];
  const pitch = camera.pitch + upwards * c - right * s;
  return {
    ...camera,
    yaw: camera.yaw + right * c + upwards * s,
    pitch: Math.max(-STEEPEST, Math.min(STEEPEST, pitch)),
  };
}

/** Moves the camera to the right, along the scene's up axis, and forward. */
export function fly(camera, right, up, ahead) {
  const axes = basis(camera);
  return { ...camera, eye: combine([camera.eye, 1], [axes.right, right], [camera.up, up], [axes.forward, ahead]) };
}

/** Rotates the camera like `look`, but about a point, whose position in the picture is kept. */
export function orbit(camera, point, right, upwards) {
  const offset = sub(point, camera.eye);
  const before = basis(camera);
  const turned = look(camera, right, upwards);
  const after = basis(turned);
  const kept = ["right", "top", "forward"].map((axis) => [after[axis], -dot(offset, before[axis])]);
  return { ...turned, eye: combine([point, 1], ...kept) };
}

/** Pans by shares of the picture's height, so that points at `distance` follow the pointer. */
export function pan(camera, x, y, distance = camera.distance) {
  const { right, top } = basis(camera);
  const span = spanAt(camera, distance);
  return { ...camera, eye: combine([camera.eye, 1], [right, -x * span], [top, y * span]) };
}

/** Moves towards a point: a factor of 0.5 halves the distance. */
export function dolly(camera, point, factor) {
  const eye = combine([point, 1 - factor], [camera.eye, factor]);
  const height = camera.height === null ? null : camera.height * factor;
  return { ...camera, eye, distance: camera.distance * factor, height };
}

/** Turns to a sphere and moves along the line to its centre, so that it fits into a picture of `aspect`. */
export function frame(camera, centre, radius, aspect) {
  const half = (camera.fov * Math.PI) / 360;
  const narrower = Math.min(half, Math.atan(Math.tan(half) * aspect));
  const distance = Math.max((radius * 1.15) / Math.sin(narrower), 1e-4);
  const towards = sub(centre, camera.eye);
  const direction = length(towards) > 1e-6 ? normalize(towards) : basis(camera).forward;
  const eye = combine([centre, 1], [direction, -distance]);
  const framed = fromPose({ ...toPose(camera), eye, target: centre, up: camera.up }, camera.up);
  return { ...framed, height: camera.height === null ? null : (2.3 * radius) / Math.min(1, aspect) };
}

/** View along a coordinate axis around the current target: "front", "right" or "top", and their opposites. */
export function along(camera, view) {
  const quarter = Math.PI / 2;
  const [yaw, pitch] = {
    front: [0, 0],
    back: [2 * quarter, 0],
    right: [-quarter, 0],
    left: [quarter, 0],
    top: [0, -STEEPEST],
    bottom: [0, STEEPEST],
  }[view];
  const target = toPose(camera).target;
  const turned = { ...camera, yaw, pitch, roll: 0 };
  return { ...turned, eye: combine([target, 1], [basis(turned).forward, -camera.distance]) };
}

/** Interpolates two cameras; `share` is the weight of the second. Angles take the shorter way. */
export function between(a, b, share) {
  const mix = (x, y) => (x === null || y === null ? y : x + (y - x) * share);
  const turn = (x, y) => x + Math.atan2(Math.sin(y - x), Math.cos(y - x)) * share;
  const mixed = { ...b, eye: combine([a.eye, 1 - share], [b.eye, share]), distance: mix(a.distance, b.distance) };
  for (const angle of ["yaw", "pitch", "roll"]) mixed[angle] = turn(a[angle], b[angle]);
  for (const name of OPTICS) mixed[name] = mix(a[name], b[name]);
  return mixed;
}

/** Height of the view at a distance along the camera's axis. */
export function spanAt(camera, distance) {
  return camera.height ?? 2 * distance * Math.tan((camera.fov * Math.PI) / 360);
}

/** Switches between a perspective and a parallel camera. The view has the same height at the target. */
export function toggleParallel(camera) {
  return { ...camera, height: camera.height === null ? spanAt(camera, camera.distance) : null };
}

/** Distance of a point from the eye, along the camera's axis. */
export const depth = (camera, point) => dot(sub(point, camera.eye), basis(camera).forward);

/** Returns a function from points to [x, y, depth], with x and y from 0 to 1 in the picture. Depth is negative behind the eye. */
export function projector(camera, aspect) {
  const { forward, right, top } = basis(camera);
  return (point) => {
    const offset = sub(point, camera.eye);
    const z = dot(offset, forward);
    const span = spanAt(camera, Math.abs(z) || 1e-9);
    return [0.5 + dot(offset, right) / (span * aspect), 0.5 - dot(offset, top) / span, z];
  };
}

/** Ray through a point of the picture: origin and unit direction. */
export function rayThrough(camera, [x, y], aspect) {
  const { forward, right, top } = basis(camera);
  const span = spanAt(camera, 1);
  const across = combine([right, (x - 0.5) * span * aspect], [top, (0.5 - y) * span]);
  if (camera.height !== null) return { origin: add(camera.eye, across), direction: forward };
  return { origin: camera.eye, direction: normalize(add(forward, across)) };
}

/** Position on the line through `origin` along the unit vector `axis` that is nearest to the ray, as a distance from `origin`. */
export function nearestOnLine(ray, origin, axis) {
  const offset = sub(origin, ray.origin);
  const b = dot(axis, ray.direction);
  const sine = 1 - b * b;
  return sine < 1e-6 ? 0 : (b * dot(ray.direction, offset) - dot(axis, offset)) / sine;
}
