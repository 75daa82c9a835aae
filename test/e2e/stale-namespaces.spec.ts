import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import pg from 'pg';
import { TestCluster } from './support/test-cluster.js';

let cluster: TestCluster;
before(async () => {
  cluster = await TestCluster.start({ servers: 1 });
});
after(() => cluster.stop());

/** Changes the row of a namespace without an entry in the log, so no server learns of it. */
async function behindTheBack(sql: string, name: string): Promise<void> {
  const database = new pg.Client({ connectionString: cluster.databaseUrl });
  await database.connect();
  try {
    const { rowCount } = await database.query(`${sql} where resource = 'namespaces' and name = $1`, [name]);
    assert.equal(rowCount, 1);
  } finally {
    await database.end();
  }
}

it('a server that does not know yet that a namespace ends makes no objects in it', async () => {
  const { client } = cluster.first;
  const attempts = async (namespace: string): Promise<[number, string][]> => {
    const core = `/api/v1/namespaces/${namespace}`;
    const lease = { metadata: { name: 'l' }, spec: {} };
    const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } };
    const answers = [
      await client.post(`${core}/configmaps`, { metadata: { name: 'posted' } }),
      await client.post(`${core}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }),
      await client.put(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/l`, lease),
      await client.send('PATCH', `${core}/configmaps/applied?fieldManager=m`, {
        body: applied,
        contentType: 'application/apply-patch+yaml',
      }),
    ];
    return answers.map(({ status, body }) => [status, body.message]);
  };
  for (const name of ['gone', 'ending']) {
    assert.equal((await client.post('/api/v1/namespaces', { metadata: { name } })).status, 201);
  }
  const addresses = (await client.get('/apis/networking.k8s.io/v1/ipaddresses')).body.items.length;

  await behindTheBack('delete from plinth.objects', 'gone');
  for (const answer of await attempts('gone')) assert.deepEqual(answer, [404, 'namespaces "gone" not found']);

  const mark = `jsonb_set(data::jsonb, '{metadata,deletionTimestamp}', '"2030-01-01T00:00:00Z"')::json`;
  await behindTheBack(`update plinth.objects set data = ${mark}`, 'ending');
  for (const [status, message] of await attempts('ending')) {
    assert.equal(status, 403);
    assert.match(
      message,
      /is forbidden: unable to create new content in namespace ending because it is being terminated/,
    );
  }
  const left = (await client.get('/apis/networking.k8s.io/v1/ipaddresses')).body.items.length;
  assert.equal(left, addresses, 'the address of a refused service is free again');
});
