import type { ServerOptions } from '../../../../base/config/server-options.js';
import { errorText, StartupError } from '../../../../base/machinery/startup-error.js';
import { VENDOR_NAMES, type VendorNames } from '../../../../base/machinery/vendor.js';
import type { Logger } from '../../../../base/observability/logger.js';
import { openApplicationContext } from '../../../../base/process/application-context.js';
import { ResourceStores } from '../../../../objects/registry/store/resource-stores.js';
import { ResourcesAppModule } from '../../../../resources-app.module.js';
import type { StoredObject } from '../../../../storage/storage.interface.js';

/** An object that the API of the cluster has shown. */
export interface ShownObject {
  readonly resource: 'configmaps' | 'secrets';
  readonly name: string;
  readonly uid: string;
}

/**
 * Sees that a database is that of the cluster, and that this machine can read what the others have encrypted. Nothing is written.
 *
 * @param shown objects of the core group in the system namespace
 * @throws StartupError for another database; MigrationError for one with another schema
 */
export async function checkDatabase(
  options: Pick<ServerOptions, 'storage' | 'cluster'>,
  shown: readonly ShownObject[],
  logger: Logger,
): Promise<void> {
  const resources = await openApplicationContext(ResourcesAppModule.of(options, logger), logger);
  try {
    const [names, stores] = [resources.get<VendorNames>(VENDOR_NAMES), resources.get(ResourceStores)];
    for (const { resource, name, uid } of shown) {
      if ((await uidOf(stores, resource, names.systemNamespace, name)) === uid) continue;
      throw new StartupError('--database-url names a database of another cluster: both must use one database');
    }
  } finally {
    await resources.close();
  }
}

async function uidOf(
  stores: ResourceStores,
  resource: string,
  namespace: string,
  name: string,
): Promise<string | undefined> {
  const remedy = 'give the --encryption-provider-config of the other control planes';
  const key = { resource: stores.named('', resource).resource.storageResource, namespace, name };
  let stored: StoredObject | undefined;
  try {
    stored = await stores.storage.get(key);
  } catch (error) {
    throw new StartupError(`the database has ${resource} that can't be read (${errorText(error)}): ${remedy}`, {
      cause: error,
    });
  }
  if (stored?.isOutdated) throw new StartupError(`other control planes encrypt ${resource} in another way: ${remedy}`);
  return stored?.uid;
}
