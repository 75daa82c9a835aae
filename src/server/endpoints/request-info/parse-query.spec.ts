import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../../../test/support/random.js';
import { parseQuery } from './parse-query.js';

const pieces = [
  'a',
  'b',
  '&',
  '=',
  '+',
  '%20',
  '%2',
  '%',
  '%zz',
  '%c3%a4',
  '%c3',
  '%ff%fe',
  '%ef%bb%bf',
  '%00',
  '?',
  '%26',
];

describe('a long query', () => {
  it('is read as by the library, whatever is in it', () => {
    const random = new Random(5);
    for (let round = 0; round < 300; round++) {
      const more = round % 3 === 0 ? ['ä', '€'] : [];
      const text = Array.from({ length: 1_100 }, () => random.pick([...pieces, ...more])).join('');
      const expected = new URLSearchParams(text);
      const found = parseQuery(text);
      assert.deepEqual([...found], [...expected], text);
    }
  });

  it('may begin with a question mark, or be nothing but separators', () => {
    for (const text of [`?a=${'b'.repeat(2_000)}`, '&'.repeat(2_000), '='.repeat(2_000), '+'.repeat(2_000)]) {
      assert.deepEqual([...parseQuery(text)], [...new URLSearchParams(text)], text.slice(0, 3));
    }
  });
});
