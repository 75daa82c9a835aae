import { dig, listAt, numberAt, textAt } from './dig.js';
import type { Right } from './right.js';

/** What the page can do with an object beside showing and editing it. */
export type ActionId =
  | 'scale'
  | 'restart'
  | 'rollback'
  | 'pause'
  | 'suspend'
  | 'trigger'
  | 'cordon'
  | 'drain'
  | 'evict'
  | 'approve'
  | 'deny';

export interface Action {
  readonly id: ActionId;
  readonly title: string;
  /** What happens, in a sentence. */
  readonly help: string;
  /** All rights that it needs. */
  readonly rights: readonly Right[];
}

interface Subject {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Resources that have replicas to set. */
const scaled: ReadonlySet<string> = new Set([
  ...['deployments.apps', 'statefulsets.apps', 'replicasets.apps', 'replicationcontrollers'],
]);
/** Resources that keep their earlier templates. */
const rolled: ReadonlySet<string> = new Set(['deployments.apps', 'statefulsets.apps', 'daemonsets.apps']);

/** What can be done with an object as it is now, the most used first. */
export function actionsOf(subject: Subject, object: unknown): readonly Action[] {
  const { group, resource, namespace, name } = subject;
  const named = group === '' ? resource : `${resource}.${group}`;
  const patch: Right = { verb: 'patch', group, resource, namespace, name };
  const actions: Action[] = [];
  const add = (id: ActionId, title: string, help: string, ...rights: readonly Right[]) =>
    actions.push({ id, title, help, rights });
  if (scaled.has(named))
    add('scale', 'Scale…', 'Sets how many pods there should be', { ...patch, subresource: 'scale' });
  if (rolled.has(named)) {
    add('restart', 'Restart', 'Replaces all pods, as its strategy says', patch);
    const revisions = resource === 'deployments' ? 'replicasets' : 'controllerrevisions';
    add(
      'rollback',
      'Roll back…',
      'Returns to an earlier template',
      { verb: 'list', group, resource: revisions, namespace },
      patch,
    );
  }
  if (named === 'deployments.apps') {
    const isPaused = dig(object, 'spec', 'paused') === true;
    const help = isPaused ? 'Rolls out what has changed meanwhile' : 'Collects changes without rolling them out';
    add('pause', isPaused ? 'Resume rollout' : 'Pause rollout', help, patch);
  }
  if (named === 'cronjobs.batch') {
    add('trigger', 'Run now', 'Makes a job of it at once', { verb: 'create', group, resource: 'jobs', namespace });
  }
  if (named === 'cronjobs.batch' || (named === 'jobs.batch' && !hasEnded(object))) {
    const isSuspended = dig(object, 'spec', 'suspend') === true;
    add(
      'suspend',
      isSuspended ? 'Resume' : 'Suspend',
      isSuspended ? 'Lets it run again' : 'Keeps it from running',
      patch,
    );
  }
  if (named === 'nodes') {
    const isCordoned = dig(object, 'spec', 'unschedulable') === true;
    const help = isCordoned ? 'Lets new pods onto the node' : 'Keeps new pods off the node';
    add('cordon', isCordoned ? 'Uncordon' : 'Cordon', help, patch);
    const evict: Right = { verb: 'create', group: '', resource: 'pods', subresource: 'eviction' };
    const list: Right = { verb: 'list', group: '', resource: 'pods' };
    add('drain', 'Drain…', 'Cordons the node and evicts its pods', patch, list, evict);
  }
  if (named === 'pods' && !['Succeeded', 'Failed'].includes(textAt(object, 'status', 'phase'))) {
    const evict: Right = { verb: 'create', group: '', resource: 'pods', subresource: 'eviction', namespace, name };
    add('evict', 'Evict', 'Ends the pod if disruption budgets allow it', evict);
  }
  if (resource === 'certificatesigningrequests' && listAt(object, 'status', 'conditions').length === 0) {
    const update: Right = { verb: 'update', group, resource, subresource: 'approval', name };
    const signer: Right = { verb: 'approve', group, resource: 'signers', name: textAt(object, 'spec', 'signerName') };
    add('approve', 'Approve', 'Lets the signer issue the certificate', update, signer);
    add('deny', 'Deny', 'Refuses the certificate for good', update, signer);
  }
  return actions;
}

function hasEnded(job: unknown): boolean {
  return listAt(job, 'status', 'conditions').some(
    (each) => ['Complete', 'Failed'].includes(textAt(each, 'type')) && textAt(each, 'status') === 'True',
  );
}

/** A request that carries out an action. The path is that of the object. */
export interface ActionRequest {
  readonly method: 'PATCH' | 'POST' | 'PUT';
  readonly path: string;
  readonly contentType: string;
  readonly body: object;
}

const mergePatch = 'application/merge-patch+json';
const json = 'application/json';

/** Who has restarted a workload when, as `kubectl rollout restart` writes it. */
const restartedAt = 'kubectl.kubernetes.io/restartedAt';

function patchOf(path: string, body: object): ActionRequest {
  return { method: 'PATCH', path, contentType: mergePatch, body };
}

export function restartRequest(path: string, now: Date): ActionRequest {
  const annotations = { [restartedAt]: now.toISOString().replace(/\.\d+Z$/, 'Z') };
  return patchOf(path, { spec: { template: { metadata: { annotations } } } });
}

export function scaleRequest(path: string, replicas: number): ActionRequest {
  return patchOf(`${path}/scale`, { spec: { replicas } });
}

/** Sets a field of the specification to the opposite. */
export function flipRequest(
  path: string,
  object: unknown,
  field: 'paused' | 'suspend' | 'unschedulable',
): ActionRequest {
  return patchOf(path, { spec: { [field]: dig(object, 'spec', field) !== true } });
}

export function evictRequest(podPath: string, pod: unknown): ActionRequest {
  const [name, namespace] = [textAt(pod, 'metadata', 'name'), textAt(pod, 'metadata', 'namespace')];
  const uid = textAt(pod, 'metadata', 'uid');
  const deleteOptions = uid === '' ? {} : { deleteOptions: { preconditions: { uid } } };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace }, ...deleteOptions };
  return { method: 'POST', path: `${podPath}/eviction`, contentType: json, body };
}

const mostOfName = 52;

/** The job that `kubectl create job --from` would create from a CronJob. */
export function jobOf(cronJob: unknown, suffix: string): { readonly name: string; readonly body: object } {
  const template = dig(cronJob, 'spec', 'jobTemplate');
  const own = textAt(cronJob, 'metadata', 'name');
  const name = `${own.slice(0, mostOfName - suffix.length - 1)}-${suffix}`;
  const metadata = {
    name,
    labels: dig(template, 'metadata', 'labels') ?? {},
    annotations: {
      ...((dig(template, 'metadata', 'annotations') as object | undefined) ?? {}),
      'cronjob.kubernetes.io/instantiate': 'manual',
    },
    ownerReferences: [
      { apiVersion: 'batch/v1', kind: 'CronJob', name: own, uid: textAt(cronJob, 'metadata', 'uid'), controller: true },
    ],
  };
  return { name, body: { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: dig(template, 'spec') } };
}

/** Approves or denies a certificate request. */
export function decideRequest(
  path: string,
  request: unknown,
  type: 'Approved' | 'Denied',
  user: string,
): ActionRequest {
  const condition = {
    type,
    status: 'True',
    reason: 'DecidedInConsole',
    message: `${type === 'Approved' ? 'approved' : 'denied'} by ${user || 'a user'} in the console`,
    lastUpdateTime: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  const status = { ...((dig(request, 'status') as object | undefined) ?? {}) };
  const conditions = [...listAt(request, 'status', 'conditions'), condition];
  const body = { ...(request as object), status: { ...status, conditions } };
  return { method: 'PUT', path: `${path}/approval`, contentType: json, body };
}

/** A pod of a node that is drained. */
export interface DrainPlan {
  readonly evicted: readonly unknown[];
  /** Pods that stay, and why. */
  readonly staying: readonly { readonly name: string; readonly why: string }[];
}

/** Which pods of a node are evicted: not those of DaemonSets, of the node's own files, or that have ended. */
export function drainPlan(pods: readonly unknown[]): DrainPlan {
  const evicted: unknown[] = [];
  const staying: { name: string; why: string }[] = [];
  for (const pod of pods) {
    const name = `${textAt(pod, 'metadata', 'namespace')}/${textAt(pod, 'metadata', 'name')}`;
    const owners = listAt(pod, 'metadata', 'ownerReferences');
    const isMirror = textAt(pod, 'metadata', 'annotations', 'kubernetes.io/config.mirror') !== '';
    if (['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'))) evicted.push(pod);
    else if (isMirror) staying.push({ name, why: 'the node runs it from a file' });
    else if (owners.some((each) => textAt(each, 'kind') === 'DaemonSet')) {
      staying.push({ name, why: 'its DaemonSet would bring it back' });
    } else evicted.push(pod);
  }
  return { evicted, staying };
}

/** Pods that nothing brings back, or that lose data with their node. */
export function drainWarnings(pods: readonly unknown[]): readonly string[] {
  const named = (pod: unknown) => `${textAt(pod, 'metadata', 'namespace')}/${textAt(pod, 'metadata', 'name')}`;
  const lone = pods.filter((pod) => listAt(pod, 'metadata', 'ownerReferences').length === 0).map(named);
  const local = pods
    .filter((pod) => listAt(pod, 'spec', 'volumes').some((each) => dig(each, 'emptyDir') !== undefined))
    .map(named);
  return [
    ...lone.map((name) => `${name} belongs to nothing: nothing brings it back`),
    ...local.map((name) => `${name} has an emptyDir volume: its data are lost`),
  ];
}

/** How many replicas a workload should have. */
export function replicasOf(object: unknown): number {
  return dig(object, 'spec', 'replicas') === undefined ? 1 : numberAt(object, 'spec', 'replicas');
}
