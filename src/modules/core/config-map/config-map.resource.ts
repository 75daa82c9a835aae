import { type ConfigMap, configMap } from '../../../objects/apis/core/v1/config-map.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type StoredResource } from '../../../objects/registry/resource-definition.js';
import { validateConfigMap, validateConfigMapUpdate } from './config-map.validation.js';

/** ConfigMaps: text and binary entries, at most 1 MiB together. */
export function configMapResource(): StoredResource {
  return defineResource<ConfigMap>({
    group: '',
    resource: 'configmaps',
    singular: 'configmap',
    kind: 'ConfigMap',
    namespaced: true,
    shortNames: ['cm'],
    versions: [{ version: 'v1', type: configMap }],
    strategy: {
      validate: (_context, object) => validateConfigMap(object),
      validateUpdate: (_context, object, old) => validateConfigMapUpdate(object, old),
    },
    columns: [
      nameColumn,
      {
        name: 'Data',
        type: 'string',
        description: 'How many entries it holds.',
        cell: (object) => entryCount(object.data) + entryCount(object.binaryData),
      },
      ageColumn,
    ],
  });
}

function entryCount(map: Readonly<Record<string, string>> | undefined): number {
  return map === undefined ? 0 : Object.keys(map).length;
}
