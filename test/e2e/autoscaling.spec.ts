import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { ExtensionScene, serviceName, serviceNamespace } from './support/extension-scene.js';
import { eventually } from './support/test-cluster.js';

const apps = '/apis/apps/v1/namespaces/default/deployments';
const autoscalers = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const pods = '/api/v1/namespaces/default/pods';
const metricsPath = '/apis/metrics.k8s.io/v1beta1';
let scene: ExtensionScene;

before(async () => {
  scene = await ExtensionScene.start(['--authorization-mode=RBAC'], 1, [
    '--authorization-mode=RBAC',
    '--horizontal-pod-autoscaler-sync-period=500ms',
  ]);
});
after(() => scene?.stop());

function send(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Serves the metrics of an application's pods. */
async function serveMetrics(cpu: string, app = 'web'): Promise<void> {
  const { extension, first } = scene;
  const { body } = await first.client.get(`${pods}?labelSelector=app%3D${app}`);
  const timestamp = new Date().toISOString();
  const items = (body.items as { metadata: { name: string } }[]).map(({ metadata }) => ({
    metadata: { name: metadata.name, namespace: 'default' },
    timestamp,
    window: '30s',
    containers: [{ name: 'c', usage: { cpu, memory: '1Mi' } }],
  }));
  const resource = { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] };
  extension.behaviours.set(metricsPath, (_request, response) =>
    send(response, {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'metrics.k8s.io/v1beta1',
      resources: [resource],
    }),
  );
  extension.behaviours.set(`${metricsPath}/namespaces/default/pods`, (_request, response) =>
    send(response, { kind: 'PodMetricsList', apiVersion: 'metrics.k8s.io/v1beta1', metadata: {}, items }),
  );
}

describe('an autoscaler', () => {
  it('gets its metrics from an extension server, as the service account of its loop', async () => {
    const { client } = scene.first;
    const resources = { requests: { cpu: '1' } };
    const template = {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'i:1', resources }] },
    };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
    assert.equal((await client.post(apps, { metadata: { name: 'web' }, spec })).status, 201);
    const metric = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 40 } };
    const made = await client.post(autoscalers, {
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 10,
        metrics: [{ type: 'Resource', resource: metric }],
      },
    });
    assert.equal(made.status, 201, made.text);
    const conditions = async () => (await client.get(`${autoscalers}/web`)).body.status?.conditions ?? [];
    await eventually(
      async () => (await conditions()).some(({ reason }: { reason: string }) => reason === 'FailedGetResourceMetric'),
      'the fault of missing metrics',
    );
    const pod = await eventually(async () => (await client.get(pods)).body.items[0], 'a pod');
    const startTime = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: startTime };
    const { status } = await client.patch(`${pods}/${pod.metadata.name}/status`, 'merge', {
      status: { phase: 'Running', startTime, conditions: [ready] },
    });
    assert.equal(status, 200);
    await serveMetrics('900m');
    const registered = await client.post('/apis/apiregistration.k8s.io/v1/apiservices', {
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { namespace: serviceNamespace, name: serviceName },
        caBundle: scene.extension.caBundle,
      },
    });
    assert.equal(registered.status, 201, registered.text);
    await eventually(async () => (await client.get(`${apps}/web`)).body.spec.replicas === 3, 'three replicas');
    const live = await eventually(async () => {
      const { body } = await client.get(`${autoscalers}/web`);
      return body.status.desiredReplicas === 3 && body;
    }, 'the status');
    const { headers } = scene.extension.last(`${metricsPath}/namespaces/default/pods`) ?? assert.fail('nobody asked');
    assert.equal(headers['x-remote-user'], 'system:serviceaccount:control-system:horizontal-pod-autoscaler');
    const active = live.status.conditions.find(({ type }: { type: string }) => type === 'ScalingActive');
    assert.equal(active.status, 'True');
    assert.equal(active.reason, 'ValidMetricFound');
  });

  it('scales custom resources by the paths that their definition names', async () => {
    const { client } = scene.first;
    const count = { type: 'integer' };
    const schema = {
      type: 'object',
      properties: {
        spec: { type: 'object', properties: { wanted: count } },
        status: { type: 'object', properties: { present: count, pods: { type: 'string' } } },
      },
    };
    const scale = {
      specReplicasPath: '.spec.wanted',
      statusReplicasPath: '.status.present',
      labelSelectorPath: '.status.pods',
    };
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
    const made = await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'farms.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'farms', kind: 'Farm' },
        versions: [{ ...version, subresources: { status: {}, scale } }],
      },
    });
    assert.equal(made.status, 201, made.text);
    const farms = '/apis/example.com/v1/namespaces/default/farms';
    const farm = { apiVersion: 'example.com/v1', kind: 'Farm', metadata: { name: 'f' }, spec: { wanted: 1 } };
    await eventually(async () => (await client.post(farms, farm)).status === 201, 'the farm');
    const status = { present: 1, pods: 'app=farm' };
    assert.equal((await client.patch(`${farms}/f/status`, 'merge', { status })).status, 200);

    const containers = [{ name: 'c', image: 'i:1', resources: { requests: { cpu: '1' } } }];
    const pod = { metadata: { name: 'farm-0', labels: { app: 'farm' } }, spec: { containers } };
    assert.equal((await client.post(pods, pod)).status, 201);
    const startTime = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: startTime }];
    const running = { status: { phase: 'Running', startTime, conditions } };
    assert.equal((await client.patch(`${pods}/farm-0/status`, 'merge', running)).status, 200);
    await serveMetrics('1', 'farm');
    const target = { type: 'Utilization', averageUtilization: 50 };
    const autoscaler = await client.post(autoscalers, {
      metadata: { name: 'farm' },
      spec: {
        scaleTargetRef: { apiVersion: 'example.com/v1', kind: 'Farm', name: 'f' },
        maxReplicas: 4,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
      },
    });
    assert.equal(autoscaler.status, 201, autoscaler.text);
    const wanted = async () => (await client.get(`${farms}/f`)).body.spec.wanted;
    await eventually(async () => (await wanted()) === 2, 'as many as the metrics ask for');
    assert.equal((await client.patch(`${farms}/f`, 'merge', { spec: { wanted: 9 } })).status, 200);
    await eventually(async () => (await wanted()) === 4, 'no more than allowed');
  });
});
