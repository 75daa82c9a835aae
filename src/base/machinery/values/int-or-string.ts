/** A number or a string. Depending on the field, the string is a name or a percentage. */
export type IntOrString = number | string;

const percentage = /^(\d+)%$/;

/** The number before `%`, or undefined when the value is not a percentage. */
export function parsePercentage(value: IntOrString): number | undefined {
  if (typeof value === 'number') return undefined;
  const match = percentage.exec(value);
  return match === null ? undefined : Number(match[1]);
}

/** The number itself, or that percentage of `total` rounded up or down; 0 for other strings. */
export function shareOf(value: IntOrString, total: number, rounding: 'up' | 'down'): number {
  if (typeof value === 'number') return value;
  const share = ((parsePercentage(value) ?? 0) * total) / 100;
  return rounding === 'up' ? Math.ceil(share) : Math.floor(share);
}
