import { createHash } from 'node:crypto';
import type { SqlProjectionMode } from '../../../base/config/sql-projection.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { jsonFields, resolveType, type SchemaType, type StructType } from '../../../base/machinery/schema/index.js';
import type { Logger } from '../../../base/observability/logger.js';
import {
  isStoredKind,
  type ResourceDefinition,
  type StoredResource,
  storageOf,
} from '../../../objects/registry/resource-definition.js';
import { readerRole } from '../../../storage/postgres/reader-rights.js';
import {
  type SqlColumnType,
  type SqlViewField,
  type SqlViewForms,
  type SqlViewSource,
  sqlView,
} from '../../../storage/postgres/sql-view-text.js';
import { type SqlViewsResult, syncSqlViews } from '../../../storage/postgres/sql-views.js';

/**
 * Updates the views of schema `cluster` to the served resources: one per definition that is stored. Cheap when nothing
 * changed, and safe in several processes at once. Changes that are impossible (no right to make the reader role, a
 * foreign object in the way) are logged as warnings.
 *
 * @param suffix vendor suffix of the built-in groups, whose views get the short names first.
 * @param mode which resources are shown, and which of them by rows where those are filled.
 *
 * @throws MigrationError when the database can't be reached or refuses.
 */
export async function syncViews(
  databaseUrl: string,
  definitions: readonly ResourceDefinition[],
  suffix: string,
  mode: SqlProjectionMode,
  logger: Logger,
): Promise<SqlViewsResult> {
  const result = await syncSqlViews(databaseUrl, viewsOf(definitions, suffix), mode);
  const { changed, dropped, kept, reader } = result;
  if (changed.length > 0 || dropped.length > 0) {
    logger.info('SQL views brought up to date', { changed: changed.length, dropped: dropped.length });
  }
  for (const { name, reason } of kept) {
    logger.warn('an SQL view could not be brought up to date and is left unchanged', {
      view: `cluster.${name}`,
      reason,
    });
  }
  if (reader === 'missing') {
    logger.warn(
      `nobody but the owner can read the SQL views: the database role may not create roles; as an administrator run ` +
        `"create role ${readerRole} nologin", then start again`,
    );
  }
  return result;
}

/**
 * The views of these definitions. A view has the name of its plural. Where groups share one, the later in the order
 * core, built-in, added group is called `<plural>_<group>`. Definitions that are never stored (reviews) have none.
 */
export function viewsOf(definitions: readonly ResourceDefinition[], suffix: string): SqlViewForms[] {
  const stored = definitions.filter(isStoredKind);
  const ordered = stored.toSorted((a, b) => {
    const difference = rankOf(a.group, suffix) - rankOf(b.group, suffix);
    if (difference !== 0) return difference;
    return keyOf(a) < keyOf(b) ? -1 : 1;
  });
  const owners = new Map(ordered.filter((d) => d.storedAs === undefined).map((d) => [keyOf(d), d]));
  const taken = new Set<string>();
  return ordered.map((definition) => {
    const { group, resource, kind, namespaced } = definition;
    const storageResource = formatGroupResource(storageOf(definition));
    const name = freeName(resource, group, taken);
    taken.add(name);
    const shape = owners.get(storageResource) ?? definition;
    const [{ version }] = shape.versions;
    const comment = `${kind} objects in version ${shape.group === '' ? version : `${shape.group}/${version}`}.`;
    return madeView(shape, { name, storageResource, namespaced, comment });
  });
}

const madeViews = new WeakMap<ResourceDefinition, SqlViewForms>();

/** The view of a definition, made again only under another name: making thousands takes time. */
function madeView(shape: StoredResource, source: Omit<SqlViewSource, 'fields' | 'holdsAnyJson'>): SqlViewForms {
  const known = madeViews.get(shape);
  const { name, comment } = known?.ofObjects ?? {};
  if (known !== undefined && name === source.name && comment === source.comment) return known;
  const { type } = shape.versions[0];
  const holdsAnyJson = type.custom !== undefined || hasAnyJson(type, new Set());
  const view = sqlView({ ...source, fields: fieldsOf(shape), holdsAnyJson });
  if (shape.storedAs === undefined) madeViews.set(shape, view);
  return view;
}

/** The plural; with its group where another resource has it, and with a digest where even that is taken. */
function freeName(resource: string, group: string, taken: ReadonlySet<string>): string {
  if (!taken.has(resource)) return resource;
  const name = `${resource}_${group.replaceAll(/[^a-z0-9]+/g, '_')}`;
  return taken.has(name) ? `${name}_${createHash('sha256').update(group).digest('hex').slice(0, 8)}` : name;
}

function keyOf({ group, resource }: ResourceDefinition): string {
  return formatGroupResource({ group, resource });
}

function rankOf(group: string, suffix: string): number {
  if (group === '') return 0;
  return !group.includes('.') || group.endsWith(`.${suffix}`) ? 1 : 2;
}

function fieldsOf({ versions: [{ type }] }: ResourceDefinition): SqlViewField[] {
  return [...jsonFields(type).values()]
    .filter(({ name }) => name !== 'metadata')
    .map(({ name, type: fieldType }) => ({ field: name, type: columnTypeOf(fieldType) }));
}

/** Scalars that may be, or contain, a number of any size. */
const anyScalars: ReadonlySet<string> = new Set(['double', 'rawExtension', 'anyJson']);

/** Whether a value of the type may contain JSON that the API accepts unchanged. */
function hasAnyJson(type: SchemaType, seen: Set<StructType>): boolean {
  const resolved = resolveType(type);
  switch (resolved.type) {
    case 'scalar':
      return anyScalars.has(resolved.scalar);
    case 'enum':
      return false;
    case 'list':
      return hasAnyJson(resolved.element, seen);
    case 'map':
      return hasAnyJson(resolved.value, seen);
    case 'variant':
      return hasAnyJson(resolved.struct, seen);
    case 'custom':
      return true;
    case 'struct':
      if (seen.has(resolved)) return false;
      seen.add(resolved);
      return [...jsonFields(resolved).values()].some((field) => hasAnyJson(field.type, seen));
  }
}

const textScalars: ReadonlySet<string> = new Set(['string', 'bytes', 'quantity', 'duration']);

function columnTypeOf(type: SchemaType): SqlColumnType {
  const resolved = resolveType(type);
  if (resolved.type === 'enum') return 'text';
  if (resolved.type === 'custom') return resolved.form.column;
  if (resolved.type !== 'scalar') return 'jsonb';
  if (resolved.scalar === 'time' || resolved.scalar === 'microTime') return 'time';
  return textScalars.has(resolved.scalar) ? 'text' : 'jsonb';
}
