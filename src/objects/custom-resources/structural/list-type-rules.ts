import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { ownValue } from '../../../base/machinery/own-value.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { shown } from './faults.js';

const listType = 'x-kubernetes-list-type';
const mapKeys = 'x-kubernetes-list-map-keys';

/** Validates x-kubernetes-list-type and x-kubernetes-list-map-keys of one schema. */
export function listTypeErrors(props: JSONSchemaProps, path: FieldPath): FieldError[] {
  const type = props[listType];
  const keys = props[mapKeys] ?? [];
  if (type === undefined && keys.length === 0) return [];
  const errors: FieldError[] = [];
  if (type !== undefined && props.type !== 'array') {
    const detail = 'must be array if x-kubernetes-list-type is specified';
    errors.push(props.type ? invalid(path.child('type'), props.type, detail) : required(path.child('type'), detail));
  }
  if (type !== undefined && type !== 'atomic' && type !== 'set' && type !== 'map') {
    errors.push(notSupported(path.child(listType), type, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && type !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    errors.push(
      type === undefined ? required(path.child(listType), detail) : invalid(path.child(listType), type, detail),
    );
  }
  if (type === 'map') errors.push(...mapErrors(props, keys, path));
  if (type !== 'map' && type !== 'set') return errors;
  const { items } = props;
  if (items === undefined || Array.isArray(items)) return errors;
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${type}`;
    errors.push(forbidden(path.child('items').child('nullable'), detail));
  }
  return errors.concat(type === 'map' ? keyErrors(items, keys, path) : setErrors(items, path));
}

function mapErrors(props: JSONSchemaProps, keys: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (keys.length === 0) {
    errors.push(required(path.child(mapKeys), 'must not be empty if x-kubernetes-list-type is map'));
  }
  const { items } = props;
  const at = path.child('items');
  if (items === undefined) {
    errors.push(required(at, 'must have a schema if x-kubernetes-list-type is map'));
    return errors;
  }
  if (Array.isArray(items)) {
    errors.push(invalid(at, shown(items), 'must only have a single schema if x-kubernetes-list-type is map'));
    return errors;
  }
  if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(at.child('type'), items.type ?? '', detail));
    return errors;
  }
  const seen = new Set<string>();
  // These two errors show all keys, so they are not repeated for each key.
  let isUnknownReported = false;
  let isDuplicateReported = false;
  for (const key of keys) {
    const type = ownValue(items.properties, key)?.type;
    if (type === 'array' || type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(at.child('properties').key(key).child('type'), type, detail));
    } else if (ownValue(items.properties, key) === undefined && !isUnknownReported) {
      isUnknownReported = true;
      errors.push(invalid(path.child(mapKeys), keys, 'entries must all be names of item properties'));
    }
    if (seen.has(key) && !isDuplicateReported) {
      isDuplicateReported = true;
      errors.push(invalid(path.child(mapKeys), keys, 'must not contain duplicate entries'));
    }
    seen.add(key);
  }
  return errors;
}

/** Errors of the keys of a list map: items that lack one of the keys could not be told apart. */
function keyErrors(items: JSONSchemaProps, keys: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const isRequired = new Set(items.required);
  for (const key of keys) {
    const property = ownValue(items.properties, key);
    if (property === undefined) continue;
    const at = path.child('items').child('properties').key(key);
    if (!isRequired.has(key) && property.default === undefined) {
      const detail =
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(required(at.child('default'), detail));
    }
    if (property.nullable === true) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable';
      errors.push(forbidden(at.child('nullable'), detail));
    }
  }
  return errors;
}

/** Errors of the items of a set: they are compared as wholes, so nobody may own parts of them. */
function setErrors(items: JSONSchemaProps, path: FieldPath): FieldError[] {
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const at = path.child('items');
  if (items.type === 'array') {
    const type = items[listType];
    return type === undefined || type === 'atomic' ? [] : [invalid(at.child(listType), type, detail)];
  }
  if (items.type !== 'object') return [];
  const type = items['x-kubernetes-map-type'];
  return type === 'atomic' ? [] : [invalid(at.child('x-kubernetes-map-type'), type ?? 'null', detail)];
}
