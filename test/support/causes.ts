import assert from 'node:assert/strict';

/**
 * Compares broken rules with the beginnings of the expected ones (`reason | field | message`, without the word
 * FieldValue in front), in order and number.
 */
export function assertCauses(actual: readonly string[], expected: readonly string[]): void {
  const shown = actual.map((cause, i) => {
    const text = cause.replace(/^FieldValue/, '');
    const start = expected[i];
    return start !== undefined && text.startsWith(start) ? start : text;
  });
  assert.deepEqual(shown, expected);
}
