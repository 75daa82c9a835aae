import {
  duplicate,
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooMany,
} from '../../../base/machinery/field-error.js';
import type { CustomResourceDefinitionVersion } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { followSchemaPath } from '../../../objects/custom-resources/rules/schema-path.js';
import { structuralSchema } from '../../../objects/custom-resources/structural/index.js';

const maxSelectableFields = 8;
const selectableTypes: readonly (string | undefined)[] = ['boolean', 'integer', 'string'];

/** Validates the fields by which lists and watches of a version can select. */
export function selectableFieldsErrors(version: CustomResourceDefinitionVersion, path: FieldPath): FieldError[] {
  const { selectableFields = [], schema } = version;
  const props = schema?.openAPIV3Schema;
  if (selectableFields.length === 0 || props === undefined) return [];
  const root = structuralSchema(props);
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath }] of selectableFields.entries()) {
    const at = path.index(i).child('jsonPath');
    if (jsonPath === '') {
      errors.push(required(at));
      continue;
    }
    const found = followSchemaPath(jsonPath, root, false);
    if ('fault' in found) {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${found.fault}`));
      continue;
    }
    if (found.steps[0]?.name === 'metadata') {
      errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
    }
    if (!selectableTypes.includes(found.schema.type)) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      errors.push(invalid(at, jsonPath, detail));
    }
    if (seen.has(jsonPath)) errors.push(duplicate(at, jsonPath));
    seen.add(jsonPath);
  }
  if (seen.size > maxSelectableFields) errors.push(tooMany(path, seen.size, maxSelectableFields));
  return errors;
}
