import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatLabelSelector, labelSelectorFromObject, parseLabelSelector, SelectorError } from './label-selector.js';

describe('parseLabelSelector', () => {
  const labels = { tier: 'a', n: '2', 'example.com/x': '' };
  const cases: [string, boolean][] = [
    ['', true],
    ['tier=a', true],
    ['tier==a', true],
    ['tier = b', false],
    ['tier!=b', true],
    ['tier!=a', false],
    ['missing!=a', true],
    ['tier in (a,c)', true],
    ['tier in (b, c)', false],
    ['tier notin (a)', false],
    ['missing notin (a)', true],
    ['tier', true],
    ['missing', false],
    ['!missing', true],
    ['!tier', false],
    ['n>1', true],
    ['n>2', false],
    ['n<10', true],
    ['tier>1', false],
    ['tier=a,n', true],
    ['tier=a,missing', false],
    ['example.com/x=', true],
    ['example.com/x', true],
    ['tier in (,a)', true],
  ];
  for (const [text, expected] of cases) {
    it(`${text || '(empty)'} is ${expected}`, () => assert.equal(parseLabelSelector(text).matches(labels), expected));
  }

  const faults: [string, RegExp][] = [
    ['tier in a', /unable to parse requirement: found 'a' expected: '\('/],
    ['tier===x', /unable to parse requirement: found '=', expected: identifier/],
    ['a/b/c=x', /invalid label key "a\/b\/c": a qualified name must consist of/],
    ['tier=-bad-', /invalid label value: "-bad-"/],
    ['n>x', /value must be an integer/],
    ['a,', /expected: identifier after ','/],
    ['a b', /found 'b', expected: in, notin/],
    [',a', /found ','/],
    ['tier in (a b)', /found 'b'/],
    ['tier in (a', /found ''/],
  ];
  for (const [text, message] of faults) {
    it(`refuses ${text}`, () => {
      assert.throws(
        () => parseLabelSelector(text),
        (e) => e instanceof SelectorError && message.test(e.message),
      );
    });
  }

  it('matches nothing inherited from Object.prototype', () => {
    assert.equal(parseLabelSelector('constructor').matches({}), false);
    assert.equal(parseLabelSelector('toString').matches(undefined), false);
  });
});

describe('labelSelectorFromObject', () => {
  it('selects nothing without a selector and everything with an empty one', () => {
    assert.equal(labelSelectorFromObject(undefined).matches({ a: 'b' }), false);
    assert.equal(labelSelectorFromObject({}).matches(undefined), true);
  });

  it('joins labels and expressions', () => {
    const selector = labelSelectorFromObject({
      matchLabels: { app: 'x' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['a', 'b'] },
        { key: 'old', operator: 'DoesNotExist' },
      ],
    });
    assert.equal(selector.matches({ app: 'x', tier: 'b' }), true);
    assert.equal(selector.matches({ app: 'x', tier: 'b', old: '' }), false);
    assert.equal(selector.matches({ app: 'y', tier: 'b' }), false);
  });

  it('accepts no operator that every object inherits', () => {
    const matchExpressions = [{ key: 'a', operator: 'constructor', values: ['b'] }];
    assert.throws(() => labelSelectorFromObject({ matchExpressions }), SelectorError);
  });

  it('prints the text form sorted by key', () => {
    const text = formatLabelSelector({
      matchLabels: { b: '1', a: '2' },
      matchExpressions: [{ key: 'c', operator: 'NotIn', values: ['z', 'y'] }],
    });
    assert.equal(text, 'a=2,b=1,c notin (y,z)');
  });
});
