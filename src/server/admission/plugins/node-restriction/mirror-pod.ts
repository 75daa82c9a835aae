import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { mirrorAnnotation, type ReferenceKind, referencedKeys } from '../../../authorization/node/pod-references.js';
import type { ReadPod } from './read-objects.js';

const refused: readonly (readonly [ReferenceKind, string])[] = [
  ['account', 'a service account'],
  ['secret', 'secrets'],
  ['configmap', 'configmaps'],
  ['claim', 'persistentvolumeclaims'],
];

/**
 * The problem with a pod that a node creates; undefined when there is none. Nodes may create only mirrors of their
 * static pods. A mirror must be bound to the node, owned by its Node object and refer to no other object.
 */
export function mirrorPodProblem(node: string, pod: ReadPod, names: VendorNames): string | undefined {
  const quoted = JSON.stringify(node);
  const mirror = mirrorAnnotation(names);
  const { metadata, spec } = pod;
  if (metadata.annotations?.[mirror] === undefined) {
    return `pod does not have ${JSON.stringify(mirror)} annotation, node ${quoted} can only create mirror pods`;
  }
  if (spec.nodeName !== node) return `node ${quoted} can only create pods with spec.nodeName set to itself`;
  const owners = metadata.ownerReferences ?? [];
  if (owners.length > 1) return `node ${quoted} can only create pods with a single owner reference set to itself`;
  const [owner] = owners;
  if (owner === undefined || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `node ${quoted} can only create pods with an owner reference set to itself`;
  }
  if (owner.controller !== true) {
    return `node ${quoted} can only create pods with a controller owner reference set to itself`;
  }
  if (owner.blockOwnerDeletion === true) return `node ${quoted} must not set blockOwnerDeletion on an owner reference`;
  const keys = referencedKeys(pod as unknown as Parameters<typeof referencedKeys>[0]);
  for (const [kind, what] of refused) {
    if (keys.some((key) => key.startsWith(`${kind}/`)))
      return `node ${quoted} can not create pods that reference ${what}`;
  }
  const sources = (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  const projects = (field: string) => sources.some((source) => source[field] !== undefined && source[field] !== null);
  if (projects('serviceAccountToken')) return `node ${quoted} can not create pods that reference a service account`;
  if (projects('clusterTrustBundle')) return `node ${quoted} can not create pods that reference clustertrustbundles`;
  if (projects('podCertificate')) return `node ${quoted} can not create pods that request certificates`;
  if ((spec.resourceClaims ?? []).length > 0) return `node ${quoted} can not create pods that reference resourceclaims`;
  return undefined;
}
