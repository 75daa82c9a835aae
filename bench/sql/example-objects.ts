import { podJson } from '../pod-json.js';

/** An object to store, with the key that it is stored under. */
export interface ExampleObject {
  /** `resource` or `resource.group`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly object: Record<string, unknown>;
}

const namespaces = ['shop', ...Array.from({ length: 19 }, (_, i) => `team-${i + 1}`)];
const nodeCount = 500;
const podsPerSet = 50;
const teams = ['payments', 'search', 'catalogue', 'identity', 'web'];

/** The first set of a namespace belongs to the deployment `web`. */
function appOf(set: number): string {
  return set === 0 ? 'web' : `app-${set}`;
}

function time(index: number): string {
  return new Date(1_750_000_000_000 + index * 10_000).toISOString().replace('.000', '');
}

function metadata(name: string, namespace: string, uid: string, more: object = {}, index = 0): object {
  return {
    name,
    ...(namespace === '' ? {} : { namespace }),
    uid,
    creationTimestamp: time(index),
    ...more,
  };
}

/**
 * The example cluster for the queries: pods of 3 KB in 20 namespaces on 500 nodes, fifty of each replica set, and some
 * thousands of other objects. The same for the same numbers.
 */
export class ExampleCluster {
  readonly podCount: number;
  private readonly setsPerNamespace: number;

  /** @param pods rounded up to whole replica sets */
  constructor(pods: number) {
    this.setsPerNamespace = Math.max(1, Math.ceil(pods / namespaces.length / podsPerSet));
    this.podCount = this.setsPerNamespace * namespaces.length * podsPerSet;
  }

  /** Everything besides pods. */
  *others(): Generator<ExampleObject> {
    for (const [i, name] of namespaces.entries()) {
      yield make('namespaces', '', name, { kind: 'Namespace', status: { phase: 'Active' } }, {}, i);
    }
    const condition = {
      type: 'NamespaceFinalizersRemaining',
      status: 'True',
      message: 'example.com/hold in 1 resource',
    };
    const stuck = { kind: 'Namespace', status: { phase: 'Terminating', conditions: [condition] } };
    yield make('namespaces', '', 'old-shop', stuck, { deletionTimestamp: time(9) });
    for (let i = 0; i < nodeCount; i++) {
      const ready = { type: 'Ready', status: i % 100 === 7 ? 'False' : 'True', reason: 'KubeletReady' };
      const node = {
        kind: 'Node',
        spec: i % 50 === 3 ? { unschedulable: true } : {},
        status: { conditions: [ready], allocatable: { cpu: '64', memory: '256Gi', pods: '250' } },
      };
      yield make('nodes', '', `node-${i}`, node, { labels: { zone: `zone-${i % 3}` } }, i);
    }
    for (const [n, namespace] of namespaces.entries()) yield* this.ofNamespace(namespace, n);
    const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }];
    for (const [name, role] of Object.entries({ operators: 'cluster-admin', readers: 'view', editors: 'edit' })) {
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
      yield make('clusterrolebindings.rbac.authorization.k8s.io', '', name, {
        kind: 'ClusterRoleBinding',
        roleRef,
        subjects,
      });
    }
  }

  private *ofNamespace(namespace: string, n: number): Generator<ExampleObject> {
    for (let set = 0; set < this.setsPerNamespace; set++) {
      const app = appOf(set);
      const labels = { app, team: teams[set % teams.length] };
      const replicas = { replicas: podsPerSet };
      const deployment = {
        kind: 'Deployment',
        spec: {
          ...replicas,
          template: { spec: { containers: [{ name: 'main', image: `registry.example.com/${app}:v1` }] } },
        },
        status: { ...replicas, updatedReplicas: set % 40 === 5 ? 10 : podsPerSet, availableReplicas: podsPerSet },
      };
      yield make(
        'deployments.apps',
        namespace,
        app,
        deployment,
        { labels, managedFields: managers('kubectl', set) },
        set,
      );
      const ownerReferences = [{ kind: 'Deployment', name: app, controller: true }];
      const replicaSet = { kind: 'ReplicaSet', spec: replicas, status: replicas };
      yield make('replicasets.apps', namespace, `${app}-7d4`, replicaSet, { labels, ownerReferences }, set);
      const service = {
        kind: 'Service',
        spec: { type: set % 20 === 1 ? 'LoadBalancer' : 'ClusterIP', selector: { app } },
      };
      yield make('services', namespace, app, service, { labels }, set);
      yield make(
        'configmaps',
        namespace,
        `${app}-settings`,
        { kind: 'ConfigMap', data: { color: 'green' } },
        { labels },
        set,
      );
      const data = { 'tls.crt': 'eA==', 'tls.key': 'eQ==', ...(set % 25 === 0 ? {} : { 'ca.crt': 'eg==' }) };
      yield make(
        'secrets',
        namespace,
        `${app}-tls`,
        { kind: 'Secret', type: 'kubernetes.io/tls', data },
        { labels },
        set,
      );
      const claim = {
        kind: 'PersistentVolumeClaim',
        spec: {},
        status: { phase: set % 33 === 4 ? 'Pending' : 'Bound' },
      };
      yield make('persistentvolumeclaims', namespace, `${app}-data`, claim, { labels }, set);
      for (let i = 0; i < 3; i++) {
        const event = {
          kind: 'Event',
          involvedObject: { kind: 'Pod', namespace, name: podName(set, i) },
          reason: i === 0 ? 'FailedScheduling' : 'Started',
          type: i === 0 ? 'Warning' : 'Normal',
          lastTimestamp: time(n * 100 + set),
          count: i + 1,
        };
        yield make('events', namespace, `${podName(set, i)}.${n}`, event);
      }
    }
  }

  /** One pod. `revision` changes its status and, where `image` says so, the image. */
  pod(index: number, revision = 0, image = 1): ExampleObject {
    const namespace = namespaces[index % namespaces.length] ?? '';
    const rest = Math.floor(index / namespaces.length);
    const [set, i] = [rest % this.setsPerNamespace, Math.floor(rest / this.setsPerNamespace)];
    const app = appOf(set);
    const name = podName(set, i);
    const object = JSON.parse(podJson(name, index % nodeCount)) as {
      metadata: object;
      spec: Record<string, unknown> & { containers: { image: string }[] };
      status: Record<string, unknown> & { containerStatuses: Record<string, unknown>[] };
    };
    const uid = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
    object.metadata = metadata(
      name,
      namespace,
      uid,
      {
        labels: { app, team: teams[set % teams.length], 'pod-template-hash': '7d4' },
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${app}-7d4`, uid, controller: true }],
        managedFields: managers('kubelet', revision),
      },
      index % 10_000,
    );
    object.spec.nodeName = `node-${index % nodeCount}`;
    object.spec.serviceAccountName = index % 1000 === 1 ? 'deployer' : 'default';
    if (index % 5000 === 2) object.spec.hostNetwork = true;
    const [first, second] = object.spec.containers;
    if (first !== undefined) first.image = `registry.example.com/${app}:v${image}`;
    if (second !== undefined) second.image = 'registry.example.com/proxy:v3';
    object.status.phase = index % 200 === 0 ? 'Pending' : index % 5000 === 4 ? 'Failed' : 'Running';
    object.status.observed = revision;
    const [status] = object.status.containerStatuses;
    if (status !== undefined) status.restartCount = revision;
    if (status !== undefined && index % 2500 === 3) status.state = { waiting: { reason: 'CrashLoopBackOff' } };
    return { resource: 'pods', namespace, name, uid, object: object as never };
  }

  /** The deployment `web` of the namespace `shop` with other numbers. */
  web(replicas: number, image: string, manager: string): ExampleObject {
    const spec = { replicas, template: { spec: { containers: [{ name: 'main', image }] } } };
    const object = { kind: 'Deployment', spec, status: { replicas, updatedReplicas: replicas } };
    const fields = { labels: { app: 'web', team: 'payments' }, managedFields: managers(manager, replicas) };
    return make('deployments.apps', 'shop', 'web', object, fields);
  }
}

function podName(set: number, i: number): string {
  return `${appOf(set)}-7d4-${(i + 100_000).toString(36)}`;
}

function managers(manager: string, revision: number): object[] {
  const fields = {
    'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } } },
  };
  const entry = (name: string, index: number) => ({
    manager: name,
    operation: 'Update',
    apiVersion: 'v1',
    time: time(index),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
  });
  return [entry('controllers', 0), entry(manager, revision + 1)];
}

function make(
  resource: string,
  namespace: string,
  name: string,
  object: Record<string, unknown>,
  more: object = {},
  index = 0,
): ExampleObject {
  const uid = `${resource}/${namespace}/${name}`;
  return {
    resource,
    namespace,
    name,
    uid,
    object: { apiVersion: 'v1', ...object, metadata: metadata(name, namespace, uid, more, index) },
  };
}
