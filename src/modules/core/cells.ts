/** The shown form of a map of labels: `a=b,c=d` by key, `<none>` for an empty one. */
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

/** Access modes in short form, in this order, each once. */
export function accessModesText(modes: readonly string[] | undefined): string {
  const given = new Set(modes);
  return Object.entries(shortAccessModes)
    .filter(([mode]) => given.has(mode))
    .map(([, short]) => short)
    .join(',');
}
