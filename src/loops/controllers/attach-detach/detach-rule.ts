import type { ForcedDetachReason } from '../volume-loop-metrics.js';

/** The inputs of the decision to detach a volume that no pod of its node needs. */
export interface DetachInfo {
  /** The node reports that the volume is still mounted. */
  readonly isInUse: boolean;
  /** The node exists and is ready. */
  readonly isHealthy: boolean;
  /** Somebody confirmed that the node is down. */
  readonly isOutOfService: boolean;
  /** For how long nobody has needed the volume, in milliseconds. */
  readonly unneededMs: number;
}

/** How long a node that does not answer may take to unmount a volume, in milliseconds. */
export const longestUnmountMs = 360_000;

export interface DetachDecision {
  /** `wait`: until the node has unmounted it. */
  readonly kind: 'wait' | 'safely' | 'by force';
  /** Why the volume is detached without the node's consent. */
  readonly reason?: ForcedDetachReason;
  /** When to decide again, in milliseconds, if nothing changes. */
  readonly againMs?: number;
}

/**
 * Whether to detach a volume: at once if its node has unmounted it or is out of service; a node that is not healthy
 * gets some minutes to unmount it; a healthy one may take as long as it needs.
 */
export function decideDetach({ isInUse, isHealthy, isOutOfService, unneededMs }: DetachInfo): DetachDecision {
  if (isOutOfService) return { kind: 'by force', reason: 'out-of-service' };
  const isLate = unneededMs > longestUnmountMs;
  if (isInUse && (isHealthy || !isLate)) {
    return isHealthy || isLate ? { kind: 'wait' } : { kind: 'wait', againMs: longestUnmountMs - unneededMs + 1 };
  }
  return isLate && isInUse ? { kind: 'by force', reason: 'timeout' } : { kind: 'safely' };
}
