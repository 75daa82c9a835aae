import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { AgentNode } from './agent-node.js';
import { eventually } from './test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';
const mirror = 'kubernetes.io/config.mirror';

/** Cases about pods that files describe. */
export function staticPodCases(node: () => AgentNode): void {
  it('runs pods of files, shows them in the API, and ends them with their files', async () => {
    const { admin, untilPod, containerd, manifests, nodeName, shell } = node();
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'static' },
      spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', ...shell('sleep 1000') }] },
    };
    await fs.writeFile(
      join(manifests, 'broken.yaml'),
      'kind: Pod\napiVersion: v1\nmetadata: {name: x}\nspec: {container: []}\n',
    );
    await fs.writeFile(join(manifests, 'static.json'), JSON.stringify(pod));
    const name = `static-${nodeName}`;
    const { metadata } = await untilPod(name, 'the mirror shows the running pod', (seen) => seen.phase === 'Running');
    assert.equal(metadata.annotations['kubernetes.io/config.source'], 'file');
    assert.equal(metadata.annotations[mirror], metadata.annotations['kubernetes.io/config.hash']);
    await admin.delete(`${pods}/${name}`);
    await eventually(async () => {
      const { body } = await admin.get(`${pods}/${name}`);
      return body.metadata?.uid !== metadata.uid && body.status?.phase === 'Running';
    }, 'the mirror is back');
    await fs.rm(join(manifests, 'static.json'));
    await eventually(async () => (await admin.get(`${pods}/${name}`)).status === 404, 'the mirror is gone');
    await eventually(
      async () => !(await containerd.runningPods().catch(() => [name])).includes(name),
      'its containers are gone',
    );
  });
}
