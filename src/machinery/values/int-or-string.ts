import { ValueFormatError } from './value-format-error.js';

/** A number or text; text is a name or a percentage, depending on the field. */
export type IntOrString = number | string;

const percentage = /^(\d+)%$/;

/** The number in front of `%`, or undefined when the value is no percentage. */
export function parsePercentage(value: IntOrString): number | undefined {
  if (typeof value === 'number') return undefined;
  const match = percentage.exec(value);
  return match === null ? undefined : Number(match[1]);
}

/**
 * The number itself, or the percentage of `total`, rounded up or down.
 *
 * @throws {ValueFormatError} for text that is no percentage.
 */
export function scaledIntOrPercent(value: IntOrString, total: number, roundUp: boolean): number {
  if (typeof value === 'number') return value;
  const percent = parsePercentage(value);
  if (percent === undefined) {
    throw new ValueFormatError('invalid value for IntOrString: invalid type: string is not a percentage');
  }
  const share = (percent * total) / 100;
  return roundUp ? Math.ceil(share) : Math.floor(share);
}
