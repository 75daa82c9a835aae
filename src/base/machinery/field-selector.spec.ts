import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseFieldSelector } from './field-selector.js';

describe('parseFieldSelector', () => {
  it('keeps equal requirements once, and refuses more different ones than anybody needs', () => {
    const most = Array.from({ length: 1_000 }, (_, i) => `metadata.name!=n${i}`).join(',');
    assert.equal(parseFieldSelector(`${most},${most}`).requirements.length, 1_000);
    assert.throws(
      () => parseFieldSelector(`${most},metadata.name!=x`),
      /too long: it may have at most 1000 requirements/,
    );
  });

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
  ];
  for (const [text, expected] of cases) {
    it(`${text || '(empty)'} is ${expected}`, () => assert.equal(parseFieldSelector(text).matches(fields), expected));
  }

  it('knows the exact value a field must have', () => {
    assert.equal(parseFieldSelector('a!=x,metadata.name=n').requiresExact('metadata.name'), 'n');
    assert.equal(parseFieldSelector('metadata.name!=n').requiresExact('metadata.name'), undefined);
  });

  for (const text of ['metadata.name', 'a=b=c', 'a=\\x']) {
    it(`refuses ${text}`, () => assert.throws(() => parseFieldSelector(text), /invalid/));
  }
});
