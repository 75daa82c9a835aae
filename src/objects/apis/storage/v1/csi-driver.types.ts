import {
  always,
  bool,
  enumOf,
  type Infer,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const volumeLifecycleMode = enumOf('Ephemeral', 'Persistent');
export type VolumeLifecycleMode = Infer<typeof volumeLifecycleMode>;

export const fsGroupPolicy = enumOf('File', 'None', 'ReadWriteOnceWithFSType');
export type FSGroupPolicy = Infer<typeof fsGroupPolicy>;

export const tokenRequest = struct(
  'storage.v1.TokenRequest',
  {
    audience: required(1, string),
    expirationSeconds: pointer(2, int64),
  },
  { doc: 'Asks for a token of a service account.' },
);
export type TokenRequest = Infer<typeof tokenRequest>;

/** Fields of the spec, which other versions share. */
export const csiDriverSpecFields = {
  attachRequired: pointer(1, bool),
  podInfoOnMount: pointer(2, bool),
  volumeLifecycleModes: optional(3, list(volumeLifecycleMode), { listType: 'set' }),
  storageCapacity: pointer(4, bool),
  fsGroupPolicy: pointer(5, fsGroupPolicy),
  tokenRequests: optional(6, list(tokenRequest)),
  requiresRepublish: pointer(7, bool),
  seLinuxMount: pointer(8, bool),
  nodeAllocatableUpdatePeriodSeconds: pointer(9, int64),
  serviceAccountTokenInSecrets: pointer(10, bool),
  preventPodSchedulingIfMissing: pointer(11, bool),
};

export const csiDriverSpec = struct('storage.v1.CSIDriverSpec', csiDriverSpecFields);
export type CSIDriverSpec = Infer<typeof csiDriverSpec>;

export const csiDriver = kind(
  { group: 'storage', version: 'v1', kind: 'CSIDriver', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: required(2, csiDriverSpec),
  },
  { doc: 'What a storage driver can do and needs.' },
);
export type CSIDriver = Infer<typeof csiDriver>;

export const csiDriverList = listKind(csiDriver);
export type CSIDriverList = Infer<typeof csiDriverList>;
