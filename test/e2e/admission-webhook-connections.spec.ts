import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { freePort } from '../support/ports.js';
import { patchAnswer, type WebhookServer } from '../support/webhook-server.js';
import type { ApiClient } from './support/api-client.js';
import { eventually, type TestCluster } from './support/test-cluster.js';
import { WebhookScene } from './support/webhook-scene.js';

const { group, ok, configMap } = WebhookScene;
let scene: WebhookScene;
let hooks: WebhookServer;
let cluster: TestCluster;
let first: ApiClient;
let second: ApiClient;

const maps = '/api/v1/namespaces/connected/configmaps';

before(async () => {
  scene = await WebhookScene.start('connected');
  ({ hooks, cluster, first, second } = scene);
});

after(() => scene?.stop());

const metricsOf = async (client: ApiClient, name: string) =>
  (await client.get('/metrics')).text.split('\n').filter((line) => line.startsWith(name));

describe('a webhook that does not answer as it should', () => {
  const faults: [string, Parameters<WebhookServer['on']>[1], RegExp][] = [
    ['cut', () => 'cut', /Post "https:\/\/127\.0\.0\.1:\d+\/cut\?timeout=10s": EOF$/],
    ['garbage', () => ({ http: 200, text: '<html>' }), /the answer is not JSON$/],
    ['empty', () => ({ http: 200, text: '' }), /0-length response with status code: 200 and content type: app/],
    ['error', () => ({ http: 500, text: 'x' }), /an error on the server \("unknown"\) has prevented the request/],
    ['odd', () => ({ http: 700, text: 'x' }), /an error on the server \("unknown"\) has prevented the request/],
    ['absent', () => ({ http: 404, text: 'x' }), /the server could not find the requested resource$/],
    [
      'redirect',
      // It looks like another server.
      () => ({ http: 307, text: '', headers: { location: hooks.url('/allow').replace('127.0.0.1', 'localhost') } }),
      /the server responded with the status code 307 but did not return more information$/,
    ],
    [
      'moved',
      // The target is read, as browsers do; a hook has nothing to read.
      () => ({ http: 302, text: '', headers: { location: '/nothing-to-read' } }),
      /the server could not find the requested resource$/,
    ],
    [
      'endless',
      () => ({ http: 308, text: '', headers: { location: '/endless' } }),
      /responded with the status code 308 but/,
    ],
    ['uid', () => ({ uid: 'other', allowed: true }), /expected response\.uid="[0-9a-f-]{36}", got "other"$/],
    ['type', () => ({ ...patchAnswer([]), patchType: 'MergePatch' }), /unsupported patch type "MergePatch"$/],
    ['huge', () => ({ allowed: true, warnings: ['x'.repeat(10 << 20)] }), /the answer has more than \d+ bytes$/],
  ];

  it('fails the request, or is ignored if its policy says so', async () => {
    const names = faults.map(([name]) => name);
    for (const [name, behaviour] of faults) hooks.on(`/${name}`, behaviour);
    hooks.on('/allow', () => ({ allowed: true }));
    await scene.configure('mutating', [
      ...names.map((name) => scene.webhook(name)),
      ...names.map((name) =>
        scene.webhook(`${name}-ignored`, {
          clientConfig: { url: hooks.url(`/${name}`), caBundle: hooks.caBundle },
          failurePolicy: 'Ignore',
        }),
      ),
    ]);
    for (const [name, , expected] of faults) {
      const answer = await scene.create(name);
      assert.equal(answer.status, 500, name);
      const prefix = `Internal error occurred: failed calling webhook "${name}.hooks.test": `;
      assert.ok(answer.body.message.startsWith(prefix), answer.body.message);
      assert.match(answer.body.message, expected);
      await ok(scene.create(`${name}-ignored`));
    }
    assert.equal(hooks.seen('/allow').length, 0);
    const failedOpen = await metricsOf(second, 'apiserver_admission_webhook_fail_open_count');
    const named = failedOpen.filter((line) => names.some((name) => line.includes(`name="${name}-ignored.hooks.test"`)));
    assert.equal(named.length, names.length);
    const rejected = (await metricsOf(second, 'apiserver_admission_webhook_rejection_count')).join('\n');
    assert.match(rejected, /name="odd.hooks.test",.*error_type="calling_webhook_error",rejection_code="600"/);
    assert.match((await metricsOf(second, 'apiserver_admission_webhook_admission_duration_seconds')).join(), /huge/);
  });

  it('sends to another path of its own', async () => {
    hooks.on('/tidy', () => ({ http: 307, text: '', headers: { location: '/tidied' } }));
    hooks.on('/tidied', () => ({ allowed: false, status: { message: 'seen' } }));
    await scene.configure('validating', [scene.webhook('tidy')]);
    const answer = await scene.create('tidy');
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.message, /denied the request: seen$/);
    assert.equal(hooks.seen('/tidied').length, 1);
  });

  it('is slow, dead, or unknown to the authorities', async () => {
    const released = Promise.withResolvers<void>();
    hooks.on('/slow', () => released.promise.then(() => ({ allowed: true })));
    hooks.on('/stranger', () => ({ allowed: true }));
    const url = `https://127.0.0.1:${await freePort()}/x`;
    await scene.configure('validating', [
      scene.webhook('slow', { timeoutSeconds: 1 }),
      scene.webhook('dead', { clientConfig: { url, caBundle: hooks.caBundle } }),
      scene.webhook('stranger', { clientConfig: { url: hooks.url('/stranger') } }),
      scene.webhook('metadata', { clientConfig: { url: 'https://169.254.169.254/latest', caBundle: hooks.caBundle } }),
      scene.webhook('mapped', { clientConfig: { url: 'https://[::ffff:169.254.169.254]/', caBundle: hooks.caBundle } }),
    ]);
    const began = performance.now();
    const slow = scene.create('slow');
    // The webhook delays only requests that call it, and these only up to its time limit; other webhooks may take ten
    // seconds.
    await ok(first.post(maps, { metadata: { name: 'not-slow' } }));
    assert.match((await slow).body.message, /\/slow\?timeout=1s": context deadline exceeded$/);
    assert.ok(performance.now() - began < 10_000);
    released.resolve();
    assert.match((await scene.create('dead')).body.message, /dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/);
    assert.match((await scene.create('stranger')).body.message, /x509: certificate signed by unknown authority$/);
    assert.match((await scene.create('metadata')).body.message, /connections to 169\.254\.169\.254 are not allowed$/);
    assert.match((await scene.create('mapped')).body.message, /connections to .*a9fe:a9fe are not allowed$/);
  });
});

describe('connections to webhooks', () => {
  it('are kept, and closed when the hook goes', async () => {
    hooks.on('/kept', () => ({ allowed: true }));
    const configuration = await scene.configure('validating', [scene.webhook('kept')]);
    await ok(scene.create('kept', 'kept-0'));
    const before = hooks.connections;
    for (let i = 1; i <= 5; i++) await ok(scene.create('kept', `kept-${i}`));
    assert.equal(hooks.connections, before);
    const open = hooks.open;
    await ok(first.delete(`${group}/v1/validatingwebhookconfigurations/${configuration}`));
    await eventually(async () => {
      // A write makes the server read its webhooks.
      await second.post(`${maps}?dryRun=All`, { metadata: { name: 'x' } });
      return hooks.open < open;
    }, 'connections are closed');
  });

  it('go to a ready endpoint of a service, and expect its name in the certificate', async () => {
    await ok(first.post('/api/v1/namespaces', { metadata: { name: 'services' } }));
    const ports = [{ name: 'https', port: 443 }];
    const services = '/api/v1/namespaces/services/services';
    for (const name of ['hook', 'wrong']) {
      await ok(first.post(services, { metadata: { name }, spec: { ports } }));
      const slice = {
        metadata: { name, labels: { 'example.dev/service-name': name } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: false } }, { addresses: ['10.20.30.40'] }],
        ports: [{ name: 'https', port: hooks.port }],
      };
      const slices = '/apis/discovery.example.dev/v1/namespaces/services/endpointslices';
      await ok(first.post(slices, slice));
    }
    hooks.on('/service', () => ({ allowed: false, status: { code: 409 } }));
    const clientConfig = (name: string) => ({
      service: { namespace: 'services', name, path: '/service' },
      caBundle: hooks.caBundle,
    });
    // Endpoints can't be at loopback addresses, so a flag gives the server the address of the service.
    const server = await cluster.addServer(undefined, [
      `--admission-webhook-service-addresses=services/hook=127.0.0.1:${hooks.port},services/wrong=127.0.0.1:${hooks.port}`,
    ]);
    await scene.configure('validating', [
      scene.webhook('service', { clientConfig: clientConfig('hook'), timeoutSeconds: 1 }),
      scene.webhook('service-wrong', { clientConfig: clientConfig('wrong') }),
      scene.webhook('service-absent', { clientConfig: clientConfig('absent') }),
    ]);
    await eventually(
      async () => (await server.client.post(maps, configMap('s', 'service'))).status === 409,
      'the hook is in force at the third server',
    );
    const wrong = await server.client.post(maps, configMap('s', 'service-wrong'));
    assert.match(wrong.body.message, /wrong\.services\.svc:443\/service.*wrong\.services\.svc/);
    const absent = await scene.create('service-absent');
    assert.match(
      absent.body.message,
      /Post "https:\/\/absent\.services\.svc:443\/service\?timeout=10s": service "absent" not found$/,
    );
    // The other requests have found an endpoint, at which no server listens.
    assert.match((await scene.create('service')).body.message, /context deadline exceeded|connect/);
    await server.stop();
    cluster.servers.splice(cluster.servers.indexOf(server), 1);
  });

  it('that lead back to the server end', async () => {
    let depth = 0;
    let pending = 0;
    // Each review creates another object, which needs another review.
    hooks.on('/circle', async () => {
      const name = `circle-${++depth}`;
      pending++;
      const answer = await first.post(maps, configMap(name, 'circle'));
      pending--;
      return { allowed: answer.status < 300 };
    });
    const self = `${cluster.first.url}${maps}`;
    const configuration = await scene.configure('validating', [
      scene.webhook('circle', { timeoutSeconds: 2 }),
      scene.webhook('self', {
        clientConfig: { url: self, caBundle: Buffer.from(cluster.pki.authority).toString('base64') },
      }),
    ]);
    assert.match(
      (await scene.create('self')).body.message,
      /^Internal error occurred: failed calling webhook "self.hooks.test"/,
    );
    const began = performance.now();
    assert.ok((await scene.create('circle', 'circle')).status >= 400);
    assert.ok(performance.now() - began < 20_000);
    await ok(first.delete(`${group}/v1/validatingwebhookconfigurations/${configuration}`));
    await eventually(async () => (await scene.create('circle', 'free', first)).status === 201, 'the server goes on');
    await eventually(() => pending === 0, 'all requests of the circle have ended');
    assert.equal((await first.get(`${maps}/circle`)).status, 404);
  });
});

it('configurations are in force everywhere within a second', () => scene.assertQuick());
