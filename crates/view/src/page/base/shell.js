// Quoting for the command line.

/** Quotes `text` as one word for a POSIX shell. */
export function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Formats values by path as `--set` flags. */
export function setFlags(values) {
  return Object.entries(values).map(([path, text]) => `--set ${quote(`${path}=${text}`)}`).join(" ");
}
