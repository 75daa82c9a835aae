import type { CustomResourceDefinition } from '../../apis/apiextensions/v1/custom-resource-definition.types.js';
import { structuralErrors } from '../../custom-resources/structural/structural-rules.js';
import { collectErrors, FieldPath } from '../../machinery/field-error.js';

const mostErrors = 10;
const versionsPath = FieldPath.of('spec', 'versions');

/**
 * What keeps the schemas of a definition from being structural, for people; undefined when nothing does. New definitions
 * are refused for it, so only those that were stored under other rules have it.
 */
export function schemaFault({ spec }: Pick<CustomResourceDefinition, 'spec'>): string | undefined {
  const { errors } = collectErrors(mostErrors, () =>
    (spec.versions ?? []).flatMap(({ schema }, i) => {
      const path = versionsPath.index(i).child('schema').child('openAPIV3Schema');
      return schema?.openAPIV3Schema === undefined ? [] : [...structuralErrors(schema.openAPIV3Schema, path)];
    }),
  );
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return texts.length > 1 ? `[${texts.join(', ')}]` : texts[0];
}
