import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { CustomResourceDefinitionVersion } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

/** What a version says of its own objects. */
export const parts = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;
export type Part = (typeof parts)[number];

/** What all versions say alike is reported once, where the first version of this API had it. */
export const sharedPlaces: Readonly<Record<Part, string>> = {
  schema: 'validation',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
};

/** What all versions say alike. */
export function sharedParts(versions: readonly CustomResourceDefinitionVersion[]): ReadonlySet<Part> {
  return new Set(parts.filter((part) => versions.every((version) => deepEqual(version[part], versions[0]?.[part]))));
}
