import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { StatefulSet } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import type { PersistentVolumeClaim } from '../../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { DeepPartial } from '../frame/loop-client.js';
import { podFromTemplate } from '../frame/pod-from-template.js';

export type StoredStatefulSet = StatefulSet & ApiObject;
export type StoredClaim = PersistentVolumeClaim & ApiObject;

/** Label of pods: the revision, by its name, that they were made from. */
export const revisionLabel = 'controller-revision-hash';

/** Labels that identify a pod within its set. */
export function identityLabels(names: Pick<VendorNames, 'labelPrefix'>, name: string, ordinal: number) {
  return {
    [`statefulset.${names.labelPrefix}/pod-name`]: name,
    [`apps.${names.labelPrefix}/pod-index`]: String(ordinal),
  };
}

/** The ordinal of a pod in a set of that name; undefined when it is not a pod of the set. */
export function ordinalOf(set: Readonly<ApiObject>, pod: Readonly<ApiObject>): number | undefined {
  const start = `${set.metadata.name}-`;
  const { name = '' } = pod.metadata;
  const text = name.startsWith(start) ? name.slice(start.length) : '';
  return /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : undefined;
}

export function podName(set: Readonly<ApiObject>, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`;
}

/** The ordinals of the desired pods: from `start`, below `end`. */
export function ordinalsOf({ spec }: StatefulSet): { readonly start: number; readonly end: number } {
  const start = spec.ordinals?.start ?? 0;
  return { start, end: start + (spec.replicas ?? 1) };
}

/** The revision that a pod was made from, by its name. */
export function podRevisionOf(pod: Readonly<StoredPod>): string {
  return pod.metadata.labels?.[revisionLabel] ?? '';
}

/** A new pod of a set. Volumes of the set's claims replace those of the template with the same names. */
export function newPod(
  names: Pick<VendorNames, 'labelPrefix'>,
  set: StoredStatefulSet,
  template: PodTemplateSpec,
  revision: string,
  ordinal: number,
): DeepPartial<StoredPod> {
  const { metadata, spec } = podFromTemplate(set, template);
  const name = podName(set, ordinal);
  const claimed = (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata?.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
  }));
  const taken = new Set(claimed.map((volume) => volume.name));
  const others = (template.spec?.volumes ?? []).filter((volume: Volume) => !taken.has(volume.name));
  const volumes = [...claimed, ...(cloneJson(others) as Volume[])];
  return {
    metadata: {
      // Like the names that other loops choose, so that clients find the owner of a pod in the same way.
      ...metadata,
      name,
      labels: { ...metadata.labels, ...identityLabels(names, name, ordinal), [revisionLabel]: revision },
    },
    spec: {
      ...spec,
      hostname: name,
      subdomain: set.spec.serviceName,
      ...(volumes.length === 0 ? {} : { volumes: volumes as DeepPartial<Volume>[] }),
    },
  };
}

function claimName(set: Readonly<ApiObject>, claim: PersistentVolumeClaim, ordinal: number): string {
  return `${claim.metadata?.name}-${podName(set, ordinal)}`;
}

/** The names of the claims of a pod. */
export function claimNames(set: StoredStatefulSet, ordinal: number): string[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => claimName(set, template, ordinal));
}

/** The claims of a pod, as they are created. */
export function claimsOf(set: StoredStatefulSet, ordinal: number): (DeepPartial<StoredClaim> & ApiObject)[] {
  return (set.spec.volumeClaimTemplates ?? []).map((template) => {
    const { metadata, spec } = cloneJson(template) as StoredClaim;
    return {
      metadata: {
        ...metadata,
        name: claimName(set, template, ordinal),
        namespace: set.metadata.namespace ?? '',
        labels: { ...metadata.labels, ...set.spec.selector?.matchLabels },
      },
      spec,
    } as DeepPartial<StoredClaim> & ApiObject;
  });
}
