import type { ApiObject } from '../../../base/machinery/api-object.js';
import { packedEqual } from '../../../base/machinery/packed/object-packer.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
} from '../../../objects/apis/apps/v1/deployment.types.js';
import type { ReplicaSet } from '../../../objects/apis/apps/v1/replica-set.types.js';

export type StoredDeployment = Deployment & ApiObject;
export type StoredReplicaSet = ReplicaSet & ApiObject;
export type { DeploymentCondition, DeploymentStatus };

/** Label of the pods and replica sets of one template. */
export const hashLabel = 'pod-template-hash';

/** Annotations in which a deployment and its replica sets record their state. */
export interface DeploymentAnnotations {
  /** Which revision of the deployment a replica set is, counted from 1. */
  readonly revision: string;
  /** Earlier revisions of a replica set that came back, separated by commas. */
  readonly revisionHistory: string;
  /** The deployment's number of replicas when the replica set was last scaled. */
  readonly desired: string;
  /** The deployment's number of replicas plus the surge. */
  readonly max: string;
  /** Annotations of the deployment that its replica sets do not get. */
  readonly own: ReadonlySet<string>;
}

export function deploymentAnnotations(names: VendorNames): DeploymentAnnotations {
  const prefix = `deployment.${names.labelPrefix}`;
  const revision = `${prefix}/revision`;
  const revisionHistory = `${prefix}/revision-history`;
  const desired = `${prefix}/desired-replicas`;
  const max = `${prefix}/max-replicas`;
  const rollback = 'deprecated.deployment.rollback.to';
  const own = new Set([names.lastAppliedAnnotation, revision, revisionHistory, desired, max, rollback]);
  return { revision, revisionHistory, desired, max, own };
}

/** The whole number in an annotation; undefined when there is none. */
export function annotatedNumber({ metadata }: Readonly<ApiObject>, mark: string): number | undefined {
  const text = metadata.annotations?.[mark];
  return text === undefined || !/^-?\d{1,15}$/.test(text) ? undefined : Number(text);
}

/** The highest revision: the next one must still fit into the 64 bits that clients read. */
const maxRevision = 2n ** 63n - 2n;

/** The revision of a replica set; 0 when it has none. */
export function revisionOf({ metadata }: StoredReplicaSet, { revision }: DeploymentAnnotations): bigint {
  return parseRevision(metadata.annotations?.[revision]);
}

/** The number in the text of a revision, of up to 64 bits; 0 for any other text. */
export function parseRevision(text: string | undefined): bigint {
  const number = text !== undefined && /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  return number > maxRevision ? 0n : number;
}

/** The sets by age, the oldest first. */
export function byAge(sets: readonly StoredReplicaSet[]): StoredReplicaSet[] {
  return [...sets].sort((a, b) => order(a, b));
}

function order({ metadata: a }: StoredReplicaSet, { metadata: b }: StoredReplicaSet): number {
  const [left, right] = [`${a.creationTimestamp} ${a.name}`, `${b.creationTimestamp} ${b.name}`];
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The replica sets of a deployment. */
export interface Sets {
  /** The replica set of the deployment's template. */
  readonly newSet: StoredReplicaSet | undefined;
  /** All other replica sets of the deployment. */
  readonly oldSets: readonly StoredReplicaSet[];
}

/** Finds the set of the deployment's template: the oldest, if there are several. */
export function splitSets(deployment: StoredDeployment, sets: readonly StoredReplicaSet[]): Sets {
  const newSet = byAge(sets).find((set) => hasTemplateOf(set, deployment));
  return { newSet, oldSets: sets.filter((set) => set !== newSet) };
}

/** Whether the templates are the same, except for the label that distinguishes them. */
export function hasTemplateOf(set: StoredReplicaSet, deployment: StoredDeployment): boolean {
  const mine = set.spec.template;
  const wanted = deployment.spec.template;
  // Each template is compared with those of all revisions, and a template may be very large.
  return packedEqual(mine.spec, wanted.spec) && packedEqual(comparable(mine.metadata), comparable(wanted.metadata));
}

/** The metadata of a template without what is different in each replica set. Reads no packed part besides the labels. */
function comparable(metadata: ApiObject['metadata'] | object = {}): object {
  const { labels = {} } = metadata as ApiObject['metadata'];
  const { [hashLabel]: _hash, ...rest } = labels;
  const {
    labels: _labels,
    creationTimestamp: _time,
    ...others
  } = Object.getOwnPropertyDescriptors(metadata) as Record<string, PropertyDescriptor>;
  return Object.defineProperties({ annotations: {}, labels: rest }, others);
}
