const escaped = /[<>&\u2028\u2029]/g;
/** JavaScript objects put keys that look like indexes before all others, whatever their order was. */
const indexKey = /"\d+":/;
const index = /^\d+$/;

/**
 * The JSON text of a raw value, with its most likely original spelling. Clients compare this text byte by byte:
 * upstream's controller manager searches for its revisions in this way, and creates new ones forever if it does not
 * find them. It writes the text from maps, so keys are sorted, and characters that could end a script in a page are
 * escaped.
 */
export function rawText(value: unknown): string {
  const text = JSON.stringify(value);
  const ordered = indexKey.test(text) ? sortedText(value) : text;
  return ordered.replace(escaped, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function sortedText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join()}]`;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) {
    return JSON.stringify(value);
  }
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members);
  // Objects without index keys keep the order in which their keys came.
  if (index.test(names[0] ?? '')) names.sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${sortedText(members[name])}`).join()}}`;
}
