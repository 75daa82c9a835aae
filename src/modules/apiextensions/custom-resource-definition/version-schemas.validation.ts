import { collectErrorsInSteps, type FieldError, type FieldPath } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { atOnce, type Steps } from '../../../base/machinery/turns.js';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import type { JSONSchemaProps } from '../../../objects/apis/apiextensions/v1/json-schema.types.js';
import { definitionRulesErrors } from '../../../objects/custom-resources/rules/index.js';
import { definitionSchemaErrors, structuralSchemaInSteps } from '../../../objects/custom-resources/structural/index.js';
import { sharedPartsOf } from './version-parts.js';

/** The most errors to report: more would not help anyone. */
const mostErrors = 200;

/** The results of checking the schemas of definitions that are about to be written. */
const judged = new WeakMap<JSONSchemaProps, readonly FieldError[]>();

/**
 * Checks the schemas of a definition with their rules before it is validated, in several steps, since compiling rules
 * takes long. A schema that a version had before is not checked again.
 *
 * @param path of the spec
 */
export function* judgeSchemas(
  spec: CustomResourceDefinitionSpec,
  old: CustomResourceDefinitionSpec | undefined,
  path: FieldPath,
): Steps {
  const versions = spec.versions ?? [];
  const isShared = sharedPartsOf(versions).has('schema');
  for (const [i, version] of versions.entries()) {
    const props = version.schema?.openAPIV3Schema;
    if (props === undefined) continue;
    const at = isShared ? path.child('validation') : path.child('versions').index(i).child('schema');
    const before = old?.versions?.find(({ name }) => name === version.name);
    const errors = isAsBefore(version, before) ? [] : yield* schemaErrors(version, props, at.child('openAPIV3Schema'));
    judged.set(props, errors);
    yield;
    if (isShared && errors.length > 0) return;
  }
}

/** Validates the schema of a version. */
export function versionSchemaErrors(version: CustomResourceDefinitionVersion, path: FieldPath): readonly FieldError[] {
  const props = version.schema?.openAPIV3Schema;
  if (props === undefined) return [];
  return judged.get(props) ?? atOnce(schemaErrors(version, props, path.child('openAPIV3Schema')));
}

function* schemaErrors(
  { subresources }: CustomResourceDefinitionVersion,
  props: JSONSchemaProps,
  path: FieldPath,
): Steps<readonly FieldError[]> {
  const hasStatus = subresources?.status !== undefined;
  const { errors } = yield* collectErrorsInSteps(mostErrors, definitionSchemaErrors(props, path, { hasStatus }));
  if (errors.length > 0) return errors;
  const schema = yield* structuralSchemaInSteps(props);
  return (yield* definitionRulesErrors(schema, path)).slice(0, mostErrors);
}

function isAsBefore(
  version: CustomResourceDefinitionVersion,
  before: CustomResourceDefinitionVersion | undefined,
): boolean {
  return (
    before !== undefined &&
    deepEqual(version.schema, before.schema) &&
    (version.subresources?.status === undefined) === (before.subresources?.status === undefined)
  );
}
