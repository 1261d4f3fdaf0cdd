// Rotations in scene file format: degrees about the axes x, y and z, applied in this order.

import { cross, dot, normalize, scale, sub } from "./vectors.js";

const RADIANS = Math.PI / 180;

/** Applies a rotation of `radians` about a unit axis in world space, and returns the new angles. */
export function turned(angles, axis, radians) {
  return anglesOf(columnsOf(angles).map((column) => about(axis, radians, column)));
}

/** The rotated axes x, y and z (columns of the rotation matrix). */
export function columnsOf(angles) {
  const [x, y, z] = angles.map((degrees) => degrees * RADIANS);
  const rotate = (vector) => about([0, 0, 1], z, about([0, 1, 0], y, about([1, 0, 0], x, vector)));
  return [rotate([1, 0, 0]), rotate([0, 1, 0]), rotate([0, 0, 1])];
}

function anglesOf([x, y, z]) {
  const tilt = -Math.asin(Math.max(-1, Math.min(1, x[2])));
  // Gimbal lock: only the sum of the other two angles matters.
  const steep = Math.abs(x[2]) > 1 - 1e-9;
  const roll = steep ? Math.atan2(-z[1], y[1]) : Math.atan2(y[2], z[2]);
  const spin = steep ? 0 : Math.atan2(x[1], x[0]);
  return [roll, tilt, spin].map((radians) => Number((radians / RADIANS).toFixed(4)) + 0);
}

/** Rotates a vector by Rodrigues' formula. */
function about(axis, radians, vector) {
  const [c, s] = [Math.cos(radians), Math.sin(radians)];
  const turn = cross(axis, vector);
  const along = dot(axis, vector) * (1 - c);
  return [0, 1, 2].map((i) => vector[i] * c + turn[i] * s + axis[i] * along);
}

/**
 * Angle about a unit axis at which the ray meets the plane through `centre` perpendicular to the axis; null if the ray is nearly
 * parallel to it.
 */
export function angleAbout(axis, centre, ray) {
  const slope = dot(axis, ray.direction);
  if (Math.abs(slope) < 0.12) return null;
  const towards = sub(centre, ray.origin);
  const offset = sub(scale(ray.direction, dot(axis, towards) / slope), towards);
  const east = normalize(cross(axis, [axis[1], axis[2], axis[0]]));
  return Math.atan2(dot(offset, cross(axis, east)), dot(offset, east));
}
