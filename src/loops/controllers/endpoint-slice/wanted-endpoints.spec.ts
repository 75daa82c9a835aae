import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredPod } from '../frame/indexes.js';
import { familiesOf, type StoredService } from '../services/service-pods.js';
import { wantedEndpoints } from './wanted-endpoints.js';

const zoneLabel = 'topology.kubernetes.io/zone';
const nodes: Readonly<Record<string, object>> = {
  n1: { metadata: { name: 'n1', labels: { [zoneLabel]: 'z1' } } },
  n2: { metadata: { name: 'n2' } },
};
const nodeOf = (name: string) => nodes[name] as ReturnType<Parameters<typeof wantedEndpoints>[3]>;

function pod(spec: object = {}, { ips = ['10.0.0.1'], ready = true, ending = false } = {}): StoredPod {
  return {
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      ...(ending ? { deletionTimestamp: '2030-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }], ...spec },
    status: {
      phase: 'Running',
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  } as unknown as StoredPod;
}

function service(spec: object = {}): StoredService {
  const ports = [{ name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' }];
  return { metadata: { name: 'svc', namespace: 'ns' }, spec: { ports, ...spec } } as unknown as StoredService;
}

describe('wantedEndpoints', () => {
  const conditions: readonly (readonly [string, object, StoredPod, readonly boolean[]])[] = [
    ['a ready pod', {}, pod(), [true, true, false]],
    ['another', {}, pod({}, { ready: false }), [false, false, false]],
    ['a ready pod that ends', {}, pod({}, { ending: true }), [false, true, true]],
    ['another that ends', {}, pod({}, { ending: true, ready: false }), [false, false, true]],
    [
      'an unready pod that is published',
      { publishNotReadyAddresses: true },
      pod({}, { ready: false }),
      [true, false, false],
    ],
    [
      'an ending pod that is published',
      { publishNotReadyAddresses: true },
      pod({}, { ending: true }),
      [true, true, true],
    ],
  ];
  for (const [name, spec, object, [ready, serving, terminating]] of conditions) {
    it(`gives the state of ${name}`, () => {
      const [group] = wantedEndpoints(service(spec), [object], 'IPv4', nodeOf, zoneLabel);
      assert.deepEqual(group?.endpoints[0]?.conditions, { ready, serving, terminating });
    });
  }

  const places: readonly (readonly [string, object, StoredPod, object | undefined])[] = [
    ['without a node', {}, pod(), {}],
    ['of a node in a zone', {}, pod({ nodeName: 'n1' }), { nodeName: 'n1', zone: 'z1' }],
    ['of a node without a zone', {}, pod({ nodeName: 'n2' }), { nodeName: 'n2' }],
    ['on a node that is gone', {}, pod({ nodeName: 'gone' }), undefined],
    ['the same, published', { publishNotReadyAddresses: true }, pod({ nodeName: 'gone' }), { nodeName: 'gone' }],
    ['with a name here', {}, pod({ hostname: 'h', subdomain: 'svc' }), { hostname: 'h' }],
    ['with a name elsewhere', {}, pod({ hostname: 'h', subdomain: 'x' }), {}],
    [
      'for the same zone',
      { trafficDistribution: 'PreferSameZone' },
      pod({ nodeName: 'n1' }),
      { nodeName: 'n1', zone: 'z1', hints: { forZones: [{ name: 'z1' }] } },
    ],
    ['for a zone that is unknown', { trafficDistribution: 'PreferClose' }, pod({ nodeName: 'n2' }), { nodeName: 'n2' }],
    [
      'for the same node',
      { trafficDistribution: 'PreferSameNode' },
      pod({ nodeName: 'n1' }),
      { nodeName: 'n1', zone: 'z1', hints: { forZones: [{ name: 'z1' }], forNodes: [{ name: 'n1' }] } },
    ],
    [
      'no hints for what is not ready',
      { trafficDistribution: 'PreferClose' },
      pod({ nodeName: 'n1' }, { ready: false }),
      { nodeName: 'n1', zone: 'z1' },
    ],
  ];
  for (const [name, spec, object, expected] of places) {
    it(`gives the place of a pod ${name}`, () => {
      const [group] = wantedEndpoints(service(spec), [object], 'IPv4', nodeOf, zoneLabel);
      const { addresses: _a, conditions: _c, targetRef: _t, ...place } = group?.endpoints[0] ?? { none: true };
      assert.deepEqual(place, expected ?? { none: true });
    });
  }

  it('takes the addresses of the family', () => {
    const both = pod({}, { ips: ['10.0.0.1', 'fd00::1'] });
    for (const [family, ip] of [
      ['IPv4', '10.0.0.1'],
      ['IPv6', 'fd00::1'],
    ] as const) {
      const [group] = wantedEndpoints(service(), [both], family, nodeOf, zoneLabel);
      assert.equal(group?.family, family);
      assert.deepEqual(group?.endpoints[0]?.addresses, [ip]);
    }
    assert.deepEqual(wantedEndpoints(service(), [pod()], 'IPv6', nodeOf, zoneLabel), []);
  });

  it('groups pods whose ports differ', () => {
    const containers = [{ name: 'c', ports: [{ name: 'http', containerPort: 9090, protocol: 'TCP' }] }];
    const groups = wantedEndpoints(service(), [pod(), pod({ containers })], 'IPv4', nodeOf, zoneLabel);
    assert.deepEqual(
      groups.map(({ ports }) => ports.map(({ port }) => port)),
      [[8080], [9090]],
    );
  });
});

describe('familiesOf', () => {
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ ipFamilies: ['IPv6', 'IPv4'] }, ['IPv6', 'IPv4']],
    [{ clusterIP: '10.0.0.1' }, ['IPv4']],
    [{ clusterIP: 'fd00::1' }, ['IPv6']],
    [{ clusterIP: 'None' }, ['IPv4', 'IPv6']],
  ];
  for (const [spec, expected] of cases) {
    it(`${JSON.stringify(spec)}: ${expected}`, () => assert.deepEqual(familiesOf(service(spec)), expected));
  }
});
