import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestWorld } from '../../../../../test/support/admission-parts.js';
import { podPlugin, specAfter } from '../../../../../test/support/pod-plugins.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { parseNodeLabels } from './node-selector-labels.js';

describe('PodNodeSelector', () => {
  const annotation = 'scheduler.alpha.kubernetes.io/node-selector';
  const configuration = {
    podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=prod', n: 'env=dev,disk=ssd' },
  };
  const conflict = 'pod node label selector conflicts with its namespace node label selector';
  const cases: readonly (readonly [string, object, TestWorld, unknown])[] = [
    ['nothing', {}, {}, undefined],
    [
      'the namespace',
      { nodeSelector: { a: 'b' } },
      { annotations: { [annotation]: 'env=test' } },
      { env: 'test', a: 'b' },
    ],
    ['a conflict', { nodeSelector: { env: 'x' } }, { annotations: { [annotation]: 'env=test' } }, conflict],
    [
      'the default of the cluster',
      {},
      { configuration: { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'env=prod' } } },
      { env: 'prod' },
    ],
    [
      'an allowed selector',
      { nodeSelector: { disk: 'ssd' } },
      { configuration, annotations: { [annotation]: 'env=dev' } },
      { env: 'dev', disk: 'ssd' },
    ],
    ['another selector', {}, { configuration }, 'pod node label selector labels conflict with its namespace whitelist'],
    [
      'a broken annotation',
      {},
      { annotations: { [annotation]: 'a' } },
      `annotation ${annotation} of the namespace is invalid`,
    ],
  ];
  for (const [what, spec, world, expected] of cases) {
    it(`follows ${what}`, async () => {
      const result = await specAfter('PodNodeSelector', spec, world);
      assert.deepEqual(typeof result === 'string' ? result : result.nodeSelector, expected);
    });
  }
  it('names everything that is wrong with its configuration', () => {
    const bad = { podNodeSelectorPluginConfig: { a: 'b', c: 7, ok: 'a=b' }, more: 1 };
    assert.throws(
      () => podPlugin('PodNodeSelector', { configuration: bad }),
      (error: OptionsError) => {
        assert.deepEqual(error.problems, [
          'f: more: unknown field',
          'f: podNodeSelectorPluginConfig.a: must be labels as in "a=b,c=d"',
          'f: podNodeSelectorPluginConfig.c: must be labels as in "a=b,c=d"',
        ]);
        return error instanceof OptionsError;
      },
    );
  });
});

it('labels of nodes are read up to a thousand', () => {
  const text = (count: number) => Array.from({ length: count }, (_, i) => `k${i}=v`).join(',');
  assert.equal(Object.keys(parseNodeLabels(text(1000)) ?? {}).length, 1000);
  assert.equal(parseNodeLabels(text(1001)), undefined);
});
