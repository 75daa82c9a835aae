import assert from 'node:assert/strict';
import { it } from 'node:test';
import { atOnce } from '../turns.js';
import { PackedStrings } from './packed-strings.js';

const times = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i));
const packed = (strings: readonly string[]) => atOnce(PackedStrings.inSteps(strings));

it('contains what it was made of and nothing else, in any number', () => {
  for (const count of [0, 1, 2, 17, 40_000]) {
    const set = packed(times(count, (i) => `name-${i}`));
    for (let i = 0; i < count; i += 1 + (count >>> 10)) assert.ok(set.has(`name-${i}`), `${i} of ${count}`);
    for (const other of ['', 'name-', `name-${count}`, 'NAME-0', 'name-0 ']) assert.ok(!set.has(other), other);
  }
});

it('knows empty strings, other scripts and duplicates', () => {
  const strings = ['', 'é', '日本', '\u{1f600}', 'a', 'a', 'a\n', 'a\u0000'];
  const set = packed(strings);
  for (const one of strings) assert.ok(set.has(one), JSON.stringify(one));
  assert.ok(!set.has('b'));
  assert.ok(!packed(['\ud800']).has('\ufffd\ufffd'));
});

it('takes little more than the text', () => {
  const strings = times(10_000, (i) => `system:serviceaccount:space:account-${i}`);
  assert.ok(packed(strings).bytes < strings.join('').length + 10 * strings.length);
});

it('is made in steps', () => {
  const steps = PackedStrings.inSteps(times(20_000, (i) => `n-${i}`));
  let count = 0;
  while (steps.next().done !== true) count++;
  assert.ok(count >= 150, `${count} steps`);
});
