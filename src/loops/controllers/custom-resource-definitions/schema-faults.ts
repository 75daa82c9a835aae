import { collectErrorsInSteps, type FieldError, FieldPath } from '../../../base/machinery/field-error.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { structuralErrors } from '../../../objects/custom-resources/structural/structural-rules.js';

const mostErrors = 10;
const versionsPath = FieldPath.of('spec', 'versions');

/**
 * The reason, as text for people, why the schemas of a definition are not structural; undefined when they are. New
 * definitions are refused for this reason, so only definitions stored under other rules have it.
 */
export function* schemaFault({ spec }: Pick<CustomResourceDefinition, 'spec'>): Steps<string | undefined> {
  const { errors } = yield* collectErrorsInSteps(mostErrors, versionErrors(spec));
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return texts.length > 1 ? `[${texts.join(', ')}]` : texts[0];
}

function* versionErrors({ versions }: CustomResourceDefinitionSpec): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  for (const [i, { schema }] of (versions ?? []).entries()) {
    if (schema?.openAPIV3Schema === undefined) continue;
    const path = versionsPath.index(i).child('schema').child('openAPIV3Schema');
    for (const error of yield* structuralErrors(schema.openAPIV3Schema, path)) errors.push(error);
  }
  return errors;
}
