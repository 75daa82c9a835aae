/** A map of labels for a table cell: `a=b,c=d` sorted by key, `<none>` for an empty map. */
export function labelsText(labels: Readonly<Record<string, string>> | undefined): string {
  const keys = Object.keys(labels ?? {}).sort();
  return keys.length === 0 ? '<none>' : keys.map((key) => `${key}=${labels?.[key]}`).join(',');
}

const shortAccessModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** Access modes in short form, in a fixed order, each once. */
export function accessModesText(modes: readonly string[] | undefined): string {
  const given = new Set(modes);
  return Object.entries(shortAccessModes)
    .filter(([mode]) => given.has(mode))
    .map(([, short]) => short)
    .join(',');
}
