import type { ApiObject, ObjectMeta } from '../../../base/machinery/api-object.js';
import type { FieldError } from '../../../base/machinery/field-error.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { CustomResourceSubresources } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { statusSubresource } from '../../registry/definition/parent-subresources.js';
import type { Strategy, StrategyOptions } from '../../registry/strategy.js';
import type { PartSubresource } from '../../registry/subresource-definition.js';
import { scaleErrors } from './custom-scale.js';
import { finalizerWarnings } from './finalizer-warnings.js';
import { uncheckedRules } from './unchecked-rules.js';

/** The rules of a version that its strategy calls. */
export interface CustomRules {
  readonly subresources: CustomResourceSubresources;
  /** Validates an object by the schema; `old` is the object that is replaced. */
  readonly schemaErrors: (context: RequestContext, object: ApiObject, old: ApiObject | undefined) => FieldError[];
  /** Validates an object by the schema when only the status is written. */
  readonly statusErrors: CustomRules['schemaErrors'];
  /** Fills in defaults of the stored version, in place. */
  readonly completeStored: (object: ApiObject) => void;
  /** Prepares what these functions need; undefined when it is ready. */
  readonly prepare: () => Promise<void> | undefined;
}

/** The rules of all objects of one version of a custom kind (specification 5.9). */
export function customStrategy({ subresources, schemaErrors, completeStored, prepare }: CustomRules): Strategy {
  const { scale, status } = subresources;
  const errors = (context: RequestContext, object: ApiObject, old: ApiObject | undefined): FieldError[] =>
    uncheckedLast([
      ...schemaErrors(context, object, old),
      ...(scale === undefined ? [] : [...scaleErrors(scale, object, 'spec'), ...scaleErrors(scale, object, 'status')]),
    ]);
  return {
    prepareForCreate: (_context, object) => {
      // An absent status is not shown as an empty one, unlike that of built-in kinds.
      if (status === undefined) return;
      delete object.status;
      // The status that the client sent, now dropped, had prevented its default from being filled in.
      completeStored(object);
    },
    warnings: (_context, { metadata }, old) => finalizerWarnings(metadata, old?.metadata),
    prepareRules: prepare,
    validate: (context, object) => errors(context, object, undefined),
    validateUpdate: errors,
  };
}

/** Any change raises the generation, except changes of metadata and of a status with a path of its own. */
export function customStrategyOptions({ status }: CustomResourceSubresources): StrategyOptions {
  return {
    allowUnconditionalUpdate: false,
    plainFinalizers: true,
    generation: ({ kind: _kind, apiVersion: _apiVersion, metadata: _metadata, status: observed, ...rest }) =>
      status === undefined ? { ...rest, status: observed } : rest,
  };
}

/** The `status` path of a custom kind changes the status and nothing else. */
export function customStatus({ subresources: { scale }, statusErrors }: CustomRules): PartSubresource {
  return {
    ...statusSubresource(),
    resetFields: { 'f:metadata': {}, 'f:spec': {} },
    prepareForUpdate: (_context, object, old) => {
      const { status } = object;
      for (const name of Object.keys(object)) if (name !== 'metadata') delete object[name];
      for (const name of Object.keys(old)) if (name !== 'metadata' && name !== 'status') object[name] = old[name];
      if (status !== undefined) object.status = status;
      keepMetadata(object.metadata, old.metadata);
    },
    validateUpdate: (context, object, old) =>
      uncheckedLast([
        ...statusErrors(context, object, old),
        ...(scale === undefined ? [] : scaleErrors(scale, object, 'status')),
      ]),
  };
}

/** Moves the error that says that rules were not evaluated behind all others. */
function uncheckedLast(errors: readonly FieldError[]): FieldError[] {
  return [...errors.filter((error) => error !== uncheckedRules), ...errors.filter((error) => error === uncheckedRules)];
}

function keepMetadata(metadata: ObjectMeta, old: ObjectMeta): void {
  const { resourceVersion, managedFields } = metadata;
  const record = metadata as Record<string, unknown>;
  for (const name of Object.keys(record)) delete record[name];
  Object.assign(metadata, old);
  delete metadata.managedFields;
  if (managedFields !== undefined) metadata.managedFields = managedFields;
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
}
