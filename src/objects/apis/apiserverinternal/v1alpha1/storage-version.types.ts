import {
  always,
  type Infer,
  int64,
  keyedBy,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
  time,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const serverStorageVersion = struct('apiserverinternal.v1alpha1.ServerStorageVersion', {
  apiServerID: optional(1, string),
  encodingVersion: optional(2, string),
  decodableVersions: optional(3, list(string), { listType: 'set' }),
  servedVersions: optional(4, list(string), { listType: 'set' }),
});
export type ServerStorageVersion = Infer<typeof serverStorageVersion>;

export const storageVersionCondition = struct('apiserverinternal.v1alpha1.StorageVersionCondition', {
  type: required(1, string),
  status: required(2, string),
  observedGeneration: optional(3, int64),
  lastTransitionTime: optional(4, time),
  reason: required(5, string),
  message: optional(6, string),
});
export type StorageVersionCondition = Infer<typeof storageVersionCondition>;

export const storageVersionSpec = struct('apiserverinternal.v1alpha1.StorageVersionSpec', {});
export type StorageVersionSpec = Infer<typeof storageVersionSpec>;

export const storageVersionStatus = struct('apiserverinternal.v1alpha1.StorageVersionStatus', {
  storageVersions: optional(1, list(serverStorageVersion), keyedBy('apiServerID')),
  commonEncodingVersion: pointer(2, string),
  conditions: optional(3, list(storageVersionCondition), keyedBy('type')),
});
export type StorageVersionStatus = Infer<typeof storageVersionStatus>;

export const storageVersion = kind(
  { group: 'internal.apiserver', version: 'v1alpha1', kind: 'StorageVersion', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, storageVersionSpec),
    status: always(3, storageVersionStatus),
  },
  {
    name: 'apiserverinternal.v1alpha1.StorageVersion',
    doc: 'In which versions the servers of the cluster store a resource.',
  },
);
export type StorageVersion = Infer<typeof storageVersion>;

export const storageVersionList = listKind(storageVersion, { name: 'apiserverinternal.v1alpha1.StorageVersionList' });
export type StorageVersionList = Infer<typeof storageVersionList>;
