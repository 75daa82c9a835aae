import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';

type Marker = 'x-kubernetes-list-map-keys' | 'x-kubernetes-list-type' | 'x-kubernetes-map-type';

/** A merge marker under the vendor's name, and the name that clients and all other code know. */
interface VendorMarker {
  readonly key: string;
  readonly marker: Marker;
}

const pattern = /^x-(.*)-(list-map-keys|list-type|map-type)$/;

/** The merge markers that a schema has under the vendor's name (specification 5.9.6). */
function vendorMarkers(props: JSONSchemaProps): VendorMarker[] {
  const found: VendorMarker[] = [];
  for (const key in props) {
    if (!key.startsWith('x-')) continue;
    const parts = pattern.exec(key);
    if (parts !== null && parts[1] !== 'kubernetes') found.push({ key, marker: `x-kubernetes-${parts[2]}` as Marker });
  }
  return found;
}

function markerValue(props: JSONSchemaProps, key: string): unknown {
  return (props as Readonly<Record<string, unknown>>)[key];
}

/** Writes each marker that has the vendor's name under its usual name as well, in a schema and everything below it. */
export function fillMarkers(props: JSONSchemaProps): void {
  for (const { key, marker } of vendorMarkers(props)) {
    if (props[marker] === undefined) Object.assign(props, { [marker]: markerValue(props, key) });
  }
  for (const schema of subschemas(props)) fillMarkers(schema);
}

function* subschemas(props: JSONSchemaProps): Generator<JSONSchemaProps, void, undefined> {
  const { items, additionalProperties, properties, not } = props;
  if (Array.isArray(items)) yield* items;
  else if (items !== undefined) yield items;
  if (typeof additionalProperties === 'object') yield additionalProperties;
  if (properties !== undefined) yield* Object.values(properties);
  if (not !== undefined) yield not;
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) yield* props[keyword] ?? [];
}

/** The errors of markers that have different values under their two names. */
export function vendorMarkerErrors(props: JSONSchemaProps, path: FieldPath): FieldError[] {
  return vendorMarkers(props)
    .filter(({ key, marker }) => !deepEqual(markerValue(props, key), props[marker]))
    .map(({ key, marker }) => invalid(path.child(key), markerValue(props, key), `must be the same as ${marker}`));
}

/** The markers under the vendor's name, for published documents. */
export function publishedMarkers(props: JSONSchemaProps): [key: string, value: unknown][] {
  return vendorMarkers(props).map(({ key }) => [key, markerValue(props, key)]);
}
