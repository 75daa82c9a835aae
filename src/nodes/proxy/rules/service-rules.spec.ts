import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { elementsOf, ending, rulesOf, sampleEndpoint, sampleService, sampleSlice } from '../testing/samples.js';
import type { SetName } from './rule-types.js';

const local = sampleEndpoint('10.1.0.1', 'here');
const remote = sampleEndpoint('10.1.1.1', 'there');
const key = '10.96.0.7 . tcp . 80';
const nodePort = { type: 'NodePort', ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }] };
const balanced = { ...nodePort, type: 'LoadBalancer' };

type Wanted = Partial<Record<SetName, readonly string[]>>;

interface Case {
  readonly what: string;
  readonly spec?: object;
  readonly ingress?: readonly object[];
  readonly endpoints?: readonly object[];
  readonly wanted: Wanted;
}

const cases: readonly Case[] = [
  {
    what: 'a cluster address leads to all ready endpoints',
    endpoints: [local, remote],
    wanted: {
      'cluster-ips': ['10.96.0.7'],
      'service-ips': [`${key} : goto pick-2`],
      'endpoints-tcp': [`${key} . 0 : 10.1.0.1 . 8080`, `${key} . 1 : 10.1.1.1 . 8080`],
      'hairpin-connections': ['10.1.0.1 . 10.1.0.1 . tcp . 8080'],
    },
  },
  {
    what: 'a service without endpoints is rejected',
    spec: { ...nodePort, externalIPs: ['198.51.100.1'] },
    wanted: {
      'cluster-ips': ['10.96.0.7'],
      'no-endpoint-services': [`${key} : goto reject-all`, '198.51.100.1 . tcp . 80 : goto reject-all'],
      'no-endpoint-nodeports': ['tcp . 30080 : goto reject-all'],
      'service-ips': [],
      'service-nodeports': [],
    },
  },
  {
    what: 'an internal policy of Local without an endpoint here drops',
    spec: { internalTrafficPolicy: 'Local' },
    endpoints: [remote],
    wanted: { 'service-ips': [], 'no-endpoint-services': [`${key} : drop`] },
  },
  {
    what: 'an internal policy of Local leads to the endpoint here',
    spec: { internalTrafficPolicy: 'Local' },
    endpoints: [local, remote],
    wanted: { 'service-ips': [`${key} : goto pick-1`], 'endpoints-tcp': [`${key} . 0 : 10.1.0.1 . 8080`] },
  },
  {
    what: 'packets to node ports and external addresses get another sender',
    spec: { ...nodePort, externalIPs: ['198.51.100.1', '2001:db8::9'] },
    endpoints: [remote],
    wanted: {
      'service-ips': [`${key} : goto pick-1`, '198.51.100.1 . tcp . 80 : goto external-pick-1'],
      'service-nodeports': ['tcp . 30080 : goto nodeport-external-pick-1'],
      'nodeport-endpoints-tcp': ['tcp . 30080 . 0 : 10.1.1.1 . 8080'],
    },
  },
  {
    what: 'an external policy of Local keeps packets from outside here, and lets those from inside go anywhere',
    spec: { ...nodePort, externalTrafficPolicy: 'Local' },
    endpoints: [local, remote],
    wanted: {
      'service-nodeports': ['tcp . 30080 : goto nodeport-outside-local'],
      'inside-nodeports': ['tcp . 30080 : goto nodeport-inside-pick-2'],
      'local-nodeports': ['tcp . 30080 : goto nodeport-pick-1'],
      'nodeport-endpoints-tcp': [
        'tcp . 30080 . 65536 : 10.1.0.1 . 8080',
        'tcp . 30080 . 65537 : 10.1.1.1 . 8080',
        'tcp . 30080 . 0 : 10.1.0.1 . 8080',
      ],
      'service-ips': [`${key} : goto pick-2`],
    },
  },
  {
    what: 'an external policy of Local without an endpoint here drops what comes from outside alone',
    spec: { ...balanced, externalTrafficPolicy: 'Local' },
    ingress: [{ ip: '203.0.113.5' }],
    endpoints: [remote],
    wanted: {
      'service-nodeports': ['tcp . 30080 : goto nodeport-outside-local'],
      'no-endpoint-nodeports': ['tcp . 30080 : drop'],
      'no-endpoint-services': ['203.0.113.5 . tcp . 80 : drop'],
      'inside-ips': ['203.0.113.5 . tcp . 80 : goto inside-pick-1'],
      'local-ips': [],
    },
  },
  {
    what: 'addresses of a load balancer lead here, but not those of one that forwards by itself',
    spec: balanced,
    ingress: [{ ip: '203.0.113.5', ipMode: 'VIP' }, { ip: '203.0.113.6', ipMode: 'Proxy' }, { hostname: 'lb.example' }],
    endpoints: [remote],
    wanted: { 'service-ips': [`${key} : goto pick-1`, '203.0.113.5 . tcp . 80 : goto external-pick-1'] },
  },
  {
    what: 'endpoints that are not ready get nothing',
    endpoints: [local, sampleEndpoint('10.1.1.1', 'there', { conditions: { ready: false, serving: false } })],
    wanted: { 'service-ips': [`${key} : goto pick-1`] },
  },
  {
    what: 'endpoints that end get packets when there are no others',
    endpoints: [sampleEndpoint('10.1.1.1', 'there', ending)],
    wanted: { 'endpoints-tcp': [`${key} . 0 : 10.1.1.1 . 8080`] },
  },
  {
    what: 'the one here that ends comes before those elsewhere if packets must stay',
    spec: { internalTrafficPolicy: 'Local' },
    endpoints: [sampleEndpoint('10.1.0.1', 'here', ending), remote],
    wanted: { 'endpoints-tcp': [`${key} . 0 : 10.1.0.1 . 8080`] },
  },
  {
    what: 'hints for zones keep packets in the zone',
    endpoints: [
      sampleEndpoint('10.1.0.1', 'there', { hints: { forZones: [{ name: 'east' }] } }),
      sampleEndpoint('10.1.1.1', 'there', { hints: { forZones: [{ name: 'west' }] } }),
    ],
    wanted: { 'endpoints-tcp': [`${key} . 0 : 10.1.0.1 . 8080`] },
  },
  {
    what: 'hints for nodes come before those for zones',
    endpoints: [
      sampleEndpoint('10.1.0.1', 'there', { hints: { forZones: [{ name: 'east' }], forNodes: [{ name: 'there' }] } }),
      sampleEndpoint('10.1.1.1', 'here', { hints: { forZones: [{ name: 'east' }], forNodes: [{ name: 'here' }] } }),
    ],
    wanted: { 'endpoints-tcp': [`${key} . 0 : 10.1.1.1 . 8080`] },
  },
  {
    what: 'hints count for nothing when one endpoint has none, or when none is for this zone',
    endpoints: [sampleEndpoint('10.1.0.1', 'there', { hints: { forZones: [{ name: 'west' }] } }), remote],
    wanted: { 'service-ips': [`${key} : goto pick-2`] },
  },
  { what: 'headless services have no rules', spec: { clusterIP: 'None', clusterIPs: ['None'] }, wanted: {} },
  { what: 'names of others have no rules', spec: { type: 'ExternalName', externalName: 'a.example' }, wanted: {} },
];

describe('serviceRules', () => {
  for (const { what, spec, ingress, endpoints = [], wanted } of cases) {
    it(what, () => {
      const rules = rulesOf(sampleService(spec, ingress), [sampleSlice(endpoints)]);
      for (const [set, lines] of Object.entries(wanted))
        assert.deepEqual(elementsOf(rules, set as SetName), lines, set);
      if (Object.keys(wanted).length === 0) assert.deepEqual(rules.elements, []);
    });
  }

  it('keeps the protocols of a port number apart', () => {
    const ports = ['TCP', 'UDP', 'SCTP'].map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: 53 }));
    const slice = sampleSlice([local], { ports: ports.map((port) => ({ ...port, port: 5353 })) });
    const rules = rulesOf(sampleService({ ports }), [slice]);
    for (const protocol of ['tcp', 'udp', 'sctp'] as const) {
      assert.deepEqual(elementsOf(rules, `endpoints-${protocol}`), [
        `10.96.0.7 . ${protocol} . 53 . 0 : 10.1.0.1 . 5353`,
      ]);
    }
  });

  it('takes of each family what belongs to it', () => {
    const service = sampleService({ clusterIPs: ['10.96.0.7', 'fd00:0:0::7'], externalIPs: ['2001:DB8:0::9'] });
    const six = sampleSlice([sampleEndpoint('fd00:1:0:0::1', 'here')], { addressType: 'IPv6' });
    const slices = [sampleSlice([local]), six];
    assert.deepEqual(elementsOf(rulesOf(service, slices), 'service-ips'), [`${key} : goto pick-1`]);
    const rules = rulesOf(service, slices, 'IPv6');
    assert.deepEqual(elementsOf(rules, 'service-ips'), [
      'fd00::7 . tcp . 80 : goto pick-1',
      '2001:db8::9 . tcp . 80 : goto external-pick-1',
    ]);
    assert.deepEqual(elementsOf(rules, 'endpoints-tcp'), [
      'fd00::7 . tcp . 80 . 0 : fd00:1::1 . 8080',
      '2001:db8::9 . tcp . 80 . 0 : fd00:1::1 . 8080',
    ]);
  });

  it('lets in only clients of the source ranges, and the node if it is one', () => {
    const spec = { ...balanced, loadBalancerSourceRanges: [' 192.0.2.0/24', '2001:db8::/32'] };
    const rules = rulesOf(sampleService(spec, [{ ip: '203.0.113.5' }]), [sampleSlice([remote])]);
    const [element = ''] = elementsOf(rules, 'firewall-ips');
    const [, chain = ''] = /^203\.0\.113\.5 \. tcp \. 80 : goto (firewall-.*)$/.exec(element) ?? [];
    assert.deepEqual(rules.chains.get(chain), ['ip saddr 192.0.2.0/24 return', 'ip saddr 203.0.113.5 return', 'drop']);
    const open = { ...balanced, loadBalancerSourceRanges: ['192.0.2.0/24', '0.0.0.0/0'] };
    const all = rulesOf(sampleService(open, [{ ip: '203.0.113.5' }]), [sampleSlice([remote])]);
    assert.deepEqual(elementsOf(all, 'firewall-ips'), []);
  });

  it('remembers clients in a set for each endpoint', () => {
    const sticky = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } } };
    const rules = rulesOf(sampleService({ ...nodePort, ...sticky }), [sampleSlice([local, remote])]);
    const [entry = ''] = elementsOf(rules, 'service-ips');
    const [, chain = ''] = /goto (service-.*\/tcp\/http)$/.exec(entry) ?? [];
    const [first = '', second = '', draw = ''] = rules.chains.get(chain) ?? [];
    assert.match(first, /^ip saddr @affinity-60-\S+-10\.1\.0\.1\/8080 goto endpoint-\S+-10\.1\.0\.1\/8080$/);
    assert.match(second, /10\.1\.1\.1\/8080$/);
    assert.match(draw, /^numgen random mod 2 vmap \{ 0 : goto endpoint-\S+, 1 : goto endpoint-\S+ \}$/);
    assert.deepEqual([...rules.affinitySets.values()], [60, 60]);
    const [, target = ''] = /goto (endpoint-\S+)$/.exec(first) ?? [];
    const [record = '', send = ''] = rules.chains.get(target) ?? [];
    assert.match(record, /^update @affinity-60-\S+ \{ ip saddr \}$/);
    assert.equal(send, 'meta l4proto tcp dnat to 10.1.0.1:8080');
    assert.match(elementsOf(rules, 'service-nodeports').join(), /^tcp \. 30080 : goto external-/);
    assert.deepEqual(elementsOf(rules, 'endpoints-tcp'), []);
  });

  it('prefers an endpoint that does not end where an address is named twice', () => {
    const old = sampleSlice([sampleEndpoint('10.1.0.1', 'there', ending)]);
    const rules = rulesOf(sampleService(), [sampleSlice([local]), old]);
    assert.deepEqual(elementsOf(rules, 'hairpin-connections'), ['10.1.0.1 . 10.1.0.1 . tcp . 8080']);
  });
});
