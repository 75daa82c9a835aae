import { type DynamicModule, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ServerOptions } from '../config/options.js';
import { systemClock } from '../machinery/clock.js';
import { closedSecurity, type Security } from '../machinery/security.js';
import { vendorNames } from '../machinery/vendor.js';
import { groupModules } from '../modules/index.js';
import type { Logger } from '../observability/logger.js';
import { Metrics } from '../observability/metrics.js';
import { storageObserver } from '../observability/storage-observer.js';
import { GROUP_CONTEXT, type GroupContext } from '../registry/group-context.js';
import { ResourceRegistry } from '../registry/resource-registry.js';
import type { Running } from './lifecycle.js';
import { openDatabase } from './open-storage.js';

/** Storage and every built-in resource, without the HTTP side: for work inside the program. */
export interface ServedResources extends Running {
  readonly context: GroupContext;
}

@Module({})
class GroupsModule {
  static of(context: GroupContext): DynamicModule {
    return {
      module: GroupsModule,
      global: true,
      providers: [{ provide: GROUP_CONTEXT, useValue: context }],
      exports: [GROUP_CONTEXT],
      imports: groupModules.map(({ module }) => module),
    };
  }
}

/**
 * Opens the database, whose schema must be up to date, and registers the resources.
 *
 * @param makeSecurity what rules about access ask; the resources are registered after it was called. Default: closed.
 * Waits for a database that is not ready, until `signal` is aborted.
 *
 * @throws MigrationError or StorageError when the database can't be used; nothing stays open then.
 */
export async function openServedResources(
  { storage: database, cluster }: Pick<ServerOptions, 'storage' | 'cluster'>,
  logger: Logger,
  makeSecurity: (parts: Omit<GroupContext, 'security'>) => Security = () => closedSecurity,
  signal: AbortSignal = new AbortController().signal,
): Promise<ServedResources> {
  const storage = await openDatabase(database, storageObserver(new Metrics(), logger), logger, signal);
  try {
    const parts = {
      registry: new ResourceRegistry(),
      storage,
      clock: systemClock,
      names: vendorNames(cluster.vendor, cluster.compat),
      serviceClusterIpRange: cluster.serviceClusterIpRange,
      serviceNodePortRange: cluster.serviceNodePortRange,
    };
    const context: GroupContext = { ...parts, security: makeSecurity(parts) };
    const groups = await NestFactory.createApplicationContext(GroupsModule.of(context), {
      logger: false,
      abortOnError: false,
    });
    return {
      context,
      stop: async () => {
        await groups.close();
        await storage.stop();
      },
    };
  } catch (error) {
    await storage.stop();
    throw error;
  }
}
