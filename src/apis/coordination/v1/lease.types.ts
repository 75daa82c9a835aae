import {
  always,
  enumOf,
  type Infer,
  int32,
  kind,
  microTime,
  pointer,
  string,
  struct,
} from '../../../machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const coordinatedLeaseStrategy = enumOf('OldestEmulationVersion');
export type CoordinatedLeaseStrategy = Infer<typeof coordinatedLeaseStrategy>;

export const leaseSpec = struct('coordination.v1.LeaseSpec', {
  holderIdentity: pointer(1, string),
  leaseDurationSeconds: pointer(2, int32),
  acquireTime: pointer(3, microTime),
  renewTime: pointer(4, microTime),
  leaseTransitions: pointer(5, int32),
  strategy: pointer(6, coordinatedLeaseStrategy),
  preferredHolder: pointer(7, string),
});
export type LeaseSpec = Infer<typeof leaseSpec>;

export const lease = kind(
  { group: 'coordination', version: 'v1', kind: 'Lease', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, leaseSpec),
  },
);
export type Lease = Infer<typeof lease>;

export const leaseList = listKind(lease);
export type LeaseList = Infer<typeof leaseList>;
