import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random } from '../../../test/support/random.js';
import { exactFieldValue, fieldSelectorBytes, parseFieldSelector } from './field-selector.js';

describe('parseFieldSelector', () => {
  it('keeps equal requirements once, and refuses more different ones than anybody needs', () => {
    const most = Array.from({ length: 1_000 }, (_, i) => `metadata.name!=n${i}`).join(',');
    assert.equal(parseFieldSelector(`${most},${most}`).requirements.length, 1_000);
    assert.throws(
      () => parseFieldSelector(`${most},metadata.name!=x`),
      /too long: it may have at most 1000 requirements/,
    );
  });

  const fieldsOf: Readonly<Record<string, string>> = { 'metadata.name': 'a', type: 'x' };
  const terms = (count: number) => Array.from({ length: count }, (_, i) => `metadata.name!=n${i}`).join();
  const fields = { 'metadata.name': 'a', type: 'x,y', empty: '' };
  const cases: [string, boolean][] = [
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a', true],
    ['metadata.name!=a', false],
    ['metadata.name=b', false],
    ['type=x\\,y', true],
    ['empty=', true],
    ['unset=', true],
    ['metadata.name=a,empty!=x', true],
    [',=', true],
    ['!=', true],
    ['==,metadata.name=b', false],
  ];
  for (const [text, expected] of cases) {
    it(`${text || '(empty)'} is ${expected}`, () => assert.equal(parseFieldSelector(text).matches(fields), expected));
  }

  it('matches with many requirements what each of them matches', () => {
    const random = new Random(11);
    const names = ['metadata.name', 'type', 'empty', 'unset'];
    let matched = 0;
    for (let round = 0; round < 300; round++) {
      const terms = Array.from({ length: 9 + random.below(12) }, (_, i) => {
        const field = random.pick(names);
        const isEqual = random.below(8) === 0;
        return isEqual ? `${field}=${fieldsOf[field] ?? ''}` : `${field}!=${random.pick(['a', '', `b${i}`, `c${i}`])}`;
      });
      const object = { 'metadata.name': random.pick(['a', 'b', 'c1']), type: 'x' };
      const expected = terms.every((term) => parseFieldSelector(term).matches(object));
      assert.equal(parseFieldSelector(terms.join()).matches(object), expected, terms.join());
      if (expected) matched++;
    }
    assert.ok(matched > 10, String(matched));
    assert.equal(parseFieldSelector(`type=x,type=y,${terms(10)}`).matches({ type: 'x' }), false);
    assert.equal(parseFieldSelector(`type=x,type==x,${terms(10)}`).matches({ type: 'x' }), true);
  });

  it('knows the exact value a field must have', () => {
    assert.equal(parseFieldSelector('a!=x,metadata.name=n').requiresExact('metadata.name'), 'n');
    assert.equal(parseFieldSelector('metadata.name!=n').requiresExact('metadata.name'), undefined);
    // The order in the selector does not matter: if it requires two names, the smaller one counts.
    assert.equal(parseFieldSelector('metadata.name=n2,metadata.name=n1').requiresExact('metadata.name'), 'n1');
    const many = Array.from({ length: 20 }, (_, i) => `f${i}=x`).join();
    assert.equal(parseFieldSelector(`metadata.name=b,${many},metadata.name=a`).requiresExact('metadata.name'), 'a');
  });

  it('estimates the memory of a selector from its text, on the high side', () => {
    const one = fieldSelectorBytes('metadata.name=a');
    assert.ok(one > 0);
    assert.equal(fieldSelectorBytes(''), 0);
    assert.equal(fieldSelectorBytes(terms(500)), 500 * one);
    assert.equal(fieldSelectorBytes(','.repeat(50_000)), 1_000 * one, 'more requirements are refused');
  });

  const exact: [string, string | undefined][] = [
    ['', undefined],
    ['metadata.name=n', 'n'],
    ['metadata.name==n', 'n'],
    ['metadata.name!=n', undefined],
    ['a=b,metadata.name=n', 'n'],
    ['xmetadata.name=n', undefined],
    ['a=b\\,metadata.name=n', undefined],
    ['a=b\\\\,metadata.name=n', 'n'],
    ['metadata.name=n\\,m', 'n,m'],
    ['metadata.name=n,a', undefined],
    ['metadata.name=n2,metadata.name=n1', 'n1'],
  ];
  for (const [text, expected] of exact) {
    it(`finds ${expected} as the name in ${text}`, () =>
      assert.equal(exactFieldValue(text, 'metadata.name'), expected));
  }

  for (const text of ['metadata.name', 'a!', 'a===b', 'a=b\\,c=d', 'a=b=c', 'a=\\x']) {
    it(`refuses ${text}`, () => assert.throws(() => parseFieldSelector(text), /invalid/));
  }
});
