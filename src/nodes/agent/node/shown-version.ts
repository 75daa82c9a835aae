const semantic = /^v?((?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[-0-9A-Za-z.]+)?(?:\+[-0-9A-Za-z.]+)?)$/;
const numbers = /^\s*v?(\d+(?:\.\d+)+)/;

/** The version of a runtime as nodes show it: what a distribution has appended in a form of its own is left out. */
export function shownVersion(version: string): string {
  return semantic.exec(version)?.[1] ?? numbers.exec(version)?.[1] ?? version;
}
