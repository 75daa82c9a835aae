import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import type { HorizontalPodAutoscalerSpec } from '../../../objects/apis/autoscaling/v2/horizontal-pod-autoscaler.types.js';
import type { MetricSpec } from '../../../objects/apis/autoscaling/v2/metric.types.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { DeepPartial } from '../frame/loop-client.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { MetricsApi, MetricsRequest } from './remote-metrics.js';
import type { StoredAutoscaler } from './status-draft.js';

type Scaled = ApiObject & { spec: { replicas?: number }; status: { replicas?: number } };

const period = 15_000;

/** Stands in for the extension servers. A path without a response is not served. */
class PretendMetrics implements MetricsApi {
  /** The responses by group and path: `metrics namespaces/default/pods`. */
  readonly answers = new Map<string, unknown>();
  readonly asked: MetricsRequest[] = [];

  get(request: MetricsRequest): Promise<unknown> {
    this.asked.push(request);
    const { group, path, query, resource } = request;
    const [, name = ''] = /(?:app|labelSelector)=?(\S*)/.exec(query.labelSelector ?? '') ?? [];
    const answer =
      this.answers.get(`${group} ${path.join('/')} ${name}`) ?? this.answers.get(`${group} ${path.join('/')}`);
    return answer === undefined
      ? Promise.reject(new Error(`the server could not find the requested resource (get ${resource}.${group}.k8s.io)`))
      : Promise.resolve(answer);
  }

  last(group: string): MetricsRequest | undefined {
    return this.asked.findLast((request) => request.group === group);
  }
}

describe('the autoscaler loop', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;
  let timers: ManualTimers;
  let metrics: PretendMetrics;

  before(async () => {
    postgres = await startTestPostgres();
    timers = new ManualTimers(Date.parse('2030-01-01T00:00:00Z'));
    metrics = new PretendMetrics();
    scene = await LoopScene.start({ postgres, timers });
    await scene.run(['horizontalpodautoscaling'], timers, undefined, { metrics });
  });
  after(async () => {
    await scene?.end();
    await postgres?.stop();
  });

  /** A deployment with pods that are ready and request a whole CPU. */
  async function deploy(
    name: string,
    replicas: number,
    pods = replicas,
    labels: Record<string, string> = { app: name },
  ) {
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await scene.create<Scaled>('deployments.apps', {
      metadata: { name, namespace: 'default' },
      spec: { replicas, selector: { matchLabels: labels }, template },
    } as DeepPartial<Scaled>);
    await scene.update<Scaled>(
      'deployments.apps',
      'default',
      name,
      (live) => {
        live.status.replicas = pods;
      },
      'status',
    );
    for (let i = 0; i < pods; i++) await addPod(`${name}-${i}`, labels);
  }

  async function addPod(name: string, labels: Record<string, string>): Promise<void> {
    const resources = { requests: { cpu: '1', memory: '100Mi' } };
    await scene.create<StoredPod>('pods', {
      metadata: { name, namespace: 'default', labels },
      spec: { containers: [{ name: 'c', image: 'i', resources }] },
    });
    await scene.update<StoredPod>(
      'pods',
      'default',
      name,
      (live) => {
        const time = formatTime(timers.now() - 3_600_000);
        live.status.phase = 'Running';
        live.status.startTime = time;
        live.status.conditions = [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: time }];
      },
      'status',
    );
  }

  function autoscale(
    name: string,
    spec: DeepPartial<HorizontalPodAutoscalerSpec> = {},
    target: object = { apiVersion: 'apps/v1', kind: 'Deployment', name },
  ): Promise<StoredAutoscaler> {
    return scene.create<StoredAutoscaler>('horizontalpodautoscalers.autoscaling', {
      metadata: { name, namespace: 'default' },
      spec: { scaleTargetRef: target, maxReplicas: 20, ...spec } as DeepPartial<HorizontalPodAutoscalerSpec>,
    });
  }

  function until(name: string, what: string, look: (live: StoredAutoscaler) => boolean): Promise<StoredAutoscaler> {
    return scene.until<StoredAutoscaler, StoredAutoscaler>(
      'horizontalpodautoscalers.autoscaling',
      `${name}: ${what}`,
      (all) => all.find((one) => one.metadata.name === name && look(one)),
    );
  }

  function condition({ status }: StoredAutoscaler, type: string): string {
    const found = status.conditions?.find((one) => one.type === type);
    return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
  }

  function withReason(name: string, type: string, reason: string): Promise<StoredAutoscaler> {
    return until(name, `${type} ${reason}`, (live) => condition(live, type).includes(` ${reason}: `));
  }

  function replicas(name: string, count: number): Promise<Scaled> {
    return scene.until<Scaled, Scaled>('deployments.apps', `${count} replicas of ${name}`, (all) =>
      all.find((one) => one.metadata.name === name && one.spec.replicas === count),
    );
  }

  function event(name: string, reason: string): Promise<ApiObject & Event> {
    return scene.until<ApiObject & Event, ApiObject & Event>('events', `event ${reason} of ${name}`, (all) =>
      all.find((one) => one.reason === reason && one.involvedObject.name === name),
    );
  }

  /** Advances one period after the other until a condition holds. */
  async function passUntil<T>(wanted: Promise<T>): Promise<T> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const over = wanted.then(end, end);
    while (!isOver) {
      await Promise.race([timers.waiting((wait) => wait === period), over]);
      timers.advance(period);
      await setImmediate();
    }
    return wanted;
  }

  /** The usage of the pods of a deployment. */
  function uses(app: string, cpu: readonly string[], memory = '50Mi', container = 'c'): void {
    const timestamp = formatTime(timers.now());
    const items = cpu.map((value, i) => ({
      metadata: { name: `${app}-${i}` },
      timestamp,
      window: '30s',
      containers: [{ name: container, usage: { cpu: value, memory } }],
    }));
    metrics.answers.set(`metrics namespaces/default/pods ${app}`, { items });
  }

  const cpu = (averageUtilization: number): MetricSpec => ({
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } },
  });

  it('goes up with the processor time', async () => {
    await deploy('up', 2);
    uses('up', ['900m', '700m']);
    await autoscale('up', { metrics: [cpu(40)] });
    await replicas('up', 4);
    const live = await until('up', 'rescaled', ({ status }) => status.desiredReplicas === 4);
    assert.equal(live.status.currentReplicas, 2);
    assert.equal(live.status.observedGeneration, 1);
    assert.ok(live.status.lastScaleTime);
    assert.deepEqual(live.status.currentMetrics, [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 80, averageValue: '800m' } } },
    ]);
    assert.equal(
      condition(live, 'AbleToScale'),
      'True SucceededRescale: the HPA controller was able to update the target scale to 4',
    );
    const name = 'cpu resource utilization (percentage of request)';
    assert.equal(
      condition(live, 'ScalingActive'),
      `True ValidMetricFound: the HPA was able to successfully calculate a replica count from ${name}`,
    );
    assert.equal(
      condition(live, 'ScalingLimited'),
      'False DesiredWithinRange: the desired count is within the acceptable range',
    );
    assert.equal((await event('up', 'SuccessfulRescale')).message, `New size: 4; reason: ${name} above target`);
  });

  it('goes down after five minutes of less', async () => {
    await deploy('down', 4);
    uses('down', ['100m', '100m', '100m', '100m']);
    await autoscale('down', { metrics: [cpu(40)] });
    const waiting = await withReason('down', 'AbleToScale', 'ScaleDownStabilized');
    assert.equal(waiting.status.desiredReplicas, 4);
    const begun = timers.now();
    await passUntil(replicas('down', 1));
    assert.ok(timers.now() - begun >= 290_000);
    assert.equal((await event('down', 'SuccessfulRescale')).message, 'New size: 1; reason: All metrics below target');
  });

  it('says that there are no metrics, without haste', async () => {
    await deploy('blind', 1);
    await autoscale('blind', { metrics: [cpu(40)] });
    const live = await withReason('blind', 'ScalingActive', 'FailedGetResourceMetric');
    const fault =
      'failed to get cpu utilization: unable to get metrics for resource cpu: ' +
      'unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)';
    assert.equal(
      condition(live, 'ScalingActive'),
      `False FailedGetResourceMetric: the HPA was unable to compute the replica count: ${fault}`,
    );
    assert.match(condition(live, 'AbleToScale'), /^True SucceededGetScale: /);
    assert.equal(live.status.desiredReplicas, 0);
    assert.equal(live.status.currentReplicas, 1);
    const event1 = await event('blind', 'FailedComputeMetricsReplicas');
    assert.equal(
      event1.message,
      `invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${fault}`,
    );
    assert.equal((await event('blind', 'FailedGetResourceMetric')).message, fault);
    const blind = { action: 'none', error: 'internal' };
    assert.ok((await scene.counted('horizontal_pod_autoscaler_controller_reconciliations_total', blind)) >= 1);
    const computed = 'horizontal_pod_autoscaler_controller_metric_computation_total';
    assert.ok((await scene.counted(computed, { ...blind, metric_type: 'Resource' })) >= 1);
    const before = metrics.asked.filter(({ query }) => query.labelSelector === 'app=blind').length;
    assert.ok(before <= 2, `asked ${before} times`);
  });

  it('says that there is no target, or none that can be scaled', async () => {
    await autoscale('lost');
    const lost = await withReason('lost', 'AbleToScale', 'FailedGetScale');
    assert.equal(
      condition(lost, 'AbleToScale'),
      'False FailedGetScale: the HPA controller was unable to get the target\'s current scale: deployments.apps "lost" not found',
    );
    await autoscale('odd-kind', {}, { apiVersion: 'apps/v1', kind: 'Oddity', name: 'x' });
    const odd = await withReason('odd-kind', 'AbleToScale', 'FailedGetScale');
    assert.match(condition(odd, 'AbleToScale'), /no matches for kind "Oddity" in group "apps"$/);
    await autoscale('no-scale', {}, { apiVersion: 'batch/v1', kind: 'Job', name: 'x' });
    const none = await withReason('no-scale', 'AbleToScale', 'FailedGetScale');
    assert.match(condition(none, 'AbleToScale'), /the server could not find the requested resource$/);
    assert.equal((await event('lost', 'FailedGetScale')).type, 'Warning');
  });

  it('keeps the range, without any metrics', async () => {
    await deploy('few', 1);
    await autoscale('few', { minReplicas: 3, metrics: [cpu(40)] });
    await replicas('few', 3);
    const reason = 'Current number of replicas below Spec.MinReplicas';
    assert.equal((await event('few', 'SuccessfulRescale')).message, `New size: 3; reason: ${reason}`);
    await deploy('many', 9, 0);
    await autoscale('many', { maxReplicas: 5, metrics: [cpu(40)] });
    await replicas('many', 5);
  });

  it('leaves what has no replicas', async () => {
    await deploy('off', 0);
    await autoscale('off', { metrics: [cpu(40)] });
    const live = await withReason('off', 'ScalingActive', 'ScalingDisabled');
    assert.match(condition(live, 'ScalingActive'), /since the replica count of the target is zero$/);
    assert.equal(live.status.desiredReplicas, 0);
  });

  it('does not go up faster than it may, nor above the maximum', async () => {
    await deploy('fast', 3);
    uses('fast', ['4', '4', '4']);
    await autoscale('fast', { metrics: [cpu(20)], maxReplicas: 50 });
    await replicas('fast', 6);
    assert.match(condition(await withReason('fast', 'ScalingLimited', 'ScaleUpLimit'), 'ScalingLimited'), /^True /);
  });

  it('follows its own rules', async () => {
    await deploy('rules', 8);
    uses(
      'rules',
      Array.from({ length: 8 }, () => '100m'),
    );
    await autoscale('rules', {
      metrics: [cpu(50)],
      behavior: {
        scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }] },
      },
    });
    await replicas('rules', 6);
    const first = await until('rules', 'six', ({ status }) => status.desiredReplicas === 6);
    assert.match(condition(first, 'ScalingLimited'), /^True ScaleDownLimit: /);
    const second = await passUntil(until('rules', 'four', ({ status }) => status.desiredReplicas === 4));
    const [at, later] = [first, second].map(({ status }) => Date.parse(status.lastScaleTime ?? '')) as [number, number];
    assert.ok(later - at >= 60_000);
  });

  it('follows its own tolerance', async () => {
    await deploy('exact', 2);
    uses('exact', ['520m', '520m']);
    await autoscale('exact', { metrics: [cpu(50)], behavior: { scaleUp: { tolerance: '10m' } } });
    await replicas('exact', 3);
  });

  it('takes the greatest of several metrics, and does not go down when one is unknown', async () => {
    await deploy('several', 4);
    uses('several', ['800m', '800m', '800m', '800m'], '10Mi');
    const memory: MetricSpec = {
      type: 'Resource',
      resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '50Mi' } },
    };
    const unknown: MetricSpec = {
      type: 'External',
      external: { metric: { name: 'unknown' }, target: { type: 'Value', value: '1' } },
    };
    await autoscale('several', { metrics: [memory, cpu(40), unknown] });
    await replicas('several', 8);
    const live = await until('several', 'rescaled', ({ status }) => status.desiredReplicas === 8);
    assert.equal(live.status.currentMetrics?.length, 2);
    await deploy('careful', 4);
    uses('careful', ['10m', '10m', '10m', '10m'], '10Mi');
    await autoscale('careful', { metrics: [memory, unknown] });
    const kept = await withReason('careful', 'ScalingActive', 'FailedGetExternalMetric');
    assert.equal(kept.status.desiredReplicas, 0);
  });

  it('measures single containers', async () => {
    await deploy('container', 1);
    uses('container', ['800m']);
    const metric = (container: string): MetricSpec => ({
      type: 'ContainerResource',
      containerResource: { name: 'cpu', container, target: { type: 'Utilization', averageUtilization: 40 } },
    });
    await autoscale('container', { metrics: [metric('c')] });
    await replicas('container', 2);
    await deploy('no-container', 1);
    uses('no-container', ['800m']);
    await autoscale('no-container', { metrics: [metric('other')] });
    const live = await withReason('no-container', 'ScalingActive', 'FailedGetContainerResourceMetric');
    assert.match(
      condition(live, 'ScalingActive'),
      /container other not present in metrics for pod default\/no-container-0$/,
    );
  });

  it('says that requests are missing', async () => {
    await deploy('no-requests', 1);
    uses('no-requests', ['800m']);
    const metric: MetricSpec = {
      type: 'Resource',
      resource: { name: 'ephemeral-storage', target: { type: 'Utilization', averageUtilization: 40 } },
    };
    metrics.answers.set('metrics namespaces/default/pods no-requests', {
      items: [
        { metadata: { name: 'no-requests-0' }, containers: [{ name: 'c', usage: { 'ephemeral-storage': '1' } }] },
      ],
    });
    await autoscale('no-requests', { metrics: [metric] });
    const live = await withReason('no-requests', 'ScalingActive', 'FailedGetResourceMetric');
    assert.match(
      condition(live, 'ScalingActive'),
      /missing request for ephemeral-storage in container c of Pod no-requests-0$/,
    );
  });

  it('follows metrics of pods, of other objects and from outside', async () => {
    const item = (name: string, value: string) => ({ describedObject: { name }, timestamp: formatTime(0), value });
    await deploy('by-pods', 2);
    metrics.answers.set('custom.metrics namespaces/default/pods/*/requests', {
      items: [item('by-pods-0', '30'), item('by-pods-1', '10')],
    });
    await autoscale('by-pods', {
      metrics: [
        {
          type: 'Pods',
          pods: {
            metric: { name: 'requests', selector: { matchLabels: { verb: 'GET' } } },
            target: { type: 'AverageValue', averageValue: '10' },
          },
        },
      ],
    });
    await replicas('by-pods', 4);
    assert.deepEqual(metrics.last('custom.metrics')?.query, {
      labelSelector: 'app=by-pods',
      metricLabelSelector: 'verb=GET',
    });
    await deploy('by-object', 2);
    metrics.answers.set('custom.metrics namespaces/default/services/main/hits', { items: [item('main', '3k')] });
    await autoscale('by-object', {
      metrics: [
        {
          type: 'Object',
          object: {
            metric: { name: 'hits' },
            describedObject: { apiVersion: 'v1', kind: 'Service', name: 'main' },
            target: { type: 'Value', value: '2k' },
          },
        },
      ],
    });
    await replicas('by-object', 3);
    await deploy('by-queue', 2);
    metrics.answers.set('external.metrics namespaces/default/queue', {
      items: [
        { metricName: 'queue', value: '20' },
        { metricName: 'queue', value: '12500m' },
      ],
    });
    await autoscale('by-queue', {
      metrics: [
        {
          type: 'External',
          external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '10' } },
        },
      ],
    });
    await replicas('by-queue', 4);
    const live = await until('by-queue', 'measured', ({ status }) => status.currentMetrics !== null);
    assert.deepEqual(live.status.currentMetrics, [
      { type: 'External', external: { metric: { name: 'queue' }, current: { averageValue: '16250m' } } },
    ]);
  });

  it('takes nonsense from an extension server for a fault', async () => {
    await deploy('nonsense', 1);
    await autoscale('nonsense', { metrics: [cpu(40)] });
    for (const [answer, fault] of [
      [{ items: 7 }, /no metrics returned from resource metrics API$/],
      [
        { items: [{ metadata: { name: 'nonsense-0' }, containers: [{ usage: { cpu: 'x' } }] }] },
        /quantities must match/,
      ],
      [{ items: [null] }, /did not receive metrics for targeted pods/],
    ] as const) {
      metrics.answers.set('metrics namespaces/default/pods nonsense', answer);
      await passUntil(until('nonsense', String(fault), (live) => fault.test(condition(live, 'ScalingActive'))));
    }
  });

  it('scales nothing that another autoscaler scales', async () => {
    await deploy('shared', 1);
    await deploy('shared-too', 1, 0, { app: 'shared' });
    await autoscale('shared-a', { metrics: [cpu(40)] }, { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shared' });
    await autoscale(
      'shared-b',
      { metrics: [cpu(40)] },
      { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shared-too' },
    );
    const live = await withReason('shared-b', 'ScalingActive', 'AmbiguousSelector');
    assert.equal(
      condition(live, 'ScalingActive'),
      'False AmbiguousSelector: pods by selector app=shared are controlled by multiple HPAs: [default/shared-a default/shared-b]',
    );
  });

  it('scales other kinds with replicas, and does not without a selector', async () => {
    const template = { metadata: { labels: { app: 'rc' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await scene.create<Scaled>('replicationcontrollers', {
      metadata: { name: 'rc', namespace: 'default' },
      spec: { replicas: 1, selector: { app: 'rc' }, template },
    } as DeepPartial<Scaled>);
    await autoscale('rc', { minReplicas: 2 }, { apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' });
    await scene.until<Scaled, Scaled>('replicationcontrollers', '2 replicas', (all) =>
      all.find(({ spec }) => spec.replicas === 2),
    );
  });

  it('keeps its peace while two processes do the same', async () => {
    const second = await scene.run(['horizontalpodautoscaling'], timers, undefined, { metrics });
    await deploy('fought', 2);
    uses('fought', ['900m', '700m']);
    await autoscale('fought', { metrics: [cpu(40)] });
    await replicas('fought', 4);
    await until('fought', 'rescaled', ({ status }) => status.desiredReplicas === 4);
    await second.stop();
  });
});
