import type { ApiObject } from '../../base/machinery/api-object.js';
import { cloneJson } from '../../base/machinery/json/exact-numbers.js';
import { deepEqual } from '../../base/machinery/patch/json-value.js';
import { exemptName } from './default-objects.js';

/** What to do with an object that the server may own. */
export type Upkeep =
  | { readonly kind: 'leave' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'write'; readonly annotation: 'true' | 'false'; readonly spec: unknown };

/** A default object as it would be stored. */
export interface WantedObject {
  readonly spec: unknown;
  readonly isMandatory: boolean;
}

type Live = ApiObject & { readonly spec?: unknown };

const leave: Upkeep = Object.freeze({ kind: 'leave' });

/**
 * Decides what to do with a live object. The annotation defines its owner: `true` for the server, which keeps the
 * object equal to the default, or removes an object that is no longer a default; `false` for the operator. Without the
 * annotation, the server owns an object that was never changed. The server always owns mandatory objects.
 */
export function upkeepOf(live: Live, wanted: WantedObject | undefined, annotation: string): Upkeep {
  const mark = live.metadata.annotations?.[annotation];
  if (wanted === undefined) return mark === 'true' ? { kind: 'delete' } : leave;
  const isMarked = mark === 'true' || mark === 'false';
  const isOurs = wanted.isMandatory || (isMarked ? mark === 'true' : (live.metadata.generation ?? 1) === 1);
  const spec = isOurs && !isSameSpec(live, wanted) ? wanted.spec : undefined;
  const wantedMark = isOurs ? 'true' : 'false';
  if (spec === undefined && mark === wantedMark) return leave;
  return { kind: 'write', annotation: wantedMark, spec: spec ?? live.spec };
}

/**
 * Compares the spec with the default. For the level of administrators, the operator decides how many seats it lends.
 */
function isSameSpec({ metadata, spec }: Live, wanted: WantedObject): boolean {
  const isExemptLevel = metadata.name === exemptName && (spec as { type?: unknown }).type === 'Exempt';
  return isExemptLevel || deepEqual(spec, wanted.spec);
}

/** The live object with the default spec and annotation. */
export function kept(live: ApiObject, { annotation: mark, spec }: Upkeep & { kind: 'write' }, name: string): ApiObject {
  const copy = cloneJson(live) as ApiObject & { spec?: unknown };
  copy.metadata.annotations = { ...copy.metadata.annotations, [name]: mark };
  copy.spec = cloneJson(spec);
  return copy;
}
