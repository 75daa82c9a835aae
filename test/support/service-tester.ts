import { serviceResource } from '../../src/modules/core/service/service.resource.js';
import type { ServiceRanges } from '../../src/objects/registry/allocation/service-ranges.js';
import { ResourceRegistry } from '../../src/objects/registry/resource-registry.js';
import type { Storage } from '../../src/storage/storage.interface.js';
import { DefinitionTester, testClock, testNames } from './definition-tester.js';

/** A tester of services in a cluster with these ranges, without a database: nothing is allocated. */
export function serviceTester(ranges: ServiceRanges): DefinitionTester {
  const context = { registry: new ResourceRegistry(), storage: {} as Storage, clock: testClock, names: testNames };
  return new DefinitionTester(serviceResource({ ...context, ranges }));
}
