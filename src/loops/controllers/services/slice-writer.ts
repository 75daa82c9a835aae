import type { OwnerReference } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { ResourceClient } from '../frame/loop-client.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { PortGroup, SlicePlan, StoredSlice } from './pack-slices.js';

type StringMap = Readonly<Record<string, string>>;

/** What all slices of an owner share. */
export interface SliceMetadata {
  readonly namespace: string;
  /** The prefix of the names of new slices, without the dash. */
  readonly prefix: string;
  readonly owner: OwnerReference;
  readonly labels: StringMap;
  /** The annotations; undefined: those of a slice stay unchanged. */
  readonly annotations?: StringMap | undefined;
  /** The annotation for the time of the last change, and that time in milliseconds. */
  readonly trigger: { readonly annotation: string; readonly time: number | undefined };
  /** New slices are not wanted, since the owner is being deleted. */
  readonly isEnding: boolean;
}

/** Longest prefix of a name, without the random end that it gets. */
const longestPrefix = 253 - 6;

/** Adds updates for slices that keep their content but lack labels, annotations or the owner. */
export function withMetadata(plan: SlicePlan, existing: readonly StoredSlice[], metadata: SliceMetadata): SlicePlan {
  const touched = new Set([...plan.delete, ...plan.update.map(({ slice }) => slice)]);
  const outdated = existing.filter((slice) => !touched.has(slice) && !hasMetadata(slice, metadata));
  const update = outdated.map((slice) => {
    const { addressType, endpoints, ports } = slice;
    return { slice, content: { family: addressType, endpoints: endpoints ?? [], ports: ports ?? [] } as PortGroup };
  });
  return { ...plan, update: [...plan.update, ...update] };
}

/** Carries out a plan. A slice that was changed meanwhile causes a conflict: then a new plan has to be made. */
export async function writeSlices(
  client: ResourceClient<StoredSlice>,
  work: ReconcileContext,
  plan: SlicePlan,
  metadata: SliceMetadata,
): Promise<void> {
  const { namespace, prefix } = metadata;
  if (!metadata.isEnding) {
    for (const content of plan.create) {
      const named = { namespace, generateName: `${prefix.slice(0, longestPrefix)}-` };
      await client.create(work, withContent({ metadata: named } as StoredSlice, content, metadata));
    }
  }
  for (const { slice, content } of plan.update) {
    const { resourceVersion } = slice.metadata;
    await client.update(work, slice, (live) => {
      const next = withContent(live, content, metadata);
      return { ...next, metadata: { ...next.metadata, resourceVersion } };
    });
  }
  for (const slice of plan.delete) {
    const { resourceVersion } = slice.metadata;
    await client.delete(work, slice, resourceVersion === undefined ? {} : { resourceVersion });
  }
}

function hasMetadata({ metadata }: StoredSlice, { labels, annotations, owner, trigger }: SliceMetadata): boolean {
  const { [trigger.annotation]: _time, ...others } = metadata.annotations ?? {};
  return (
    deepEqual(metadata.labels ?? {}, labels) &&
    (annotations === undefined || deepEqual(others, annotations)) &&
    (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.uid)
  );
}

function withContent(slice: StoredSlice, { family, ports, endpoints }: PortGroup, wanted: SliceMetadata): StoredSlice {
  const { labels, owner, trigger } = wanted;
  const annotations: Record<string, string> = { ...(wanted.annotations ?? slice.metadata.annotations) };
  if (trigger.time === undefined) delete annotations[trigger.annotation];
  else annotations[trigger.annotation] = formatTime(trigger.time);
  const others = (slice.metadata.ownerReferences ?? []).filter(
    ({ uid, controller }) => uid !== owner.uid && !controller,
  );
  const metadata = { ...slice.metadata, labels, annotations, ownerReferences: [owner, ...others] };
  return { ...slice, metadata, addressType: family, ports, endpoints } as StoredSlice;
}
