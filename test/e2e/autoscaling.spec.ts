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

/** Serves what the pods of the deployment use. */
async function serveMetrics(cpu: string): Promise<void> {
  const { extension, first } = scene;
  const { body } = await first.client.get(`${pods}?labelSelector=app%3Dweb`);
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
});
