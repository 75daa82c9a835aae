import {
  always,
  bool,
  type Infer,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { fsGroupPolicy, tokenRequest, volumeLifecycleMode } from '../v1/csi-driver.types.js';

export const csiDriverSpec = struct('storage.v1beta1.CSIDriverSpec', {
  attachRequired: pointer(1, bool),
  podInfoOnMount: pointer(2, bool),
  volumeLifecycleModes: optional(3, list(volumeLifecycleMode)),
  storageCapacity: pointer(4, bool),
  fsGroupPolicy: pointer(5, fsGroupPolicy),
  tokenRequests: optional(6, list(tokenRequest)),
  requiresRepublish: pointer(7, bool),
  seLinuxMount: pointer(8, bool),
  nodeAllocatableUpdatePeriodSeconds: pointer(9, int64),
  serviceAccountTokenInSecrets: pointer(10, bool),
  preventPodSchedulingIfMissing: pointer(11, bool),
});
export type CSIDriverSpec = Infer<typeof csiDriverSpec>;

export const csiDriver = kind(
  { group: 'storage', version: 'v1beta1', kind: 'CSIDriver', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, csiDriverSpec),
  },
  { doc: 'What a storage driver can do and needs.' },
);
export type CSIDriver = Infer<typeof csiDriver>;

export const csiDriverList = listKind(csiDriver);
export type CSIDriverList = Infer<typeof csiDriverList>;
