import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { heapBytes } from '../../../test/support/heap-bytes.js';
import { Random } from '../../../test/support/random.js';
import {
  formatLabelSelector,
  type LabelSelector,
  labelSelectorFromObject,
  parseLabelSelector,
  SelectorError,
  selectorBytes,
} from './label-selector.js';

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
    ['a/b/c=x', /<nil>: Invalid value: "a\/b\/c": a valid label key must consist of/],
    ['tier=-bad-', /values\[0\]\[tier\]: Invalid value: "-bad-"/],
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

describe('a long label selector', () => {
  const numbered = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i));

  it('matches what all of its requirements match', () => {
    const random = new Random(7);
    const keys = numbered(14, (i) => `k${i}`);
    const values = ['', '1', '5', '3', 'a', 'b', 'c'];
    const term = (): string => {
      const key = random.pick(keys);
      const list = () => numbered(1 + random.below(4), () => random.pick(values)).join(',');
      const forms = [`${key}!=${random.pick(values)}`, `${key} notin (${list()})`, `!${key}`];
      // Rare, because most objects fail one of many such terms.
      if (random.chance(0.15)) forms.push(`${key} in (${list()},a,b)`, key, `${key}>2`, `${key}<6`, `${key}=1`);
      return random.pick(forms);
    };
    let matched = 0;
    for (let round = 0; round < 3_000; round++) {
      const terms = numbered(9 + random.below(12), term);
      const labels = Object.fromEntries(keys.filter(() => random.chance(0.2)).map((key) => [key, random.pick(values)]));
      const expected = terms.every((one) => parseLabelSelector(one).matches(labels));
      if (expected) matched += 1;
      assert.equal(parseLabelSelector(terms.join(',')).matches(labels), expected, `${terms} ${JSON.stringify(labels)}`);
    }
    assert.ok(matched > 100, `only ${matched} matched`);
  });

  it('matches objects without labels, and those with more labels than it has keys', () => {
    const selector = parseLabelSelector(numbered(20, (i) => `k${i}!=x`).join(','));
    const many = Object.fromEntries(numbered(100, (i) => `other${i}`).map((key) => [key, 'x']));
    assert.equal(selector.matches(undefined), true);
    assert.equal(selector.matches(many), true);
    assert.equal(selector.matches({ ...many, k19: 'x' }), false);
  });

  it('is refused above the limits, whatever it consists of', () => {
    const most = numbered(1_000, (i) => `k${i}`).join(',');
    assert.equal(parseLabelSelector(most).requirements.length, 1_000);
    assert.throws(() => parseLabelSelector(`${most},!x`), /too long: it may have at most 1000 requirements/);
    assert.throws(() => parseLabelSelector(numbered(9_000, (i) => `k${i} in (a,b,c)`).join()), /at most 1000 req/);
    assert.throws(
      () => parseLabelSelector(numbered(900, (i) => `k${i} in (${'a,'.repeat(20)})`).join()),
      /at most 5000/,
    );
    const list = (count: number) => `k in (${numbered(count, (i) => `v${i}`).join(',')})`;
    assert.equal(parseLabelSelector(list(5_000)).matches({ k: 'v4999' }), true);
    assert.throws(() => parseLabelSelector(list(5_001)), /too long: it may have at most 5000 values/);
  });

  it('is kept once for all who use the same text', () => {
    const text = () => numbered(100, (i) => `key-${i}!=v`).join(',');
    assert.equal(parseLabelSelector(text()), parseLabelSelector(text()));
    assert.notEqual(parseLabelSelector(text()), parseLabelSelector(`${text()},x`));
  });

  it('takes no more memory than it accounts for', () => {
    const shapes: Record<string, (i: number) => string> = {
      exists: (i) => numbered(900, (j) => `k${i}-${j}`).join(','),
      equal: (i) => numbered(900, (j) => `some.example.com/key-${i}-${j}=the-value-of-it-${j}`).join(','),
      'not equal': (i) => numbered(900, (j) => `a${j}!=${i}`).join(','),
      'one key': (i) => numbered(900, (j) => `a!=${i}-${j}`).join(','),
      values: (i) => `a in (${numbered(4_900, (j) => `${i}${j}`).join(',')})`,
    };
    for (const [shape, text] of Object.entries(shapes)) {
      const count = 20;
      const selectors: LabelSelector[] = [];
      const before = heapBytes();
      for (let i = 0; i < count; i++) selectors.push(parseLabelSelector(text(i)));
      // The memory of the selector's text is not counted here: the request keeps it, and it is counted with the request
      // head.
      const texts = numbered(count, text).reduce((sum, { length }) => sum + length, 0);
      const taken = heapBytes() - before - texts;
      const accounted = selectors.reduce((sum, selector) => sum + selectorBytes(selector), 0);
      assert.ok(taken <= accounted, `${shape}: ${taken / count} bytes, accounted for ${accounted / count}`);
      assert.ok(accounted / count < 320_000, `${shape}: ${accounted / count} bytes`);
    }
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
