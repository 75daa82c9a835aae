import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestWorld } from '../../../../../test/support/admission-parts.js';
import { podPlugin, specAfter } from '../../../../../test/support/pod-plugins.js';
import { OptionsError } from '../../../../base/config/options-error.js';

describe('PodTolerationRestriction', () => {
  const prefix = 'scheduler.alpha.kubernetes.io/';
  const a = { key: 'a', operator: 'Exists' };
  const b = { key: 'b', operator: 'Exists' };
  const pressure = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };
  const configuration = {
    apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
    kind: 'Configuration',
    default: [a],
    whitelist: [a],
  };
  const conflict = (scope: string) =>
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`;
  const requests = { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] };
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['nothing', {}, {}, undefined],
    ['requests', requests, {}, [pressure]],
    ['defaults of the cluster', {}, { configuration }, [a]],
    [
      'defaults of the namespace',
      { tolerations: [a] },
      { annotations: { [`${prefix}defaultTolerations`]: JSON.stringify([b]) } },
      [b, a],
    ],
    ['the limits of the cluster', { tolerations: [b] }, { configuration }, conflict('cluster')],
    [
      'the limits of the namespace',
      { tolerations: [b] },
      { annotations: { [`${prefix}tolerationsWhitelist`]: JSON.stringify([a]) } },
      conflict('namespace'),
    ],
    [
      'a namespace without limits',
      { tolerations: [b] },
      { configuration: { ...configuration, default: [] }, annotations: { [`${prefix}tolerationsWhitelist`]: '[]' } },
      [b],
    ],
    [
      'a broken annotation',
      {},
      { annotations: { [`${prefix}defaultTolerations`]: '{' } },
      `annotation ${prefix}defaultTolerations of the namespace is not a list of tolerations`,
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`follows ${what}`, async () => {
      const result = await specAfter('PodTolerationRestriction', spec, world);
      const given = typeof result === 'string' ? result : result.tolerations;
      const sort = (value: unknown) =>
        Array.isArray(value) ? value.map((each) => JSON.stringify(each)).sort() : value;
      assert.deepEqual(sort(given), sort(expected));
    });
  }
  it('checks its configuration', () => {
    assert.throws(
      () => podPlugin('PodTolerationRestriction', { configuration: { ...configuration, kind: 'X', more: 1 } }),
      /unknown field.*\n?.*kind/s,
    );
    assert.throws(
      () => podPlugin('PodTolerationRestriction', { configuration: { ...configuration, default: 7 } }),
      OptionsError,
    );
  });
});
