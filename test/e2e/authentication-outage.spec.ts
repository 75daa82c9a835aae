import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

// A path that is answered from memory for every user with the right, so that only authentication needs the database.
const path = '/version';
const secrets = '/api/v1/namespaces/control-system/secrets';
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const rememberedMs = 10_000;

describe('authentication while the database is away', () => {
  let cluster: TestCluster;
  let server: TestServer;
  let account: string;
  const bootstrap = 'abcdef.0123456789abcdef';

  const ask = (token: string) => server.client.get(path, { token });

  before(async () => {
    cluster = await TestCluster.start({ servers: 0, fsync: true });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keyFile = join(cluster.directory, 'sa.key');
    writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    server = await cluster.addServer(undefined, [
      `--service-account-signing-key-file=${keyFile}`,
      '--enable-bootstrap-token-auth',
    ]);
    const { client } = server;
    assert.equal((await client.post(accounts, { metadata: { name: 'robot' } })).status, 201);
    account = (await client.post(`${accounts}/robot/token`, { spec: {} })).body.status.token;
    const made = await client.post(secrets, {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.k8s.io/token',
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-authentication': 'true',
      },
    });
    assert.equal(made.status, 201);
  });
  after(() => cluster?.stop());

  it('fails with an error instead of a refusal, and goes on for credentials that need no database', async () => {
    assert.equal((await ask(account)).status, 200);
    const lastUse = performance.now();
    await cluster.postgres.shutDown('immediate');
    // A token that was accepted a moment ago and is not known to have changed; never for longer.
    let lastRemembered = lastUse;
    await eventually(async () => {
      const began = performance.now();
      if ((await ask(account)).status === 503) return true;
      lastRemembered = began;
      return false;
    }, 'the end of what is remembered');
    assert.ok(lastRemembered - lastUse < rememberedMs, `${lastRemembered - lastUse} ms`);
    for (const token of [account, bootstrap]) {
      const { status, body, headers } = await ask(token);
      assert.equal(status, 503, body?.message);
      assert.equal(body.kind, 'Status');
      assert.equal(body.reason, 'ServiceUnavailable');
      assert.equal(body.message, 'the bearer token cannot be checked right now');
      assert.equal(headers['retry-after'], '1');
    }
    assert.equal((await ask(tokens.admin)).status, 200);
    assert.equal((await ask('nobody-knows-this')).status, 401);
    const certificate = cluster.clientFor(server, cluster.adminCertificate);
    assert.equal((await certificate.get(path)).status, 200);
    certificate.close();
  });

  it('says so once in the log, not for each request', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(account)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([503]));
    // One line for each of the two methods that failed.
    assert.equal(server.log.match(/bearer tokens cannot be checked/g)?.length, 2);
    assert.ok(!server.log.includes(account.split('.')[2] as string));
    assert.ok(!server.log.includes('0123456789abcdef'));
  });

  it('knows everybody again when the database is back', async () => {
    await cluster.postgres.startAgain();
    await eventually(async () => (await ask(account)).status === 200, 'the account', 30_000);
    await eventually(async () => (await ask(bootstrap)).status === 200, 'the bootstrap token', 30_000);
    await eventually(() => server.log.match(/bearer tokens can be checked again/g)?.length === 2, 'a word in the log');
    assert.equal((await server.client.delete(`${accounts}/robot`)).status, 200);
    await eventually(async () => (await ask(account)).status === 401, 'the end of the account', 60_000);
  });
});
