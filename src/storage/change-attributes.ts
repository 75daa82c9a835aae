import type { AttributeSource, ObjectAttributes } from './selection-predicate.js';
import type { Change } from './storage.interface.js';

/** The attributes that selections compare, for the object before and after a change. */
export interface ChangeAttributes {
  readonly after: ObjectAttributes;
  /** The attributes before the change; undefined when the object did not exist. */
  readonly before: ObjectAttributes | undefined;
}

/** One state of an object, whose attributes are extracted once and kept. */
interface State {
  attributes(source: AttributeSource): ObjectAttributes;
}

const known = new WeakMap<Change, ChangeAttributes>();
const states = new WeakMap<Change, { readonly before: State | undefined; readonly after: State | undefined }>();

/** Records the states whose attributes belong to a change, so that its text need not be read again. */
export function noteStates(change: Change, before: State | undefined, after: State | undefined): void {
  states.set(change, { before, after });
}

/** The attributes of a change: extracted once, then shared by all callers. */
export function attributesOfChange(change: Change, source: AttributeSource): ChangeAttributes {
  const found = known.get(change);
  if (found !== undefined && found.after.source === source) return found;
  const kept = states.get(change);
  const { json, previousJson } = change;
  const before =
    previousJson === undefined ? undefined : (kept?.before?.attributes(source) ?? source.extract(previousJson));
  const after = kept?.after?.attributes(source) ?? source.extract(json);
  const attributes = { after, before };
  known.set(change, attributes);
  return attributes;
}
