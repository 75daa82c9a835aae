import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertCauses } from '../../../../test/support/causes.js';
import { DefinitionTester, testNames, testTime } from '../../../../test/support/definition-tester.js';
import { namespaceResource } from './namespace.resource.js';

const definition = namespaceResource(testNames);
const tester = new DefinitionTester(definition);
const own = testNames.namespaceFinalizer;

describe('namespaces', () => {
  it('start active, with their finalizer', () => {
    const { object } = tester.create({ spec: { finalizers: ['a.b/c'] }, status: { phase: 'Terminating' } });
    assert.deepEqual(object.spec, { finalizers: ['a.b/c', own] });
    assert.deepEqual(object.status, { phase: 'Active' });
    assert.deepEqual(tester.cells(object, 0), ['a', 'Active', '0s']);
  });

  it('carry their name as a label, which stays', () => {
    const label = `${testNames.labelPrefix}/metadata.name`;
    const { object } = tester.create({ metadata: { labels: { a: 'b', [label]: 'other' } } });
    assert.deepEqual(object.metadata.labels, { a: 'b', [label]: 'a' });
    assert.deepEqual(tester.patch(object, { metadata: { labels: null } }).object.metadata.labels, { [label]: 'a' });
    const status = tester.patch(object, { metadata: { labels: { [label]: 'other' } } }, 'status');
    assert.equal(status.object.metadata.labels?.[label], 'a');
    const generated = tester.create({ metadata: { name: '', generateName: 'g-' } }).object;
    assert.deepEqual(generated.metadata.labels, { [label]: generated.metadata.name });
  });

  const bad: [string, Record<string, unknown>, string[]][] = [
    [
      'a name with a dot',
      { metadata: { name: 'a.b' } },
      ['Invalid | metadata.name | Invalid value: "a.b": must not contain dots'],
    ],
    [
      'a finalizer without a domain',
      { spec: { finalizers: ['foo'] } },
      ['Invalid | spec.finalizers | Invalid value: "foo": name is neither a standard finalizer name nor is it fully'],
    ],
    [
      'a finalizer with a space',
      { spec: { finalizers: ['a.b/c d'] } },
      ['Invalid | spec.finalizers | Invalid value: "a.b/c d": name part must consist of'],
    ],
  ];
  for (const [name, body, expected] of bad) {
    it(`refuse ${name}`, () => assertCauses(tester.create(body).causes, expected));
  }

  it('keep finalizers and status on ordinary writes', () => {
    const { object } = tester.create({});
    const changed = tester.patch(object, { spec: { finalizers: [] }, status: { phase: 'Terminating' } });
    assertCauses(changed.causes, []);
    assert.deepEqual(changed.object.spec, { finalizers: [own] });
    assert.deepEqual(changed.object.status, { phase: 'Active' });
  });

  it('have the phase that follows from their deletion', () => {
    const { object } = tester.create({});
    const dying = { ...object, metadata: { ...object.metadata, deletionTimestamp: testTime } };
    const only = (phase: string, not: string) => `may only be '${phase}' if \`deletionTimestamp\` is ${not}empty`;
    assertCauses(tester.patch(object, { status: { phase: 'Terminating' } }, 'status').causes, [
      `Invalid | status.Phase | Invalid value: "Terminating": ${only('Active', '')}`,
    ]);
    assertCauses(tester.patch(dying, { status: { phase: 'Active' } }, 'status').causes, [
      `Invalid | status.Phase | Invalid value: "Active": ${only('Terminating', 'not ')}`,
    ]);
    assertCauses(tester.patch(dying, { status: { phase: 'Terminating' } }, 'status').causes, []);
  });

  it('change finalizers, and nothing else, through finalize', () => {
    const { object } = tester.create({});
    const done = tester.patch(object, { spec: { finalizers: [] }, status: { phase: 'x' } }, 'finalize');
    assertCauses(done.causes, []);
    assert.equal(definition.strategy.deletionBlocked?.(object), true);
    assert.equal(definition.strategy.deletionBlocked?.(done.object), false);
    assert.deepEqual(done.object.status, { phase: 'Active' });
    assertCauses(tester.patch(object, { spec: { finalizers: ['x'] } }, 'finalize').causes, [
      'Invalid | spec.finalizers[0] | Invalid value: "x": name is neither',
    ]);
  });
});
