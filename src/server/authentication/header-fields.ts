import { withoutBlanks } from './blanks.js';
import { HeaderFieldError } from './header-field-error.js';

/** The head of a request as Node presents it: in `rawHeaders`, names and values alternate, as they were sent. */
export interface RequestHead {
  readonly headers: Record<string, string | string[] | undefined>;
  readonly rawHeaders: string[];
}

/** A leading byte order mark is kept as an ordinary character of the value. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The values of a field in the order they were sent, one per header line. Joining them, as `headers` does, would make a
 * comma inside a value look like the boundary between two.
 *
 * @param name in lower case. Field names match in any case, but only exactly: `_` is not `-`.
 */
export function fieldValues({ headers, rawHeaders }: RequestHead, name: string): string[] {
  if (headers[name] === undefined) return [];
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] as string).toLowerCase() === name) values.push(decoded(rawHeaders[i + 1] as string, name));
  }
  return values;
}

/** All fields whose names start with `prefix` (in lower case): the rest of the name in lower case, and the value. */
export function fieldsWithPrefix({ rawHeaders }: RequestHead, prefix: string): (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (name.startsWith(prefix)) found.push([name.slice(prefix.length), decoded(rawHeaders[i + 1] as string, name)]);
  }
  return found;
}

/** Removes fields from the head, so that no later stage can read or forward them. */
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

/**
 * Decodes percent-encoding (`%2F` becomes `/`), which names of extra fields may use. Returns invalid percent-encoding
 * unchanged.
 */
export function unescapeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Decodes a header line as UTF-8. Node reads each byte of a head as one character. Different byte sequences never
 * become the same string, except for surrounding spaces and tabs, which are not part of the value (RFC 9110 section
 * 5.5).
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
