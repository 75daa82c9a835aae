import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { deprecatedNodeLabel } from '../../../objects/apis/core/v1/deprecated-labels.js';
import { type RuntimeClass, runtimeClass } from '../../../objects/apis/node/v1/runtime-class.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateRuntimeClass, validateRuntimeClassUpdate } from './runtime-class.validation.js';

const columns: readonly TableColumn<RuntimeClass>[] = [
  nameColumn,
  {
    name: 'Handler',
    type: 'string',
    description: 'Configuration of the container runtime that is used.',
    cell: (object) => object.handler,
  },
  ageColumn,
];

/** `runtimeclasses`: ways to run containers. */
export function runtimeClassResource(names: VendorNames): ResourceDefinition {
  return defineResource<RuntimeClass>({
    group: groupName('node', names),
    resource: 'runtimeclasses',
    singular: 'runtimeclass',
    kind: 'RuntimeClass',
    namespaced: false,
    versions: [{ version: 'v1', type: runtimeClass }],
    strategyOptions: { allowCreateOnUpdate: true, allowUnconditionalUpdate: false, plainFinalizers: true },
    strategy: {
      validate: (_context, object) => validateRuntimeClass(object, names),
      validateUpdate: (_context, object, old) => validateRuntimeClassUpdate(object, old, names),
      warnings: (_context, { scheduling }) =>
        Object.keys(scheduling?.nodeSelector ?? {}).flatMap((key) => {
          const advice = deprecatedNodeLabel(key, names);
          return advice === undefined ? [] : [`scheduling.nodeSelector: ${advice}`];
        }),
    },
    columns,
  });
}
