import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fixedListers } from '../../../test/support/fixed-listers.js';
import { parseServiceAddresses } from '../config/admission-webhook.options.js';
import type { ServiceResolution } from '../machinery/service-resolution.js';
import { vendorNames } from '../machinery/vendor.js';
import { serviceResolver } from './service-resolver.js';

const names = vendorNames('k8s.io');

const metadata = { name: 'hook', namespace: 'n' };
const service = (spec: object = {}) => ({
  metadata,
  spec: { clusterIP: '10.0.0.9', type: 'ClusterIP', ports: [{ name: 'https', port: 443 }], ...spec },
});
const slice = (addresses: object[], more: object = {}) => ({
  metadata: { name: 'hook-1', namespace: 'n', labels: { 'kubernetes.io/service-name': 'hook' } },
  addressType: 'IPv4',
  endpoints: addresses,
  ports: [{ name: 'https', port: 8443 }],
  ...more,
});
const slices = 'endpointslices.discovery.k8s.io';

function resolve(
  resolution: ServiceResolution,
  objects: Readonly<Record<string, object[]>> = {},
  port = 443,
  addresses: readonly string[] = [],
): string {
  const resolver = serviceResolver(resolution, parseServiceAddresses(addresses), fixedListers(objects), names);
  const { host, port: found } = resolver.resolve('n', 'hook', port);
  return `${host} ${found}`;
}

describe('the service of a hook', () => {
  it('is found at a ready endpoint', () => {
    const endpoints = [
      { addresses: ['10.1.0.1'], conditions: { ready: false } },
      { addresses: ['10.1.0.2'], conditions: { ready: true } },
    ];
    assert.equal(resolve('endpoints', { services: [service()], [slices]: [slice(endpoints)] }), '10.1.0.2 8443');
    // Endpoints without conditions count as ready.
    const silent = slice([{ addresses: ['fd00::1'] }]);
    assert.equal(resolve('endpoints', { services: [service()], [slices]: [silent] }), 'fd00::1 8443');
  });

  it('is found at the endpoints of the older kind where there are no slices', () => {
    const ports = [{ name: 'https', port: 9443 }];
    const subsets = [{ addresses: [{ ip: '10.2.0.1' }], notReadyAddresses: [{ ip: '10.2.0.2' }], ports }];
    const endpoints = [{ metadata, subsets }];
    assert.equal(resolve('endpoints', { services: [service()], endpoints }), '10.2.0.1 9443');
    const empty = { services: [service()], endpoints, [slices]: [slice([])] };
    assert.throws(() => resolve('endpoints', empty), /^Error: no endpoints available for service "hook"$/);
  });

  it('is found at its cluster address', () => {
    assert.equal(resolve('cluster-ip', { services: [service()] }), '10.0.0.9 443');
    const headless = { services: [service({ clusterIP: 'None' })] };
    assert.throws(() => resolve('cluster-ip', headless), /service "hook" has no cluster address/);
  });

  it('is found where the flag says, before anything else', () => {
    const addresses = ['n/hook=[::1]:1', 'n/hook:8443=hook.example.com:2'];
    assert.equal(resolve('endpoints', {}, 443, addresses), '::1 1');
    assert.equal(resolve('none', {}, 8443, addresses), 'hook.example.com 2');
    assert.throws(() => resolve('none', {}, 443, ['other/hook=a:1']), /no address is configured for service "n\/hook"/);
  });

  const faults: [object[], number, RegExp][] = [
    [[], 443, /service "hook" not found/],
    [[service()], 444, /no service port 444 found for service "hook"/],
    [[service({ type: 'ExternalName' })], 443, /service "hook" is of type ExternalName/],
    [[service()], 443, /no endpoints available for service "hook"/],
  ];
  for (const [services, port, expected] of faults) {
    it(`is reported as missing: ${expected.source}`, () => {
      assert.throws(() => resolve('endpoints', { services }, port), expected);
    });
  }
});
