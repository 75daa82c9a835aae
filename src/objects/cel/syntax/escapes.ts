const simple: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
  '?': '?',
};
const numeric = /[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})/y;
const encoder = new TextEncoder();

/**
 * The value of a literal: text for strings, bytes for bytes. Undefined for an escape that does not exist. In bytes,
 * numeric escapes are bytes; in strings, they are code points.
 */
export function unescapeLiteral(body: string, isRaw: boolean, isBytes: boolean): string | Uint8Array | undefined {
  const normalized = body.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (isRaw || !normalized.includes('\\')) return isBytes ? encoder.encode(normalized) : normalized;
  const parts: (string | number)[] = [];
  let at = 0;
  while (at < normalized.length) {
    const slash = normalized.indexOf('\\', at);
    if (slash < 0) {
      parts.push(normalized.slice(at));
      break;
    }
    if (slash > at) parts.push(normalized.slice(at, slash));
    const escaped = readEscape(normalized, slash + 1, isBytes);
    if (escaped === undefined) return undefined;
    parts.push(escaped.value);
    at = escaped.end;
  }
  if (!isBytes) return parts.map((p) => (typeof p === 'number' ? String.fromCodePoint(p) : p)).join('');
  const chunks = parts.map((p) => (typeof p === 'number' ? Uint8Array.of(p) : encoder.encode(p)));
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}

function readEscape(
  text: string,
  at: number,
  isBytes: boolean,
): { readonly value: string | number; readonly end: number } | undefined {
  const plain = simple[text[at] ?? ''];
  if (plain !== undefined) return { value: plain, end: at + 1 };
  numeric.lastIndex = at;
  const match = numeric.exec(text);
  if (match === null) return undefined;
  const code =
    match[4] === undefined ? Number.parseInt(match[1] ?? match[2] ?? match[3] ?? '', 16) : Number.parseInt(match[4], 8);
  const isUnicode = match[2] !== undefined || match[3] !== undefined;
  if (isBytes && isUnicode) return undefined;
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return { value: code, end: at + match[0].length };
}
