import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

const nothing: readonly string[] = [];

/**
 * The claims, as `<namespace>/<name>`, that a pod uses: those of its volumes, from when it gets its node until it has
 * ended. Before the pod has a node, no agent starts it with a claim that is being deleted.
 */
export function claimsOf(pod: Readonly<Pod>): readonly string[] {
  return pod.spec.nodeName ? namedClaimsOf(pod) : nothing;
}

/** Like {@link claimsOf}, but from when the pod is created. */
export function namedClaimsOf({ metadata, spec, status }: Readonly<Pod>): readonly string[] {
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return nothing;
  const { namespace = '', name = '' } = metadata;
  const claims = (spec.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${name}-${volume}`];
  });
  return claims.length === 0 ? nothing : [...new Set(claims)];
}
