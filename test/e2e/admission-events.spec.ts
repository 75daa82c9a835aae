import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ReviewWebhook } from '../support/review-webhook.js';
import type { ApiResponse } from './support/api-client.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const core = '/api/v1/namespaces/default';

let cluster: TestCluster;
let webhook: ReviewWebhook;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-admission-'));
  webhook = await ReviewWebhook.start();
  writeFileSync(join(folder, 'client.json'), webhook.config());
  writeFileSync(
    join(folder, 'events.yaml'),
    `apiVersion: eventratelimit.admission.k8s.io/v1alpha1
kind: Configuration
limits:
- { type: User, qps: 1, burst: 3, cacheSize: 10 }
- { type: Namespace, qps: 1000, burst: 1000 }
`,
  );
  const configFile = (name: string, defaultAllow: boolean) => {
    const file = join(folder, name);
    writeFileSync(
      file,
      `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: EventRateLimit
  path: events.yaml
- name: ImagePolicyWebhook
  configuration:
    imagePolicy: { kubeConfigFile: client.json, allowTTL: 1800, denyTTL: -1, retryBackoff: 1, defaultAllow: ${defaultAllow} }
`,
    );
    return `--admission-control-config-file=${file}`;
  };
  const plugins = '--enable-admission-plugins=EventRateLimit,ImagePolicyWebhook';
  cluster = await TestCluster.start({ servers: 0, flags: [plugins] });
  await cluster.addServer(undefined, [configFile('closed.yaml', false)]);
  await cluster.addServer(undefined, [configFile('open.yaml', true)]);
});

after(async () => {
  await cluster?.stop();
  await webhook?.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('EventRateLimit', () => {
  const event = (i: number) => ({
    metadata: { name: `e${i}` },
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
    reason: 'Tried',
  });

  it('answers 429 to a user who writes too many events, and to nobody else', async () => {
    const { client } = cluster.first;
    const answers: ApiResponse[] = [];
    const began = performance.now();
    const write = async () => {
      const more = Array.from({ length: 12 }, (_, i) => event(answers.length + i));
      answers.push(...(await Promise.all(more.map((one) => client.post(`${core}/events`, one)))));
      return answers.some(({ status }) => status !== 201);
    };
    await eventually(write, 'a refusal');
    const seconds = (performance.now() - began) / 1000;
    const refused = answers.filter(({ status }) => status !== 201);
    const made = answers.length - refused.length;
    assert.ok(made >= 3 && made <= 3 + seconds, `${made} of ${answers.length} were made in ${seconds} s`);
    for (const { status, body } of refused) {
      assert.equal(status, 429);
      assert.equal(body.reason, 'TooManyRequests');
      assert.equal(body.message, 'Too many requests: limit reached on type User for key admin');
    }
    assert.equal((await client.post(`${core}/configmaps`, { metadata: { name: 'm' } })).status, 201);
    const other = await client.post(`${core}/events`, event(100), { token: tokens.bob });
    assert.equal(other.status, 201, other.text);
  });
});

describe('ImagePolicyWebhook', () => {
  const review = (status: object) => ({
    body: { apiVersion: 'imagepolicy.k8s.io/v1alpha1', kind: 'ImageReview', status },
  });
  const pod = (name: string, image: string) => ({
    metadata: { name, annotations: { 'a.image-policy.k8s.io/ticket': '7' } },
    spec: { containers: [{ name: 'c', image }] },
  });
  const create = (server: 'first' | 'second', name: string, image: string) =>
    cluster[server].client.post(`${core}/pods`, pod(name, image));

  it('asks about new pods and changed images, once for the same images', async () => {
    webhook.answer = ({ body }) =>
      review({ allowed: body.spec.containers.every(({ image }: { image: string }) => image.startsWith('good')) });
    webhook.received.length = 0;
    assert.equal((await create('first', 'a', 'good:1')).status, 201);
    assert.equal((await create('first', 'b', 'good:1')).status, 201);
    assert.equal(webhook.received.length, 1);
    assert.deepEqual(webhook.received[0]?.body.spec, {
      containers: [{ image: 'good:1' }],
      annotations: { 'a.image-policy.k8s.io/ticket': '7' },
      namespace: 'default',
    });
    const labelled = await cluster.first.client.patch(`${core}/pods/a`, 'merge', { metadata: { labels: { x: 'y' } } });
    assert.equal(labelled.status, 200, labelled.text);
    assert.equal(webhook.received.length, 1);
    const spec = { containers: [{ name: 'c', image: 'bad:1' }] };
    const changed = await cluster.first.client.patch(`${core}/pods/a`, 'strategic-merge', { spec });
    assert.equal(changed.status, 403, changed.text);
    assert.equal(changed.body.message, 'pods "a" is forbidden: one or more images rejected by webhook backend');
  });

  const faults: readonly (readonly [string, ReviewWebhook['answer']])[] = [
    ['is dead', () => 'cut'],
    ['answers 500', () => ({ status: 500, body: 'no' })],
    ['answers 302', () => ({ status: 302, body: '' })],
    ['answers no JSON', () => ({ body: 'yes' })],
    ['answers another kind', () => ({ body: { kind: 'Status', status: { allowed: true } } })],
    ['answers a yes of the wrong type', () => review({ allowed: 'true' })],
  ];
  for (const [i, [what, answer]] of faults.entries()) {
    it(`refuses or lets pods pass, as configured, when the webhook ${what}`, async () => {
      webhook.answer = answer;
      const closed = await create('first', `closed-${i}`, `fault:${i}`);
      assert.equal(closed.status, 403, closed.text);
      const open = await create('second', `open-${i}`, `fault:${i}`);
      assert.equal(open.status, 201, open.text);
    });
  }

  it('lets other requests through while the webhook is slow', async () => {
    let release = () => {};
    const asked = new Promise<void>((resolve) => {
      webhook.answer = () =>
        new Promise((answer) => {
          release = () => answer(review({ allowed: true }));
          resolve();
        });
    });
    const slow = create('first', 'slow', 'slow:1');
    await asked;
    const other = await cluster.first.client.post(`${core}/configmaps`, { metadata: { name: 'quick' } });
    assert.equal(other.status, 201);
    release();
    assert.equal((await slow).status, 201);
  });
});
