import {
  type ComponentCondition,
  type ComponentStatus,
  componentStatus,
} from '../../../objects/apis/core/v1/component-status.types.js';
import { nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineComputedResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import type { Storage } from '../../../storage/storage.interface.js';

const healthOf = ({ conditions }: ComponentStatus): ComponentCondition | undefined =>
  conditions?.find(({ type }) => type === 'Healthy');

const warning = 'v1 ComponentStatus is deprecated in v1.19+';

const words: Readonly<Record<string, string>> = { True: 'Healthy', False: 'Unhealthy' };

const columns: readonly TableColumn<ComponentStatus>[] = [
  nameColumn,
  {
    name: 'Status',
    type: 'string',
    description: 'Whether the part works.',
    cell: (object) => words[healthOf(object)?.status ?? ''] ?? 'Unknown',
  },
  {
    name: 'Message',
    type: 'string',
    description: 'What the part says about itself.',
    cell: (object) => healthOf(object)?.message ?? '',
  },
  {
    name: 'Error',
    type: 'string',
    description: 'Why nothing is known about the part.',
    cell: (object) => healthOf(object)?.error ?? '',
  },
];

/**
 * `componentstatuses`: the health of the parts of the control plane that this process can query. Kept for old clients.
 */
export function componentStatusResource(storage: Pick<Storage, 'ping'>): ResourceDefinition {
  return defineComputedResource<ComponentStatus>({
    group: '',
    resource: 'componentstatuses',
    singular: 'componentstatus',
    kind: 'ComponentStatus',
    namespaced: false,
    shortNames: ['cs'],
    versions: [{ version: 'v1', type: componentStatus, deprecated: { warning, removedRelease: '' } }],
    compute: async () => [
      {
        kind: 'ComponentStatus',
        apiVersion: 'v1',
        metadata: { name: 'storage' },
        conditions: [await storageHealth(() => storage.ping())],
      },
    ],
    columns,
    missingAs: 'componentstatus',
  });
}

async function storageHealth(ping: () => Promise<void>): Promise<ComponentCondition> {
  try {
    await ping();
    return { type: 'Healthy', status: 'True', message: 'ok' };
  } catch {
    return { type: 'Healthy', status: 'False', message: 'the database does not answer' };
  }
}
