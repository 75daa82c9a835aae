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
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const coordinatedLeaseStrategy = enumOf('OldestEmulationVersion');
export type CoordinatedLeaseStrategy = Infer<typeof coordinatedLeaseStrategy>;

export const leaseSpec = struct('coordination.v1.LeaseSpec', {
  holderIdentity: pointer(1, string, { doc: 'Who holds it.' }),
  leaseDurationSeconds: pointer(2, int32, { doc: 'How long it holds without being renewed, in seconds.' }),
  acquireTime: pointer(3, microTime, { doc: 'When it was taken.' }),
  renewTime: pointer(4, microTime, { doc: 'When it was last renewed.' }),
  leaseTransitions: pointer(5, int32, { doc: 'How often the holder changed.' }),
  strategy: pointer(6, coordinatedLeaseStrategy, { gate: 'CoordinatedLeaderElection', doc: 'How holders are chosen.' }),
  preferredHolder: pointer(7, string, { gate: 'CoordinatedLeaderElection', doc: 'Who should hold it next.' }),
});
export type LeaseSpec = Infer<typeof leaseSpec>;

export const lease = kind(
  { group: 'coordination', version: 'v1', kind: 'Lease', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, leaseSpec),
  },
  { doc: 'Says who holds something, and until when.' },
);
export type Lease = Infer<typeof lease>;

export const leaseList = listKind(lease);
export type LeaseList = Infer<typeof leaseList>;
