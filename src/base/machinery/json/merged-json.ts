import { ExactNumber, parseJson } from './exact-numbers.js';

/**
 * The value of a JSON text that has a key twice in an object: objects and lists under the same key are merged, of other
 * values the last one counts. So do decoders that fill a structure as they read. The text must be valid JSON, at most a
 * thousand levels deep.
 */
export function mergedJson(text: string): unknown {
  return new MergingParser(text).value();
}

class MergingParser {
  private at = 0;

  constructor(private readonly text: string) {}

  value(): unknown {
    switch (this.next()) {
      case '{':
        return this.object();
      case '[':
        return this.list();
      default:
        return this.scalar();
    }
  }

  private object(): unknown {
    const object: Record<string, unknown> = {};
    this.at++;
    while (this.next() !== '}') {
      if (this.next() === ',') this.at++;
      this.next();
      const key = this.scalar() as string;
      // The colon.
      this.next();
      this.at++;
      const value = this.value();
      const merged = Object.hasOwn(object, key) ? merge(object[key], value) : value;
      Object.defineProperty(object, key, { value: merged, enumerable: true, configurable: true, writable: true });
    }
    this.at++;
    return object;
  }

  private list(): unknown {
    const list: unknown[] = [];
    this.at++;
    while (this.next() !== ']') {
      if (this.next() === ',') this.at++;
      list.push(this.value());
    }
    this.at++;
    return list;
  }

  private scalar(): unknown {
    const start = this.at;
    if (this.text[start] === '"') {
      for (this.at++; this.text[this.at] !== '"'; this.at++) if (this.text[this.at] === '\\') this.at++;
      this.at++;
    } else while (this.at < this.text.length && !/[\s,\]}:]/.test(this.text[this.at] as string)) this.at++;
    return parseJson(this.text.slice(start, this.at));
  }

  /** Skips white space; returns the next character. */
  private next(): string | undefined {
    while (/\s/.test(this.text[this.at] ?? '')) this.at++;
    return this.text[this.at];
  }
}

function merge(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value)) {
    return value.map((element, i) => (i < before.length ? merge(before[i], element) : element));
  }
  if (!isObject(before) || !isObject(value)) return value;
  for (const key of Object.keys(value)) {
    const merged = Object.hasOwn(before, key) ? merge(before[key], value[key]) : value[key];
    Object.defineProperty(before, key, { value: merged, enumerable: true, configurable: true, writable: true });
  }
  return before;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}
