import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { PodResourceClaim } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { ResourceClaim, ResourceClaimTemplate } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { isPodFinished } from '../frame/pod-state.js';

export type StoredResourceClaim = ResourceClaim & ApiObject;
export type StoredClaimTemplate = ResourceClaimTemplate & ApiObject;

/** The longest prefix of a generated name that leaves enough characters for the random suffix. */
const maxBaseLength = 57;

/** Whether the pod needs no claims any more. */
export function isPodDone(pod: Readonly<StoredPod>): boolean {
  // A pod that is deleted before it was placed never starts.
  const neverStarts = pod.metadata.deletionTimestamp !== undefined && (pod.spec.nodeName ?? '') === '';
  return isPodFinished(pod) || neverStarts;
}

/**
 * The name of the claim behind an entry of the pod's `resourceClaims`; undefined: there is no claim yet, or the pod
 * needs none.
 */
export function deviceClaimName(
  pod: Readonly<StoredPod>,
  { name, resourceClaimName }: PodResourceClaim,
): string | undefined {
  if (resourceClaimName !== undefined) return resourceClaimName;
  return pod.status?.resourceClaimStatuses?.find((status) => status.name === name)?.resourceClaimName;
}

/** The claims, as `<namespace>/<name>`, that the pod uses. */
export function claimKeysOf(pod: Readonly<StoredPod>): string[] {
  const names = (pod.spec.resourceClaims ?? []).map((claim) => deviceClaimName(pod, claim));
  const { extendedResourceClaimStatus: extended } = pod.status ?? {};
  return [...names, extended?.resourceClaimName]
    .filter((name): name is string => name !== undefined && name !== '')
    .map((name) => `${pod.metadata.namespace}/${name}`);
}

/** Whether the claim was made for the pod. */
export function isClaimOfPod({ metadata }: Readonly<ApiObject>, pod: Readonly<StoredPod>): boolean {
  return (
    metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.metadata.uid) === true
  );
}

/** The pod that a claim was made for. */
export function owningPod({
  metadata,
}: Readonly<ApiObject>): { readonly name: string; readonly uid: string } | undefined {
  return metadata.ownerReferences?.find(
    ({ apiVersion, kind, controller }) => controller === true && apiVersion === 'v1' && kind === 'Pod',
  );
}

/** The claim that a template describes, for a pod. */
export function claimFromTemplate(
  pod: Readonly<StoredPod>,
  podClaim: string,
  { spec }: Readonly<StoredClaimTemplate>,
  annotation: string,
): Partial<StoredResourceClaim> {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  return {
    metadata: {
      generateName: generateNameOf(name, podClaim),
      namespace,
      annotations: { ...spec.metadata?.annotations, [annotation]: podClaim },
      ...(spec.metadata?.labels === undefined ? {} : { labels: spec.metadata.labels }),
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
    },
    spec: spec.spec,
  } as unknown as Partial<StoredResourceClaim>;
}

/** Both names are shortened alike, so that a part of each remains. */
function generateNameOf(pod: string, claim: string): string {
  const full = `${pod}-${claim}-`;
  if (full.length <= maxBaseLength) return full;
  const share = (text: string) => text.slice(0, Math.floor((text.length * maxBaseLength) / full.length));
  return `${share(pod)}-${share(claim)}`;
}
