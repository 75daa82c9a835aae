import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Secret, secret } from '../../../objects/apis/core/v1/secret.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { applySecretDefaults } from './secret.defaults.js';
import { validateSecret, validateSecretUpdate } from './secret.validation.js';

/** Secrets; tables and selectors show the type and the number of entries, never a value. */
export function secretResource(names: VendorNames): ResourceDefinition {
  return defineResource<Secret>({
    group: '',
    resource: 'secrets',
    singular: 'secret',
    kind: 'Secret',
    namespaced: true,
    versions: [{ version: 'v1', type: secret }],
    strategy: {
      applyDefaults: applySecretDefaults,
      validate: (_context, object) => validateSecret(object, names),
      validateUpdate: (_context, object, old) => validateSecretUpdate(object, old, names),
    },
    selectableFieldNames: ['type'],
    selectableFields: (object) => ({ type: object.type ?? '' }),
    columns: [
      nameColumn,
      {
        name: 'Type',
        type: 'string',
        description: 'What the entries mean.',
        cell: (object) => object.type ?? '',
      },
      {
        name: 'Data',
        type: 'string',
        description: 'How many entries it holds.',
        cell: (object) => Object.keys(object.data ?? {}).length,
      },
      ageColumn,
    ],
  });
}
