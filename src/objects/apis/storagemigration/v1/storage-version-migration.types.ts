import {
  always,
  type Infer,
  kind,
  list,
  mergedBy,
  optional,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { condition } from '../../meta/v1/condition.types.js';
import { groupResource } from '../../meta/v1/group-version.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const storageVersionMigrationSpec = struct('storagemigration.v1.StorageVersionMigrationSpec', {
  resource: required(1, groupResource),
});
export type StorageVersionMigrationSpec = Infer<typeof storageVersionMigrationSpec>;

export const storageVersionMigrationStatus = struct('storagemigration.v1.StorageVersionMigrationStatus', {
  conditions: optional(1, list(condition), mergedBy('type')),
  resourceVersion: optional(2, string),
});
export type StorageVersionMigrationStatus = Infer<typeof storageVersionMigrationStatus>;

export const storageVersionMigration = kind(
  { group: 'storagemigration', version: 'v1', kind: 'StorageVersionMigration', scope: 'Cluster' },
  {
    metadata: always(1, objectMeta),
    spec: always(2, storageVersionMigrationSpec),
    status: always(3, storageVersionMigrationStatus),
  },
  { doc: 'Asks to write all objects of a resource again in the version that is stored today.' },
);
export type StorageVersionMigration = Infer<typeof storageVersionMigration>;

export const storageVersionMigrationList = listKind(storageVersionMigration);
export type StorageVersionMigrationList = Infer<typeof storageVersionMigrationList>;
