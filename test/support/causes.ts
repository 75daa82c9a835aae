import assert from 'node:assert/strict';

/**
 * Checks that the broken rules begin with the expected texts (`reason | field | message`, without the leading word
 * FieldValue), in the same order and number.
 */
export function assertCauses(actual: readonly string[], expected: readonly string[]): void {
  const shown = actual.map((cause, i) => {
    const text = cause.replace(/^FieldValue/, '');
    const start = expected[i];
    return start !== undefined && text.startsWith(start) ? start : text;
  });
  assert.deepEqual(shown, expected);
}
