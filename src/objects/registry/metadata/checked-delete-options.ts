import { type FieldError, FieldPath, invalid, notSupported } from '../../../base/machinery/field-error.js';
import { invalidError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { DeleteOptions } from '../strategy.js';

const policies = ['Foreground', 'Background', 'Orphan'] as const;
type Policy = (typeof policies)[number];
const policyPath = FieldPath.of('propagationPolicy');
const dryRunPath = FieldPath.of('dryRun');
const unsafePath = FieldPath.of('ignoreStoreReadErrorWithClusterBreakingPotential');

/** Delete options as a client sent them: of the right types, otherwise unchecked. */
export interface WrittenDeleteOptions {
  readonly gracePeriodSeconds?: number | bigint | undefined;
  readonly preconditions?: DeleteOptions['preconditions'] | undefined;
  readonly orphanDependents?: boolean | undefined;
  readonly propagationPolicy?: string | undefined;
  readonly dryRun?: readonly string[] | undefined;
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean | undefined;
}

/** Validates `dryRun` when it is not empty: only `All` is allowed, any number of times. */
export function validateDryRun(values: readonly string[]): FieldError[] {
  return values.every((v) => v === 'All') ? [] : [notSupported(dryRunPath, values, ['All'])];
}

/** The checked options of a delete; 422 for values that are not allowed. */
export function checkedDeleteOptions(written: WrittenDeleteOptions, names: VendorNames): DeleteOptions {
  const { propagationPolicy, orphanDependents, preconditions, gracePeriodSeconds } = written;
  const dryRun = (written.dryRun ?? []).filter((value) => value !== '');
  const errors: FieldError[] = [];
  if (propagationPolicy !== undefined) {
    if (orphanDependents !== undefined) {
      const detail = 'orphanDependents and deletionPropagation cannot be both set';
      errors.push(invalid(policyPath, propagationPolicy, detail));
    }
    if (!policies.includes(propagationPolicy as Policy)) {
      errors.push(notSupported(policyPath, propagationPolicy, [...policies, 'nil']));
    }
  }
  errors.push(...validateDryRun(dryRun));
  const onlyUnreadable = written.ignoreStoreReadErrorWithClusterBreakingPotential === true;
  if (onlyUnreadable) errors.push(...unsafeFaults(written));
  if (errors.length > 0) throw invalidError({ group: `meta.${names.suffix}`, kind: 'DeleteOptions' }, '', errors);
  const grace = gracePeriodSeconds === undefined ? undefined : Number(gracePeriodSeconds);
  return {
    // A negative period means one second, as old clients expect.
    gracePeriodSeconds: grace !== undefined && grace < 0 ? 1 : grace,
    ...(preconditions === undefined ? {} : { preconditions }),
    propagationPolicy: propagationPolicy as Policy | undefined,
    orphanDependents,
    dryRun: dryRun.length > 0,
    ...(onlyUnreadable ? { onlyUnreadable } : {}),
  };
}

/** A delete that removes an unreadable object accepts no option about the object's content. */
function unsafeFaults(written: WrittenDeleteOptions): FieldError[] {
  const set = ['propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;
  return set
    .filter((name) => written[name] !== undefined)
    .map((name) => invalid(unsafePath, true, `cannot be set together with .${name}`));
}

/** Validates a request to delete many objects, none of which may be unreadable. */
export function collectionFaults({ onlyUnreadable }: DeleteOptions): FieldError[] {
  if (onlyUnreadable !== true) return [];
  return [invalid(unsafePath, true, 'is not allowed with DELETECOLLECTION, try again after removing the option')];
}
