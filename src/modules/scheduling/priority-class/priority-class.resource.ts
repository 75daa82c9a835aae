import { forbiddenError } from '../../../base/machinery/status-error.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type PriorityClass, priorityClass } from '../../../objects/apis/scheduling/v1/priority-class.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { systemPriorities, validatePriorityClass, validatePriorityClassUpdate } from './priority-class.validation.js';

const columns: readonly TableColumn<PriorityClass>[] = [
  nameColumn,
  { name: 'Value', type: 'integer', description: 'Priority of pods of this class.', cell: (object) => object.value },
  {
    name: 'Global-Default',
    type: 'boolean',
    description: 'Whether pods that name no class get this one.',
    cell: (object) => object.globalDefault ?? false,
  },
  ageColumn,
  {
    name: 'PreemptionPolicy',
    type: 'string',
    description: 'Whether pods of this class push out others.',
    cell: (object) => object.preemptionPolicy ?? '',
  },
];

/** `priorityclasses`: named priorities of pods. */
export function priorityClassResource(names: VendorNames): ResourceDefinition {
  const group = groupName('scheduling', names);
  const resource = 'priorityclasses';
  return defineResource<PriorityClass>({
    group,
    resource,
    singular: 'priorityclass',
    kind: 'PriorityClass',
    namespaced: false,
    shortNames: ['pc'],
    versions: [{ version: 'v1', type: priorityClass }],
    // The generation of a class starts at 1 and stays there, because no relevant field can change.
    strategyOptions: { generation: () => undefined },
    strategy: {
      applyDefaults: (object) => {
        object.preemptionPolicy ??= 'PreemptLowerPriority';
      },
      validate: (_context, object) => validatePriorityClass(object),
      validateUpdate: (_context, object, old) => validatePriorityClassUpdate(object, old),
      checkDelete: ({ metadata }) => {
        const { name = '' } = metadata;
        if (!Object.hasOwn(systemPriorities, name)) return;
        throw forbiddenError({ group, resource }, name, 'this is a system priority class and cannot be deleted');
      },
    },
    columns,
  });
}
