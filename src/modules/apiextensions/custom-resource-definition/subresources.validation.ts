import { type FieldError, type FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import type {
  CustomResourceColumnDefinition,
  CustomResourceSubresources,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

const columnTypes: readonly string[] = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats: readonly string[] = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

/** Validates the paths from which the scale of an object is read and to which it is written. */
export function subresourcesErrors(subresources: CustomResourceSubresources, path: FieldPath): FieldError[] {
  const { scale } = subresources;
  if (scale === undefined) return [];
  const errors: FieldError[] = [];
  const scalePath = path.child('scale');
  const check = (field: string, value: string, below: readonly string[], detail: string) => {
    const at = scalePath.child(field);
    const simple = simplePathErrors(value, at);
    if (simple.length > 0) errors.push(...simple);
    else if (!below.some((prefix) => value.startsWith(prefix))) errors.push(invalid(at, value, detail));
  };
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  if (specReplicasPath === '') errors.push(required(scalePath.child('specReplicasPath')));
  else check('specReplicasPath', specReplicasPath, ['.spec.'], 'should be a json path under .spec');
  if (statusReplicasPath === '') errors.push(required(scalePath.child('statusReplicasPath')));
  else check('statusReplicasPath', statusReplicasPath, ['.status.'], 'should be a json path under .status');
  if (labelSelectorPath) {
    const detail = 'should be a json path under either .spec or .status';
    check('labelSelectorPath', labelSelectorPath, ['.spec.', '.status.'], detail);
  }
  return errors;
}

/** Validates a table column of a kind. Errors use the older name of the field for its path. */
export function columnErrors(column: CustomResourceColumnDefinition, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const { name, type, format, jsonPath } = column;
  if (name === '') errors.push(required(path.child('name')));
  const typeDetail = `must be one of ${columnTypes.join(',')}`;
  if (type === '') errors.push(required(path.child('type'), typeDetail));
  else if (!columnTypes.includes(type)) errors.push(invalid(path.child('type'), type, typeDetail));
  if (format && !columnFormats.includes(format)) {
    errors.push(invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`));
  }
  const pathPath = path.child('JSONPath');
  if (jsonPath === '') errors.push(required(pathPath));
  else errors.push(...simplePathErrors(jsonPath, pathPath));
  return errors;
}

function simplePathErrors(jsonPath: string, path: FieldPath): FieldError[] {
  return jsonPath.startsWith('.') ? [] : [invalid(path, jsonPath, 'must be a simple json path starting with .')];
}
