/** A number or text; text is a name or a percentage, depending on the field. */
export type IntOrString = number | string;

const percentage = /^(\d+)%$/;

/** The number in front of `%`, or undefined when the value is no percentage. */
export function parsePercentage(value: IntOrString): number | undefined {
  if (typeof value === 'number') return undefined;
  const match = percentage.exec(value);
  return match === null ? undefined : Number(match[1]);
}
