import type { ApiObject, ObjectMeta } from '../../../base/machinery/api-object.js';
import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { addWarning, type RequestContext } from '../../../base/machinery/request-context.js';
import { conflictError } from '../../../base/machinery/status-error.js';
import type { StoredResource } from '../resource-definition.js';
import { uidMismatch, versionMismatch } from '../store/precondition-error.js';
import type { DeleteOptions } from '../strategy.js';

const orphanFinalizer = 'orphan';
const foregroundFinalizer = 'foregroundDeletion';
const foregroundWarning =
  'propagationPolicy: this server runs without a garbage collector (--enable-garbage-collector=false), ' +
  'so the object does not wait for the end of its dependents';
const orphanWarning =
  'propagationPolicy: this server runs without a garbage collector (--enable-garbage-collector=false), ' +
  'so dependents keep their ownerReferences, and a garbage collector would delete them';

/**
 * The effect of a delete request on the live object. `object` is a changed copy. `mark-and-remove`: the object is
 * removed, but watchers see it marked first, because its kind has a grace period and a client may wait for the mark.
 */
export interface DeleteDecision {
  readonly kind: 'remove' | 'mark' | 'mark-and-remove' | 'nothing';
  readonly object: ApiObject;
}

/** The caller's conditions on the live object; 409 when one does not hold. */
export function checkPreconditions(definition: StoredResource, live: ApiObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options.preconditions ?? {};
  const meta = live.metadata;
  // Kinds that end in steps of their own name the resource, as the storage does for updates.
  if (definition.strategy.deletionBlocked !== undefined) {
    const subject = { group: definition.group, resource: definition.resource };
    if (uid !== undefined && uid !== meta.uid) {
      throw conflictError(subject, meta.name ?? '', uidMismatch(uid, meta.uid ?? ''));
    }
    if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion) {
      throw conflictError(subject, meta.name ?? '', versionMismatch(resourceVersion, meta.resourceVersion ?? ''));
    }
    return;
  }
  const subject = { group: definition.group, resource: definition.kind };
  if (uid !== undefined && uid !== meta.uid) {
    const detail = `the UID in the precondition (${uid}) does not match the UID in record (${meta.uid}). The object might have been deleted and then recreated`;
    throw conflictError(subject, meta.name ?? '', detail);
  }
  if (resourceVersion !== undefined && resourceVersion !== meta.resourceVersion) {
    const detail = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${meta.resourceVersion}). The object might have been modified`;
    throw conflictError(subject, meta.name ?? '', detail);
  }
}

/** Warns of what becomes of the dependents, also where there is nothing to delete. */
export function warnOfDependents(context: RequestContext, definition: StoredResource, options: DeleteOptions): void {
  if (options.garbageCollector !== true) warnOfPolicy(context, options);
  else if (isOpenPolicy(options) && definition.strategyOptions?.orphanWarning !== undefined) {
    addWarning(context, definition.strategyOptions.orphanWarning);
  }
}

/**
 * Decides whether an object is removed, marked as deleting or left alone (specification 3, first two rows). The object
 * is marked with a deletionTimestamp first. It is removed with its last finalizer, or at once when nothing holds it.
 */
export function decideDelete(
  context: RequestContext,
  definition: StoredResource,
  live: ApiObject,
  options: DeleteOptions,
  clock: Clock,
): DeleteDecision {
  const meta: ObjectMeta = { ...live.metadata };
  const object: ApiObject = { ...live, metadata: meta };
  const { strategy } = definition;

  const finalizers = finalizersAfter(definition, meta, options);
  const finalizersChanged = !sameList(finalizers, meta.finalizers ?? []);
  warnOfDependents(context, definition, options);
  if (finalizers.length > 0) meta.finalizers = finalizers;
  else delete meta.finalizers;

  const wasDeleting = meta.deletionTimestamp !== undefined;
  const grace = strategy.gracePeriodSeconds?.(live, options);
  const blocked = finalizers.length > 0 || (strategy.deletionBlocked?.(object) ?? false);

  if (grace === undefined) {
    if (!blocked) return { kind: 'remove', object };
    if (wasDeleting) return { kind: finalizersChanged ? 'mark' : 'nothing', object };
    markDeleting(meta, clock.now(), strategy.deletionBlocked === undefined ? 0 : undefined);
    strategy.prepareForDelete?.(context, object);
    return { kind: 'mark', object };
  }

  const granted = meta.deletionGracePeriodSeconds;
  // The earlier delete only marked the object. An object that nothing holds is removed now, whatever period is
  // requested.
  if (wasDeleting && granted === 0 && !blocked) return { kind: 'remove', object };
  if (!wasDeleting) markDeleting(meta, clock.now(), grace);
  else if (granted === undefined || (options.gracePeriodSeconds !== undefined && grace < granted)) {
    // A shorter period, if requested, moves the end to an earlier time; a longer one never moves it to a later time.
    const end = Date.parse(meta.deletionTimestamp as string) - ((granted ?? 0) - grace) * 1000;
    meta.deletionTimestamp = formatTime(end);
    meta.deletionGracePeriodSeconds = grace;
  } else if (granted > 0) {
    // Until the period ends, only a shorter one changes anything, as in release 1.37.
    return { kind: 'nothing', object: { ...live } };
  } else {
    return { kind: finalizersChanged ? 'mark' : 'nothing', object };
  }
  strategy.prepareForDelete?.(context, object);
  const isOver = meta.deletionGracePeriodSeconds === 0 && !blocked;
  return { kind: isOver ? 'mark-and-remove' : 'mark', object };
}

/** Whether an update that removed the last finalizer also removes the object. */
export function endsWithUpdate(definition: StoredResource, object: ApiObject): boolean {
  const meta = object.metadata;
  return (
    meta.deletionTimestamp !== undefined &&
    (meta.finalizers ?? []).length === 0 &&
    (meta.deletionGracePeriodSeconds ?? 0) === 0 &&
    !(definition.strategy.deletionBlocked?.(object) ?? false)
  );
}

/** Sets the deletion fields. An undefined grace period means a kind with its own rules: its generation stays. */
function markDeleting(meta: ObjectMeta, now: number, graceSeconds: number | undefined): void {
  meta.deletionTimestamp = formatTime(now + (graceSeconds ?? 0) * 1000);
  if (graceSeconds === undefined) return;
  meta.deletionGracePeriodSeconds = graceSeconds;
  if (meta.generation !== undefined && meta.generation > 0) meta.generation++;
}

/** Warns a client whose policy needs a garbage collector when none runs. */
function warnOfPolicy(context: RequestContext, { propagationPolicy, orphanDependents }: DeleteOptions): void {
  if (propagationPolicy === 'Foreground') addWarning(context, foregroundWarning);
  else if (propagationPolicy === 'Orphan' || orphanDependents === true) addWarning(context, orphanWarning);
}

/**
 * The finalizers after the request's propagation policy. Without a garbage collector, a finalizer for it would hold the
 * object forever, so none is added. A finalizer that a client set stays until a delete names another policy.
 */
function finalizersAfter({ strategyOptions }: StoredResource, meta: ObjectMeta, options: DeleteOptions): string[] {
  const current = meta.finalizers ?? [];
  const { propagationPolicy, orphanDependents, garbageCollector } = options;
  const isOpen = isOpenPolicy(options);
  const isMarked = current.includes(orphanFinalizer) || current.includes(foregroundFinalizer);
  if (isOpen && (isMarked || strategyOptions?.dependents !== 'orphaned')) return [...current];
  const isOrphan = isOpen || (orphanDependents ?? propagationPolicy === 'Orphan');
  const wanted = isOrphan ? orphanFinalizer : propagationPolicy === 'Foreground' ? foregroundFinalizer : undefined;
  const kept = current.filter((f) => (f !== orphanFinalizer && f !== foregroundFinalizer) || f === wanted);
  const isAdded = garbageCollector === true && strategyOptions?.dependents !== 'none';
  if (isAdded && wanted !== undefined && !kept.includes(wanted)) kept.push(wanted);
  return kept;
}

function isOpenPolicy({ propagationPolicy, orphanDependents }: DeleteOptions): boolean {
  return propagationPolicy === undefined && orphanDependents === undefined;
}

function sameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}
