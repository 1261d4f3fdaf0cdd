// Conversions between frames, seconds and timeline positions, and lists of keys ordered by time. All functions are pure.
//
// A clock is { frames, fps, start, first }. Frame 1 is at `start` seconds (default 0); `first` is its number in file names.

/** Time of a frame, in seconds. */
export const secondsOf = (frame, { fps, start = 0 }) => start + (frame - 1) / fps;

/** Number of a frame in file names. */
export const numberOf = (frame, { first = 1 }) => frame + first - 1;

/** The frame nearest to a time, clamped to the animation. */
export function frameAt(seconds, { frames, fps, start = 0 }) {
  return Math.max(1, Math.min(frames, Math.round((seconds - start) * fps) + 1));
}

/** Timeline position of a time, from 0 to 1; the last frame is at 1. */
export function shareOf(seconds, { frames, fps, start = 0 }) {
  return frames > 1 ? Math.max(0, Math.min(1, ((seconds - start) * fps) / (frames - 1))) : 0;
}

/** Time of the frame nearest to a timeline position from 0 to 1. */
export function timeAt(share, clock) {
  const frame = 1 + Math.round(Math.max(0, Math.min(1, share)) * (clock.frames - 1));
  return secondsOf(frame, clock);
}

/** Frames with a tick on the timeline, and whether each has a label. Ticks are at least `mark` pixels apart, labels at least `label`. */
export function ticks({ frames }, width, mark = 7, label = 56) {
  const nice = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
  const step = (pixels) => nice.find((n) => n * width >= pixels * Math.max(1, frames - 1)) ?? frames;
  const [marks, labels] = [step(mark), step(label)];
  const made = [{ frame: 1, labelled: true }];
  for (let frame = marks; frame <= frames; frame += marks) {
    if (frame > 1) made.push({ frame, labelled: frame % labels === 0 && frame - 1 >= labels / 2 && frame < 0.98 * frames });
  }
  return made;
}

/** Keys sorted by time, at least half a frame apart. */
export function inOrder(keys, fps) {
  const sorted = [...keys].sort((a, b) => a.time - b.time);
  let least = -Infinity;
  return sorted.map((key) => {
    const time = Math.max(key.time, least);
    least = time + 0.5 / fps;
    return time === key.time ? key : { ...key, time };
  });
}

/**
 * Adds a key at its own time if that time is free. Otherwise it goes after the existing key: halfway to the next key, or after the mean
 * gap if there is no next. At the end of the animation, all earlier keys move closer together to make room.
 */
export function withKey(keys, key, clock) {
  const { frames, fps, start = 0 } = clock;
  const free = 0.5 / fps;
  const at = keys.findIndex((other) => Math.abs(other.time - key.time) < free);
  if (at < 0) return inOrder([...keys, key], fps);
  const onFrame = (time) => start + Math.round((time - start) * fps) / fps;
  const next = keys[at + 1];
  if (next) return inOrder([...keys, { ...key, time: onFrame((keys[at].time + next.time) / 2) }], fps);
  const last = keys[at].time;
  const end = secondsOf(frames, clock);
  const gap = keys.length > 1 ? (last - keys[0].time) / (keys.length - 1) : 1;
  // A still scene has no end, so the flight may become longer.
  if (frames === 1 || last + gap <= end + free) return [...keys, { ...key, time: onFrame(last + gap) }];
  if (last < end - free) return [...keys, { ...key, time: end }];
  const share = keys.length / (keys.length + 1);
  const closer = (time) => onFrame(start + (time - start) * share);
  return inOrder([...keys.map((other) => ({ ...other, time: closer(other.time) })), { ...key, time: end }], fps);
}

/** The clock of a timeline that is long enough for all keys, including keys after the animation's end. */
export function clockWith(keys, { frames, fps, start = 0, first = 1 }) {
  const last = Math.max(start, ...keys.map((key) => key.time));
  return { fps, start, first, frames: Math.max(frames, Math.round((last - start) * fps) + 1) };
}

/** Exchanges the poses of two keys; the times stay. */
export function swapped(keys, a, b) {
  if (!keys[a] || !keys[b]) return keys;
  const at = (i) => (i === a ? { ...keys[b], time: keys[a].time } : i === b ? { ...keys[a], time: keys[b].time } : keys[i]);
  return keys.map((_, i) => at(i));
}

/** Formats seconds with two decimals. */
export const inSeconds = (seconds) => `${seconds.toFixed(2)} s`;
