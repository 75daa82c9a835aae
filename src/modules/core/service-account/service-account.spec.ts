import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DefinitionTester, testClock } from '../../../../test/support/definition-tester.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { Storage } from '../../../storage/storage.interface.js';
import { serviceAccountResource } from './service-account.resource.js';

it('service accounts keep only the names of their secrets', () => {
  const tester = new DefinitionTester(
    serviceAccountResource(
      { clock: testClock, registry: new ResourceRegistry(), storage: {} as Storage, names: vendorNames('k8s.io') },
      undefined,
    ),
  );
  const { object } = tester.create({ secrets: [{ name: 'a', kind: 'x', namespace: 'y' }, {}] });
  assert.deepEqual(object.secrets, [{ name: 'a' }, {}]);
  assert.deepEqual(tester.cells(object), ['a', '0s']);
});
