import assert from 'node:assert/strict';
import { it } from 'node:test';
import { DefinitionTester } from '../../../../test/support/definition-tester.js';
import { systemClock } from '../../../machinery/clock.js';
import { closedSecurity } from '../../../machinery/security.js';
import { vendorNames } from '../../../machinery/vendor.js';
import type { GroupContext } from '../../../registry/group-context.js';
import { ResourceRegistry } from '../../../registry/resource-registry.js';
import { serviceAccountResource } from './service-account.resource.js';

it('service accounts keep only the names of their secrets', () => {
  const tester = new DefinitionTester(
    serviceAccountResource({
      clock: systemClock,
      registry: new ResourceRegistry(),
      security: closedSecurity,
      storage: {} as GroupContext['storage'],
      names: vendorNames('k8s.io'),
    }),
  );
  const { object } = tester.create({ secrets: [{ name: 'a', kind: 'x', namespace: 'y' }, {}] });
  assert.deepEqual(object.secrets, [{ name: 'a' }, {}]);
  assert.deepEqual(tester.cells(object), ['a', 2, '0s']);
});
