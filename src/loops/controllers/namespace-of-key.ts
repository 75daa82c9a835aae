/** The namespace of a key `<namespace>/<name>`; '' for keys without one. */
export function namespaceOfKey(key: string): string {
  const slash = key.indexOf('/');
  return slash < 0 ? '' : key.slice(0, slash);
}
