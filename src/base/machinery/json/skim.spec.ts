import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memberText, skimObject, withoutMember } from './skim.js';

const labels = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key-${i}`, `value ${i}`]));

it('finds short values, and those that must not be missed', () => {
  const object = {
    kind: 'Pod',
    metadata: {
      name: 'a "quoted" {name}',
      annotations: { text: 'x'.repeat(100_000) },
      labels,
      managedFields: [{ fieldsV1: { 'f:a': { 'f:b\\"': {} } }, text: ']}"'.repeat(10_000) }],
      namespace: 'n',
    },
    data: { a: 'x'.repeat(100_000), b: '\\', c: 1 },
    spec: { nodeName: 'node', containers: Array.from({ length: 5_000 }, (_, i) => ({ name: `c${i}` })), last: true },
    status: { phase: 'Running' },
    type: null,
    count: -1.5,
    list: Array.from({ length: 50_000 }, (_, i) => i),
  };
  const { name, namespace } = object.metadata;
  assert.deepEqual(skimObject(JSON.stringify(object), ['metadata.labels']), {
    kind: 'Pod',
    metadata: { name, labels, namespace },
    data: { b: '\\', c: 1 },
    spec: { nodeName: 'node', last: true },
    status: { phase: 'Running' },
    type: null,
    count: -1.5,
  });
});

it('gives a small object whole, with spaces at its beginning', () => {
  const object = { kind: 'A', metadata: { name: 'a' }, spec: {}, list: [], text: '' };
  assert.deepEqual(skimObject(`{  ${JSON.stringify(object).slice(1)} `, []), object);
  assert.deepEqual(skimObject('{}', []), {});
});

it('takes a limited number of values', () => {
  const data = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, '']));
  const skimmed = skimObject(JSON.stringify({ data, type: 't' }), []) as { data: object; type: string };
  assert.equal(Object.keys(skimmed.data).length, 1000);
  assert.equal(skimmed.type, 't');
});

describe('the text of a member', () => {
  const inner = { name: 'a"}{,', list: [{ labels: { no: 'no' } }], n: -1.5, none: null, yes: true };
  const text = JSON.stringify({ labels: { outer: '1' }, metadata: { ...inner, labels: { 'a/b': 'c' }, more: 1 } });
  const start = text.indexOf('"metadata":') + '"metadata":'.length;

  it('is found behind others of any kind', () => {
    assert.equal(memberText(text, start, 'labels'), '{"a/b":"c"}');
    assert.equal(memberText(text, start, 'n'), '-1.5');
    assert.equal(memberText(text, start, 'yes'), 'true');
    assert.equal(memberText(text, start, 'more'), '1');
    assert.equal(memberText(text, 0, 'labels'), '{"outer":"1"}');
  });

  it('is not taken from elsewhere', () => {
    const { labels: _labels, ...rest } = JSON.parse(text).metadata;
    const without = JSON.stringify({ metadata: rest, labels: { outer: '1' } });
    assert.equal(memberText(without, without.indexOf('{', 1), 'labels'), undefined);
    assert.equal(memberText(text, start, 'no'), undefined);
    assert.equal(memberText(text, start, 'label'), undefined);
    assert.equal(memberText('{}', 0, 'labels'), undefined);
  });
});

describe('a text without a member', () => {
  const without = (value: object, name: string) => JSON.parse(withoutMember(JSON.stringify(value), 0, name));

  it('has all others, wherever the member was', () => {
    assert.deepEqual(without({ a: [{ a: 1 }], b: 'a', c: {} }, 'a'), { b: 'a', c: {} });
    assert.deepEqual(without({ b: '"a":', a: { a: ']}"' }, c: { a: 1 } }, 'a'), { b: '"a":', c: { a: 1 } });
    assert.deepEqual(without({ b: 1, c: { a: 1 }, a: null }, 'a'), { b: 1, c: { a: 1 } });
    assert.deepEqual(without({ a: 1 }, 'a'), {});
  });

  it('is the same text when there is none', () => {
    const text = JSON.stringify({ b: { a: 1 }, '"a': 1, ba: 2 });
    assert.equal(withoutMember(text, 0, 'a'), text);
    assert.equal(withoutMember('{}', 0, 'a'), '{}');
  });

  it('may begin inside of another one', () => {
    const text = '{ "kind":"A","metadata":{"name":"a","managedFields":[{}],"uid":"u"},"managedFields":1}';
    const expected = '{ "kind":"A","metadata":{"name":"a","uid":"u"},"managedFields":1}';
    assert.equal(withoutMember(text, text.indexOf('{"name"'), 'managedFields'), expected);
  });
});
