import { formatTime } from '../../../base/machinery/clock.js';
import type { NamespaceCondition } from '../../../objects/apis/core/v1/namespace.types.js';

/** The objects left after a pass over the content of a namespace. */
export interface ContentReport {
  /** `<plural>.<group>` (with the dot for the core group too) to the number of objects left. */
  readonly remaining: ReadonlyMap<string, number>;
  /** The number of objects that each finalizer holds. */
  readonly finalizers: ReadonlyMap<string, number>;
  /** The errors of failed deletions. */
  readonly errors: readonly Error[];
  /** One message for each group version whose resources are not known, because its extension server is unavailable. */
  readonly discoveryFailures?: readonly string[];
}

type Wanted = Omit<NamespaceCondition, 'lastTransitionTime'>;

/** The conditions for a report, in the order that clients expect. */
function wantedConditions({ remaining, finalizers, errors, discoveryFailures = [] }: ContentReport): Wanted[] {
  const condition = (type: string, status: 'True' | 'False', reason: string, message: string) =>
    ({ type, status, reason, message }) as Wanted;
  return [
    discoveryFailures.length === 0
      ? condition(
          'NamespaceDeletionDiscoveryFailure',
          'False',
          'ResourcesDiscovered',
          'All resources successfully discovered',
        )
      : condition('NamespaceDeletionDiscoveryFailure', 'True', 'DiscoveryFailed', discoveryProblem(discoveryFailures)),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ),
    errors.length === 0
      ? condition(
          'NamespaceDeletionContentFailure',
          'False',
          'ContentDeleted',
          'All content successfully deleted, may be waiting on finalization',
        )
      : condition(
          'NamespaceDeletionContentFailure',
          'True',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${errors.length} remaining: ${sortedTexts(errors).join(', ')}`,
        ),
    remaining.size === 0
      ? condition('NamespaceContentRemaining', 'False', 'ContentRemoved', 'All content successfully removed')
      : condition(
          'NamespaceContentRemaining',
          'True',
          'SomeResourcesRemain',
          `Some resources are remaining: ${counts(remaining, (name, n) => `${name} has ${n} resource instances`)}`,
        ),
    finalizers.size === 0
      ? condition(
          'NamespaceFinalizersRemaining',
          'False',
          'ContentHasNoFinalizers',
          'All content-preserving finalizers finished',
        )
      : condition(
          'NamespaceFinalizersRemaining',
          'True',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${counts(finalizers, (name, n) => `${name} in ${n} resource instances`)}`,
        ),
  ];
}

/** Why the content of a namespace is not fully known, as upstream words it. */
export function discoveryProblem(failures: readonly string[]): string {
  return `Discovery failed for some groups, ${failures.length} failing: unable to retrieve the complete list of server APIs: ${failures.join(', ')}`;
}

/**
 * The conditions of a namespace after a pass; the same array when nothing changed. Conditions of other types stay. A
 * transition time changes only when the status does.
 */
export function updateConditions(
  current: readonly NamespaceCondition[],
  report: ContentReport,
  now: number,
): readonly NamespaceCondition[] {
  const updated = [...current];
  let isChanged = false;
  for (const wanted of wantedConditions(report)) {
    const { type, status, reason, message } = wanted;
    const index = updated.findIndex((condition) => condition.type === type);
    const old = updated[index];
    if (old !== undefined && old.status === status && old.reason === reason && old.message === message) continue;
    isChanged = true;
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : formatTime(now);
    const next = { type, status, lastTransitionTime, reason, message } as NamespaceCondition;
    if (old === undefined) updated.push(next);
    else updated[index] = next;
  }
  return isChanged ? updated : current;
}

function counts(values: ReadonlyMap<string, number>, text: (name: string, count: number) => string): string {
  return [...values]
    .map(([name, count]) => text(name, count))
    .sort()
    .join(', ');
}

function sortedTexts(errors: readonly Error[]): string[] {
  return errors.map((error) => error.message).sort();
}
