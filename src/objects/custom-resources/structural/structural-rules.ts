import { type FieldError, type FieldPath, forbidden, invalid, required } from '../../../base/machinery/field-error.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { isSet } from './keyword-rules.js';

/** The position of a schema: decides how its missing type is named. */
type Level = 'field' | 'item' | 'root';

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/** The errors of a schema that is not structural, sorted by their text. In several steps. */
export function* structuralErrors(props: JSONSchemaProps, path: FieldPath): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* checkNode(props, path, 'root', errors);
  yield* checkComplete(props, props, path, path, errors);
  const keyed = errors.map((error) => ({ error, key: `${error.field}: ${error.message}` }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ error }) => error);
}

function* checkNode(props: JSONSchemaProps, path: FieldPath, level: Level, errors: FieldError[]): Steps {
  yield;
  const { type, items, properties, additionalProperties } = props;
  if (type === 'array' && items === undefined) errors.push(required(path.child('items'), 'must be specified'));
  if (items !== undefined && !Array.isArray(items)) yield* checkNode(items, path.child('items'), 'item', errors);
  if (properties !== undefined) {
    const at = path.child('properties');
    for (const name of Object.keys(properties)) {
      yield* checkNode(properties[name] as JSONSchemaProps, at.key(name), 'field', errors);
    }
  }
  if (additionalProperties !== undefined) {
    const at = path.child('additionalProperties');
    if (level === 'root') errors.push(forbidden(at, 'must not be used at the root'));
    if (typeof additionalProperties === 'object') yield* checkNode(additionalProperties, at, 'field', errors);
  }
  checkType(props, path, level, errors);
  checkResource(props, path, level, errors);
  yield* checkJunctors(props, path, isIntOrString(props.anyOf), isIntOrString(props.allOf?.[0]?.anyOf), errors);
}

function checkType(props: JSONSchemaProps, path: FieldPath, level: Level, errors: FieldError[]): void {
  const { type } = props;
  const isEmbedded = props['x-kubernetes-embedded-resource'] === true;
  const isPreserving = props['x-kubernetes-preserve-unknown-fields'] === true;
  const at = path.child('type');
  if (props['x-kubernetes-int-or-string'] === true) {
    const detail = 'must be false if x-kubernetes-int-or-string is true';
    if (isPreserving) errors.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), true, detail));
    if (isEmbedded) errors.push(invalid(path.child('x-kubernetes-embedded-resource'), true, detail));
  }
  if (isEmbedded && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type ? invalid(at, type, detail) : required(at, detail));
  } else if (!type && !isPreserving && props['x-kubernetes-int-or-string'] !== true) {
    errors.push(required(at, missingType[level]));
  }
  if (level === 'root' && type && type !== 'object') errors.push(invalid(at, type, 'must be object at the root'));
}

/** apiVersion, kind and metadata of the root and of embedded resources are known without the schema. */
function checkResource(props: JSONSchemaProps, path: FieldPath, level: Level, errors: FieldError[]): void {
  const isEmbedded = props['x-kubernetes-embedded-resource'] === true;
  const { properties } = props;
  if (isEmbedded) {
    if (props.additionalProperties !== undefined) {
      const detail = 'must not be used if x-kubernetes-embedded-resource is set';
      errors.push(forbidden(path.child('additionalProperties'), detail));
    }
    if (!isSet(properties) && props['x-kubernetes-preserve-unknown-fields'] !== true) {
      const detail =
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
      errors.push(required(path.child('properties'), detail));
    }
  }
  if (!isEmbedded && level !== 'root') return;
  const at = path.child('properties');
  for (const name of ['kind', 'apiVersion']) {
    const property = ownValue(properties, name);
    if (property === undefined || property.type === 'string') continue;
    errors.push(invalid(at.key(name).child('type'), property.type ?? '', 'must be string'));
  }
  const metadata = ownValue(properties, 'metadata');
  if (metadata === undefined) return;
  if (metadata.type !== 'object') {
    errors.push(invalid(at.key('metadata').child('type'), metadata.type ?? '', 'must be object'));
  }
  if (level === 'root' && !restrictsOnlyNames(metadata)) {
    const detail = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(at.key('metadata'), detail));
  }
}

/** Keywords of a metadata schema that are either allowed, or reported elsewhere, or have no effect. */
const harmless: ReadonlySet<string> = new Set(['type', 'default', 'id', '$schema', 'example', 'externalDocs']);

function restrictsOnlyNames(metadata: JSONSchemaProps): boolean {
  for (const key of Object.keys(metadata)) {
    if (harmless.has(key)) continue;
    const value = metadata[key as keyof JSONSchemaProps];
    if (key === 'properties') {
      if (Object.keys(value as object).some((name) => name !== 'name' && name !== 'generateName')) return false;
    } else if (isSet(value)) return false;
  }
  return true;
}

/** Whether `anyOf` is the form of int-or-string: only there may schemas within anyOf have types. */
export function isIntOrString(anyOf: readonly JSONSchemaProps[] | undefined): boolean {
  if (anyOf?.length !== 2) return false;
  const isOnlyType = (schema: JSONSchemaProps | undefined, type: string) =>
    schema?.type === type && !Object.keys(schema).some((key) => key !== 'type' && isSet(schema[key as 'title']));
  return isOnlyType(anyOf[0], 'integer') && isOnlyType(anyOf[1], 'string');
}

function* checkJunctors(
  props: JSONSchemaProps,
  path: FieldPath,
  skipsAnyOf: boolean,
  skipsFirstAllOf: boolean,
  errors: FieldError[],
): Steps {
  for (const [i, schema] of (props.allOf ?? []).entries()) {
    yield* checkNested(schema, path.child('allOf').index(i), skipsFirstAllOf && i === 0, errors);
  }
  if (!skipsAnyOf) yield* checkEach(props.anyOf, path.child('anyOf'), errors);
  yield* checkEach(props.oneOf, path.child('oneOf'), errors);
  if (props.not !== undefined) yield* checkNested(props.not, path.child('not'), false, errors);
}

function* checkEach(schemas: readonly JSONSchemaProps[] | undefined, path: FieldPath, errors: FieldError[]): Steps {
  for (const [i, schema] of (schemas ?? []).entries()) yield* checkNested(schema, path.index(i), false, errors);
}

/** Keywords that schemas which only narrow values may not have, and the wording of the messages about them. */
const forbiddenNested: readonly (readonly [keyword: keyof JSONSchemaProps, rule: string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function* checkNested(props: JSONSchemaProps, path: FieldPath, skipsAnyOf: boolean, errors: FieldError[]): Steps {
  yield* checkJunctors(props, path, skipsAnyOf, false, errors);
  const { items, properties } = props;
  if (items !== undefined && !Array.isArray(items)) yield* checkNested(items, path.child('items'), false, errors);
  if (properties !== undefined) {
    const at = path.child('properties');
    for (const name of Object.keys(properties)) {
      yield* checkNested(properties[name] as JSONSchemaProps, at.key(name), false, errors);
    }
    if (Object.hasOwn(properties, 'metadata')) {
      errors.push(forbidden(at.key('metadata'), 'must not be specified in a nested context'));
    }
  }
  for (const [keyword, rule] of forbiddenNested) {
    const value = props[keyword];
    const isGiven = keyword === 'default' || keyword === 'additionalProperties' ? value !== undefined : isSet(value);
    if (isGiven) errors.push(forbidden(path.child(keyword), rule));
  }
}

/** Fields that are narrowed at the root must be specified there, too. */
function* checkComplete(
  nested: JSONSchemaProps,
  props: JSONSchemaProps,
  path: FieldPath,
  nestedPath: FieldPath,
  errors: FieldError[],
): Steps {
  const each = function* (schemas: readonly JSONSchemaProps[] | undefined, keyword: string): Steps {
    for (const [i, schema] of (schemas ?? []).entries()) {
      yield* checkNestedComplete(schema, props, path, nestedPath.child(keyword).index(i), errors);
    }
  };
  yield* each(nested.allOf, 'allOf');
  yield* each(nested.anyOf, 'anyOf');
  yield* each(nested.oneOf, 'oneOf');
  if (nested.not !== undefined) yield* checkNestedComplete(nested.not, props, path, nestedPath.child('not'), errors);
}

function* checkNestedComplete(
  nested: JSONSchemaProps,
  props: JSONSchemaProps,
  path: FieldPath,
  nestedPath: FieldPath,
  errors: FieldError[],
): Steps {
  yield* checkComplete(nested, props, path, nestedPath, errors);
  yield;
  const check = function* (
    below: JSONSchemaProps,
    own: JSONSchemaProps | undefined,
    at: FieldPath,
    nestedAt: FieldPath,
  ): Steps {
    if (own === undefined) errors.push(required(at, `because it is defined in ${nestedAt.toString()}`));
    else yield* checkNestedComplete(below, own, at, nestedAt, errors);
  };
  const { items, properties } = nested;
  if (items !== undefined && !Array.isArray(items)) {
    const own = Array.isArray(props.items) ? undefined : props.items;
    yield* check(items, own, path.child('items'), nestedPath.child('items'));
  }
  for (const name of Object.keys(properties ?? {})) {
    const own = ownValue(props.properties, name);
    const at = path.child('properties').key(name);
    yield* check(properties?.[name] as JSONSchemaProps, own, at, nestedPath.child('properties').key(name));
  }
}
