import { Module } from '@nestjs/common';
import { CLOCK } from '../../src/base/machinery/clock.js';
import { VENDOR_NAMES } from '../../src/base/machinery/vendor.js';
import { Logger } from '../../src/base/observability/logger.js';
import { openApplicationContext } from '../../src/base/process/application-context.js';
import { apiGroupModules } from '../../src/modules/api-group-modules.js';
import { SERVICE_RANGES } from '../../src/objects/registry/allocation/service-ranges.js';
import { ResourceRegistry } from '../../src/objects/registry/resource-registry.js';
import { ResourceStores } from '../../src/objects/registry/store/resource-stores.js';
import { ClosedAuthenticationModule } from '../../src/server/authentication/closed-authentication.module.js';
import { ClosedAuthorizationModule } from '../../src/server/authorization/closed-authorization.module.js';
import { STORAGE, type Storage } from '../../src/storage/storage.interface.js';
import { testNames, testRanges, testStores } from './definition-tester.js';

@Module({})
class TestGroupsModule {}

/**
 * Every API group as the program registers it, on the given store. Without a store, only functions that need none work.
 */
export async function registeredGroups(storage?: Storage): Promise<ResourceStores> {
  const stores = testStores(storage);
  const providers = [
    { provide: VENDOR_NAMES, useValue: testNames },
    { provide: CLOCK, useValue: stores.clock },
    { provide: STORAGE, useValue: stores.storage },
    { provide: SERVICE_RANGES, useValue: testRanges },
    { provide: ResourceRegistry, useValue: stores.registry },
    { provide: ResourceStores, useValue: stores },
  ];
  const sharedModule = {
    module: TestGroupsModule,
    global: true,
    providers,
    exports: providers.map(({ provide }) => provide),
  };
  const imports = [sharedModule, ClosedAuthenticationModule, ClosedAuthorizationModule];
  const context = await openApplicationContext(
    { module: TestGroupsModule, imports: apiGroupModules({ imports }) },
    new Logger('error'),
  );
  await context.close();
  return stores;
}
