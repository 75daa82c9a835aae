import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HookServer, patchAnswer } from '../support/hook-server.js';
import { freePort } from '../support/ports.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { questionsUntil } from './support/questions.js';
import { eventually, TestCluster } from './support/test-cluster.js';

let hooks: HookServer;
let cluster: TestCluster;
let first: ApiClient;
let second: ApiClient;

const group = '/apis/admissionregistration.example.dev';
const maps = '/api/v1/namespaces/hooked/configmaps';

before(async () => {
  hooks = await HookServer.start(['hook.services.svc']);
  cluster = await TestCluster.start({ flags: ['--vendor=example.dev'] });
  first = cluster.first.client;
  second = cluster.second.client;
  await ok(first.post('/api/v1/namespaces', { metadata: { name: 'hooked', labels: { team: 'red' } } }));
  await ok(first.post('/api/v1/namespaces', { metadata: { name: 'other' } }));
});

after(async () => {
  await cluster?.stop();
  await hooks?.stop();
});

async function ok(sent: Promise<ApiResponse>): Promise<ApiResponse> {
  const answer = await sent;
  assert.ok(answer.status < 300, `${answer.status} ${answer.text}`);
  return answer;
}

type Fields = Readonly<Record<string, unknown>>;
type Kind = 'mutating' | 'validating';

const rule = (fields: Fields = {}) => ({
  operations: ['*'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
  ...fields,
});

/** A webhook whose path on the server is its own name; objects choose it by the label `hook`. */
function webhook(name: string, fields: Fields = {}): Fields {
  return {
    name: `${name}.hooks.test`,
    clientConfig: { url: hooks.url(`/${name}`), caBundle: hooks.caBundle },
    rules: [rule()],
    objectSelector: { matchLabels: { hook: name } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1', 'v1beta1'],
    timeoutSeconds: 10,
    ...fields,
  };
}

let configurations = 0;

/**
 * Stores a configuration through the first server and waits until both have it in force, as a further hook shows that
 * refuses its own label.
 */
async function configure(kind: Kind, webhooks: readonly Fields[], name?: string): Promise<string> {
  const configuration = name ?? `c-${++configurations}`;
  const probe = `probe-${configuration}`;
  hooks.on(`/${probe}`, () => ({ allowed: false, status: { code: 418 } }));
  const path = `${group}/v1/${kind}webhookconfigurations`;
  await ok(first.post(path, { metadata: { name: configuration }, webhooks: [...webhooks, webhook(probe)] }));
  for (const client of [first, second]) {
    const isInForce = async () => {
      const body = { metadata: { name: 'probe', labels: { hook: probe } } };
      return (await client.post(`${maps}?dryRun=All`, body)).status === 418;
    };
    questions.push(await questionsUntil(isInForce, `${configuration} is in force`, pauseMs));
  }
  return configuration;
}
const pauseMs = 30;
/** How often servers were asked until a configuration was in force. */
const questions: number[] = [];

const configMap = (name: string, hook: string, more: Fields = {}) => ({
  metadata: { name, labels: { hook } },
  ...more,
});
const create = (hook: string, name = hook, client = second) => client.post(maps, configMap(name, hook));
const metricsOf = async (client: ApiClient, name: string) =>
  (await client.get('/metrics')).text.split('\n').filter((line) => line.startsWith(name));

describe('a mutating webhook', () => {
  it('changes objects, each hook after those before it, and is asked again if needed', async () => {
    const append = (name: string, more: Fields = {}) => {
      hooks.on(`/${name}`, ({ review }) => {
        const { annotations } = review.request.object.metadata;
        const order = [annotations?.order, name].filter(Boolean).join();
        return patchAnswer([{ op: 'add', path: '/metadata/annotations', value: { order } }]);
      });
      return webhook(name, { objectSelector: { matchLabels: { hook: 'order' } }, ...more });
    };
    const last = [append('one', { reinvocationPolicy: 'IfNeeded' }), append('two'), append('three')];
    await configure('mutating', [...last], 'order-b');
    await configure('mutating', [append('zero')], 'order-a');
    const { body } = await ok(create('order'));
    assert.equal(body.metadata.annotations.order, 'zero,one,two,three,one');
    // The client owns what it sent.
    assert.doesNotMatch(JSON.stringify(body.metadata.managedFields), /order/);
    const stored = await ok(first.get(`${maps}/order`));
    assert.deepEqual(stored.body.metadata.annotations, body.metadata.annotations);
  });

  it('gets everything about the request, in the version that it understands', async () => {
    hooks.on('/facts', () => ({ allowed: true }));
    hooks.on('/facts-old', () => ({ allowed: true }));
    await configure('mutating', [
      webhook('facts'),
      webhook('facts-old', {
        admissionReviewVersions: ['v1beta1'],
        objectSelector: { matchLabels: { hook: 'facts' } },
      }),
    ]);
    const headers = { 'impersonate-user': 'carol', 'impersonate-group': 'ops', 'impersonate-extra-scope': 'one' };
    await ok(
      first.post(`${maps}?fieldManager=m&dryRun=All`, configMap('f', 'facts', { data: { a: '1' } }), { headers }),
    );
    const { request, ...review } = hooks.seen('/facts').at(-1)?.review ?? {};
    assert.deepEqual(review, { kind: 'AdmissionReview', apiVersion: 'admission.example.dev/v1' });
    const { uid, object, ...facts } = request;
    assert.match(uid, /^[0-9a-f-]{36}$/);
    assert.deepEqual(object.data, { a: '1' });
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
    const resource = { group: '', version: 'v1', resource: 'configmaps' };
    assert.deepEqual(facts, {
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: 'f',
      namespace: 'hooked',
      operation: 'CREATE',
      userInfo: { username: 'carol', groups: ['ops', 'system:authenticated'], extra: { scope: ['one'] } },
      oldObject: null,
      dryRun: true,
      options: { kind: 'CreateOptions', apiVersion: 'meta.example.dev/v1', fieldManager: 'm', dryRun: ['All'] },
    });
    assert.equal(hooks.seen('/facts').at(-1)?.query, '?timeout=10s');
    assert.equal(hooks.seen('/facts-old').at(-1)?.review.apiVersion, 'admission.example.dev/v1beta1');
  });

  it('sees an object in the version that its rule names, and its patch comes back in the requested one', async () => {
    hooks.on('/equivalent', () => patchAnswer([{ op: 'add', path: '/spec/maxReplicas', value: 7 }]));
    const rules = [rule({ apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] })];
    hooks.on('/exact', () => ({ allowed: false }));
    await configure('mutating', [
      webhook('equivalent', { rules }),
      webhook('exact', { rules, matchPolicy: 'Exact', objectSelector: { matchLabels: { hook: 'equivalent' } } }),
    ]);
    const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
    const metric = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } };
    const spec = { scaleTargetRef, maxReplicas: 2, metrics: [{ type: 'Resource', resource: metric }] };
    const path = '/apis/autoscaling/v2/namespaces/hooked/horizontalpodautoscalers';
    const { body } = await ok(second.post(path, configMap('h', 'equivalent', { spec })));
    assert.equal(body.apiVersion, 'autoscaling/v2');
    assert.equal(body.spec.maxReplicas, 7);
    assert.deepEqual(body.spec.metrics, spec.metrics);
    await ok(second.patch(`${path}/h`, 'merge', { spec: { minReplicas: 2 } }));
    const { request } = hooks.seen('/equivalent').at(-1)?.review ?? {};
    assert.equal(request.resource.version, 'v1');
    assert.equal(request.requestResource.version, 'v2');
    assert.equal(request.requestKind.version, 'v2');
    assert.equal(request.object.apiVersion, 'autoscaling/v1');
    assert.equal(request.object.spec.targetCPUUtilizationPercentage, 50);
    assert.equal(request.oldObject.apiVersion, 'autoscaling/v1');
  });

  const patches: [string, unknown, RegExp][] = [
    [
      'does not apply',
      [{ op: 'remove', path: '/absent' }],
      /^Internal error occurred: cannot remove "\/absent": nothing/,
    ],
    ['is no operation', ['x'], /^Internal error occurred: a JSON patch must be a list of operations/],
    ['is no JSON', 'x', /failed calling webhook "patch.hooks.test": the patch of the answer is not JSON/],
    ['makes a wrong type', [{ op: 'add', path: '/data', value: { k: 1 } }], /left an invalid object: data/],
    ['leaves no object', [{ op: 'replace', path: '', value: 1 }], /did not leave an object/],
    [
      'changes the kind',
      [{ op: 'replace', path: '/kind', value: 'Secret' }],
      /attempted to change the kind of the object/,
    ],
    ['changes the name', [{ op: 'replace', path: '/metadata/name', value: 'x' }], /attempted to change metadata.name/],
    [
      'changes the namespace',
      [{ op: 'add', path: '/metadata/namespace', value: 'other' }],
      /change metadata.namespace/,
    ],
    ['removes the metadata', [{ op: 'remove', path: '/metadata' }], /attempted to change metadata.name/],
    ['nests deeply', `[{"op":"add","path":"/x","value":${'['.repeat(20_000)}${']'.repeat(20_000)}}]`, /not JSON$/],
  ];
  it('can do no harm with its patch', async () => {
    await configure('mutating', [webhook('patch')]);
    for (const [what, operations, expected] of patches) {
      hooks.on('/patch', () => patchAnswer(operations));
      const answer = await create('patch', 'patched');
      assert.equal(answer.status, 500, what);
      assert.match(answer.body.message, expected, what);
      assert.equal((await first.get(`${maps}/patched`)).status, 404, what);
    }
    hooks.on('/patch', () => patchAnswer([{ op: 'add', path: '/data', value: { 'bad!key': 'x' } }]));
    assert.equal((await create('patch', 'patched')).status, 422);
    hooks.on('/patch', () => patchAnswer([{ op: 'add', path: '/bogus', value: 1 }]));
    assert.equal((await ok(create('patch', 'patched'))).body.bogus, undefined);
    hooks.on('/patch', () => patchAnswer([{ op: 'add', path: '/data', value: {} }]));
    const removal = await first.delete(`${maps}/patched`);
    assert.equal(removal.status, 500);
    assert.match(removal.body.message, /attempted to modify the object, which is not supported for this operation/);
    hooks.on('/patch', () => ({ allowed: true }));
    await ok(first.delete(`${maps}/patched`));
  });
});

describe('a validating webhook', () => {
  it('refuses with its own code and message, warns, and sees what is about to be written', async () => {
    hooks.on('/label', () => patchAnswer([{ op: 'add', path: '/metadata/labels/added', value: 'yes' }]));
    hooks.on('/refuse', ({ review }) => ({
      allowed: false,
      status: { code: 409, reason: 'Conflict', message: `added=${review.request.object.metadata.labels.added}` },
      warnings: ['first', '', 'two\nlines', 'quoted "text"', 'x'.repeat(5000)],
    }));
    await configure('mutating', [webhook('label', { objectSelector: { matchLabels: { hook: 'refuse' } } })]);
    await configure('validating', [webhook('refuse')]);
    const refused = await create('refuse');
    assert.equal(refused.status, 409);
    assert.equal(refused.body.message, 'admission webhook "refuse.hooks.test" denied the request: added=yes');
    assert.equal(refused.body.reason, 'Conflict');
    const warnings = String(refused.headers.warning);
    assert.match(warnings, /299 - "first", 299 - "quoted \\"text\\"", 299 - "x{256}"$/);
    assert.equal((await first.get(`${maps}/refuse`)).status, 404);
    const counted = await metricsOf(second, 'apiserver_admission_webhook_rejection_count');
    const expected =
      /name="refuse.hooks.test",type="validating",operation="CREATE",error_type="no_error",rejection_code="409"/;
    assert.ok(
      counted.some((line) => expected.test(line)),
      counted.join('\n'),
    );
    assert.match((await metricsOf(second, 'apiserver_admission_webhook_request_total')).join('\n'), /code="409"/);
  });

  it('is counted for large objects too, which another thread writes', async () => {
    hooks.on('/large', ({ review }) => ({ allowed: review.request.name !== 'large-no' }));
    await configure('validating', [
      webhook('large'),
      webhook('large-down', {
        clientConfig: { url: 'https://127.0.0.1:9/' },
        objectSelector: { matchLabels: { hook: 'large' } },
        failurePolicy: 'Ignore',
      }),
    ]);
    const data = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`key-${i}`, 'v']));
    for (const [name, status] of [
      ['large-yes', 201],
      ['large-no', 400],
    ] as const) {
      const answer = await second.post(maps, configMap(name, 'large', { data }));
      assert.equal(answer.status, status, answer.text.slice(0, 300));
    }
    const expected = [
      [
        'request_total',
        /\{name="large.hooks.test",type="validating",operation="CREATE",code="200",rejected="false"\} 1$/,
      ],
      [
        'rejection_count',
        /\{name="large.hooks.test",type="validating",.*error_type="no_error",rejection_code="400"\} 1$/,
      ],
      ['fail_open_count', /\{name="large-down.hooks.test",type="validating"\} 2$/],
    ] as const;
    for (const [name, line] of expected) {
      await eventually(
        async () => (await metricsOf(second, `apiserver_admission_webhook_${name}`)).some((found) => line.test(found)),
        name,
      );
    }
  });

  it('sees the old object of a delete, and each object of a collection', async () => {
    hooks.on('/delete', ({ review }) => ({ allowed: review.request.operation !== 'DELETE', status: { code: 403 } }));
    const configuration = await configure('validating', [webhook('delete')]);
    await ok(create('delete'));
    assert.equal((await first.delete(`${maps}/delete`)).status, 403);
    const { request } = hooks.seen('/delete').at(-1)?.review ?? {};
    assert.equal(request.object, null);
    assert.equal(request.oldObject.metadata.name, 'delete');
    assert.equal(request.options.kind, 'DeleteOptions');
    assert.equal((await first.delete(`${maps}?labelSelector=hook%3Ddelete`)).status, 403);
    await ok(first.delete(`${group}/v1/validatingwebhookconfigurations/${configuration}`));
    await eventually(async () => (await first.delete(`${maps}/delete`)).status === 200, 'the hook is gone');
  });

  it('answers for the first hook when several refuse', async () => {
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { allowed: false, status: { message: 'slow', code: 403 } };
    };
    hooks.on('/several-a', slow);
    hooks.on('/several-b', () => ({ allowed: false, status: { message: 'fast', code: 403 } }));
    const objectSelector = { matchLabels: { hook: 'several' } };
    await configure('validating', [webhook('several-a', { objectSelector }), webhook('several-b', { objectSelector })]);
    for (let i = 0; i < 3; i++) assert.match((await create('several')).body.message, /denied the request: slow$/);
  });

  it('is left out of dry runs if it may have effects', async () => {
    hooks.on('/effects', () => ({ allowed: true }));
    const v1beta1 = `${group}/v1beta1/validatingwebhookconfigurations`;
    const webhooks = [webhook('effects', { sideEffects: 'Some', failurePolicy: 'Ignore' })];
    await ok(first.post(v1beta1, { metadata: { name: 'effects' }, webhooks }));
    await configure('validating', []);
    const answer = await second.post(`${maps}?dryRun=All`, configMap('e', 'effects'));
    assert.equal(answer.status, 400);
    assert.equal(answer.body.message, 'admission webhook "effects.hooks.test" does not support dry run');
    assert.equal(hooks.seen('/effects').length, 0);
    await ok(create('effects'));
    assert.equal(hooks.seen('/effects').length, 1);
  });

  it('is asked only for requests that its selectors and conditions choose', async () => {
    hooks.on('/chosen', () => ({ allowed: false, status: { code: 403 } }));
    hooks.on('/broken', () => ({ allowed: false, status: { code: 403 } }));
    await configure('validating', [
      webhook('chosen', {
        namespaceSelector: { matchLabels: { team: 'red' } },
        matchConditions: [{ name: 'not-spared', expression: "!has(object.data) || !('spared' in object.data)" }],
      }),
      webhook('broken', { matchConditions: [{ name: 'fails', expression: 'object.absent.field == 1' }] }),
    ]);
    assert.equal((await create('chosen')).status, 403);
    await ok(second.post(maps, configMap('spared', 'chosen', { data: { spared: 'yes' } })));
    await ok(second.post(maps.replace('hooked', 'other'), configMap('elsewhere', 'chosen')));
    const broken = await create('broken');
    assert.equal(broken.status, 403);
    assert.match(broken.body.message, /is forbidden: expression 'object.absent.field == 1' resulted in error/);
    assert.equal(hooks.seen('/broken').length, 0);
  });

  it('is never asked about webhook configurations', async () => {
    hooks.on('/all', () => ({ allowed: false }));
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    const selector = { matchLabels: { self: 'yes' } };
    await configure('validating', [webhook('all', { rules: [everything], objectSelector: selector })], 'everything');
    const path = `${group}/v1/validatingwebhookconfigurations`;
    const labels = { self: 'yes' };
    await ok(first.post(path, { metadata: { name: 'another', labels }, webhooks: [] }));
    assert.equal((await first.post('/api/v1/namespaces', { metadata: { name: 'refused', labels } })).status, 400);
    await ok(first.delete(`${path}/another`));
    await ok(first.delete(`${path}/everything`));
  });
});

describe('a webhook that does not answer as it should', () => {
  const faults: [string, Parameters<HookServer['on']>[1], RegExp][] = [
    ['cut', () => 'cut', /Post "https:\/\/127\.0\.0\.1:\d+\/cut\?timeout=10s": EOF$/],
    ['garbage', () => ({ http: 200, text: '<html>' }), /the answer is not JSON$/],
    ['empty', () => ({ http: 200, text: '' }), /0-length response with status code: 200 and content type: app/],
    ['error', () => ({ http: 500, text: 'x' }), /an error on the server \("unknown"\) has prevented the request/],
    ['odd', () => ({ http: 700, text: 'x' }), /an error on the server \("unknown"\) has prevented the request/],
    ['absent', () => ({ http: 404, text: 'x' }), /the server could not find the requested resource$/],
    [
      'redirect',
      // Another server, as far as anybody can tell.
      () => ({ http: 307, text: '', headers: { location: hooks.url('/allow').replace('127.0.0.1', 'localhost') } }),
      /the server responded with the status code 307 but did not return more information$/,
    ],
    [
      'moved',
      () => ({ http: 302, text: '', headers: { location: '/allow' } }),
      /responded with the status code 302 but/,
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
    await configure('mutating', [
      ...names.map((name) => webhook(name)),
      ...names.map((name) =>
        webhook(`${name}-ignored`, {
          clientConfig: { url: hooks.url(`/${name}`), caBundle: hooks.caBundle },
          failurePolicy: 'Ignore',
        }),
      ),
    ]);
    for (const [name, , expected] of faults) {
      const answer = await create(name);
      assert.equal(answer.status, 500, name);
      const prefix = `Internal error occurred: failed calling webhook "${name}.hooks.test": `;
      assert.ok(answer.body.message.startsWith(prefix), answer.body.message);
      assert.match(answer.body.message, expected);
      await ok(create(`${name}-ignored`));
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
    await configure('validating', [webhook('tidy')]);
    const answer = await create('tidy');
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.body.message, /denied the request: seen$/);
    assert.equal(hooks.seen('/tidied').length, 1);
  });

  it('is slow, dead, or unknown to the authorities', async () => {
    const released = Promise.withResolvers<void>();
    hooks.on('/slow', () => released.promise.then(() => ({ allowed: true })));
    hooks.on('/stranger', () => ({ allowed: true }));
    const url = `https://127.0.0.1:${await freePort()}/x`;
    await configure('validating', [
      webhook('slow', { timeoutSeconds: 1 }),
      webhook('dead', { clientConfig: { url, caBundle: hooks.caBundle } }),
      webhook('stranger', { clientConfig: { url: hooks.url('/stranger') } }),
      webhook('metadata', { clientConfig: { url: 'https://169.254.169.254/latest', caBundle: hooks.caBundle } }),
      webhook('mapped', { clientConfig: { url: 'https://[::ffff:169.254.169.254]/', caBundle: hooks.caBundle } }),
    ]);
    const began = performance.now();
    const slow = create('slow');
    // It holds up only requests that wait for it, and these no longer than it may: others may take ten seconds.
    await ok(first.post(maps, { metadata: { name: 'not-slow' } }));
    assert.match((await slow).body.message, /\/slow\?timeout=1s": context deadline exceeded$/);
    assert.ok(performance.now() - began < 10_000);
    released.resolve();
    assert.match((await create('dead')).body.message, /dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/);
    assert.match((await create('stranger')).body.message, /x509: certificate signed by unknown authority$/);
    assert.match((await create('metadata')).body.message, /connections to 169\.254\.169\.254 are not allowed$/);
    assert.match((await create('mapped')).body.message, /connections to .*a9fe:a9fe are not allowed$/);
  });
});

describe('connections to webhooks', () => {
  it('are kept, and closed when the hook goes', async () => {
    hooks.on('/kept', () => ({ allowed: true }));
    const configuration = await configure('validating', [webhook('kept')]);
    await ok(create('kept', 'kept-0'));
    const before = hooks.connections;
    for (let i = 1; i <= 5; i++) await ok(create('kept', `kept-${i}`));
    assert.equal(hooks.connections, before);
    const open = hooks.open;
    await ok(first.delete(`${group}/v1/validatingwebhookconfigurations/${configuration}`));
    await eventually(async () => {
      // A write makes the server look at its hooks.
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
    // Endpoints can't be at loopback addresses, so a server is told where the service is.
    const server = await cluster.addServer(undefined, [
      `--admission-webhook-service-addresses=services/hook=127.0.0.1:${hooks.port},services/wrong=127.0.0.1:${hooks.port}`,
    ]);
    await configure('validating', [
      webhook('service', { clientConfig: clientConfig('hook'), timeoutSeconds: 1 }),
      webhook('service-wrong', { clientConfig: clientConfig('wrong') }),
      webhook('service-absent', { clientConfig: clientConfig('absent') }),
    ]);
    await eventually(
      async () => (await server.client.post(maps, configMap('s', 'service'))).status === 409,
      'the hook is in force at the third server',
    );
    const wrong = await server.client.post(maps, configMap('s', 'service-wrong'));
    assert.match(wrong.body.message, /wrong\.services\.svc:443\/service.*wrong\.services\.svc/);
    const absent = await create('service-absent');
    assert.match(
      absent.body.message,
      /Post "https:\/\/absent\.services\.svc:443\/service\?timeout=10s": service "absent" not found$/,
    );
    // The others have found an endpoint, and nobody is there.
    assert.match((await create('service')).body.message, /context deadline exceeded|connect/);
    await server.stop();
    cluster.servers.splice(cluster.servers.indexOf(server), 1);
  });

  it('that lead back to the server end', async () => {
    let depth = 0;
    let pending = 0;
    // Each review makes one more object, which needs one more review.
    hooks.on('/circle', async () => {
      const name = `circle-${++depth}`;
      pending++;
      const answer = await first.post(maps, configMap(name, 'circle'));
      pending--;
      return { allowed: answer.status < 300 };
    });
    const self = `${cluster.first.url}/api/v1/namespaces/hooked/configmaps`;
    const configuration = await configure('validating', [
      webhook('circle', { timeoutSeconds: 2 }),
      webhook('self', { clientConfig: { url: self, caBundle: Buffer.from(cluster.pki.authority).toString('base64') } }),
    ]);
    assert.match(
      (await create('self')).body.message,
      /^Internal error occurred: failed calling webhook "self.hooks.test"/,
    );
    const began = performance.now();
    assert.ok((await create('circle', 'circle')).status >= 400);
    assert.ok(performance.now() - began < 20_000);
    await ok(first.delete(`${group}/v1/validatingwebhookconfigurations/${configuration}`));
    await eventually(async () => (await create('circle', 'free', first)).status === 201, 'the server goes on');
    await eventually(() => pending === 0, 'all requests of the circle have ended');
    assert.equal((await first.get(`${maps}/circle`)).status, 404);
  });
});

it('is in force everywhere within a second', () => {
  // A busy machine may be late once.
  const sorted = questions.toSorted((a, b) => a - b);
  assert.ok((sorted[Math.floor(sorted.length / 2)] ?? 0) * pauseMs < 1000, questions.join());
});
