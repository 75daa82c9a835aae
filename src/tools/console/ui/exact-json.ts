import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';

/** JSON in which whole numbers that JavaScript can't hold keep their digits. */
export function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((each) => exactJson(each ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${fields.map(([key, each]) => `${JSON.stringify(key)}:${exactJson(each)}`).join(',')}}`;
}
