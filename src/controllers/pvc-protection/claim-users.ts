import type { Pod } from '../../apis/core/v1/pod.types.js';
import type { ApiObject } from '../../machinery/api-object.js';

const nothing: readonly string[] = [];

/**
 * The claims, as `<namespace>/<name>`, that a pod holds on to: those of its volumes, from when it gets its node until it
 * has ended. Before that its node's agent will not start it with a claim that is being deleted.
 */
export function claimsOf(object: ApiObject): readonly string[] {
  const { metadata, spec, status } = object as ApiObject as Pod;
  if (!spec.nodeName || status.phase === 'Succeeded' || status.phase === 'Failed') return nothing;
  const { namespace = '', name = '' } = metadata;
  const claims = (spec.volumes ?? []).flatMap(({ name: volume, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim !== undefined) return [`${namespace}/${persistentVolumeClaim.claimName}`];
    return ephemeral === undefined ? [] : [`${namespace}/${name}-${volume}`];
  });
  return claims.length === 0 ? nothing : [...new Set(claims)];
}

/** Which pods hold on to which claims. */
export class ClaimUsers {
  private readonly claims = new Map<string, readonly string[]>();
  private readonly pods = new Map<string, number>();

  /** How many pods hold on to a claim. */
  count(claim: string): number {
    return this.pods.get(claim) ?? 0;
  }

  /** Sets the claims of a pod, and returns those that it held before and no longer does. */
  set(pod: string, claims: readonly string[]): readonly string[] {
    const before = this.claims.get(pod) ?? nothing;
    if (claims.length === 0) this.claims.delete(pod);
    else this.claims.set(pod, claims);
    for (const claim of claims) this.pods.set(claim, this.count(claim) + 1);
    for (const claim of before) {
      const left = this.count(claim) - 1;
      if (left === 0) this.pods.delete(claim);
      else this.pods.set(claim, left);
    }
    return before.filter((claim) => !claims.includes(claim));
  }

  clear(): void {
    this.claims.clear();
    this.pods.clear();
  }
}
