import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sqlAnswerText } from './sql-answer-text.js';

const whole = async (rows: (string | null)[][]) => {
  const answer = { columns: ['a', 'b'], rows, isCut: false, ms: 1.5 };
  const pieces: string[] = [];
  for await (const piece of sqlAnswerText(answer)) pieces.push(piece);
  assert.deepEqual(JSON.parse(pieces.join('')), answer);
  return pieces;
};

describe('the JSON of an answer to a question in SQL', () => {
  it('has the values as they are', async () => {
    await whole([]);
    await whole([[]]);
    await whole([
      [null, ''],
      ['"\\\n\u2028', '\ud800'],
    ]);
    await whole([
      [`x${'😀'.repeat(50_000)}`, null],
      ['é'.repeat(40_000), `${'"'.repeat(32 * 1024)}`],
    ]);
    assert.ok((await whole(Array.from({ length: 1000 }, () => ['x'.repeat(100), null]))).length > 2);
  });

  it('is made in pieces, whatever the values have to be escaped', async () => {
    for (const rows of [[['\u0001'.repeat(8_000_000)]], Array.from({ length: 1000 }, () => Array(1000).fill('"'))]) {
      let longest = 0;
      let before = process.threadCpuUsage();
      const pieces = sqlAnswerText({ columns: [], rows, isCut: true, ms: 0 });
      for await (const piece of pieces) {
        assert.ok(piece.length < 512 * 1024);
        const now = process.threadCpuUsage();
        longest = Math.max(longest, now.user + now.system - before.user - before.system);
        before = now;
      }
      assert.ok(longest < 50_000, `${longest} us`);
    }
  });
});
