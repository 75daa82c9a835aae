interface Level {
  /** Keys found so far; undefined for a list. */
  readonly keys: Set<string> | undefined;
  /** The current key or index. */
  current: string | number;
}

/** Reporting more duplicates than this helps nobody. */
const maxDuplicates = 100;
/** Building a path takes time, even if the path is already known; these limits keep the total small. */
const maxTries = 1000;
const maxLevels = 1000;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Paths of duplicate object keys (`spec.containers[0].name`), each once, in text order, up to a hundred; keys nested a
 * thousand levels deep are skipped. The text must have passed JSON.parse, which silently keeps only the last of such
 * keys.
 */
export function findDuplicateKeys(text: string): string[] {
  const paths = new Set<string>();
  let tries = 0;
  eachKey(text, (levels, _key, isRepeated) => {
    if (!isRepeated || levels.length > maxLevels) return true;
    paths.add(formatPath(levels));
    return ++tries < maxTries && paths.size < maxDuplicates;
  });
  return [...paths];
}

/** A field of a JSON text that clients with strict validation want to be warned of. */
export interface FieldFault {
  readonly path: string;
  readonly fault: 'unknown' | 'duplicate';
}

/**
 * The unknown and the duplicate fields of a JSON text, in the order of the text; fields that are not found within the
 * limits come last. An unknown field is skipped whole, so duplicates inside it are not reported.
 */
export function faultsInOrder(
  text: string,
  unknown: readonly string[],
  duplicates: readonly string[],
): readonly FieldFault[] {
  const isSkipped = (path: string) =>
    unknown.some((skipped) => path.startsWith(skipped) && [undefined, '.', '['].includes(path[skipped.length]));
  const wanted = {
    unknown: new Set(unknown),
    duplicate: new Set(duplicates.filter((path) => !isSkipped(path))),
  };
  const names = new Set([...wanted.unknown, ...wanted.duplicate].map(lastPart));
  const found: FieldFault[] = [];
  let tries = 0;
  eachKey(text, (levels, key, isRepeated) => {
    if (levels.length > maxLevels || !names.has(lastPart(key))) return true;
    const path = formatPath(levels);
    if (wanted.unknown.delete(path)) found.push({ path, fault: 'unknown' });
    if (isRepeated && wanted.duplicate.delete(path)) found.push({ path, fault: 'duplicate' });
    return ++tries < maxTries && wanted.unknown.size + wanted.duplicate.size > 0;
  });
  for (const path of wanted.duplicate) found.push({ path, fault: 'duplicate' });
  for (const path of wanted.unknown) found.push({ path, fault: 'unknown' });
  return found;
}

/** The text after the last dot: keys may have dots, too. */
function lastPart(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

/** Calls `visit` at every key, until it returns false. */
function eachKey(text: string, visit: (levels: readonly Level[], key: string, isRepeated: boolean) => boolean): void {
  const levels: Level[] = [];
  let expectsKey = false;
  let i = 0;
  while (i < text.length) {
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
          const key = keyOf(text.slice(i, end + 1));
          const isRepeated = level.keys.has(key);
          level.keys.add(key);
          level.current = key;
          if (!visit(levels, key, isRepeated)) return;
          expectsKey = false;
        }
        i = end;
        break;
      }
    }
    i++;
  }
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

function keyOf(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
}

function formatPath(levels: readonly Level[]): string {
  let path = '';
  for (const { current } of levels) {
    if (typeof current === 'number') path += `[${current}]`;
    else path += path === '' ? current : `.${current}`;
  }
  return path;
}
