import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atOnce } from '../turns.js';
import { parseExactJson } from './exact-numbers.js';
import { LazyJson, LazyMembers } from './lazy-json.js';
import { stringifyInSteps } from './stringify-in-steps.js';

function written(value: unknown): string {
  let text = '';
  atOnce(
    stringifyInSteps(value, (piece) => {
      text += piece;
    }),
  );
  return text;
}

const many = Array.from({ length: 1_000 }, (_, i) => ({ [`k"${i}`]: [i, null, '\ud800ü', { a: undefined }] }));

describe('JSON text in steps', () => {
  const values: readonly (readonly [string, unknown])[] = [
    ['short values', { a: 1, b: [true, null, 'x'], c: undefined }],
    ['a list of many objects', many],
    ['an object of many members', Object.fromEntries(many.map((value, i) => [`p${i}`, value]))],
    ['long lists with holes', Array.from({ length: 500 }, (_, i) => (i % 3 === 0 ? undefined : i))],
    ['a long string', { a: ['x'.repeat(1_000_000), 'é'.repeat(100_000)], b: '' }],
    ['numbers that keep their spelling', { n: Array.from({ length: 300 }, () => parseExactJson('1.50')) }],
    ['deep values', Array.from({ length: 400 }).reduce<unknown>((inner) => ({ a: [inner, 'y'] }), 1)],
    ['empty values', { a: {}, b: [], c: { d: [{}] } }],
    ['members without a value', Object.fromEntries(many.map((_, i) => [`p${i}`, undefined]))],
  ];
  for (const [name, value] of values) {
    it(`writes ${name} as JSON.stringify does`, () => assert.equal(written(value), JSON.stringify(value)));
  }

  it('makes lazy values level by level', () => {
    let made = 0;
    const lazy = (depth: number): LazyJson =>
      new LazyJson(() => {
        made++;
        return depth === 0 ? { leaf: depth } : { a: lazy(depth - 1), b: [lazy(depth - 1)], c: undefined };
      });
    const text = written({ whole: lazy(8) });
    assert.equal(made, 2 ** 9 - 1);
    assert.equal(text, JSON.stringify({ whole: lazy(8) }));
  });

  it('writes members that are made one after the other', () => {
    const entries: [string, unknown][] = [
      ['a"', 1],
      ['none', undefined],
      ['__proto__', [2]],
      ['c', { d: 'x' }],
    ];
    for (const members of [entries, []]) {
      const value = { whole: new LazyMembers(() => members), after: 1 };
      assert.equal(written(value), JSON.stringify({ whole: Object.fromEntries(members), after: 1 }));
      assert.equal(written(value), JSON.stringify(value));
    }
  });

  it('keeps a member named __proto__', () => {
    const value = JSON.parse(`{"__proto__":[${'1,'.repeat(500)}1]}`) as unknown;
    assert.equal(written(value), JSON.stringify(value));
  });

  it('ends a step at least every few thousand parts', () => {
    const steps = stringifyInSteps(many, () => {});
    let count = 0;
    while (steps.next().done !== true) count++;
    assert.ok(count >= 1_000);
  });
});
