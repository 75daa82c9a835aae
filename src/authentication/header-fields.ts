import { withoutBlanks } from './blanks.js';

/** The head of a request as Node has it: `rawHeaders` are names and values in turn, as they were sent. */
export interface RequestHead {
  readonly headers: Record<string, string | string[] | undefined>;
  readonly rawHeaders: string[];
}

/** What looks like a byte order mark is a letter of the name like any other. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A header that names somebody can't be taken for what it is; the message carries no value. */
export class HeaderFieldError extends Error {}

/**
 * The values of a field in the order they were sent, one per line of the head: joining them, as `headers` does, would
 * let a comma inside a value look like the border of two.
 *
 * @param name in lower case. Nothing but its exact spelling (in any case) counts: `_` is not `-`.
 */
export function fieldValues({ headers, rawHeaders }: RequestHead, name: string): string[] {
  if (headers[name] === undefined) return [];
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] as string).toLowerCase() === name) values.push(decoded(rawHeaders[i + 1] as string, name));
  }
  return values;
}

/** Every field whose name starts with `prefix` (in lower case): the rest of the name in lower case, and the value. */
export function fieldsWithPrefix({ rawHeaders }: RequestHead, prefix: string): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (name.startsWith(prefix)) found.push([name.slice(prefix.length), decoded(rawHeaders[i + 1] as string, name)]);
  }
  return found;
}

/** Takes fields out of the head, so that nothing behind can read or pass on what has been dealt with. */
export function removeFields(head: RequestHead, isRemoved: (name: string) => boolean): void {
  const { headers, rawHeaders } = head;
  let isAny = false;
  for (const name in headers) {
    if (!isRemoved(name)) continue;
    delete headers[name];
    isAny = true;
  }
  if (!isAny) return;
  let kept = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (isRemoved((rawHeaders[i] as string).toLowerCase())) continue;
    rawHeaders[kept++] = rawHeaders[i] as string;
    rawHeaders[kept++] = rawHeaders[i + 1] as string;
  }
  rawHeaders.length = kept;
}

/** `%2F` -> `/`; a text that is no percent-encoding stays as it is. Keys of extra fields are spelled so in names. */
export function unescapeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Node reads each byte of a head as one character. Two different byte sequences never become the same text, but for the
 * spaces and tabs around them, which belong to the line and not to the value (RFC 9110, 5.5).
 */
function decoded(line: string, name: string): string {
  const value = withoutBlanks(line);
  for (let i = 0; i < value.length; i++) {
    if (value.charCodeAt(i) < 0x80) continue;
    try {
      return utf8.decode(Buffer.from(value, 'latin1'));
    } catch {
      throw new HeaderFieldError(`the header ${name} is not in UTF-8`);
    }
  }
  return value;
}
