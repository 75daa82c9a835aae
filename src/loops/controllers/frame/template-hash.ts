/** Characters of hashes in names and labels: without vowels and look-alikes. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * A short hash of a template, for names and labels: the same for the same content, whatever the order of the fields.
 * `collisions` gives another one to a template whose name is taken.
 */
export function templateHash(template: unknown, collisions = 0): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(sortedText(template) + (collisions === 0 ? '' : `/${collisions}`))) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  }
  return safeText(String(hash));
}

/** Replaces each character by one that suits names. */
function safeText(text: string): string {
  return [...text].map((character) => alphabet[character.charCodeAt(0) % alphabet.length]).join('');
}

/** JSON with the fields of all objects sorted. */
function sortedText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
