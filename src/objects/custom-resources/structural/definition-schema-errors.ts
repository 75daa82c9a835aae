import type { FieldError, FieldPath } from '../../../base/machinery/field-error.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { defaultErrors } from './default-rules.js';
import { keywordErrors } from './keyword-rules.js';
import { structuralErrors } from './structural-rules.js';
import { structuralSchemaInSteps } from './structural-schema.js';

export interface DefinitionSchemaOptions {
  /** Whether the version has the subresource status, which restricts what the root may specify. */
  readonly hasStatus?: boolean;
}

/**
 * The reasons to refuse a definition because of the schema of a version, where `path` is that of its openAPIV3Schema:
 * keywords that are not supported or wrong, rules of structural schemas, patterns that can't be compiled, defaults that
 * are not valid themselves. Rules in x-kubernetes-validations are left to the caller. Messages are those of the
 * reference.
 *
 * Takes time linear in the schema, which decoding has bounded in depth; the cost of patterns and defaults is counted.
 * In several steps. Best called within collectErrorsInSteps, which bounds the number of errors.
 */
export function* definitionSchemaErrors(
  props: JSONSchemaProps,
  path: FieldPath,
  options: DefinitionSchemaOptions = {},
): Steps<FieldError[]> {
  const { errors, isReadable } = yield* keywordErrors(props, path, options.hasStatus === true);
  // Keywords that are not supported can't be checked any further.
  if (!isReadable) return errors;
  yield;
  const structural = yield* structuralErrors(props, path);
  const more = structural.length > 0 ? structural : yield* defaultErrors(yield* structuralSchemaInSteps(props), path);
  for (const error of more) errors.push(error);
  return errors;
}
