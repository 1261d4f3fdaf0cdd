// Parses picture messages: a header and stripes of JPEG or PNG.

const MAGIC = 0x54485247;
const HEADER = 32;
const FINISHED = 1;
const PNG = 2;

/** Parses a binary message; null if it is not a picture. */
export function parsePicture(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < HEADER || view.getUint32(0, true) !== MAGIC) return null;
  const flags = view.getUint16(22, true);
  return {
    number: view.getUint32(4, true),
    width: view.getUint16(8, true),
    height: view.getUint16(10, true),
    samples: view.getUint32(12, true),
    key: view.getUint32(16, true),
    finished: (flags & FINISHED) !== 0,
    frame: view.getUint32(24, true),
    stripes: stripes(view, view.getUint16(20, true), flags & PNG ? "image/png" : "image/jpeg"),
  };
}

function stripes(view, count, type) {
  const found = [];
  let at = HEADER;
  while (found.length < count && at + 8 <= view.byteLength) {
    const bytes = view.getUint32(at, true);
    if (at + 8 + bytes > view.byteLength) break;
    const data = new Blob([new Uint8Array(view.buffer, at + 8, bytes)], { type });
    found.push({ top: view.getUint16(at + 4, true), rows: view.getUint16(at + 6, true), data });
    at += 8 + bytes;
  }
  return found;
}
