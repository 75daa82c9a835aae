import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { ControllerRevision } from '../../../objects/apis/apps/v1/controller-revision.types.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { DeepPartial, ResourceClient } from './loop-client.js';
import { controllerReference } from './pod-from-template.js';
import type { ReconcileContext } from './reconcile-context.js';
import { isAlreadyExists } from './refusals.js';
import { templateHash } from './template-hash.js';

export type StoredRevision = ControllerRevision & ApiObject;

/** Longest part of the owner's name in the name of a revision, which must fit into a label. */
const longestOwner = 52;

/** The dependencies for keeping an object's history. */
export interface HistoryOptions {
  readonly owner: Readonly<ApiObject> & { readonly spec: { readonly template: PodTemplateSpec } };
  /** The present revisions of the owner. */
  readonly revisions: readonly StoredRevision[];
  /** How many times the name of a new revision was already taken. */
  readonly collisionCount: number;
  /** The label of revisions that holds the hash, which is the end of their names. */
  readonly hashLabel: string;
  readonly client: ResourceClient<StoredRevision>;
}

/** The history of an object after the revision of its present template was made or found. */
export interface RevisionHistory {
  /** The revision of the present template: it has the highest number. */
  readonly update: StoredRevision;
  /** All revisions, oldest first. */
  readonly revisions: readonly StoredRevision[];
  readonly collisionCount: number;
}

/** The revisions, sorted by number, then by age and name. */
export function inOrder(revisions: readonly StoredRevision[]): StoredRevision[] {
  const made = ({ metadata }: StoredRevision) => Date.parse(metadata.creationTimestamp ?? '') || 0;
  return [...revisions].sort(
    (a, b) =>
      a.revision - b.revision || made(a) - made(b) || ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  );
}

/**
 * Makes the revision of the owner's present template, or finds it. A revision that is found among the older ones, as
 * after a rollback, gets the next number. A name that another revision has taken raises the collision count.
 */
export async function presentRevision(work: ReconcileContext, options: HistoryOptions): Promise<RevisionHistory> {
  const { owner, client } = options;
  const sorted = inOrder(options.revisions);
  const data = dataOf(owner.spec.template);
  const equal = sorted.filter((revision) => deepEqual(revision.data, data)).at(-1);
  const last = sorted.at(-1);
  if (equal !== undefined && equal === last) {
    return { update: equal, revisions: sorted, collisionCount: options.collisionCount };
  }
  const number = (last?.revision ?? 0) + 1;
  if (equal !== undefined) {
    const raised = await client.update(work, equal, (live) => ({ ...live, revision: number }));
    if (raised !== undefined) {
      const others = sorted.filter((revision) => revision !== equal);
      return { update: raised, revisions: [...others, raised], collisionCount: options.collisionCount };
    }
  }
  const { revision, collisionCount } = await createRevision(work, options, data, number);
  return { update: revision, revisions: [...sorted, revision], collisionCount };
}

/** The template that a revision records. */
export function templateOf({ data }: StoredRevision): PodTemplateSpec {
  const { template } = (data as { spec: { template: PodTemplateSpec & { $patch?: string } } }).spec;
  const { $patch: _patch, ...rest } = cloneJson(template) as PodTemplateSpec & { $patch?: string };
  return rest;
}

/** The hash in the name of a revision. */
export function hashOf(revision: StoredRevision, hashLabel: string): string {
  return revision.metadata.labels?.[hashLabel] ?? '';
}

/** The oldest revisions above the limit; those that are still in use, by name, do not count. */
export function superfluousRevisions(
  revisions: readonly StoredRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
): StoredRevision[] {
  const unused = inOrder(revisions).filter(({ metadata }) => !inUse.has(metadata.name ?? ''));
  return unused.slice(0, Math.max(0, unused.length - limit));
}

/** A strategic merge patch that restores the template: clients send it unchanged to undo a rollout. */
function dataOf(template: PodTemplateSpec): Record<string, unknown> {
  return { spec: { template: { ...(cloneJson(template) as PodTemplateSpec), $patch: 'replace' } } };
}

/**
 * The value with the keys of all its objects sorted, as in the revisions of upstream's controllers, which compare
 * serialized JSON.
 */
function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members).sort();
  return Object.fromEntries(names.map((name) => [name, inKeyOrder(members[name])]));
}

async function createRevision(
  work: ReconcileContext,
  { owner, hashLabel, client, ...options }: HistoryOptions,
  data: Record<string, unknown>,
  number: number,
): Promise<{ revision: StoredRevision; collisionCount: number }> {
  const { namespace = '', name = '', annotations } = owner.metadata;
  const { labels } = owner.spec.template.metadata ?? {};
  for (let collisionCount = options.collisionCount; ; collisionCount++) {
    const hash = templateHash(data, collisionCount);
    const revision = {
      metadata: {
        name: `${name.slice(0, longestOwner).replace(/[^a-z0-9]+$/, '')}-${hash}`,
        namespace,
        labels: { ...labels, [hashLabel]: hash },
        annotations: { ...annotations },
        ownerReferences: [controllerReference(owner)],
      },
      data: inKeyOrder(data) as Record<string, unknown>,
      revision: number,
    };
    try {
      return { revision: await client.create(work, revision as DeepPartial<StoredRevision>), collisionCount };
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const taken = await client.get(namespace, revision.metadata.name);
      const isOurs = taken?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
      // Another process made it, and the informer will show it.
      if (taken === undefined || (isOurs && deepEqual(taken.data, data))) throw error;
    }
  }
}
