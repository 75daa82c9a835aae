import type { OwnerReference } from '../../../base/machinery/api-object.js';
import type { StoredPod } from '../frame/indexes.js';
import { controllerReference } from '../frame/pod-from-template.js';
import { ordinalOf, ordinalsOf, type StoredClaim, type StoredStatefulSet } from './stateful-pods.js';

/**
 * The owners that a claim of a pod should have by the set's retention policy, or undefined when they are correct. By
 * the policy, a claim may be deleted with the set, or with its pod when the pod is superfluous. Claims that something
 * else controls keep their owners.
 */
export function wantedOwners(claim: StoredClaim, set: StoredStatefulSet, pod: StoredPod): OwnerReference[] | undefined {
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  const present = claim.metadata.ownerReferences ?? [];
  const isOurs = (reference: OwnerReference) => isSet(reference, set) || isPod(reference, pod);
  if (present.some((reference) => reference.controller === true && !isOurs(reference))) return undefined;
  const { start, end } = ordinalsOf(set);
  const ordinal = ordinalOf(set, pod) ?? start;
  const isSuperfluous = ordinal < start || ordinal >= end;
  const goesWithPod = whenScaled === 'Delete' && isSuperfluous;
  const goesWithSet = whenDeleted === 'Delete' && !goesWithPod;
  const others = present.filter((reference) => !isOurs(reference));
  const owner = goesWithPod ? pod : goesWithSet ? set : undefined;
  const wanted = owner === undefined ? others : [...others, controllerReference(owner)];
  return same(wanted, present) ? undefined : wanted;
}

/** Whether a claim belongs to a former pod of that name: a new pod must wait until the claim is gone. */
export function isStaleClaim({ metadata }: StoredClaim, podName: string): boolean {
  return (metadata.ownerReferences ?? []).some(({ kind, name }) => kind === 'Pod' && name === podName);
}

function isSet({ kind, name, uid }: OwnerReference, { metadata }: StoredStatefulSet): boolean {
  return kind === 'StatefulSet' && name === metadata.name && uid === metadata.uid;
}

function isPod({ kind, name }: OwnerReference, { metadata }: StoredPod): boolean {
  return kind === 'Pod' && name === metadata.name;
}

function same(a: readonly OwnerReference[], b: readonly OwnerReference[]): boolean {
  const text = ({ uid, controller = false }: OwnerReference) => `${uid} ${controller}`;
  return a.length === b.length && a.every((reference) => b.some((other) => text(other) === text(reference)));
}
