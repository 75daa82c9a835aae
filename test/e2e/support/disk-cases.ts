import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentNode } from './agent-node.js';

/** Cases about pods that need more of the disk than they may. */
export function diskCases(node: () => AgentNode): void {
  it('ends pods that use more of the disk than they may, and says so', async () => {
    const { create, untilPod, shell } = node();
    await create('full', {
      containers: [
        {
          name: 'main',
          ...shell('dd if=/dev/zero of=/v/file bs=1024 count=3000; sleep 1000'),
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
      volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Mi' } }],
    });
    await create('greedy', {
      containers: [
        {
          name: 'main',
          ...shell('dd if=/dev/zero of=/file bs=1024 count=3000; sleep 1000'),
          resources: { limits: { 'ephemeral-storage': '1Mi' } },
        },
      ],
    });
    const { status } = await untilPod('full', 'the pod has failed', (seen) => seen.phase === 'Failed');
    assert.deepEqual(
      [status.reason, status.message],
      ['Evicted', 'Usage of EmptyDir volume "v" exceeds the limit "1Mi". '],
    );
    const { reason } = status.conditions.find(({ type }: { type: string }) => type === 'DisruptionTarget');
    assert.equal(reason, 'TerminationByKubelet');
    const greedy = await untilPod('greedy', 'the other pod has failed, too', (seen) => seen.phase === 'Failed');
    assert.deepEqual(
      [greedy.status.reason, greedy.status.message],
      ['Evicted', 'Container main exceeded its local ephemeral storage limit "1Mi". '],
    );
  });
}
