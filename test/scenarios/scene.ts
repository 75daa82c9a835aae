import assert from 'node:assert/strict';
import type { ApiClient } from '../e2e/support/api-client.js';
import { eventually } from '../e2e/support/test-cluster.js';

// biome-ignore lint/suspicious/noExplicitAny: scenarios read whatever the server answers
export type Any = any;

/** One promise of control loops, tested as a client would see it. */
export interface Scenario {
  readonly name: string;
  /** The release of upstream that introduced the promise, when that is later than 1.20. */
  readonly since?: string;
  /** Why upstream's loops end differently, where that is known. */
  readonly upstream?: string;
  /** Runs when no other scenario runs: it changes shared objects. */
  readonly isAlone?: boolean;
  run(scene: Scene): Promise<void>;
}

/** Where a resource is served, without the namespace. */
const places: Readonly<Record<string, string>> = {
  deployments: '/apis/apps/v1',
  replicasets: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  controllerrevisions: '/apis/apps/v1',
  jobs: '/apis/batch/v1',
  cronjobs: '/apis/batch/v1',
  endpointslices: '/apis/discovery.k8s.io/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  horizontalpodautoscalers: '/apis/autoscaling/v2',
  priorityclasses: '/apis/scheduling.k8s.io/v1',
  storageclasses: '/apis/storage.k8s.io/v1',
  customresourcedefinitions: '/apis/apiextensions.k8s.io/v1',
  clusterroles: '/apis/rbac.authorization.k8s.io/v1',
  certificatesigningrequests: '/apis/certificates.k8s.io/v1',
};
const clusterScoped = new Set([
  'nodes',
  'namespaces',
  'persistentvolumes',
  'priorityclasses',
  'storageclasses',
  'customresourcedefinitions',
  'clusterroles',
  'certificatesigningrequests',
]);

/** The namespace of one scenario, seen through one server. */
export class Scene {
  constructor(
    readonly client: ApiClient,
    readonly namespace: string,
    private readonly patienceMs: number,
  ) {}

  /** The path of a resource, of one of its objects, or below that (`web/scale`). */
  path(resource: string, name = ''): string {
    const place = places[resource] ?? '/api/v1';
    const within = clusterScoped.has(resource) ? '' : `/namespaces/${this.namespace}`;
    return `${place}${within}/${resource}${name === '' ? '' : `/${name}`}`;
  }

  async create(resource: string, body: object): Promise<Any> {
    const answer = await this.client.post(this.path(resource), body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  async get(resource: string, name: string): Promise<Any> {
    const answer = await this.client.get(this.path(resource, name));
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async list(resource: string, selector = ''): Promise<Any[]> {
    const query = selector === '' ? '' : `?labelSelector=${encodeURIComponent(selector)}`;
    const answer = await this.client.get(this.path(resource) + query);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.items;
  }

  async patch(resource: string, name: string, body: object, type = 'merge'): Promise<Any> {
    const answer = await this.client.patch(this.path(resource, name), type, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async delete(resource: string, name: string, options: object = {}): Promise<void> {
    const answer = await this.client.delete(this.path(resource, name), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...options,
    });
    assert.ok(answer.status === 200 || answer.status === 202, answer.text);
  }

  /** Waits until an object satisfies a test, and resolves with it. */
  async until(resource: string, name: string, what: string, isSo: (object: Any) => unknown): Promise<Any> {
    let last: Any;
    try {
      return await eventually(
        async () => {
          const answer = await this.client.get(this.path(resource, name));
          last = answer.body;
          return answer.status === 200 && isSo(answer.body) ? answer.body : undefined;
        },
        what,
        this.patienceMs,
      );
    } catch {
      throw new Error(
        `waited in vain: ${what}: ${JSON.stringify({ ...last?.metadata, managedFields: undefined })} ${JSON.stringify(last?.status)}`,
      );
    }
  }

  /** Waits until the objects of a resource satisfy a test, and resolves with them. */
  async untilAll(resource: string, what: string, isSo: (objects: Any[]) => unknown, selector = ''): Promise<Any[]> {
    let last: Any[] = [];
    try {
      return await eventually(
        async () => {
          last = await this.list(resource, selector);
          return isSo(last) ? last : undefined;
        },
        what,
        this.patienceMs,
      );
    } catch {
      const shown = last.map(({ metadata, status }) => ({
        name: metadata.name,
        deletion: metadata.deletionTimestamp,
        status,
      }));
      throw new Error(`waited in vain: ${what}: ${JSON.stringify(shown).slice(0, 2000)}`);
    }
  }

  /** Waits until another condition holds. */
  async wait(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await eventually(isSo, what, this.patienceMs);
  }

  /** Waits until an object has gone. */
  async untilGone(resource: string, name: string): Promise<void> {
    const isGone = async () => (await this.client.get(this.path(resource, name))).status === 404;
    await eventually(isGone, `the end of ${resource} ${name}`, this.patienceMs);
  }

  /** Waits for an event, and resolves with its message. */
  async event(reason: string, about: string, text = /./): Promise<string> {
    const isMeant = ({ reason: of, involvedObject, message }: Any) =>
      of === reason && involvedObject.name.startsWith(about) && text.test(message);
    const found = await this.untilAll('events', `event ${reason} of ${about}`, (events) => events.some(isMeant));
    return found.find(isMeant).message;
  }

  /** Checks that something stays unchanged for a while: for events that must not happen. */
  async stays(what: string, isSo: () => Promise<boolean>, ms = 1500): Promise<void> {
    const until = performance.now() + ms;
    while (performance.now() < until) {
      assert.ok(await isSo(), what);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** The annotations that control how simulated nodes simulate a pod. */
export const pretend = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [`sim.plinth.dev/${name}`, value]));

/** A pod template with one container. */
export function template(labels: object, annotations: object = {}, spec: object = {}, image = 'web:1') {
  return {
    metadata: { labels, annotations },
    spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image }], ...spec },
  };
}

export const deployment = (
  name: string,
  replicas: number,
  spec: object = {},
  pod: object = template({ app: name }),
) => ({
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: name } }, template: pod, ...spec },
});

/** The condition of a type. */
export const condition = (object: Any, type: string): Any =>
  object.status?.conditions?.find((each: Any) => each.type === type);

export const isReady = (pod: Any) =>
  condition(pod, 'Ready')?.status === 'True' && pod.metadata.deletionTimestamp === undefined;

export const ownedBy = (uid: string) => (object: Any) =>
  (object.metadata.ownerReferences ?? []).some((owner: Any) => owner.uid === uid && owner.controller === true);

/** A reference to an owner, which is a ConfigMap unless the object itself has a kind. */
export const ownerReference = ({ kind = 'ConfigMap', apiVersion = 'v1', metadata }: Any, fields: object = {}) => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...fields,
});
