import { typesInVersion } from '../../../../base/machinery/schema/types-in-version.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { storageVersionMigration as storageVersionMigrationV1 } from '../v1/storage-version-migration.types.js';

export const storageVersionMigration = typesInVersion('v1beta1')(storageVersionMigrationV1);
export const storageVersionMigrationList = listKind(storageVersionMigration);
