import { type FieldError, type FieldPath, invalid } from '../../../../../base/machinery/field-error.js';
import { checkNonNegative } from './common.validation.js';

/** The counts in the status of a kind with replicas. */
export interface ReplicaCounts {
  readonly replicas?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly availableReplicas?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly collisionCount?: number | undefined;
}

/**
 * Checks that no count is negative and that those named in `parts` do not exceed `replicas`.
 *
 * @param path path of the status
 * @param readyName what messages call the number of ready replicas
 */
export function checkReplicaCounts<K extends string>(
  counts: ReplicaCounts & { readonly [key in K]?: number | undefined },
  parts: readonly K[],
  path: FieldPath,
  errors: FieldError[],
  readyName = 'readyReplicas',
): void {
  checkNonNegative(counts.replicas, path.child('replicas'), errors);
  for (const part of parts) checkNonNegative(counts[part], path.child(part), errors);
  checkNonNegative(counts.observedGeneration, path.child('observedGeneration'), errors);
  checkNonNegative(counts.collisionCount, path.child('collisionCount'), errors);
  const all = counts.replicas ?? 0;
  for (const part of parts) {
    const count = counts[part] ?? 0;
    if (part !== 'unavailableReplicas' && count > all) {
      errors.push(invalid(path.child(part), count, 'cannot be greater than status.replicas'));
    }
  }
  const available = counts.availableReplicas ?? 0;
  if (available > (counts.readyReplicas ?? 0)) {
    errors.push(invalid(path.child('availableReplicas'), available, `cannot be greater than ${readyName}`));
  }
}

/** Checks that the number of name collisions does not decrease. `path` is the path of the status. */
export function checkCollisionCount(
  count: number | undefined,
  old: number | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (old === undefined || (count !== undefined && count >= old)) return;
  errors.push(invalid(path.child('collisionCount'), count ?? 0, 'cannot be decremented'));
}
