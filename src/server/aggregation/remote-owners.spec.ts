import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { Aggregation } from './aggregation.js';
import { RemoteOwners } from './remote-owners.js';

const reference = (name: string) => ({ apiVersion: 'shop.example/v1', kind: 'Order', name, uid: `uid-${name}` });
const orders = { responseKind: { kind: 'Order' }, verbs: ['get'], scope: 'Namespaced', resource: 'orders' };

describe('RemoteOwners', () => {
  it('does not wait again and again for a server that does not answer', async () => {
    let calls = 0;
    let time = 0;
    const backend = {
      headersAs: async () => ({}),
      call: async () => {
        calls += 1;
        throw new Error('no answer in time');
      },
    };
    const resources = { get: async () => ({ value: [orders], isCurrent: true }) };
    const aggregation = {
      services: { remote: () => ({ isAvailable: true }) },
      of: () => ({ backend, resources }),
    } as unknown as Aggregation;
    const owners = new RemoteOwners(aggregation, vendorNames('k8s.io'), () => time);
    const { signal } = new AbortController();
    for (let i = 0; i < 100; i++) assert.equal(await owners.find(reference(`o${i}`), 'default', signal), undefined);
    assert.equal(calls, 1);
    time += 30_000;
    assert.equal(await owners.find(reference('o1'), 'default', signal), undefined);
    assert.equal(calls, 2, 'asked again later');
  });
});
