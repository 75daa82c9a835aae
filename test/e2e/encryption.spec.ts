import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { KmsServer } from '../support/kms-server.js';
import { replaceFile } from '../support/replace-file.js';
import { eventually, TestCluster } from './support/test-cluster.js';

const folder = mkdtempSync(join(tmpdir(), 'plinth-encryption-'));
const file = join(folder, 'encryption.yaml');
const kms = new KmsServer();
const key1 = { name: 'key1', secret: randomBytes(32).toString('base64') };
const value = 'super-hidden';
const path = '/api/v1/namespaces/default/secrets';
const secretOf = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, annotations: { copy: `{"data": "${value}"}` } },
  stringData: { password: value },
});

function configure(...providers: object[]): void {
  const resources = [
    { resources: ['secrets'], providers },
    { resources: ['*.*'], providers: [{ aesgcm: { keys: [key1] } }, { identity: {} }] },
  ];
  replaceFile(
    file,
    JSON.stringify({ kind: 'EncryptionConfiguration', apiVersion: 'apiserver.config.k8s.io/v1', resources }),
  );
}

describe('encryption at rest', () => {
  let cluster: TestCluster;
  let database: pg.Client;
  before(async () => {
    await kms.start();
    configure({ aescbc: { keys: [key1] } }, { identity: {} });
    const flags = [
      `--encryption-provider-config=${file}`,
      '--encryption-provider-config-automatic-reload',
      '--compat=kubernetes',
    ];
    cluster = await TestCluster.start({ flags, controllers: true, controllerFlags: flags });
    database = new pg.Client({ connectionString: cluster.databaseUrl });
    await database.connect();
  });
  after(async () => {
    await database?.end();
    await cluster?.stop();
    kms.remove();
    rmSync(folder, { recursive: true });
  });

  async function rows(sql: string): Promise<Record<string, unknown>[]> {
    return (await database.query(sql)).rows;
  }

  async function wayOf(name: string): Promise<string> {
    const [row] = await rows(`select split_part(data::text, ':', 2) || ':' || split_part(data::text, ':', 3) as way
      from plinth.objects where resource = 'secrets' and name = '${name}'`);
    return String(row?.way);
  }

  /** Waits until both servers have loaded this many changes of the file. */
  async function takenIn(times: number): Promise<void> {
    const counted = /apiserver_encryption_config_controller_automatic_reloads_total\{status="success"\} (\d+)/;
    for (const { client } of cluster.servers) {
      await eventually(
        async () => Number(counted.exec((await client.get('/metrics')).text)?.[1]) >= times,
        `change ${times} of the file`,
      );
    }
  }

  it('keeps values from everybody who reads the database, and clients notice nothing', async () => {
    const { first, second } = cluster;
    assert.equal((await first.client.post(path, secretOf('db'))).status, 201);
    const read = (await second.client.get(`${path}/db`)).body;
    assert.equal(Buffer.from(read.data.password, 'base64').toString(), value);
    const listed = (await second.client.get(`${path}?labelSelector=!none`)).body;
    assert.ok(listed.items.some(({ metadata }: { metadata: { name: string } }) => metadata.name === 'db'));
    assert.equal(await wayOf('db'), 'aescbc:key1');
    const encoded = Buffer.from(value).toString('base64');
    const everything = JSON.stringify([
      ...(await rows('select data::text from plinth.objects')),
      ...(await rows('select data::text, previous::text from plinth.changes')),
    ]);
    assert.ok(!everything.includes(value) && !everything.includes(encoded));
    // SQL shows only names and versions.
    const [row] = await rows(`select * from cluster.secrets where name = 'db'`);
    const { namespace, name, uid, resource_version, ...rest } = row as Record<string, unknown>;
    assert.deepEqual(
      [namespace, name, uid, resource_version],
      ['default', 'db', read.metadata.uid, read.metadata.resourceVersion],
    );
    assert.ok(
      Object.values(rest).every((shown) => shown === null),
      JSON.stringify(rest),
    );
    const [namespaces] = await rows('select count(*)::int as count from cluster.namespaces where object is not null');
    assert.ok(Number(namespaces?.count) > 0);
  });

  it('lets loops work on what is encrypted', async () => {
    const { client } = cluster.first;
    await client.post('/api/v1/namespaces', { metadata: { name: 'short' } });
    await client.post('/api/v1/namespaces/short/secrets', secretOf('in-it'));
    assert.equal((await client.delete('/api/v1/namespaces/short')).status, 200);
    await eventually(
      async () => (await client.get('/api/v1/namespaces/short')).status === 404,
      'the namespace is gone',
    );
  });

  it('takes in new keys while it runs, and rewrites what is written again', async () => {
    const { first, second } = cluster;
    const service = { kms: { apiVersion: 'v2', name: 'vault', endpoint: kms.endpoint } };
    // Every process has to know a key before one of them writes with it.
    configure({ aescbc: { keys: [key1] } }, service);
    await takenIn(1);
    configure(service, { aescbc: { keys: [key1] } });
    await takenIn(2);
    const replaced = async (name: string) => {
      const object = (await second.client.get(`${path}/${name}`)).body;
      assert.equal((await second.client.put(`${path}/${name}`, object)).status, 200);
      return await wayOf(name);
    };
    assert.equal(await replaced('db'), 'kms:vault');
    assert.equal(Buffer.from((await first.client.get(`${path}/db`)).body.data.password, 'base64').toString(), value);
    // The second run has nothing to write.
    const { resourceVersion } = (await first.client.get(`${path}/db`)).body.metadata;
    await replaced('db');
    assert.equal((await first.client.get(`${path}/db`)).body.metadata.resourceVersion, resourceVersion);
    assert.match((await second.client.get('/readyz?verbose')).text, /\[\+\]kms-providers ok/);
  });

  it('keeps what it has when the file is unusable', async () => {
    replaceFile(file, 'kind: Nothing');
    const failed = /apiserver_encryption_config_controller_automatic_reloads_total\{status="failure"\} [1-9]/;
    const { client } = cluster.first;
    await eventually(async () => failed.test((await client.get('/metrics')).text), 'the failure');
    assert.equal((await client.post(path, secretOf('later'))).status, 201);
    assert.equal(await wayOf('later'), 'kms:vault');
  });

  it('answers a readable Status for an object that it can not decrypt', async () => {
    await rows(`update plinth.objects set data = '"enc:aescbc:lost:AAAA"' where name = 'later'`);
    const { status, body } = await cluster.first.client.get(`${path}/later`);
    assert.equal(status, 500);
    assert.equal(body.reason, 'InternalError');
    assert.match(body.message, /secrets default\/later can't be decrypted: no provider aescbc:lost is configured/);
    assert.equal((await cluster.first.client.get(`${path}/db`)).status, 200);
  });
});
