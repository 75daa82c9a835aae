import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundedText } from './bounded-text.js';
import { LinePieces } from './line-pieces.js';
import { MarkLimit } from './mark-limit.js';
import { ignoreHugeCounts } from './terminal-counts.js';

describe('texts that a page shows', () => {
  it('are as they were written unless they are very long', () => {
    for (const text of ['', 'short', 'x'.repeat(100_000), `e${'\u0301'.repeat(30)}`.repeat(100)])
      assert.equal(boundedText(text), text);
    assert.equal(boundedText('x'.repeat(100_007)), `${'x'.repeat(100_000)}… (7 more letters)`);
    assert.equal(boundedText('abcdef', 4), 'abcd… (2 more letters)');
  });

  it('have no letters with thousands of marks', () => {
    const marks = '\u0301\u0302\u20dd'.repeat(300_000);
    assert.ok(boundedText(`e${marks}f`).length < 100);
    assert.equal(boundedText(`e${marks.slice(0, 2000)}f`), `e${marks.slice(0, 32)}…f`);
  });
});

describe('lines that come in pieces', () => {
  it('are those of the text', () => {
    const text = 'one\n\ntwo\nthree\n';
    for (let cut = 1; cut <= text.length; cut++) {
      const lines = new LinePieces();
      const found: string[] = [];
      for (let at = 0; at < text.length; at += cut) found.push(...lines.add(text.slice(at, at + cut)));
      assert.deepEqual(found, ['one', '', 'two', 'three']);
    }
  });

  it('cost what they bring, also a line that does not end, of which the beginning is kept', () => {
    const piece = 'x'.repeat(64 * 1024);
    for (const most of [10_000, undefined]) {
      const lines = new LinePieces(most);
      const before = process.threadCpuUsage();
      for (let n = 0; n < 1600; n++) assert.deepEqual(lines.add(piece), []);
      const { user, system } = process.threadCpuUsage(before);
      assert.ok(user + system < 2_000_000, `${user + system} us`);
      assert.equal(lines.add('\n')[0]?.length, most ?? 1600 * piece.length);
      assert.deepEqual(lines.add('next\n'), ['next']);
    }
  });
});

describe('what a program writes onto a terminal', () => {
  it('is left as it is, with the marks of its letters and its codes', () => {
    const limit = new MarkLimit();
    const text = `\u001b[1mé e\u0301 👩\u200d🚀 न\u093f\u001b]0;title\u0007\r\n${'e\u0301'.repeat(1000)}`;
    for (const letters of [text, 'plain', '', text]) assert.equal(limit.pass(letters), letters);
  });

  it('has no letter with thousands of marks, whatever stands between them', () => {
    for (const between of ['', '\u001b[m', '\u001b[5;7H', '\b', '\u001b[?25l\u200b']) {
      const limit = new MarkLimit();
      let marks = 0;
      for (let n = 0; n < 100; n++) marks += limit.pass(`\u0301${between}`.repeat(100)).split('\u0301').length - 1;
      assert.ok(marks <= 32, `${marks} with ${JSON.stringify(between)}`);
    }
  });

  it('repeats no step millions of times', () => {
    const handlers = new Map<string, (params: readonly (number | readonly number[])[]) => boolean>();
    ignoreHugeCounts({ registerCsiHandler: ({ final }, handler) => handlers.set(final, handler) });
    for (const final of 'STLM@PXbIZ') {
      const handler = handlers.get(final);
      assert.deepEqual(
        [[1], [], [999], [1_000_000], [1, [2_147_483_647]]].map((params) => handler?.(params)),
        [...[false, false, false], ...[true, true]],
      );
    }
  });
});
