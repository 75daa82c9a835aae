import type { ResourcePoolStatusRequest } from '../../../objects/apis/resource/v1alpha3/resource-pool-status-request.types.js';
import { nameColumn, since } from '../../../objects/registry/definition/default-columns.js';
import type { TableColumn } from '../../../objects/registry/resource-definition.js';

type Request = ResourcePoolStatusRequest;

/** Table columns of requests for the status of pools: sums over all pools in the answer. */
export const poolStatusColumns: readonly TableColumn<Request>[] = [
  nameColumn,
  { name: 'Driver', type: 'string', description: 'Driver of the pools.', cell: ({ spec }) => spec.driver },
  sumColumn('Total', 'Number of devices.', 'totalDevices'),
  sumColumn('Available', 'Number of devices that can be had.', 'availableDevices'),
  sumColumn('Allocated', 'Number of devices that claims have.', 'allocatedDevices'),
  sumColumn('Unavailable', 'Number of devices that cannot be had.', 'unavailableDevices'),
  {
    name: 'Errors',
    type: 'string',
    description: 'Number of pools that could not be counted.',
    cell: (request) => summed(request, (pool) => (pool.validationError === undefined ? 0 : 1)),
  },
  {
    name: 'Pools',
    type: 'integer',
    description: 'Number of pools that match.',
    cell: ({ status }) => status?.poolCount ?? 0,
  },
  { name: 'Status', type: 'string', description: 'Whether the answer is there.', cell: stateOf },
  {
    name: 'Completed',
    type: 'string',
    description: 'Time since the answer.',
    cell: (request) => {
      const { lastTransitionTime } = trueCondition(request, 'Complete') ?? {};
      return lastTransitionTime === undefined ? '<none>' : since(lastTransitionTime);
    },
  },
];

type Pool = NonNullable<NonNullable<Request['status']>['pools']>[number];
type Count = 'totalDevices' | 'availableDevices' | 'allocatedDevices' | 'unavailableDevices';

function sumColumn(name: string, description: string, field: Count): TableColumn<Request> {
  return { name, type: 'string', description, cell: (request) => summed(request, (pool) => pool[field] ?? 0) };
}

function summed(request: Request, count: (pool: Pool) => number): string {
  if (request.status === undefined || trueCondition(request, 'Failed') !== undefined) return '-';
  return String((request.status.pools ?? []).reduce((sum, pool) => sum + count(pool), 0));
}

function stateOf(request: Request): string {
  if (trueCondition(request, 'Failed') !== undefined) return 'Failed';
  if (trueCondition(request, 'Complete') === undefined) return 'Pending';
  const { poolCount = 0, pools = [] } = request.status ?? {};
  return poolCount > pools.length ? `Complete (${pools.length}/${poolCount} pools)` : 'Complete';
}

function trueCondition({ status }: Request, type: string) {
  return status?.conditions?.find((condition) => condition.type === type && condition.status === 'True');
}
