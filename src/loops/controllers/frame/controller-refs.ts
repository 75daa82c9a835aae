import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { LabelSelector } from '../../../base/machinery/label-selector.js';
import type { InformerIndex } from '../../../objects/registry/informers/informer.js';
import { controllerOf } from './indexes.js';
import type { ResourceClient } from './loop-client.js';
import { controllerReference } from './pod-from-template.js';
import type { ReconcileContext } from './reconcile-context.js';

/** An owner and the criteria by which it claims objects. */
export interface ClaimOptions<T extends ApiObject> {
  /** The owner as the informer shows it. */
  readonly owner: Readonly<ApiObject>;
  readonly selector: LabelSelector;
  /** Objects by the uid of their controller; see `byController`. */
  readonly owned: InformerIndex<T>;
  /** Objects without a controller, by namespace; see `orphans`. */
  readonly orphans: InformerIndex<T>;
  readonly client: ResourceClient<T>;
  /** Reads the owner's newest state, past the informers. */
  readonly liveOwner: () => Promise<ApiObject | undefined>;
  /** Which of the owned and matching objects are considered; the others stay unchanged. Default: all. */
  readonly filter?: (object: T) => boolean;
  /** Changes an object further while it is adopted or released (`owned` is true for an adopted one). */
  readonly adjust?: (live: T, owned: boolean) => void;
}

/**
 * The objects that belong to an owner. Adopts objects without a controller that its selector matches, and releases owned
 * ones that it does not match any more. An owner that is being deleted, or that has been replaced by another one of the
 * same name, adopts nothing.
 */
export async function claimObjects<T extends ApiObject>(
  work: ReconcileContext,
  options: ClaimOptions<T>,
): Promise<T[]> {
  const { owner, selector, filter = () => true } = options;
  const { uid = '', namespace = '' } = owner.metadata;
  const isDeleted = owner.metadata.deletionTimestamp !== undefined;
  const claimed: T[] = [];
  for (const object of [...options.owned.get(uid)]) {
    if (!filter(object)) continue;
    if (selector.matches(object.metadata.labels)) claimed.push(object);
    else if (!isDeleted) await release(work, object, options);
  }
  if (isDeleted) return claimed;
  let mayAdopt: boolean | undefined;
  for (const object of [...options.orphans.get(namespace)]) {
    if (object.metadata.deletionTimestamp !== undefined || !selector.matches(object.metadata.labels)) continue;
    if (!filter(object)) continue;
    mayAdopt ??= await isLive(options);
    if (!mayAdopt) break;
    const adopted = await adopt(work, object, options);
    if (adopted !== undefined) claimed.push(adopted);
  }
  return claimed;
}

/** Whether the owner is still the same object and is not being deleted. */
async function isLive<T extends ApiObject>({ owner, liveOwner }: ClaimOptions<T>): Promise<boolean> {
  const live = await liveOwner();
  return (
    live !== undefined && live.metadata.uid === owner.metadata.uid && live.metadata.deletionTimestamp === undefined
  );
}

function adopt<T extends ApiObject>(
  work: ReconcileContext,
  object: T,
  options: ClaimOptions<T>,
): Promise<T | undefined> {
  const { owner, selector, client, adjust } = options;
  return client.update(work, object, (live) => {
    const { metadata } = live;
    const isFree = controllerOf(live) === undefined && metadata.deletionTimestamp === undefined;
    if (!isFree || !selector.matches(metadata.labels)) return undefined;
    const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    metadata.ownerReferences = [...others, controllerReference(owner)];
    adjust?.(live, true);
    return live;
  });
}

async function release<T extends ApiObject>(
  work: ReconcileContext,
  object: T,
  options: ClaimOptions<T>,
): Promise<void> {
  const { owner, selector, client, adjust } = options;
  await client.update(work, object, (live) => {
    const { metadata } = live;
    if (controllerOf(live)?.uid !== owner.metadata.uid || selector.matches(metadata.labels)) return undefined;
    const others = (metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    if (others.length === 0) delete metadata.ownerReferences;
    else metadata.ownerReferences = others;
    adjust?.(live, false);
    return live;
  });
}
