/** Sorts API versions by preference: GA before beta before alpha, higher numbers first, all other names last. */
export function compareVersionPriority(a: string, b: string): number {
  const left = parseVersion(a);
  const right = parseVersion(b);
  for (let i = 0; i < left.length; i++) {
    const difference = (right[i] as number) - (left[i] as number);
    if (difference !== 0) return difference;
  }
  return a < b ? -1 : 1;
}

function parseVersion(version: string): number[] {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return [-1, 0, 0];
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}
