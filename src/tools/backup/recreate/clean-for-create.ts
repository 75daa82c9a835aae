import type { ApiObject, ObjectMeta } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { plainKind } from './creation-order.js';

/** Fields of an object that are kept although it comes from another cluster, or another time. */
export interface KeptFields {
  /** Addresses and node ports of services. Without it only `None` stays, and the cluster gives new ones. */
  readonly addresses?: boolean;
  /** The nodes that pods were placed on. */
  readonly nodeNames?: boolean;
  /** The status: useful only for callers that write it to `/status` afterwards. */
  readonly status?: boolean;
  /**
   * Whether the volume of this name exists, or will exist, where the object is created. Without it claims get a new
   * volume.
   */
  readonly hasVolume?: (name: string) => boolean;
}

type Fields = Record<string, unknown>;

const serverSet = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'generateName',
] as const satisfies readonly (keyof ObjectMeta)[];

/**
 * A copy of an object that was read, to be created: without the fields that a server sets (uid, versions, times,
 * managed fields, status) and without those that belong to its place of origin (addresses, nodes, bindings of volumes,
 * tokens, selectors that a server made from the uid). Name, labels, finalizers and owners stay; {@link mapOwners} gives
 * the owners their new uids. `generateName` is removed, since the object has a name: a second create then reports that
 * it exists.
 */
export function cleanForCreate<T extends ApiObject>(object: T, keep: KeptFields = {}): T {
  const clean = cloneJson(object);
  for (const field of serverSet) delete clean.metadata[field];
  if (keep.status !== true) delete (clean as Fields).status;
  cleaners[plainKind(clean.apiVersion ?? '', clean.kind ?? '')]?.(clean, keep);
  return clean;
}

type Cleaner = (object: ApiObject, keep: KeptFields) => void;

const cleaners: Readonly<Record<string, Cleaner>> = {
  '/Namespace': (object) => removeFrom(object.spec, ['finalizers']),
  '/Node': (object) => removeFrom(object.spec, ['podCIDR', 'podCIDRs']),
  '/Service': cleanService,
  '/Pod': cleanPod,
  '/Secret': cleanSecret,
  '/PersistentVolume': cleanVolume,
  '/PersistentVolumeClaim': cleanClaim,
  'batch/Job': cleanJob,
};

function cleanService(object: ApiObject, keep: KeptFields): void {
  const spec = fieldsOf(object.spec);
  if (spec === undefined || keep.addresses === true) return;
  if (spec.clusterIP !== 'None') removeFrom(spec, ['clusterIP', 'clusterIPs', 'ipFamilies']);
  removeFrom(spec, ['healthCheckNodePort']);
  for (const port of Array.isArray(spec.ports) ? spec.ports : []) removeFrom(port, ['nodePort']);
}

function cleanPod(object: ApiObject, keep: KeptFields): void {
  // Computed from the class of the pod, which may have another value here.
  removeFrom(object.spec, ['priority', 'preemptionPolicy']);
  if (keep.nodeNames !== true) removeFrom(object.spec, ['nodeName']);
}

/** Service account tokens are signed by the old cluster and name the old uid. The token controller issues new ones. */
function cleanSecret(object: ApiObject): void {
  if (typeof object.type !== 'string' || !object.type.endsWith('/service-account-token')) return;
  removeFrom(object, ['data']);
  removeAnnotations(object, /(^|\/)service-account\.uid$/);
}

/** The claim is named, not bound: the binder completes it when it finds the claim, whose uid is a new one. */
function cleanVolume(object: ApiObject): void {
  const claim = fieldsOf(fieldsOf(object.spec)?.claimRef);
  removeFrom(claim, ['uid', 'resourceVersion']);
}

function cleanClaim(object: ApiObject, keep: KeptFields): void {
  removeAnnotations(object, /^pv\.[^/]*\/bind-completed$/);
  const name = fieldsOf(object.spec)?.volumeName;
  if (typeof name === 'string' && keep.hasVolume?.(name) === true) return;
  removeFrom(object.spec, ['volumeName']);
  removeAnnotations(object, /^(pv\.[^/]*\/bound-by-controller|volume\.[^/]*\/(storage-provisioner|selected-node))$/);
}

const jobLabels = /^(controller-uid|job-name|batch\.[^/]*\/(controller-uid|job-name))$/;

/** Unless the user chose the selector, it consists of the uid that the job had. */
function cleanJob(object: ApiObject): void {
  const spec = fieldsOf(object.spec);
  if (spec === undefined || spec.manualSelector === true) return;
  removeFrom(spec, ['selector']);
  const labels = [fieldsOf(object.metadata.labels), labelsOf(spec.template)];
  for (const map of labels) for (const key of Object.keys(map ?? {})) if (jobLabels.test(key)) removeFrom(map, [key]);
}

function labelsOf(template: unknown): Fields | undefined {
  return fieldsOf(fieldsOf(fieldsOf(template)?.metadata)?.labels);
}

function removeAnnotations({ metadata }: ApiObject, keys: RegExp): void {
  for (const key of Object.keys(metadata.annotations ?? {})) if (keys.test(key)) delete metadata.annotations?.[key];
}

function removeFrom(fields: unknown, names: readonly string[]): void {
  const object = fieldsOf(fields);
  if (object !== undefined) for (const name of names) delete object[name];
}

/** The value if it is an object. An object that was read need not have the fields of its kind. */
function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
