import assert from 'node:assert/strict';
import type { TestCluster } from '../e2e/support/test-cluster.js';

const parallel = 16;

/** Makes pods `pod-00000` and so on in the namespace `many`. */
export async function fill(cluster: TestCluster, count: number): Promise<void> {
  const { client } = cluster.first;
  const post = async (path: string, body: object) => {
    const { status, text } = await client.post(path, body);
    assert.equal(status, 201, text);
  };
  await post('/api/v1/namespaces', { metadata: { name: 'many' } });
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) {
      const name = `pod-${String(index).padStart(5, '0')}`;
      const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] };
      await post('/api/v1/namespaces/many/pods', { metadata: { name, labels: { app: 'many' } }, spec });
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
}
