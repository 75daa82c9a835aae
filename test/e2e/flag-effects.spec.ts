import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { vendorNames } from '../../src/base/machinery/vendor.js';
import { signSecretToken } from '../../src/server/authentication/service-account/secret-token.js';
import { readSigningKey } from '../../src/server/authentication/service-account/token-issuer.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { freePort } from '../support/ports.js';
import { ReviewWebhook } from '../support/review-webhook.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const names = vendorNames('k8s.io');
const accounts = '/api/v1/namespaces/default/serviceaccounts';
const secrets = '/api/v1/namespaces/default/secrets';
const events = '/api/v1/namespaces/default/events';

// The visible effects of flags of authentication, authorization, events and leases, compared with a server without
// them.

let cluster: TestCluster;
let usual: TestServer;
let changed: TestServer;
let provider: IdentityProvider;
let webhook: ReviewWebhook;
let keyFile: string;

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  const file = (name: string, text: string) => {
    writeFileSync(join(cluster.directory, name), text, { mode: 0o600 });
    return join(cluster.directory, name);
  };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  keyFile = file('sa.key', String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  provider = await IdentityProvider.prepare(await freePort());
  await provider.listen();
  webhook = await ReviewWebhook.start();
  const common = [
    `--service-account-signing-key-file=${keyFile}`,
    `--oidc-issuer-url=${provider.issuer}`,
    '--oidc-client-id=plinth',
    `--oidc-ca-file=${file('provider-ca.pem', provider.ca)}`,
    '--authorization-mode=RBAC,Webhook',
    `--authorization-webhook-config-file=${file('webhook.yaml', webhook.config({}))}`,
    '--authorization-webhook-version=v1',
  ];
  webhook.answer = () => ({
    body: { kind: 'SubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', status: { allowed: false } },
  });
  [usual, changed] = await Promise.all([
    cluster.addServer(undefined, common),
    cluster.addServer(undefined, [
      ...common,
      '--service-account-lookup=false',
      '--oidc-username-prefix=people:',
      '--api-audiences=here,there',
      '--authorization-webhook-cache-unauthorized-ttl=0s',
      '--identity-lease-renew-interval-seconds=1',
    ]),
  ]);
  cluster.startControllers(['--event-ttl=10m', '--lease-reuse-duration-seconds=1']);
});
after(async () => {
  await cluster?.stop();
  await webhook?.stop();
  await provider?.close();
});

/** The user as a server sees it, or the code of the refusal. */
async function whoIs(server: TestServer, token: string): Promise<string> {
  const { status, body } = await server.client.get('/api/v1/namespaces/none/configmaps', { token });
  return status === 403 ? (/User "(.*?)" cannot/.exec(body.message)?.[1] ?? body.message) : String(status);
}

async function account(name: string): Promise<string> {
  const made = await usual.client.post(accounts, { metadata: { name } });
  assert.equal(made.status, 201, made.text);
  return made.body.metadata.uid;
}

describe('flags that change what servers do', () => {
  it('--service-account-lookup=false takes the token of a secret that is gone', async () => {
    const accountUid = await account('classic');
    const claims = { namespace: 'default', secretName: 'classic-token', accountName: 'classic', accountUid };
    const token = await signSecretToken(claims, readSigningKey(keyFile), names);
    assert.equal((await usual.client.get(`${secrets}/classic-token`)).status, 404);
    assert.equal(await whoIs(usual, token), '401');
    assert.equal(await whoIs(changed, token), 'system:serviceaccount:default:classic');
  });

  it('--oidc-username-prefix stands before the names of users', async () => {
    const token = await provider.issue({ sub: 'jane' });
    await eventually(async () => (await whoIs(usual, token)) === `${provider.issuer}#jane`, 'the usual prefix');
    await eventually(async () => (await whoIs(changed, token)) === 'people:jane', 'the prefix of the flag');
  });

  it('--api-audiences are those of new tokens, and of the tokens that are taken', async () => {
    await account('listener');
    const request = async (server: TestServer, spec: object) => {
      const made = await server.client.post(`${accounts}/listener/token`, { spec });
      assert.equal(made.status, 201, made.text);
      return made.body;
    };
    const own = await request(changed, {});
    assert.deepEqual(own.spec.audiences, ['here', 'there']);
    const there = await request(usual, { audiences: ['there'] });
    const elsewhere = await request(usual, { audiences: ['elsewhere'] });
    const user = 'system:serviceaccount:default:listener';
    for (const [{ status }, byUsual, byChanged] of [
      [own, '401', user],
      [there, '401', user],
      [elsewhere, '401', '401'],
      [await request(usual, {}), user, '401'],
    ] as const) {
      assert.equal(await whoIs(usual, status.token), byUsual);
      assert.equal(await whoIs(changed, status.token), byChanged);
    }
  });

  it('--authorization-webhook-cache-unauthorized-ttl=0s asks again after every refusal', async () => {
    const asked = () =>
      webhook.received.filter(({ body }) => body.spec.resourceAttributes?.namespace === 'refused').length;
    for (let request = 1; request <= 3; request++) {
      const { status } = await changed.client.get('/api/v1/namespaces/refused/pods', { token: tokens.alice });
      assert.deepEqual([status, asked()], [403, request]);
    }
  });

  it('--identity-lease-renew-interval-seconds is the time between renewals', async () => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${names.systemNamespace}/leases`;
    const { body } = await usual.client.get(leases);
    const watch = await usual.client.watch(`${leases}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
    const renewed = new Map<string, number>();
    // The other server renews its lease every ten seconds.
    for (;;) {
      const event = await watch.next(60_000);
      assert.ok(event !== undefined, 'the watch goes on');
      const { name } = event.object.metadata;
      const at = Date.parse(event.object.spec?.renewTime ?? '');
      const before = renewed.get(name);
      renewed.set(name, at);
      if (before !== undefined && name.startsWith('apiserver-') && at - before < 9000) break;
    }
    watch.close();
  });
});

describe('flags that change how long events stay', () => {
  it('--event-ttl ends them, and --lease-reuse-duration-seconds says how soon they are looked for', async () => {
    const client = new pg.Client({ connectionString: cluster.databaseUrl });
    await client.connect();
    try {
      // By default events stay for an hour, and the check runs every 30 to 60 seconds.
      for (const name of ['first', 'second', 'third']) {
        const metadata = { name, namespace: 'default' };
        const made = await usual.client.post(events, {
          metadata,
          involvedObject: { namespace: 'default' },
          reason: 'R',
        });
        assert.equal(made.status, 201, made.text);
        await client.query(
          `insert into plinth.version_times (at, version)
           select now() - interval '11 minutes', head from plinth.log_bounds()`,
        );
        const isGone = async () => (await usual.client.get(`${events}/${name}`)).status === 404;
        await eventually(isGone, `the event ${name} ends`, name === 'first' ? 60_000 : 29_000);
      }
    } finally {
      await client.end();
    }
  });
});
