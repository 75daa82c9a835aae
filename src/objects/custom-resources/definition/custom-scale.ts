import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { goPrint } from '../../../base/machinery/patch/go-print.js';
import { getOwn, isObject, setOwn } from '../../../base/machinery/patch/json-value.js';
import { statedError } from '../../../base/machinery/status-error.js';
import type { CustomResourceSubresourceScale } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { scale as scaleType } from '../../apis/autoscaling/v1/scale.types.js';
import { scaleSubresource } from '../../registry/definition/parent-subresources.js';
import type { ViewSubresource } from '../../registry/subresource-definition.js';
import { plainFields } from './json-path.js';

const mostReplicas = 2 ** 31 - 1;

/** The `scale` subresource of a version: it shows and sets the fields that the definition's paths name. */
export function customScale(paths: CustomResourceSubresourceScale): ViewSubresource {
  const wanted = (parent: ApiObject) => numberAt(parent, paths.specReplicasPath).value;
  const view = scaleSubresource<ApiObject>({
    type: scaleType,
    isCheckedByParent: true,
    replicas: (parent) => wanted(parent) ?? 0,
    setReplicas: (parent, replicas) => setAt(parent, plainFields(paths.specReplicasPath), replicas),
    currentReplicas: (parent) => numberAt(parent, paths.statusReplicasPath).value ?? 0,
    selector: (parent) => (paths.labelSelectorPath ? (textAt(parent, paths.labelSelectorPath).value ?? '') : ''),
  });
  return {
    ...view,
    checkShown: (parent) => {
      if (wanted(parent) !== undefined) return;
      throw statedError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
    },
  };
}

/** Validates the fields that the scale shows: the desired number, or the observed values. */
export function scaleErrors(
  paths: CustomResourceSubresourceScale,
  object: ApiObject,
  part: 'spec' | 'status',
): FieldError[] {
  if (part === 'spec') return replicasErrors(paths.specReplicasPath, object);
  const errors = replicasErrors(paths.statusReplicasPath, object);
  const { labelSelectorPath = '' } = paths;
  if (labelSelectorPath === '') return errors;
  const { value, fault } = textAt(object, labelSelectorPath);
  return fault === undefined ? errors : [...errors, invalid(FieldPath.of(labelSelectorPath), value ?? '', fault)];
}

function replicasErrors(path: string, object: ApiObject): FieldError[] {
  const { value = 0, fault } = numberAt(object, path);
  const at = FieldPath.of(path);
  if (fault !== undefined) return [invalid(at, 0, fault)];
  if (value < 0) return [invalid(at, value, 'should be a non-negative integer')];
  return value > mostReplicas ? [invalid(at, value, `should be less than or equal to ${mostReplicas}`)] : [];
}

interface Found<T> {
  readonly value?: T;
  /** Why there is no value of the wanted type, although the path finds another value. */
  readonly fault?: string;
}

function numberAt(object: ApiObject, path: string): Found<number> {
  const found = valueAt(object, plainFields(path));
  if (found.fault !== undefined || found.value === undefined) return found as Found<number>;
  const { value } = found;
  if (typeof value === 'number' && Number.isInteger(value)) return { value };
  if (typeof value === 'bigint') return { value: Number(value) };
  return { fault: accessFault(plainFields(path), value, 'int64') };
}

function textAt(object: ApiObject, path: string): Found<string> {
  const found = valueAt(object, plainFields(path));
  if (found.fault !== undefined || found.value === undefined) return found as Found<string>;
  const { value } = found;
  return typeof value === 'string' ? { value } : { fault: accessFault(plainFields(path), value, 'string') };
}

function valueAt(object: ApiObject, fields: readonly string[]): Found<unknown> {
  let value: unknown = object;
  for (const field of fields) {
    if (!isObject(value)) return { fault: accessFault(fields, value, 'map[string]interface{}') };
    value = getOwn(value, field);
    if (value === undefined || value === null) return {};
  }
  return { value };
}

/** The message for a value of the wrong type, worded like the reference's. */
function accessFault(fields: readonly string[], value: unknown, wanted: string): string {
  return `.${fields.join('.')} accessor error: ${goPrint(value)} is of the type ${typeName(value)}, expected ${wanted}`;
}

function typeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number' || value instanceof ExactNumber) return Number.isInteger(value) ? 'int64' : 'float64';
  return 'map[string]interface {}';
}

function setAt(object: ApiObject, fields: readonly string[], value: number): void {
  let parent: Record<string, unknown> = object;
  for (const field of fields.slice(0, -1)) {
    const next = getOwn(parent, field);
    const child: Record<string, unknown> = isObject(next) ? (next as Record<string, unknown>) : {};
    if (child !== next) setOwn(parent, field, child);
    parent = child;
  }
  setOwn(parent, fields.at(-1) ?? '', value);
}
