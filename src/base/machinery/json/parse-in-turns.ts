import { nextTurn } from '../turns.js';
import { parseExactJson } from './exact-numbers.js';
import { endOfString } from './nesting.js';

/** The most tokens that are read before other work gets its turn. */
const atOnce = 10_000;
/** The longest time for one turn, in milliseconds: long tokens, or a slow machine, end the turn earlier. */
const turnMs = 5;
/** Tokens that are read before the clock is checked again. */
const unclocked = 500;

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const comma = 0x2c;
/** Characters between tokens: a colon and white space. */
const skipped: ReadonlySet<number> = new Set([0x3a, 0x20, 0x09, 0x0a, 0x0d]);
const literal = /[^\s,\]}]*/y;

/**
 * Parses valid JSON like JSON.parse, several times slower, but in turns with other work: for large text that no request
 * waits for. For invalid JSON it may return anything or throw a SyntaxError.
 *
 * @param exact preserves the spelling of numbers, as parseExactJson does
 */
export async function parseInTurns(text: string, exact = false): Promise<unknown> {
  const stack: (unknown[] | Record<string, unknown>)[] = [];
  let root: unknown;
  let key: string | undefined;
  const put = (value: unknown) => {
    const top = stack.at(-1);
    if (top === undefined) root = value;
    else if (Array.isArray(top)) top.push(value);
    else {
      setMember(top, key ?? '', value);
      key = undefined;
    }
  };
  let began = performance.now();
  for (let i = 0, parts = 1; i < text.length; parts++) {
    if (parts % atOnce === 0 || (parts % unclocked === 0 && performance.now() - began >= turnMs)) {
      await nextTurn();
      began = performance.now();
    }
    const code = text.charCodeAt(i);
    if (code === openBrace || code === openBracket) {
      const container = code === openBrace ? {} : [];
      put(container);
      stack.push(container);
      i++;
    } else if (code === closeBrace || code === closeBracket) {
      stack.pop();
      i++;
    } else if (code === quote) {
      const end = endOfString(text, i) + 1;
      const value = JSON.parse(text.slice(i, end)) as string;
      if (key === undefined && stack.length > 0 && !Array.isArray(stack.at(-1))) key = value;
      else put(value);
      i = end;
    } else if (code === comma || skipped.has(code)) {
      i++;
    } else {
      literal.lastIndex = i;
      const [found] = literal.exec(text) as RegExpExecArray;
      put(exact ? parseExactJson(found) : JSON.parse(found));
      i += found.length;
    }
  }
  return root;
}

function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}
