import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

const pods = '/api/v1/namespaces/default/pods';
const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
const toleration = (state: string, tolerationSeconds: number) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds,
});

let cluster: TestCluster;
let client: ApiClient;
let other: ApiClient;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  other = cluster.second.client;
});
after(() => cluster.stop());

async function made(path: string, body: unknown, by = client): Promise<ApiResponse> {
  const answer = await by.post(path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

function pod(name: string, spec: object = {}) {
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } };
}

async function refused(answer: Promise<ApiResponse>, message: string): Promise<void> {
  const { status, body } = await answer;
  assert.deepEqual([status, body.reason, body.message], [403, 'Forbidden', message]);
}

describe('the plugins that complete pods by default', () => {
  it('add tolerations and a priority, and let the pod be updated without them', async () => {
    const { body } = await made(pods, pod('plain'));
    assert.deepEqual(body.spec.tolerations, [toleration('not-ready', 300), toleration('unreachable', 300)]);
    assert.deepEqual([body.spec.priority, body.spec.preemptionPolicy], [0, 'PreemptLowerPriority']);
    const { priority: _priority, preemptionPolicy: _policy, ...spec } = body.spec;
    const image = [{ ...spec.containers[0], image: 'other' }];
    const updated = await other.put(`${pods}/plain`, { ...body, spec: { ...spec, containers: image } });
    assert.deepEqual([updated.status, updated.body.spec.priority], [200, 0], updated.text);
    const again = await other.put(`${pods}/plain`, updated.body);
    assert.equal(again.body.metadata.resourceVersion, updated.body.metadata.resourceVersion);
  });

  it('give pods the zone and region of their node, when they are bound and when they are created on it', async () => {
    const place = { 'topology.kubernetes.io/region': 'r', 'topology.kubernetes.io/zone': 'z' };
    const [zoned, bare] = ['zoned', 'bare'];
    await made('/api/v1/nodes', { metadata: { name: zoned, labels: { ...place, rack: '1' } } });
    await made('/api/v1/nodes', { metadata: { name: bare } });
    // The other server learns of the node in its own time.
    const { metadata } = (await made(pods, pod('on-zoned', { nodeName: zoned }), other)).body;
    assert.deepEqual(metadata.labels, place);
    assert.equal((await made(pods, pod('on-bare', { nodeName: bare }))).body.metadata.labels, undefined);
    await made(pods, { ...pod('bound'), metadata: { name: 'bound', labels: { app: 'a' } } });
    const target = { kind: 'Node', name: zoned };
    await made(`${pods}/bound/binding`, { metadata: { name: 'bound' }, target });
    const bound = (await other.get(`${pods}/bound`)).body;
    assert.deepEqual([bound.spec.nodeName, bound.metadata.labels], [zoned, { ...place, app: 'a' }]);
  });

  it('find classes that another server made a moment ago', async () => {
    for (let i = 0; i < 5; i++) {
      const name = `class-${i}`;
      await made(classes, { metadata: { name }, value: i, preemptionPolicy: 'Never' }, i % 2 === 0 ? client : other);
      const { spec } = (await made(pods, pod(name, { priorityClassName: name }), i % 2 === 0 ? other : client)).body;
      assert.deepEqual([spec.priority, spec.preemptionPolicy], [i, 'Never']);
    }
    const critical = await made(pods, pod('critical', { priorityClassName: 'system-node-critical' }));
    assert.equal(critical.body.spec.priority, 2_000_001_000);
  });

  it('refuse other priorities than that of the class', async () => {
    await made(classes, { metadata: { name: 'high' }, value: 77 });
    const wrong =
      'pods "x" is forbidden: the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 77 from the given PriorityClass name';
    await refused(client.post(pods, pod('x', { priorityClassName: 'high', priority: 5 })), wrong);
    const unknown = 'pods "x" is forbidden: no PriorityClass with name none was found';
    await refused(client.post(pods, pod('x', { priorityClassName: 'none' })), unknown);
    await refused(client.post(`${pods}?dryRun=All`, pod('x', { priorityClassName: 'none' })), unknown);
  });

  it('keep to one default class', async () => {
    await made(classes, { metadata: { name: 'usual' }, value: 9, globalDefault: true });
    const hasDefault = async () => (await other.post(`${pods}?dryRun=All`, pod('y'))).body.spec.priority === 9;
    await eventually(hasDefault, 'the default class');
    assert.equal((await made(pods, pod('usual'))).body.spec.priorityClassName, 'usual');
    const detail = 'PriorityClass usual is already marked as default. Only one default can exist';
    const second = { metadata: { name: 'second' }, value: 1, globalDefault: true };
    await refused(other.post(classes, second), `priorityclasses.scheduling.k8s.io "second" is forbidden: ${detail}`);
    const marked = other.patch(`${classes}/high`, 'merge', { globalDefault: true });
    await refused(marked, `priorityclasses.scheduling.k8s.io "high" is forbidden: ${detail}`);
    assert.equal((await other.patch(`${classes}/usual`, 'merge', { description: 'x' })).status, 200);
    assert.equal((await client.delete(`${classes}/usual`)).status, 200);
  });

  it('add what a runtime class says', async () => {
    const tolerations = [{ key: 'rt', operator: 'Exists' }];
    await made('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'vm' },
      handler: 'h',
      overhead: { podFixed: { cpu: '250m' } },
      scheduling: { nodeSelector: { rt: 'yes' }, tolerations },
    });
    const { spec } = (await made(pods, pod('vm', { runtimeClassName: 'vm' }), other)).body;
    assert.deepEqual([spec.overhead, spec.nodeSelector], [{ cpu: '250m' }, { rt: 'yes' }]);
    assert.deepEqual(spec.tolerations, [toleration('not-ready', 300), toleration('unreachable', 300), ...tolerations]);
    const head = 'pods "x" is forbidden:';
    const other2 = client.post(pods, pod('x', { runtimeClassName: 'vm', overhead: { cpu: '1' } }));
    await refused(other2, `${head} pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead`);
    const none = client.post(pods, pod('x', { runtimeClassName: 'none' }));
    await refused(none, `${head} pod rejected: RuntimeClass "none" not found`);
    const without = client.post(pods, pod('x', { overhead: { cpu: '1' } }));
    await refused(
      without,
      `${head} pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead`,
    );
  });

  it('taint new nodes', async () => {
    const { spec } = (await made('/api/v1/nodes', { metadata: { name: 'n' } })).body;
    assert.deepEqual(spec.taints, [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }]);
    const ready = await client.patch('/api/v1/nodes/n', 'merge', { spec: { taints: null } });
    assert.equal(ready.body.spec.taints, undefined);
  });
});

describe('the plugins about pods that are off by default', () => {
  let strict: ApiClient;

  before(async () => {
    const file = join(cluster.directory, 'admission.yaml');
    const podNodeSelectorPluginConfig = { clusterDefaultNodeSelector: 'env=prod', limited: 'env=prod,disk=ssd' };
    const tolerations = {
      apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1',
      kind: 'Configuration',
      default: [{ key: 'usual', operator: 'Exists' }],
    };
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AdmissionConfiguration',
        plugins: [
          { name: 'PodNodeSelector', configuration: { podNodeSelectorPluginConfig } },
          { name: 'PodTolerationRestriction', configuration: tolerations },
        ],
      }),
    );
    const plugins = [
      'AlwaysPullImages',
      'LimitPodHardAntiAffinityTopology',
      'SecurityContextDeny',
      'PodNodeSelector',
      'PodTolerationRestriction',
      'ExtendedResourceToleration',
      'DenyEscalatingExec',
      'DenyExecOnPrivileged',
    ];
    const server = await cluster.addServer(undefined, [
      `--enable-admission-plugins=${plugins.join()}`,
      `--admission-control-config-file=${file}`,
      '--default-not-ready-toleration-seconds=7',
      '--default-unreachable-toleration-seconds=0',
    ]);
    strict = server.client;
    await made('/api/v1/namespaces', { metadata: { name: 'limited' } });
  });

  it('work together, in their order', async () => {
    const requests = { 'example.com/gpu': '1' };
    const containers = [{ name: 'c', image: 'i', imagePullPolicy: 'Never', resources: { requests, limits: requests } }];
    const { spec } = (await made(pods, pod('strict', { containers }), strict)).body;
    assert.equal(spec.containers[0].imagePullPolicy, 'Always');
    assert.deepEqual(spec.nodeSelector, { env: 'prod' });
    assert.deepEqual(spec.tolerations, [
      toleration('not-ready', 7),
      toleration('unreachable', 0),
      { key: 'usual', operator: 'Exists' },
      { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' },
    ]);
  });

  it('refuse what they forbid', async () => {
    const head = 'pods "x" is forbidden:';
    const term = { topologyKey: 'zone', labelSelector: {} };
    const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
    const only = 'has TopologyKey zone but only key kubernetes.io/hostname is allowed';
    const apart = strict.post(pods, pod('x', { affinity }));
    await refused(apart, `${head} affinity.PodAntiAffinity.RequiredDuringScheduling ${only}`);
    const user = strict.post(pods, pod('x', { securityContext: { runAsUser: 1 } }));
    await refused(user, `${head} pod.Spec.SecurityContext.RunAsUser is forbidden`);
    const elsewhere = strict.post('/api/v1/namespaces/limited/pods', pod('x', { nodeSelector: { disk: 'hdd' } }));
    await refused(elsewhere, `${head} pod node label selector labels conflict with its namespace whitelist`);
    const conflict = strict.post(pods, pod('x', { nodeSelector: { env: 'test' } }));
    await refused(conflict, `${head} pod node label selector conflicts with its namespace node label selector`);
  });

  it('follow the annotations of the namespace', async () => {
    const prefix = 'scheduler.alpha.kubernetes.io/';
    const annotations = {
      [`${prefix}node-selector`]: 'env=special',
      [`${prefix}defaultTolerations`]: JSON.stringify([{ key: 'own', operator: 'Exists' }]),
      [`${prefix}tolerationsWhitelist`]: JSON.stringify([
        { key: 'own', operator: 'Exists' },
        { effect: 'NoExecute', operator: 'Exists' },
      ]),
    };
    await made('/api/v1/namespaces', { metadata: { name: 'special', annotations } });
    const path = '/api/v1/namespaces/special/pods';
    const { spec } = (await made(path, pod('a'), strict)).body;
    assert.deepEqual(spec.nodeSelector, { env: 'special' });
    assert.deepEqual(spec.tolerations.at(-1), { key: 'own', operator: 'Exists' });
    const foreign = strict.post(path, pod('x', { tolerations: [{ key: 'foreign', operator: 'Exists' }] }));
    const detail =
      'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist';
    await refused(foreign, `pods "x" is forbidden: ${detail}`);
  });

  it('set the pull policy of ephemeral containers that are added', async () => {
    const body = { spec: { ephemeralContainers: [{ name: 'e', image: 'i', imagePullPolicy: 'Never' }] } };
    const added = await strict.patch(`${pods}/strict/ephemeralcontainers`, 'strategic-merge', body);
    assert.equal(added.status, 200, added.text);
    assert.equal(added.body.spec.ephemeralContainers[0].imagePullPolicy, 'Always');
    assert.equal((await strict.patch(`${pods}/strict`, 'merge', { metadata: { labels: { a: 'b' } } })).status, 200);
  });
});
