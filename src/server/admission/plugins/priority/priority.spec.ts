import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestRequest } from '../../../../../test/support/admission-attributes.js';
import { admit, type TestWorld } from '../../../../../test/support/admission-parts.js';
import { podOf, podPlugin, specAfter } from '../../../../../test/support/pod-plugins.js';

describe('Priority', () => {
  const classes = {
    'priorityclasses.scheduling.k8s.io': {
      high: { value: 77, preemptionPolicy: 'Never' },
      low: { value: -5, globalDefault: true },
      alsoDefault: { value: 5, globalDefault: true },
    },
  };
  const none = { value: 0, preemptionPolicy: 'PreemptLowerPriority' };
  const suffix = 'from the given PriorityClass name';
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['no class', {}, {}, [undefined, 0, none.preemptionPolicy]],
    ['the default with the lowest value', {}, { known: classes }, ['low', -5, none.preemptionPolicy]],
    ['a class', { priorityClassName: 'high' }, { known: classes }, ['high', 77, 'Never']],
    ['a class that only the store has', { priorityClassName: 'high' }, { stored: classes }, ['high', 77, 'Never']],
    ['the right number', { priorityClassName: 'high', priority: 77 }, { known: classes }, ['high', 77, 'Never']],
    ['an unknown class', { priorityClassName: 'x' }, { known: classes }, 'no PriorityClass with name x was found'],
    [
      'another number',
      { priorityClassName: 'high', priority: 5 },
      { known: classes },
      `the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 77 ${suffix}`,
    ],
    [
      'another policy',
      { priorityClassName: 'high', preemptionPolicy: 'PreemptLowerPriority' },
      { known: classes },
      `the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never ${suffix}`,
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`resolves ${what}`, async () => {
      const result = await specAfter('Priority', spec, world);
      const fields =
        typeof result === 'string' ? result : [result.priorityClassName, result.priority, result.preemptionPolicy];
      assert.deepEqual(fields, expected);
    });
  }

  it('keeps what it has filled when an update leaves it out', async () => {
    const oldObject = podOf({ priority: 3, preemptionPolicy: 'Never' });
    const result = await specAfter('Priority', {}, {}, { oldObject });
    assert.deepEqual([result.priority, result.preemptionPolicy], [3, 'Never']);
  });

  it('allows one default class', async () => {
    const world = { known: { 'priorityclasses.scheduling.k8s.io': { a: { value: 1, globalDefault: true } } } };
    const judge = async (request: TestRequest) =>
      (await admit(podPlugin('Priority', world), { resource: 'priorityclasses.scheduling.k8s.io', ...request }))
        .problem;
    const isDefault = { metadata: {}, value: 1, globalDefault: true };
    const second = 'PriorityClass a is already marked as default. Only one default can exist';
    assert.equal(await judge({ name: 'b', object: isDefault }), second);
    assert.equal(await judge({ name: 'b', object: isDefault, oldObject: { metadata: {}, value: 1 } }), second);
    assert.equal(await judge({ name: 'a', object: isDefault, oldObject: isDefault }), undefined);
    assert.equal(await judge({ name: 'b', object: { metadata: {}, value: 1 } }), undefined);
  });
});
