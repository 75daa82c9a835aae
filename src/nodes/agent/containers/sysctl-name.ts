/**
 * The name of a kernel setting with dots between its parts. Names may also have slashes between them, and then dots within a part,
 * such as `net/ipv4/conf/eth0.1/rp_filter`; the first separator decides which form it is.
 */
export function sysctlName(name: string): string {
  const [first] = /[./]/.exec(name) ?? [];
  if (first !== '/') return name;
  return name.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}
