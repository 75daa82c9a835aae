import { Module } from '@nestjs/common';
import { openApplicationContext } from '../../src/application-context.js';
import { ClosedAuthenticationModule } from '../../src/authentication/closed-authentication.module.js';
import { ClosedAuthorizationModule } from '../../src/authorization/closed-authorization.module.js';
import { CLOCK } from '../../src/machinery/clock.js';
import { VENDOR_NAMES } from '../../src/machinery/vendor.js';
import { apiGroupModules } from '../../src/modules/api-group-modules.js';
import { Logger } from '../../src/observability/logger.js';
import { SERVICE_RANGES } from '../../src/registry/allocation/service-ranges.js';
import { ResourceRegistry } from '../../src/registry/resource-registry.js';
import { ResourceStores } from '../../src/registry/store/resource-stores.js';
import { STORAGE, type Storage } from '../../src/storage/storage.interface.js';
import { testNames, testRanges, testStores } from './definition-tester.js';

@Module({})
class TestGroupsModule {}

/** Every API group as the program makes it, over a given store. Without a store only functions that need none work. */
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
  const surroundings = {
    module: TestGroupsModule,
    global: true,
    providers,
    exports: providers.map(({ provide }) => provide),
  };
  const imports = [surroundings, ClosedAuthenticationModule, ClosedAuthorizationModule];
  const context = await openApplicationContext(
    { module: TestGroupsModule, imports: apiGroupModules({ names: testNames, imports }) },
    new Logger('error'),
  );
  await context.close();
  return stores;
}
