/**
 * The JSON of a patched object for an error message. Unchanged parts keep the order of their members; the members of
 * changed parts are sorted by name.
 */
export function patchedText(patched: unknown, live: object): string {
  const kept = new Set<unknown>();
  collect(live, kept);
  const { metadata } = patched as { metadata?: unknown };
  // Stored JSON does not contain the resource version, so it is put after the uid.
  const inOrder = kept.has(metadata) ? withVersionAfterUid(metadata as Fields) : metadata;
  kept.add(inOrder);
  return textOf(metadata === undefined ? patched : { ...(patched as Fields), metadata: inOrder }, kept);
}

type Fields = Readonly<Record<string, unknown>>;

function withVersionAfterUid({ resourceVersion, ...metadata }: Fields): Fields {
  const entries = Object.entries(metadata);
  const after = entries.findIndex(([name]) => name === 'uid') + 1;
  if (resourceVersion !== undefined) entries.splice(after, 0, ['resourceVersion', resourceVersion]);
  return Object.fromEntries(entries);
}

function collect(value: unknown, into: Set<unknown>): void {
  if (typeof value !== 'object' || value === null) return;
  into.add(value);
  for (const child of Object.values(value)) collect(child, into);
}

function textOf(value: unknown, kept: ReadonlySet<unknown>): string {
  if (typeof value !== 'object' || value === null || kept.has(value)) return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) return `[${value.map((element) => textOf(element, kept)).join(',')}]`;
  // Exact numbers have their own JSON.
  if ('toJSON' in value) return JSON.stringify(value);
  const members = value as Readonly<Record<string, unknown>>;
  const shown = Object.keys(members).filter((key) => members[key] !== undefined);
  return `{${shown
    .sort()
    .map((key) => `${JSON.stringify(key)}:${textOf(members[key], kept)}`)
    .join(',')}}`;
}
