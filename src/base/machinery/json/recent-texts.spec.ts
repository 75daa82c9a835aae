import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RecentTexts } from './recent-texts.js';

it('finds the same texts as parsing, however often and in whatever order they come', () => {
  const values = [
    {},
    { a: {} },
    { a: {}, b: {} },
    { a: { b: {} } },
    { 'k:{"name":"}"}': {} },
    { 'k:{"name":"}': {} },
    { '\\"': {}, '\ud800': {}, 'ä€\u{1f600}': {} },
    { [`f:${'x'.repeat(20_000)}`]: {} },
    ...Array.from({ length: 40 }, (_, i) => ({ [`f:${i}`]: { '.': {} } })),
  ];
  const recent = new RecentTexts();
  for (const step of [1, 7, 3, 5]) {
    for (let i = 0; i < 3 * values.length; i++) {
      const text = JSON.stringify(values[(i * step) % values.length]);
      for (const [before, after] of [
        ['', ''],
        ['{"a":', '}'],
        ['[{},', ',{"a":1}]'],
      ] as const) {
        assert.equal(recent.at(before + text + after, before.length), text);
      }
    }
  }
});
