import type { ApiObject } from '../../../../base/machinery/api-object.js';
import {
  atomicParts,
  formFaults,
  mergeObjects,
  rootView,
  withCanonicalValues,
} from '../../../../base/machinery/field-set/index.js';
import { applyJsonPatch, PatchError } from '../../../../base/machinery/patch/index.js';
import { DecodeError, decode, type KindType } from '../../../../base/machinery/schema/index.js';
import {
  Budget,
  CelError,
  CostLimitExceeded,
  expressionCostLimit,
  toJson,
  type Value,
} from '../../../../objects/cel/index.js';
import { MutationError } from './mutation-error.js';

/** The operations that an expression of type list(JSONPatch) made. Throws a MutationError for other values. */
function operationsOf(value: Value): readonly unknown[] {
  const operations = asJson(value);
  if (!Array.isArray(operations)) throw new MutationError('JSON patch expression must make a list of JSONPatch');
  return operations;
}

function asJson(value: Value): unknown {
  try {
    return toJson(value, new Budget(expressionCostLimit));
  } catch (error) {
    if (error instanceof CelError || error instanceof CostLimitExceeded) throw new MutationError(error.message);
    throw error;
  }
}

/** The object after the JSON patch that an expression made; not canonical. Unchanged when a `test` of the patch fails. */
export function patchedObject(before: ApiObject, value: Value): unknown {
  try {
    return applyJsonPatch(before, operationsOf(value));
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    if (error.isFailedTest) return before;
    throw new MutationError(`JSON Patch: ${error.fault}`);
  }
}

/**
 * The object merged with the result of an expression, by the rules of server-side apply for lists and maps with keys.
 * Atomic lists and maps are refused, since they have one owner and the expression can't know their other content.
 */
export function mergedObject(before: ApiObject, value: Value, type: KindType): unknown {
  const made = asJson(value);
  if (typeof made !== 'object' || made === null || Array.isArray(made)) {
    throw new MutationError('apply configuration expression must make an Object');
  }
  const applied = made as Record<string, unknown>;
  const view = rootView(type);
  const faults = formFaults(view, applied, false);
  if (faults.length > 0) throw new MutationError(`invalid ApplyConfiguration: ${faults.join(', ')}`);
  const atomic = atomicParts(view, applied);
  if (atomic.length > 0) {
    const message = `may not mutate atomic arrays, maps or structs: ${atomic.join(', ')}`;
    throw new MutationError(`invalid ApplyConfiguration: ${message}`);
  }
  try {
    const canonical = withCanonicalValues(view, applied, decode(type, applied).value) as Record<string, unknown>;
    return mergeObjects(view, before, canonical);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new MutationError(`invalid ApplyConfiguration: ${error.message}`);
  }
}
