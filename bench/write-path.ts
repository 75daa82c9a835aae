/**
 * CPU of the write path without network and database: the cost of a create of a 2 KB pod, and of an apply of the same
 * pod, each from body to stored text. The work is synchronous, so the time of one call is its CPU time unless something
 * else ran in between: look at the median.
 *
 *   node dist/bench/write-path.js [rounds]
 */

import type { ApiObject } from '../src/base/machinery/api-object.js';
import { formatTime, systemClock } from '../src/base/machinery/clock.js';
import { applyPatch } from '../src/base/machinery/managed-fields/index.js';
import type { RequestContext } from '../src/base/machinery/request-context.js';
import { vendorNames } from '../src/base/machinery/vendor.js';
import { Metrics } from '../src/base/observability/metrics.js';
import { podResource } from '../src/modules/core/pod/pod.resource.js';
import { metaKinds } from '../src/objects/apis/meta/v1/meta-kinds.js';
import { applyDefaults } from '../src/objects/registry/definition/apply-defaults.js';
import { beforeCreate } from '../src/objects/registry/metadata/before-create.js';
import { beforeUpdate } from '../src/objects/registry/metadata/before-update.js';
import { ResourceRegistry, type StoredServedResource } from '../src/objects/registry/resource-registry.js';
import { encodeForStorage, parseStored, toStored } from '../src/objects/registry/store/object-codec.js';
import { ResourceStores } from '../src/objects/registry/store/resource-stores.js';
import { EndpointServices } from '../src/server/endpoints/endpoint-services.js';
import { decodeBody, parseBody } from '../src/server/endpoints/negotiation/decode-body.js';
import { decodePatched } from '../src/server/endpoints/negotiation/decode-patched.js';
import type { WriteOptions } from '../src/server/endpoints/negotiation/write-options.js';
import { trackFields } from '../src/server/endpoints/writes/managed-fields.js';
import type { Storage } from '../src/storage/storage.interface.js';

const rounds = Number(process.argv[2] ?? 20_000);
const names = vendorNames('k8s.io');
const registry = new ResourceRegistry();
const storage = undefined as unknown as Storage;
const stores = new ResourceStores(registry, storage, systemClock);
registry.register(podResource(names, stores));
const pods = registry.findStoredResource('', 'v1', 'pods') as StoredServedResource;
const services = new EndpointServices(
  stores,
  names,
  new Metrics(),
  {
    maxBodyBytes: 3 << 20,
    minRequestTimeoutSeconds: 1800,
    maxConnectionBytesPerSecond: 0,
    listPageSize: 500,
    deleteCollectionWorkers: 8,
    garbageCollector: false,
    shutdown: new AbortController().signal,
  },
  metaKinds,
);

const podPath = { services, resource: pods, subresource: undefined };
const gvk = { group: '', version: 'v1', kind: 'Pod' };
const writeOptions: WriteOptions = {
  dryRun: false,
  fieldManager: 'bench',
  fieldManagerGiven: true,
  fieldValidation: 'Warn',
  force: false,
};

function newContext(): RequestContext {
  return {
    requestInfo: { apiVersion: 'v1', apiGroup: '', resource: 'pods' },
    query: new URLSearchParams(),
    userAgent: 'bench',
    receivedAt: Date.now(),
    signal: new AbortController().signal,
    user: { name: 'bench', uid: '', groups: [], extra: {} },
    warnings: [],
    auditAnnotations: new Map(),
  } as unknown as RequestContext;
}

/** A pod as people write it, about 2 KB: three containers with ports, environment, resources and a probe. */
function podBody(name: string, image: string): Buffer {
  const container = (n: number) => ({
    name: `container-${n}`,
    image: `registry.example.com/team/application-${n}:${image}`,
    ports: [{ name: `http-${n}`, containerPort: 8080 + n }],
    env: [
      { name: 'POD_IP', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'status.podIP' } } },
      { name: 'LOG_LEVEL', value: 'info' },
    ],
    resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '50m', memory: '64Mi' } },
    readinessProbe: { httpGet: { path: '/ready', port: 8080 + n }, periodSeconds: 5 },
    volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
  });
  return Buffer.from(
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace: 'default',
        labels: { app: 'bench', tier: 'backend' },
        annotations: { note: 'x'.repeat(200) },
      },
      spec: {
        containers: [1, 2, 3].map(container),
        volumes: [{ name: 'config', configMap: { name: 'application-config' } }],
        nodeSelector: { disktype: 'ssd' },
      },
    }),
  );
}

function create(body: Buffer): string {
  const context = newContext();
  const object = decodeBody(context, pods.served.type, gvk, body, 'json', 'Warn');
  applyDefaults(pods, object);
  void trackFields({ ...podPath, context }, writeOptions, undefined, object);
  const stored = toStored(pods, object);
  beforeCreate(context, pods.definition, stored, systemClock);
  return encodeForStorage(pods, stored);
}

function apply(json: string, body: Buffer): string {
  const context = newContext();
  const live = parseStored(pods, { json, resourceVersion: 7n });
  const config = parseBody(body, 'json') as Record<string, unknown>;
  const result = applyPatch(pods.served.type, live, config, {
    manager: 'applier',
    apiVersion: 'v1',
    time: formatTime(systemClock.now()),
    force: true,
    lastAppliedAnnotation: names.lastAppliedAnnotation,
    versions: () => undefined,
  });
  if (result.kind === 'conflicts') throw new Error('conflicts');
  const object: ApiObject = decodePatched(context, pods.served.type, gvk, result.object, 'Warn');
  applyDefaults(pods, object);
  const stored = toStored(pods, object);
  beforeUpdate(context, pods.definition, stored, live, undefined);
  return encodeForStorage(pods, stored);
}

function measure(name: string, work: (round: number) => unknown): void {
  for (let i = 0; i < Math.min(5_000, rounds); i++) work(i);
  const times = new Float64Array(rounds);
  const cpu = process.cpuUsage();
  for (let i = 0; i < rounds; i++) {
    const start = performance.now();
    work(i);
    times[i] = performance.now() - start;
  }
  const { user, system } = process.cpuUsage(cpu);
  times.sort();
  const at = (q: number) => ((times[Math.floor(rounds * q)] as number) * 1000).toFixed(0);
  const mean = ((user + system) / rounds).toFixed(0);
  console.log(`${name}: p50 ${at(0.5)} us, p99 ${at(0.99)} us, CPU per call with garbage collection ${mean} us`);
}

const bodies = Array.from({ length: 64 }, (_, i) => podBody(`pod-${i}`, `v${i}`));
console.log(`body ${bodies[0]?.length} bytes, stored ${create(bodies[0] as Buffer).length} characters`);
measure('create', (i) => create(bodies[i % 64] as Buffer));

// The applier owns the pod already and changes the images, as most applies do.
const first = apply(create(podBody('pod-0', 'v0')), podBody('pod-0', 'v0'));
measure('apply with a change', (i) => apply(first, podBody('pod-0', `v${1 + (i % 2)}`)));
measure('apply without a change', () => apply(first, bodies[0] as Buffer));
