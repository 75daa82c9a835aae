import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestWorld } from '../../../../../test/support/admission-parts.js';
import { specAfter } from '../../../../../test/support/pod-plugins.js';

describe('RuntimeClass', () => {
  const rt = { key: 'rt', operator: 'Exists' };
  const classes = {
    'runtimeclasses.node.k8s.io': {
      full: {
        overhead: { podFixed: { cpu: '250m' } },
        scheduling: { nodeSelector: { rt: 'yes' }, tolerations: [rt] },
      },
      plain: {},
    },
  };
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['none', {}, {}, [undefined, undefined, undefined]],
    ['its class', { runtimeClassName: 'full' }, { known: classes }, [{ cpu: '250m' }, { rt: 'yes' }, [rt]]],
    [
      'a class that only the store has',
      { runtimeClassName: 'full' },
      { stored: classes },
      [{ cpu: '250m' }, { rt: 'yes' }, [rt]],
    ],
    [
      'a class, and its own wishes',
      {
        runtimeClassName: 'full',
        overhead: { cpu: '0.25' },
        nodeSelector: { a: 'b' },
        tolerations: [{ key: 'a' }, rt],
      },
      { known: classes },
      [{ cpu: '250m' }, { a: 'b', rt: 'yes' }, [{ key: 'a' }, rt]],
    ],
    ['an unknown class', { runtimeClassName: 'x' }, { known: classes }, 'pod rejected: RuntimeClass "x" not found'],
    [
      'another overhead',
      { runtimeClassName: 'full', overhead: { cpu: '1' } },
      { known: classes },
      "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
    ],
    [
      'an overhead without a class',
      { overhead: { cpu: '1' } },
      {},
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'an overhead that its class lacks',
      { runtimeClassName: 'plain', overhead: { cpu: '1' } },
      { known: classes },
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    ],
    [
      'other nodes than its class',
      { runtimeClassName: 'full', nodeSelector: { rt: 'no' } },
      { known: classes },
      'conflict: runtimeClass.scheduling.nodeSelector[rt] = yes; pod.spec.nodeSelector[rt] = no',
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`gives a pod with ${what} what it says`, async () => {
      const result = await specAfter('RuntimeClass', spec, world);
      assert.deepEqual(
        typeof result === 'string' ? result : [result.overhead, result.nodeSelector, result.tolerations],
        expected,
      );
    });
  }
});
