import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AgentScene } from './agent-scene.js';
import type { WatchEvent } from './api-client.js';

/** Cases about pods whose end somebody else than their node agent decides. */
export function endCases(scene: () => AgentScene): void {
  it('ends a pod that has failed according to the API, and never lets it come back', async () => {
    const { admin, create, untilPod, shell } = scene();
    const path = '/api/v1/namespaces/default/pods/failed-by-others';
    await create('failed-by-others', {
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', ...shell('sleep 1000') }],
    });
    const { status: before } = await untilPod('failed-by-others', 'the pod runs', ({ phase }) => phase === 'Running');
    const { metadata } = (await admin.get(path)).body;
    const query = `watch=true&fieldSelector=metadata.name%3Dfailed-by-others&resourceVersion=${metadata.resourceVersion}`;
    const watch = await admin.watch(`/api/v1/namespaces/default/pods?${query}`);
    const answer = await admin.patch(`${path}/status`, 'merge', { status: { phase: 'Failed' } });
    assert.equal(answer.status, 200, answer.text);
    const { status } = await untilPod(
      'failed-by-others',
      'its container has ended',
      ({ containerStatuses: [main] }) => main.state.terminated !== undefined,
    );
    assert.equal(status.containerStatuses[0].containerID, before.containerStatuses[0].containerID);
    assert.equal(status.phase, 'Failed');
    await admin.delete(`${path}?gracePeriodSeconds=0`);
    const phases: string[] = [];
    for (let type = ''; type !== 'DELETED'; ) {
      const [event] = (await watch.take(1)) as [WatchEvent];
      type = event.type;
      phases.push(event.object.status.phase);
    }
    watch.close();
    // The agent may have reported something else of the running pod before.
    const since = phases.slice(phases.indexOf('Failed'));
    assert.deepEqual([...new Set(since)], ['Failed']);
  });
}
