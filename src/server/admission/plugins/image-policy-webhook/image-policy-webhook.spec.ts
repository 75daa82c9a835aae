import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { AdmissionChain } from '../../admission-chain.js';
import { AdmissionMetrics } from '../../admission-metrics.js';
import { readImagePolicy } from './image-policy-configuration.js';
import { ImagePolicyWebhook } from './image-policy-webhook.js';

const names = vendorNames('k8s.io');
const apiVersion = 'imagepolicy.k8s.io/v1alpha1';
const pod = (image: string, fields: { annotations?: object; ephemeral?: string } = {}) => ({
  metadata: { name: 'x', annotations: fields.annotations },
  spec: {
    containers: [{ name: 'c', image }],
    initContainers: [{ name: 'i', image: 'init' }],
    ...(fields.ephemeral === undefined ? {} : { ephemeralContainers: [{ name: 'e', image: fields.ephemeral }] }),
  },
});

/** The plugin with a manual clock and a webhook whose responses the test defines. */
class Bench {
  readonly asked: { spec: { containers: { image: string }[]; annotations?: object; namespace: string } }[] = [];
  now = 0;
  /** The number of requests that wait for the webhook, as their contexts see it. */
  remote = 0;
  isStopped = false;
  answer: () => unknown = () => ({ apiVersion, kind: 'ImageReview', status: { allowed: true } });
  readonly plugin: ImagePolicyWebhook;
  auditAnnotations: ReadonlyMap<string, string> = new Map();

  constructor(rules: { allowTtlMs?: number; denyTtlMs?: number; defaultAllow?: boolean } = {}) {
    this.plugin = new ImagePolicyWebhook(
      { allowTtlMs: 300, denyTtlMs: 30, defaultAllow: false, ...rules },
      {
        client: {
          post: async (value) => {
            this.asked.push(value as Bench['asked'][number]);
            return this.answer();
          },
          stop: () => {
            this.isStopped = true;
          },
        },
        names,
        clock: { now: () => this.now },
        logger: { warn: () => {} },
      },
    );
  }

  /** The refusal, or an empty string. */
  async outcome(request: TestRequest): Promise<string> {
    const attributes = admissionAttributes(request);
    Object.assign(attributes.context, {
      beginRemoteCall: () => this.remote++,
      endRemoteCall: () => this.remote--,
    });
    const message = await this.plugin.validate(attributes).then(
      () => '',
      (error: Error) => error.message,
    );
    this.auditAnnotations = attributes.context.auditAnnotations;
    return message;
  }
}

const answer = (status: unknown) => () => ({ apiVersion, kind: 'ImageReview', status });

describe('ImagePolicyWebhook', () => {
  const asks: readonly (readonly [string, TestRequest, readonly string[]])[] = [
    ['a new pod', { object: pod('a') }, ['a', 'init']],
    ['a changed image', { object: pod('b'), oldObject: pod('a') }, ['b', 'init']],
    ['another change', { object: pod('a', { annotations: { a: 'b' } }), oldObject: pod('a') }, []],
    [
      'an ephemeral container',
      { object: pod('a', { ephemeral: 'e' }), oldObject: pod('a'), subresource: 'ephemeralcontainers' },
      ['e'],
    ],
    ['the status', { object: pod('b'), oldObject: pod('a'), subresource: 'status' }, []],
    ['another kind', { object: pod('a'), resource: 'pods.example.com' }, []],
  ];
  for (const [what, request, expected] of asks) {
    it(`asks about ${expected.join() || 'nothing'} for ${what}`, async () => {
      const bench = new Bench();
      assert.equal(await bench.outcome(request), '');
      assert.deepEqual(bench.asked[0]?.spec.containers.map(({ image }) => image) ?? [], expected);
    });
  }

  it('holds up no requests of others while it waits for the webhook', async () => {
    const bench = new Bench();
    const seen: number[] = [];
    bench.answer = () => {
      setImmediate(() => seen.push(bench.remote));
      return new Promise((resolve) => setImmediate(() => setImmediate(() => resolve(answer({ allowed: true })()))));
    };
    assert.equal(await bench.outcome({ object: pod('a') }), '');
    assert.deepEqual([...seen, bench.remote], [1, 0]);
  });

  it('sends the annotations that are for it, and the namespace', async () => {
    const bench = new Bench();
    const mine = { 'team.image-policy.k8s.io/ticket-1234': 'break-glass' };
    await bench.outcome({ object: pod('a', { annotations: { ...mine, other: 'x' } }) });
    assert.deepEqual(bench.asked[0], {
      kind: 'ImageReview',
      apiVersion,
      metadata: {},
      spec: { containers: [{ image: 'a' }, { image: 'init' }], annotations: mine, namespace: 'n' },
      status: { allowed: false },
    });
  });

  const forbidden = 'pods "x" is forbidden: ';
  const noReview = `${forbidden}the image policy webhook does not answer with a review`;
  const answers: readonly (readonly [string, () => unknown, string])[] = [
    ['an approval', answer({ allowed: true }), ''],
    ['a denial', answer({ allowed: false }), `${forbidden}one or more images rejected by webhook backend`],
    ['an empty status', answer({}), `${forbidden}one or more images rejected by webhook backend`],
    [
      'a denial with a reason',
      answer({ allowed: false, reason: 'too old' }),
      `${forbidden}image policy webhook backend denied one or more images: too old`,
    ],
    ['no status', answer(undefined), noReview],
    ['a yes as text', answer({ allowed: 'true' }), noReview],
    ['another kind', () => ({ apiVersion, kind: 'SubjectAccessReview', status: { allowed: true } }), noReview],
    ['another group', () => ({ apiVersion: 'v1', kind: 'ImageReview', status: { allowed: true } }), noReview],
    ['a list', () => [], noReview],
    [
      'a broken connection',
      () => {
        throw new Error('unreachable');
      },
      `${forbidden}unreachable`,
    ],
  ];
  for (const [what, given, expected] of answers) {
    it(`${expected === '' ? 'accepts' : 'refuses'} the pod after ${what}`, async () => {
      const bench = new Bench();
      bench.answer = given;
      assert.equal(await bench.outcome({ object: pod('a') }), expected);
    });
  }

  it('lets pods pass without an answer if it is told so, and notes that', async () => {
    const bench = new Bench({ defaultAllow: true });
    bench.answer = () => 'nonsense';
    assert.equal(await bench.outcome({ object: pod('a') }), '');
    assert.deepEqual([...bench.auditAnnotations], [['imagepolicywebhook.image-policy.k8s.io/failed-open', 'true']]);
    bench.answer = answer({ allowed: false });
    assert.notEqual(await bench.outcome({ object: pod('a') }), '', 'a failure is not remembered');
  });

  it('keeps a slow webhook from taking all the room for requests', { timeout: 120_000 }, async () => {
    const bench = new Bench();
    const released = Promise.withResolvers<unknown>();
    bench.answer = () => released.promise;
    const sent = Array.from({ length: 130 }, (_, i) => bench.outcome({ object: pod(`image-${i}`) }));
    const crowded = /too many requests wait for the image policy webhook, please try again later/;
    assert.match((await sent[128]) ?? '', crowded);
    assert.match((await sent[129]) ?? '', crowded);
    assert.equal(bench.asked.length, 64);
    released.resolve(answer({ allowed: true })());
    for (const each of sent.slice(0, 128)) assert.equal(await each, '');
    assert.equal(bench.asked.length, 128);
  });

  it('closes its connections with the chain that it is in', () => {
    const bench = new Bench();
    new AdmissionChain([bench.plugin], new AdmissionMetrics(new Registry())).onApplicationShutdown();
    assert.ok(bench.isStopped);
  });

  it('hands on the audit annotations, from memory too', async () => {
    const bench = new Bench();
    bench.answer = answer({ allowed: true, auditAnnotations: { rule: 'r1' } });
    for (let i = 0; i < 2; i++) {
      await bench.outcome({ object: pod('a') });
      assert.deepEqual([...bench.auditAnnotations], [['imagepolicywebhook.image-policy.k8s.io/rule', 'r1']]);
    }
    assert.equal(bench.asked.length, 1);
  });

  it('keeps approvals and denials for their own time', async () => {
    const bench = new Bench();
    await bench.outcome({ object: pod('a') });
    bench.now = 299;
    await bench.outcome({ object: pod('a') });
    assert.equal(bench.asked.length, 1);
    bench.now = 300;
    bench.answer = answer({ allowed: false });
    await bench.outcome({ object: pod('a') });
    bench.now = 329;
    await bench.outcome({ object: pod('a') });
    assert.equal(bench.asked.length, 2);
    bench.now = 330;
    await bench.outcome({ object: pod('a') });
    assert.equal(bench.asked.length, 3);
    await bench.outcome({ object: pod('a'), namespace: 'other' });
    assert.equal(bench.asked.length, 4);
    const forgetful = new Bench({ allowTtlMs: 0 });
    for (let i = 0; i < 2; i++) await forgetful.outcome({ object: pod('a') });
    assert.equal(forgetful.asked.length, 2);
  });
});

describe('the configuration of ImagePolicyWebhook', () => {
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'plinth-images-'));
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'r', user: '' } }],
      clusters: [{ name: 'r', cluster: { server: 'https://images.test/review' } }],
    };
    writeFileSync(join(folder, 'client.json'), JSON.stringify(config));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  const read = (imagePolicy: unknown, more: object = {}) => {
    try {
      const { client, ...rest } = readImagePolicy({ value: { imagePolicy, ...more }, source: 'file', folder });
      return { server: client.server, ...rest };
    } catch (error) {
      assert.ok(error instanceof OptionsError);
      return error.problems;
    }
  };
  const file = { kubeConfigFile: 'client.json' };
  const server = 'https://images.test/review';

  it('has defaults, and -1 for none', () => {
    const preset = { server, allowTtlMs: 300_000, denyTtlMs: 30_000, retryBackoffMs: 500, defaultAllow: false };
    assert.deepEqual(read(file), preset);
    assert.deepEqual(read({ ...file, allowTTL: 0, denyTTL: 0, retryBackoff: 0 }), preset);
    const own = { ...file, allowTTL: 1, denyTTL: 1800, retryBackoff: 300_000, defaultAllow: true };
    assert.deepEqual(read(own), {
      server,
      allowTtlMs: 1000,
      denyTtlMs: 1_800_000,
      retryBackoffMs: 300_000,
      defaultAllow: true,
    });
    const none = { ...file, allowTTL: -1, denyTTL: -1, retryBackoff: -1 };
    assert.deepEqual(read(none), { ...preset, allowTtlMs: 0, denyTtlMs: 0, retryBackoffMs: 0 });
  });

  it('names every fault at once', () => {
    assert.deepEqual(
      read({ allowTTL: 1801, denyTTL: -2, retryBackoff: 300_001, defaultAllow: 'yes', ttl: 1 }, { more: 1 }),
      [
        'file: unknown field more',
        'file: unknown field imagePolicy.ttl',
        'file: imagePolicy.allowTTL must be from 1 to 1800 seconds, 0 or -1',
        'file: imagePolicy.denyTTL must be from 1 to 1800 seconds, 0 or -1',
        'file: imagePolicy.retryBackoff must be from 1 to 300000 milliseconds, 0 or -1',
        'file: imagePolicy.defaultAllow must be true or false',
        'file: imagePolicy.kubeConfigFile must be set',
      ],
    );
    assert.match(String(read({ kubeConfigFile: 'missing' })), /kubeConfigFile: .*missing: there is no such file/);
    assert.deepEqual(read(undefined).toString().split(',')[0], 'file: imagePolicy must be an object');
    assert.throws(() => readImagePolicy(undefined), OptionsError);
  });
});
