import { fieldChanges } from './field-changes.js';
import type { Kind } from './kinds.js';
import { type Change, isWanted } from './timeline-fold.js';
import type { ApiObject, ManagedFields } from './yaml-text.js';

/** What became of one object between two moments. */
export interface ObjectChange {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly verb: 'created' | 'changed' | 'deleted' | 'replaced';
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
  readonly changes: readonly Change[];
  /** The field managers that wrote between the two moments; empty if unknown, as for deleted objects. */
  readonly writers: readonly string[];
  /** When it was last written, in RFC 3339; empty where that is not known. */
  readonly time: string;
  /** Whether only the status changed, or what goes with every write. */
  readonly isQuiet: boolean;
}

/**
 * Compares the objects of a kind at two moments.
 *
 * @param from the first moment, in milliseconds since 1970
 */
export function objectChanges(
  kind: Kind,
  before: readonly ApiObject[],
  after: readonly ApiObject[],
  from: number,
): readonly ObjectChange[] {
  const earlier = new Map(before.map((object) => [keyOf(object), object]));
  const later = new Map(after.map((object) => [keyOf(object), object]));
  const found: ObjectChange[] = [];
  for (const key of new Set([...earlier.keys(), ...later.keys()])) {
    const change = changeOf(kind, earlier.get(key), later.get(key), from);
    if (change !== undefined) found.push(change);
  }
  return found;
}

function changeOf(
  kind: Kind,
  before: ApiObject | undefined,
  after: ApiObject | undefined,
  from: number,
): ObjectChange | undefined {
  const { name, namespace = '' } = (after ?? before)?.metadata ?? { name: '' };
  const base = { kind, namespace, name, before, after };
  if (after === undefined) return { ...base, verb: 'deleted', changes: [], writers: [], time: '', isQuiet: false };
  const since = writersSince(after, before, from);
  const written = { ...base, ...since, time: since.time || (after.metadata.creationTimestamp ?? '') };
  if (before === undefined) return { ...written, verb: 'created', changes: [], isQuiet: false };
  if (before.metadata.resourceVersion === after.metadata.resourceVersion) return undefined;
  const changes = fieldChanges(before, after);
  const writers = since.writers.length > 0 ? since.writers : timelessOwners(after, changes);
  const isReplaced = before.metadata.uid !== after.metadata.uid;
  return {
    ...written,
    writers,
    verb: isReplaced ? 'replaced' : 'changed',
    changes,
    isQuiet: !isReplaced && !changes.some(isWanted),
  };
}

/** Managed fields carry whole seconds. The API gives the entry of a writer who scaled no time: it counts where it is new. */
function writersSince(
  after: ApiObject,
  before: ApiObject | undefined,
  from: number,
): { writers: readonly string[]; time: string } {
  const since = Math.floor(from / 1000) * 1000;
  const known = new Set(managersOf(before).map(nameOfEntry));
  const entries = managersOf(after).filter((entry) =>
    typeof entry.time === 'string' ? Date.parse(entry.time) >= since : !known.has(nameOfEntry(entry)),
  );
  const byTime = entries.toSorted((a, b) => (String(a.time) < String(b.time) ? 1 : -1));
  // Managers that wrote more than the status come first.
  const ordered = byTime.toSorted((a, b) => Number(a.subresource === 'status') - Number(b.subresource === 'status'));
  const writers = new Set(ordered.map(({ manager }) => (typeof manager === 'string' ? manager : '')).filter(Boolean));
  return { writers: [...writers], time: byTime[0]?.time ?? '' };
}

function managersOf(object: ApiObject | undefined): readonly ManagedFields[] {
  const { managedFields } = object?.metadata ?? {};
  return Array.isArray(managedFields) ? managedFields : [];
}

function nameOfEntry({ manager, operation, subresource }: ManagedFields): string {
  return JSON.stringify([manager, operation, subresource]);
}

/**
 * The managers without a time that own one of the changed fields: whoever scales twice leaves the same entry both times.
 */
function timelessOwners(after: ApiObject, changes: readonly Change[]): readonly string[] {
  const timeless = managersOf(after).filter(({ time }) => typeof time !== 'string');
  const owners = timeless.filter(({ fieldsV1 }) => changes.some(({ path }) => ownsField(fieldsV1, path)));
  return [...new Set(owners.map(({ manager }) => (typeof manager === 'string' ? manager : '')).filter(Boolean))];
}

/** Whether the fields of an entry have the field at the path, which leads through no list: `spec.replicas`. */
function ownsField(fields: unknown, path: string): boolean {
  let at = fields;
  for (const name of path.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, `f:${name}`)) return false;
    at = (at as Record<string, unknown>)[`f:${name}`];
  }
  return true;
}

/** Values of Secrets are hidden wherever they were not asked for. */
export function shownChanges({ kind, changes }: ObjectChange, withStatus: boolean): readonly Change[] {
  const wanted = withStatus ? changes : changes.filter(isWanted);
  return kind.group === '' && kind.resource === 'secrets' ? wanted.map(withoutValue) : wanted;
}

const hidden = '(hidden)';

function withoutValue(change: Change): Change {
  if (!/^(?:data|stringData)\b|^$|^metadata\.annotations/.test(change.path)) return change;
  return {
    op: change.op,
    path: change.path,
    ...('from' in change && { from: hidden }),
    ...('to' in change && { to: hidden }),
  };
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
