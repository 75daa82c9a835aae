import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listDoc } from './list-doc.js';

describe('the description of a list', () => {
  for (const [kind, doc] of [
    ['Service', 'List of services.'],
    ['NetworkPolicy', 'List of network policies.'],
    ['Gateway', 'List of gateways.'],
    ['StorageClass', 'List of storage classes.'],
    ['ComponentStatus', 'List of component statuses.'],
    ['Endpoints', 'List of endpoints.'],
    ['CSIDriver', 'List of CSI drivers.'],
    ['IPAddress', 'List of IP addresses.'],
  ] as const) {
    it(`of ${kind}`, () => assert.equal(listDoc(kind), doc));
  }
});
