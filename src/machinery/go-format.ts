/**
 * Shows a value in an error message the way existing clients know it: strings quoted, numbers and booleans bare, absent
 * as `null`, string lists as `[]string{"a"}`, anything else as compact JSON.
 */
export function formatGoValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value) && value.every((v) => typeof v === 'string')) {
    return `[]string{${value.map((v) => JSON.stringify(v)).join(', ')}}`;
  }
  return JSON.stringify(value);
}
