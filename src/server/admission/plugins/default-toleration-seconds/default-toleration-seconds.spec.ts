import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podOf, specAfter } from '../../../../../test/support/pod-plugins.js';

const notReady = {
  key: 'node.kubernetes.io/not-ready',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
};
const unreachable = { ...notReady, key: 'node.kubernetes.io/unreachable', tolerationSeconds: 200 };

describe('DefaultTolerationSeconds', () => {
  const cases: readonly (readonly [tolerations: object[] | undefined, added: object[]])[] = [
    [undefined, [notReady, unreachable]],
    [[{ key: 'a' }], [notReady, unreachable]],
    [[{ ...notReady, tolerationSeconds: 5 }], [unreachable]],
    [[{ key: unreachable.key, effect: 'NoSchedule' }], [notReady, unreachable]],
    [[{ key: unreachable.key }], [notReady]],
    [[{ operator: 'Exists' }], []],
  ];
  for (const [tolerations, added] of cases) {
    it(`completes ${JSON.stringify(tolerations)}`, async () => {
      const spec = tolerations === undefined ? {} : { tolerations };
      assert.deepEqual((await specAfter('DefaultTolerationSeconds', spec)).tolerations, [
        ...(tolerations ?? []),
        ...added,
      ]);
    });
  }
  it('leaves the status of pods alone', async () => {
    const request = { subresource: 'status', oldObject: podOf() };
    assert.equal((await specAfter('DefaultTolerationSeconds', {}, {}, request)).tolerations, undefined);
  });
});
