import { createHash } from 'node:crypto';

const longestName = 63;

/** Postgres itself would cut long names, and could cut two of them to the same name. */
export function cutName(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, longestName - hash.length - 1)}_${hash}`;
}

/** A name as it is written in SQL. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Text as it is written in SQL, backslashes included. */
export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? `E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}
