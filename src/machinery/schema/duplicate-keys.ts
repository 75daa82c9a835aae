interface Level {
  /** Keys found so far; undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** The current key or index. */
  current: string | number;
}

/** More duplicates than this help nobody. */
const maxDuplicates = 100;
/** Each path takes time to write, even a known one; these limits keep the total small. */
const maxTries = 1000;
const maxLevels = 1000;

interface Found {
  readonly paths: Set<string>;
  tries: number;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Paths of duplicate object keys (`spec.containers[0].name`), each once, in text order, up to a hundred; keys nested a
 * thousand levels deep are skipped. The text must have passed JSON.parse, which silently keeps only the last of such
 * keys.
 */
export function findDuplicateKeys(text: string): string[] {
  const found: Found = { paths: new Set(), tries: 0 };
  const levels: Level[] = [];
  let expectsKey = false;
  let i = 0;
  while (i < text.length && found.paths.size < maxDuplicates && found.tries < maxTries) {
    const code = text.charCodeAt(i);
    switch (code) {
      case 0x7b: // {
        levels.push({ keys: new Set(), current: '' });
        expectsKey = true;
        break;
      case 0x5b: // [
        levels.push({ keys: undefined, current: 0 });
        expectsKey = false;
        break;
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop();
        expectsKey = false;
        break;
      case 0x2c: {
        // ,
        const level = levels.at(-1);
        if (level === undefined) break;
        expectsKey = level.keys !== undefined;
        if (typeof level.current === 'number') level.current++;
        break;
      }
      case quote: {
        const end = stringEnd(text, i);
        const level = levels.at(-1);
        if (expectsKey && level?.keys !== undefined) {
          noteKey(level, level.keys, text.slice(i, end + 1), levels, found);
          expectsKey = false;
        }
        i = end;
        break;
      }
    }
    i++;
  }
  return [...found.paths];
}

/** Index of the quote that ends the string starting at `start`. */
function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === backslash) backslashes++;
  return backslashes % 2 === 1;
}

function noteKey(level: Level, keys: Set<string>, token: string, levels: readonly Level[], found: Found): void {
  const key = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  level.current = key;
  if (!keys.has(key)) {
    keys.add(key);
    return;
  }
  if (levels.length > maxLevels) return;
  found.tries++;
  found.paths.add(formatPath(levels));
}

function formatPath(levels: readonly Level[]): string {
  let path = '';
  for (const { current } of levels) {
    if (typeof current === 'number') path += `[${current}]`;
    else path += path === '' ? current : `.${current}`;
  }
  return path;
}
