import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { CustomResourceDefinitionVersion } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

/** The parts of a version that describe its own objects. */
export const parts = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;
export type Part = (typeof parts)[number];

/**
 * The field named once by errors of a part that all versions share: the one that held it in the first version of this
 * API.
 */
export const sharedPlaces: Readonly<Record<Part, string>> = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
};

/** The parts that all versions share. */
export function sharedPartsOf(versions: readonly CustomResourceDefinitionVersion[]): ReadonlySet<Part> {
  return new Set(parts.filter((part) => versions.every((version) => deepEqual(version[part], versions[0]?.[part]))));
}
