interface LabelPatch {
  readonly metadata: { readonly labels: Readonly<Record<string, string | null>> };
}

/** The merge patch of `key=value` and `key-`, separated by spaces, or why there is none. The server checks the rest. */
export function labelPatch(text: string): LabelPatch | { readonly problem: string } {
  const labels: [string, string | null][] = [];
  for (const word of text.split(/[\s,]+/).filter(Boolean)) {
    const set = /^([^=]+)=(.*)$/.exec(word);
    const removed = /^([^=]+)-$/.exec(word);
    if (set !== null) labels.push([set[1] ?? '', set[2] ?? '']);
    else if (removed !== null) labels.push([removed[1] ?? '', null]);
    else return { problem: `${word} is neither key=value nor key-` };
  }
  if (labels.length === 0) return { problem: 'there is no label to set or remove' };
  return { metadata: { labels: Object.fromEntries(labels) } };
}
