import { type FieldError, type FieldPath, invalid, relocated } from '../../../base/machinery/field-error.js';
import { DecodeError } from '../../../base/machinery/schema/index.js';
import type { Steps } from '../../../base/machinery/turns.js';
import { metaFieldFaults } from './embedded-resource.js';
import { pathOf, type SchemaFault, shown, toErrors } from './faults.js';
import { pruned } from './pruned.js';
import type { StructuralSchema } from './structural-schema.js';
import { embeddedResourceFaults } from './structure-faults.js';
import { validateWithin } from './validate-value.js';
import { ValidationBudget } from './validation-budget.js';

/**
 * Returns the field (apiVersion, kind or metadata) of an embedded resource with a default at its place in it; undefined
 * outside of these fields.
 */
type Placement = ((value: unknown) => { readonly field: string; readonly value: unknown }) | undefined;

/**
 * The errors of defaults that would not be valid in an object. Defaults below additionalProperties are not checked, as
 * on the reference. All defaults together may take as much work as one object.
 */
export function* defaultErrors(schema: StructuralSchema, path: FieldPath): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  yield* visit(schema, path, undefined, { errors, work: new ValidationBudget() });
  return errors;
}

interface Walk {
  readonly errors: FieldError[];
  readonly work: ValidationBudget;
}

function* visit(schema: StructuralSchema, path: FieldPath, placement: Placement, walk: Walk): Steps {
  if (!schema.hasDefaults) return;
  yield;
  if (schema.default !== undefined) {
    const at = path.child('default');
    const found =
      placement === undefined ? errorsOfDefault(schema, at, walk.work) : errorsInMeta(schema, at, placement, walk.work);
    for (const error of found) walk.errors.push(error);
  }
  if (schema.items !== undefined) {
    const inList: Placement = placement === undefined ? undefined : (value) => placement([value]);
    yield* visit(schema.items, path.child('items'), inList, walk);
  }
  for (const [name, property] of schema.properties) {
    let inner: Placement;
    if (placement !== undefined) inner = (value) => placement({ [name]: value });
    else if (schema.xEmbedded && (name === 'metadata' || name === 'kind' || name === 'apiVersion')) {
      inner = (value) => ({ field: name, value });
    }
    yield* visit(property, path.child('properties').key(name), inner, walk);
  }
}

function errorsOfDefault(schema: StructuralSchema, path: FieldPath, work: ValidationBudget): FieldError[] {
  const errors: FieldError[] = [];
  let isPruned = false;
  const onUnknown = () => {
    isPruned = true;
  };
  try {
    pruned(schema, schema.default, { onUnknown });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const at = pathOf(path, error.path);
    const isWhole = error.detail.startsWith('Invalid value: ');
    const plain = { type: 'FieldValueInvalid', field: '', message: error.detail } as const;
    return [isWhole ? relocated(plain, at) : invalid(at, '', error.detail)];
  }
  if (isPruned) errors.push(invalid(path, shown(schema.default), 'must not have unknown fields'));
  const faults: SchemaFault[] = [];
  embeddedResourceFaults(schema, schema.default, faults, maxFaults);
  const more = faults.length > 0 ? toErrors(faults, path) : validateWithin(schema, schema.default, path, work);
  for (const error of more) errors.push(error);
  return errors;
}

/** The most faults of embedded resources in one default. */
const maxFaults = 100;

/** The errors of apiVersion, kind and metadata, which must be valid as in any object. */
function errorsInMeta(
  schema: StructuralSchema,
  path: FieldPath,
  placement: NonNullable<Placement>,
  work: ValidationBudget,
): FieldError[] {
  const { field, value } = placement(schema.default);
  const faults = metaFieldFaults(field, value);
  if (faults.length > 0) {
    const text = faults.map((fault) => `${fault.field}: ${fault.message}`);
    const list = text.length === 1 ? (text[0] as string) : `[${text.join(', ')}]`;
    return [invalid(path, shown(schema.default), `must result in valid metadata: ${list}`)];
  }
  return validateWithin(schema, schema.default, path, work);
}
