import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DefinitionTester, testNames } from '../../../../test/support/definition-tester.js';
import { runtimeClassResource } from './runtime-class.resource.js';

describe('RuntimeClass', () => {
  const tester = new DefinitionTester(runtimeClassResource(testNames));

  it('accepts overhead and scheduling', () => {
    const { object, causes } = tester.create({
      handler: 'h',
      overhead: { podFixed: { cpu: '1m' } },
      scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'a', operator: 'Exists' }] },
    });
    assert.deepEqual(causes, []);
    assert.deepEqual(tester.cells(object), ['a', 'h', '0s']);
  });

  const cases: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ['handler', { handler: 'A_' }, ['handler']],
    ['negative overhead', { handler: 'h', overhead: { podFixed: { cpu: '-1' } } }, ['overhead.limits[cpu]']],
    [
      'unknown overhead',
      { handler: 'h', overhead: { podFixed: { gpu: '1' } } },
      ['overhead.limits[gpu]', 'overhead.limits[gpu]'],
    ],
    ['node selector', { handler: 'h', scheduling: { nodeSelector: { 'a b': 'c' } } }, ['scheduling.nodeSelector']],
    [
      'repeated toleration',
      {
        handler: 'h',
        scheduling: {
          tolerations: [
            { key: 'a', operator: 'Exists' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      },
      ['scheduling.tolerations[1]'],
    ],
    [
      'odd toleration',
      { handler: 'h', scheduling: { tolerations: [{ key: 'a', operator: 'Odd' }] } },
      ['scheduling.tolerations[0].operator'],
    ],
  ];
  for (const [name, body, fields] of cases) {
    it(`refuses a bad ${name}`, () => {
      const { causes } = tester.create(body);
      assert.deepEqual(
        causes.map((cause) => cause.split(' | ')[1]),
        fields,
      );
    });
  }

  it('keeps its handler', () => {
    const { object } = tester.create({ handler: 'h' });
    assert.deepEqual(tester.patch(object, { handler: 'i' }).causes, [
      'FieldValueInvalid | handler | Invalid value: null: field is immutable',
    ]);
    assert.deepEqual(tester.patch(object, { overhead: { podFixed: { cpu: '1' } } }).causes, []);
  });

  it('is checked when it changes, too', () => {
    const { object } = tester.create({ handler: 'h' });
    const { causes } = tester.patch(object, { scheduling: { tolerations: [{ key: 'a', operator: 'Odd' }] } });
    assert.deepEqual(
      causes.map((cause) => cause.split(' | ')[1]),
      ['scheduling.tolerations[0].operator'],
    );
  });

  it('may have finalizers without a prefix', () => {
    assert.deepEqual(tester.create({ handler: 'h', metadata: { finalizers: ['plain'] } }).causes, []);
  });
});
