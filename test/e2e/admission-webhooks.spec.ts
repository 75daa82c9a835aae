import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { patchAnswer, type WebhookServer } from '../support/webhook-server.js';
import type { ApiClient } from './support/api-client.js';
import { eventually } from './support/test-cluster.js';
import { WebhookScene } from './support/webhook-scene.js';

const { group, ok, rule, configMap } = WebhookScene;
let scene: WebhookScene;
let hooks: WebhookServer;
let first: ApiClient;
let second: ApiClient;

type Fields = Readonly<Record<string, unknown>>;

const maps = '/api/v1/namespaces/hooked/configmaps';

before(async () => {
  scene = await WebhookScene.start('hooked');
  ({ hooks, first, second } = scene);
  await ok(first.post('/api/v1/namespaces', { metadata: { name: 'other' } }));
});

after(() => scene?.stop());

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
      return scene.webhook(name, { objectSelector: { matchLabels: { hook: 'order' } }, ...more });
    };
    const last = [append('one', { reinvocationPolicy: 'IfNeeded' }), append('two'), append('three')];
    await scene.configure('mutating', [...last], 'order-b');
    await scene.configure('mutating', [append('zero')], 'order-a');
    const { body } = await ok(scene.create('order'));
    assert.equal(body.metadata.annotations.order, 'zero,one,two,three,one');
    // The client owns the fields that it sent.
    assert.doesNotMatch(JSON.stringify(body.metadata.managedFields), /order/);
    const stored = await ok(first.get(`${maps}/order`));
    assert.deepEqual(stored.body.metadata.annotations, body.metadata.annotations);
  });

  it('gets everything about the request, in the version that it understands', async () => {
    hooks.on('/facts', () => ({ allowed: true }));
    hooks.on('/facts-old', () => ({ allowed: true }));
    await scene.configure('mutating', [
      scene.webhook('facts'),
      scene.webhook('facts-old', {
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
    const { uid, object, ...rest } = request;
    assert.match(uid, /^[0-9a-f-]{36}$/);
    assert.deepEqual(object.data, { a: '1' });
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' };
    const resource = { group: '', version: 'v1', resource: 'configmaps' };
    assert.deepEqual(rest, {
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
    await scene.configure('mutating', [
      scene.webhook('equivalent', { rules }),
      scene.webhook('exact', { rules, matchPolicy: 'Exact', objectSelector: { matchLabels: { hook: 'equivalent' } } }),
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
      /^Internal error occurred: error in remove for path: .\/absent.: Unable to remove nonexistent key: absent: missing value$/,
    ],
    ['is no operation', ['x'], /^Internal error occurred: a JSON patch must be a list of operations/],
    ['is no JSON', 'x', /failed calling webhook "patch.hooks.test": the patch of the answer is not JSON/],
    [
      'makes a wrong type',
      [{ op: 'add', path: '/data', value: { k: 1 } }],
      /occurred: json: cannot unmarshal number into Go struct field ConfigMap.data of type string$/,
    ],
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
    await scene.configure('mutating', [scene.webhook('patch')]);
    for (const [what, operations, expected] of patches) {
      hooks.on('/patch', () => patchAnswer(operations));
      const answer = await scene.create('patch', 'patched');
      assert.equal(answer.status, 500, what);
      assert.match(answer.body.message, expected, what);
      assert.equal((await first.get(`${maps}/patched`)).status, 404, what);
    }
    hooks.on('/patch', () => patchAnswer([{ op: 'add', path: '/data', value: { 'bad!key': 'x' } }]));
    assert.equal((await scene.create('patch', 'patched')).status, 422);
    hooks.on('/patch', () => patchAnswer([{ op: 'add', path: '/bogus', value: 1 }]));
    assert.equal((await ok(scene.create('patch', 'patched'))).body.bogus, undefined);
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
    await scene.configure('mutating', [
      scene.webhook('label', { objectSelector: { matchLabels: { hook: 'refuse' } } }),
    ]);
    await scene.configure('validating', [scene.webhook('refuse')]);
    const refused = await scene.create('refuse');
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
    await scene.configure('validating', [
      scene.webhook('large'),
      scene.webhook('large-down', {
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
    const configuration = await scene.configure('validating', [scene.webhook('delete')]);
    await ok(scene.create('delete'));
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
    await scene.configure('validating', [
      scene.webhook('several-a', { objectSelector }),
      scene.webhook('several-b', { objectSelector }),
    ]);
    for (let i = 0; i < 3; i++) assert.match((await scene.create('several')).body.message, /denied the request: slow$/);
  });

  it('is left out of dry runs if it may have effects', async () => {
    hooks.on('/effects', () => ({ allowed: true }));
    const v1beta1 = `${group}/v1beta1/validatingwebhookconfigurations`;
    const webhooks = [scene.webhook('effects', { sideEffects: 'Some', failurePolicy: 'Ignore' })];
    await ok(first.post(v1beta1, { metadata: { name: 'effects' }, webhooks }));
    await scene.configure('validating', []);
    const answer = await second.post(`${maps}?dryRun=All`, configMap('e', 'effects'));
    assert.equal(answer.status, 400);
    assert.equal(answer.body.message, 'admission webhook "effects.hooks.test" does not support dry run');
    assert.equal(hooks.seen('/effects').length, 0);
    await ok(scene.create('effects'));
    assert.equal(hooks.seen('/effects').length, 1);
  });

  it('is asked only for requests that its selectors and conditions choose', async () => {
    hooks.on('/chosen', () => ({ allowed: false, status: { code: 403 } }));
    hooks.on('/broken', () => ({ allowed: false, status: { code: 403 } }));
    await scene.configure('validating', [
      scene.webhook('chosen', {
        namespaceSelector: { matchLabels: { team: 'red' } },
        matchConditions: [{ name: 'not-spared', expression: "!has(object.data) || !('spared' in object.data)" }],
      }),
      scene.webhook('broken', { matchConditions: [{ name: 'fails', expression: 'object.absent.field == 1' }] }),
    ]);
    assert.equal((await scene.create('chosen')).status, 403);
    await ok(second.post(maps, configMap('spared', 'chosen', { data: { spared: 'yes' } })));
    await ok(second.post(maps.replace('hooked', 'other'), configMap('elsewhere', 'chosen')));
    const broken = await scene.create('broken');
    assert.equal(broken.status, 403);
    assert.match(broken.body.message, /is forbidden: expression 'object.absent.field == 1' resulted in error/);
    assert.equal(hooks.seen('/broken').length, 0);
  });

  it('is never asked about webhook configurations', async () => {
    hooks.on('/all', () => ({ allowed: false }));
    const everything = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] };
    const selector = { matchLabels: { self: 'yes' } };
    await scene.configure(
      'validating',
      [scene.webhook('all', { rules: [everything], objectSelector: selector })],
      'everything',
    );
    const path = `${group}/v1/validatingwebhookconfigurations`;
    const labels = { self: 'yes' };
    await ok(first.post(path, { metadata: { name: 'another', labels }, webhooks: [] }));
    assert.equal((await first.post('/api/v1/namespaces', { metadata: { name: 'refused', labels } })).status, 400);
    await ok(first.delete(`${path}/another`));
    await ok(first.delete(`${path}/everything`));
  });
});

it('configurations are in force everywhere within a second', () => scene.assertQuick());
