import { NestingError } from './nesting-error.js';
/** The deepest nesting of an object, far below what exhausts the stack of recursive code. */
export const maxDepth = 1000;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Throws a NestingError for JSON text that is nested more deeply than {@link maxDepth}, before parsing takes much time.
 * Invalid JSON may pass.
 */
export function checkNesting(text: string): void {
  // Complete JSON of this length can't be nested more deeply.
  if (text.length <= 2 * maxDepth) return;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) i = endOfString(text, i);
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) throw new NestingError();
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
}

/** Index of the quote that ends the string starting at `start`, or the end of the text. */
export function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === backslash && end - 1 - backslashes > start) backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}
