import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';

/** The new uids of objects that were created again, by their old ones. */
export type NewUids = Pick<ReadonlyMap<string, string>, 'get'>;

/** An object with its owners as they are now. */
export interface OwnedAnew<T extends ApiObject> {
  readonly object: T;
  /** Owners without a new uid, which the object has lost: they are gone, or were not created again. */
  readonly lost: readonly OwnerReference[];
}

const uidLabel = /^(controller-uid|batch\.[^/]*\/controller-uid)$/;

/**
 * Gives an object's owner references the new uids of the owners, and its labels that hold the uid of its job as well.
 * References whose owner has no new uid are left out, because the garbage collector deletes what only has owners that
 * don't exist. The object given is not changed.
 */
export function mapOwners<T extends ApiObject>(object: T, uids: NewUids): OwnedAnew<T> {
  const { ownerReferences: owners, labels } = object.metadata;
  if (!Array.isArray(owners) || owners.length === 0) return { object, lost: [] };
  const metadata = { ...object.metadata };
  const mapped: OwnerReference[] = [];
  const lost: OwnerReference[] = [];
  for (const owner of owners) {
    const uid = uids.get(owner.uid);
    if (uid === undefined) lost.push(owner);
    else mapped.push({ ...owner, uid });
  }
  if (mapped.length > 0) metadata.ownerReferences = mapped;
  else delete metadata.ownerReferences;
  if (labels !== undefined) {
    metadata.labels = Object.fromEntries(
      Object.entries(labels).map(([key, value]) => [key, uidLabel.test(key) ? (uids.get(value) ?? value) : value]),
    );
  }
  return { object: { ...object, metadata }, lost };
}
