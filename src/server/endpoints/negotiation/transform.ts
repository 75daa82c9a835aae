import type { ApiObject } from '../../../base/machinery/api-object.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { defaultColumns, shownCell } from '../../../objects/registry/definition/default-columns.js';
import type { RowCondition, TableCell, TableColumn } from '../../../objects/registry/resource-definition.js';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { toStored } from '../../../objects/registry/store/object-codec.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { IncludeObject } from './include-object.js';

/** `metadata` of a list response. */
export interface ListMetadata {
  /** Missing in lists of kinds that are not stored. */
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The form of a Table that a client requests. */
export interface TableForm {
  /** Of the API group `meta`. */
  readonly version: string;
  readonly include: IncludeObject;
}

/** How much of each object a Table row includes; its metadata by default. Throws a 400 for unknown values. */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  const detail = `includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequestError(`Unable to convert to Table as requested: ${detail}`);
}

/** An object reduced to its metadata. */
export function partialMetadata(names: VendorNames, object: ApiObject, version: string): unknown {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.${names.suffix}/${version}`,
    metadata: object.metadata,
  };
}

/**
 * A human-readable table, made from objects in the served version: the columns of the kind, or name and creation time
 * (specification 2.11).
 */
export function tableOf(
  services: EndpointServices,
  resource: ServedResource,
  objects: readonly ApiObject[],
  metadata: ListMetadata | Record<string, never>,
  { version, include, withColumns = true }: TableForm & { readonly withColumns?: boolean },
): unknown {
  const columns = resource.definition.columns ?? defaultColumns;
  const now = services.clock.now();
  const rows = objects.map((object) => ({
    cells: tableCells(resource, object).map((cell) => shownCell(cell, now)),
    conditions: rowConditions(resource, object),
    object: rowObject(services.names, object, version, include),
  }));
  return tableDocument(services.names, version, metadata, withColumns ? columns : undefined, rows);
}

/** The table of a view of an object. */
export function viewTable(
  { names, clock }: EndpointServices,
  columns: readonly TableColumn[],
  shown: ApiObject,
  { version, include }: TableForm,
): unknown {
  const now = clock.now();
  const cells = columns.map((column) => shownCell(column.cell(shown), now));
  const metadata = { resourceVersion: shown.metadata.resourceVersion ?? '' };
  return tableDocument(names, version, metadata, columns, [
    { cells, object: rowObject(names, shown, version, include) },
  ]);
}

function tableDocument(
  names: VendorNames,
  version: string,
  metadata: ListMetadata | Record<string, never>,
  columns: readonly TableColumn[] | undefined,
  rows: readonly unknown[],
): unknown {
  return {
    kind: 'Table',
    apiVersion: `meta.${names.suffix}/${version}`,
    metadata,
    columnDefinitions:
      columns
        ?.filter(({ isUndeclared }) => isUndeclared !== true)
        .map(({ name, type, format, description, priority }) => ({
          name,
          type,
          format: format ?? '',
          description: description ?? '',
          priority: priority ?? 0,
        })) ?? null,
    rows,
  };
}

/** The cells of an object in the served version. They depend only on the object. */
export function tableCells(resource: ServedResource, object: ApiObject): TableCell[] {
  // Columns are declared for the stored version; other versions may have their fields elsewhere, or their own columns.
  const hasOwnColumns = resource.isStored || resource.served.definition !== undefined;
  const shown = hasOwnColumns ? object : toStored(resource, cloneJson(object));
  return (resource.definition.columns ?? defaultColumns).map((column) => column.cell(shown));
}

/** What the row says about an object in the served version, which must be the stored one; undefined: nothing. */
export function rowConditions({ definition }: ServedResource, object: ApiObject): readonly RowCondition[] | undefined {
  return definition.rowConditions?.(object);
}

function rowObject(names: VendorNames, object: ApiObject, version: string, include: IncludeObject): unknown {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return partialMetadata(names, object, version);
}
