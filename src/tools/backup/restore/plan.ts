import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { ApiFault } from '../cluster/api-fault.js';
import type { ServedKind } from '../cluster/served-kind.js';
import { resourceName } from '../format/lines.js';
import { cleanForCreate } from '../recreate/clean-for-create.js';
import { creationOrder } from '../recreate/creation-order.js';
import { type LeftOut, leftOut } from '../recreate/made-by-itself.js';
import { mapOwners } from '../recreate/map-owners.js';
import { objectPath, objectsOf, type RestoreClient, type Wanted } from './past.js';

/** What has to be restored: all wanted objects of these kinds. `isNamed`: the user named the objects themselves. */
export interface RestoreScope {
  readonly kind: ServedKind;
  readonly wanted: Wanted;
  readonly isNamed: boolean;
}

/** The step for one object. Nothing is ever deleted. */
export interface RestoreStep {
  readonly action: 'create' | 'update' | 'unchanged' | 'leave';
  readonly kind: ServedKind;
  readonly past: ApiObject;
  readonly present: ApiObject | undefined;
  /** Why the object is left unchanged; or what the restored object lacks. */
  readonly why?: string;
}

export interface RestorePlan {
  readonly version: string;
  /** The steps in the order in which they are done. */
  readonly steps: readonly RestoreStep[];
  /** Kinds that could not be read, and why. */
  readonly notSeen: readonly { readonly what: string; readonly why: string }[];
  /** The new uids by the old ones. Grows while objects are created. */
  readonly uids: Map<string, string>;
}

export interface PlanDependencies {
  readonly client: RestoreClient;
  readonly kinds: readonly ServedKind[];
  readonly scopes: readonly RestoreScope[];
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Compares the past with the present, and determines what has to be done. Only reads. */
export async function planRestore({ client, kinds, scopes, version, signal }: PlanDependencies): Promise<RestorePlan> {
  const found: { scope: RestoreScope; past: ApiObject; present: ApiObject | undefined }[] = [];
  const notSeen: { what: string; why: string }[] = [];
  const uids = new Map<string, string>();
  for (const scope of scopes) {
    const { kind, wanted } = scope;
    try {
      const before = await objectsOf(client, kind, wanted, version, signal);
      if (before.length === 0) continue;
      const { selector: _, ...place } = wanted;
      const now = new Map((await objectsOf(client, kind, place, undefined, signal)).map((one) => [keyOf(one), one]));
      for (const past of before) found.push({ scope, past, present: now.get(keyOf(past)) });
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      notSeen.push({ what: resourceName(kind), why: error.message });
    }
  }
  for (const { past, present } of found) note(uids, past, present);
  await findOwners(
    { client, kinds, uids, signal },
    found.map(({ past }) => past),
  );

  const byObject = new Map(found.map((one) => [one.past, one]));
  const coming = new Set<string>();
  const steps = creationOrder(found.map(({ past }) => past)).map((past): RestoreStep => {
    const { scope, present } = byObject.get(past) as (typeof found)[number];
    const step = stepOf(scope, past, present, (uid) => uids.get(uid) ?? (coming.has(uid) ? uid : undefined));
    if (step.action === 'create' && past.metadata.uid !== undefined) coming.add(past.metadata.uid);
    return step;
  });
  return { version, steps, notSeen, uids };
}

/**
 * The object to send: its past state, without the fields that the server sets, with the present identities of its
 * owners.
 */
export function restoredObject(
  { kind, past, present }: Pick<RestoreStep, 'kind' | 'past' | 'present'>,
  uids: Pick<ReadonlyMap<string, string>, 'get'>,
): { readonly object: ApiObject; readonly lost: readonly OwnerReference[] } {
  const keep = { addresses: true, nodeNames: present !== undefined, hasVolume: () => true, status: !kind.hasStatus };
  const { object, lost } = mapOwners(cleanForCreate(past, keep), uids);
  if (present === undefined) return { object, lost };
  const { uid, resourceVersion, finalizers } = present.metadata;
  const metadata = { ...object.metadata, uid: uid as string, resourceVersion: resourceVersion as string };
  // Finalizers stay as they are now: a restore neither adds nor removes any.
  if (finalizers === undefined) delete metadata.finalizers;
  else metadata.finalizers = finalizers;
  return { object: { ...object, metadata }, lost };
}

function stepOf(
  { kind, isNamed }: RestoreScope,
  past: ApiObject,
  present: ApiObject | undefined,
  uidNow: (uid: string) => string | undefined,
): RestoreStep {
  const base = { kind, past, present };
  const rule = leftOut(past);
  const isWanted = (isNamed && (rule?.rule === 'derived' || rule?.rule === 'ended')) || isEndingPlace(kind, rule);
  if (rule !== undefined && !isWanted) return { ...base, action: 'leave', why: rule.why };
  if (present?.metadata.deletionTimestamp !== undefined) {
    const { finalizers = [] } = present.metadata;
    const reason = finalizers.length === 0 ? '' : `; it waits for ${finalizers.join(', ')}`;
    return { ...base, action: 'leave', why: `is being deleted${reason}` };
  }
  const missing = restoredObject(base, { get: uidNow }).lost.map((owner) => `${owner.kind} ${owner.name}`);
  const why = missing.length === 0 ? {} : { why: `without its owner ${missing.join(', ')}, which is gone` };
  if (present === undefined) return { ...base, action: 'create', ...why };
  const isSame = past.metadata.resourceVersion === present.metadata.resourceVersion || saysTheSame(base, uidNow);
  return isSame ? { ...base, action: 'unchanged' } : { ...base, action: 'update', ...why };
}

/** A namespace that was being deleted at the moment still had objects, which need it. */
function isEndingPlace({ apiVersion, kind }: ServedKind, rule: LeftOut | undefined): boolean {
  return rule?.rule === 'leaving' && apiVersion === 'v1' && kind === 'Namespace';
}

function saysTheSame(
  step: Pick<RestoreStep, 'kind' | 'past' | 'present'>,
  uidNow: (uid: string) => string | undefined,
): boolean {
  const { object: wanted } = restoredObject(step, { get: uidNow });
  const { object: now } = restoredObject({ ...step, past: step.present as ApiObject }, { get: (uid) => uid });
  return deepEqual(wanted, now);
}

function note(uids: Map<string, string>, past: ApiObject, present: ApiObject | undefined): void {
  const { uid: before } = past.metadata;
  const now = present?.metadata.uid;
  if (before !== undefined && now !== undefined) uids.set(before, now);
}

/** Finds owners that are not restored themselves: they still exist, or were recreated under their name. */
async function findOwners(
  {
    client,
    kinds,
    uids,
    signal,
  }: Pick<PlanDependencies, 'client' | 'kinds' | 'signal'> & { uids: Map<string, string> },
  objects: readonly ApiObject[],
): Promise<void> {
  const own = new Set(objects.map(({ metadata }) => metadata.uid));
  const asked = new Set<string>();
  for (const { metadata } of objects) {
    for (const { apiVersion, kind, name, uid } of metadata.ownerReferences ?? []) {
      if (own.has(uid) || uids.has(uid) || asked.has(uid)) continue;
      asked.add(uid);
      const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [''];
      const served = kinds.find((one) => one.kind === kind && groupOf(one) === group);
      if (served === undefined) continue;
      try {
        const place = served.namespaced ? { namespace: metadata.namespace, name } : { name };
        const owner = await client.send<Partial<ApiObject>>('GET', objectPath(served, place as ApiObject['metadata']), {
          signal,
        });
        if (owner.metadata?.uid !== undefined) uids.set(uid, owner.metadata.uid);
      } catch (error) {
        if (!(error instanceof ApiFault)) throw error;
      }
    }
  }
}

function groupOf({ apiVersion }: ServedKind): string {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined ? '' : group;
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}
