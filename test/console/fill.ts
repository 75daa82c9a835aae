import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { TestCluster } from '../e2e/support/test-cluster.js';

const perBatch = 1000;

/**
 * Makes pods `pod-00000` and so on in the namespace `many`: the first through the API, the others as copies of its stored text, as
 * another serving process would write them.
 */
export async function fill(cluster: TestCluster, count: number): Promise<void> {
  const { client } = cluster.first;
  const nameOf = (index: number) => `pod-${String(index).padStart(5, '0')}`;
  const post = async (path: string, body: object) => {
    const { status, text } = await client.post(path, body);
    assert.equal(status, 201, text);
  };
  await post('/api/v1/namespaces', { metadata: { name: 'many' } });
  const spec = { containers: [{ name: 'main', image: 'example.com/app:1' }] };
  await post('/api/v1/namespaces/many/pods', { metadata: { name: nameOf(0), labels: { app: 'many' } }, spec });
  const database = new pg.Client({ connectionString: cluster.databaseUrl });
  await database.connect();
  try {
    const { rows } = await database.query<{ data: string; uid: string }>(
      `select data::text, uid from plinth.objects where resource = 'pods' and namespace = 'many'`,
    );
    const [first] = rows;
    assert.ok(first);
    for (let from = 1; from < count; from += perBatch) {
      const names = Array.from({ length: Math.min(perBatch, count - from) }, (_, index) => nameOf(from + index));
      const uids = names.map(() => randomUUID());
      const texts: readonly string[] = names.map((name, index) =>
        first.data.replaceAll(nameOf(0), name).replaceAll(first.uid, uids[index] ?? ''),
      );
      const { rowCount } = await database.query(
        `select from plinth.write_batch(null, $1, array_fill(0::smallint, array[$2::int]), null,
           array_fill('pods'::text, array[$2]), array_fill('many'::text, array[$2]), $3, $4,
           array_fill(null::bigint, array[$2]), $5, null, null, null, true) w where w.index > 0 and w.version is not null`,
        [from, names.length, names, uids, texts],
      );
      assert.equal(rowCount, names.length);
    }
  } finally {
    await database.end();
  }
}
