import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EndpointSubset } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { StoredService } from '../services/service-pods.js';
import { truncated, wantedSubsets } from './wanted-subsets.js';

interface PodCase {
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly spec?: object;
  readonly metadata?: object;
  readonly phase?: string;
}

function pod(
  name: string,
  { ips = ['10.0.0.1'], ready = true, spec = {}, metadata = {}, phase = 'Running' }: PodCase = {},
) {
  return {
    metadata: { name, namespace: 'ns', uid: `u-${name}`, ...metadata },
    spec: { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] }], ...spec },
    status: {
      phase,
      podIPs: ips.map((ip) => ({ ip })),
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  } as unknown as StoredPod;
}

function service(spec: object = {}): StoredService {
  const ports = [{ name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' }];
  return {
    metadata: { name: 'svc', namespace: 'ns' },
    spec: { selector: { a: 'b' }, clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], ports, ...spec },
  } as unknown as StoredService;
}

/** Subsets in short: `ready addresses / others : ports`. */
function shown(subsets: readonly EndpointSubset[]): string[] {
  const ips = (list: EndpointSubset['addresses']) => (list ?? []).map(({ ip }) => ip.replace('10.0.0.', '')).join(' ');
  return subsets.map(({ addresses, notReadyAddresses, ports }) => {
    const numbers = (ports ?? []).map(({ name, port }) => `${name}=${port}`).join(' ');
    return `${ips(addresses)}/${ips(notReadyAddresses)}:${numbers}`;
  });
}

describe('wantedSubsets', () => {
  const two = [pod('a'), pod('b', { ips: ['10.0.0.2'], ready: false })];
  const ending = { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } };
  const named = { name: 'raw', port: 81, targetPort: 81, protocol: 'TCP' };
  const web = { name: 'web', port: 80, targetPort: 'http', protocol: 'TCP' };
  const otherPort = { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 9090, protocol: 'TCP' }] }] };
  const sidecar = {
    containers: [{ name: 'c' }],
    initContainers: [{ name: 's', restartPolicy: 'Always', ports: [{ name: 'http', containerPort: 7070 }] }],
  };
  const cases: readonly (readonly [string, StoredService, readonly StoredPod[], readonly string[]])[] = [
    ['no pods', service(), [], []],
    ['ready pods and others', service(), two, ['1/2:web=8080']],
    ['publishNotReadyAddresses', service({ publishNotReadyAddresses: true }), two, ['1 2/:web=8080']],
    ['pods without an address', service(), [pod('a', { ips: [] })], []],
    ['pods that have ended', service(), [pod('a', { phase: 'Succeeded' }), pod('b', { phase: 'Failed' })], []],
    ['pods that are being deleted', service(), [pod('a', ending)], []],
    [
      'the same when all are published',
      service({ publishNotReadyAddresses: true }),
      [pod('a', ending)],
      ['1/:web=8080'],
    ],
    ['ports by name, in order', service({ ports: [web, named] }), [pod('a')], ['1/:raw=81 web=8080']],
    ['a port that no container has', service({ ports: [{ ...web, targetPort: 'x' }] }), [pod('a')], []],
    ['a name of another protocol', service({ ports: [{ ...web, protocol: 'UDP' }] }), [pod('a')], []],
    ['a port of a sidecar', service(), [pod('a', { spec: sidecar })], ['1/:web=7070']],
    [
      'pods that give a name different numbers',
      service(),
      [pod('a'), pod('b', { ips: ['10.0.0.2'], spec: otherPort })],
      ['1/:web=8080', '2/:web=9090'],
    ],
    [
      'pods that lack one of two ports',
      service({ ports: [web, named] }),
      [pod('a'), pod('b', { ips: ['10.0.0.2'], spec: { containers: [{ name: 'c' }] } })],
      ['1/:raw=81 web=8080', '2/:raw=81'],
    ],
    ['a headless service without ports', service({ clusterIP: 'None', ports: [] }), two, ['1/2:']],
    [
      'the family of the service',
      service({ ipFamilies: ['IPv6'] }),
      [pod('a', { ips: ['10.0.0.1', 'fd00::1'] })],
      ['fd00::1/:web=8080'],
    ],
    ['the first of two families', service({ ipFamilies: ['IPv4', 'IPv6'] }), [pod('a', { ips: ['fd00::1'] })], []],
    [
      'a headless service without family',
      service({ clusterIP: 'None', ipFamilies: [] }),
      [pod('a', { ips: ['fd00::1'] })],
      ['fd00::1/:web=8080'],
    ],
    [
      'the order of addresses',
      service(),
      [pod('z'), pod('y', { ips: ['10.0.0.9'] }), pod('x', { ips: ['10.0.0.5'] })],
      ['1 5 9/:web=8080'],
    ],
  ];
  for (const [name, object, pods, expected] of cases) {
    it(name, () => assert.deepEqual(shown(wantedSubsets(object, pods)), expected));
  }

  it('says which pod is behind an address, where it runs and its name under the service', () => {
    const here = { hostname: 'h', subdomain: 'svc', nodeName: 'n1', containers: [{ name: 'c' }] };
    const elsewhere = { ...here, subdomain: 'other' };
    const object = service({ ports: [{ name: '', port: 80, targetPort: 80, appProtocol: 'http2' }] });
    const pods = [pod('a', { spec: here }), pod('b', { ips: ['10.0.0.2'], spec: elsewhere })];
    assert.deepEqual(wantedSubsets(object, pods), [
      {
        addresses: [
          {
            ip: '10.0.0.1',
            hostname: 'h',
            nodeName: 'n1',
            targetRef: { kind: 'Pod', namespace: 'ns', name: 'a', uid: 'u-a' },
          },
          { ip: '10.0.0.2', nodeName: 'n1', targetRef: { kind: 'Pod', namespace: 'ns', name: 'b', uid: 'u-b' } },
        ],
        ports: [{ name: '', port: 80, protocol: 'TCP', appProtocol: 'http2' }],
      },
    ]);
  });
});

describe('truncated', () => {
  const subset = (ready: number, notReady: number): EndpointSubset => ({
    addresses: Array.from({ length: ready }, (_, i) => ({ ip: `r${i}` })),
    notReadyAddresses: Array.from({ length: notReady }, (_, i) => ({ ip: `n${i}` })),
  });
  const sizes = (subsets: readonly EndpointSubset[] | undefined) =>
    subsets?.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]);

  it('leaves what fits', () => assert.equal(truncated([subset(5, 5)], 10), undefined));
  it('keeps the ready ones first', () => assert.deepEqual(sizes(truncated([subset(5, 8)], 10)), [[5, 5]]));
  it('keeps no others when there are enough', () => assert.deepEqual(sizes(truncated([subset(15, 8)], 10)), [[10, 0]]));
  it('gives each subset its share', () =>
    assert.deepEqual(sizes(truncated([subset(20, 0), subset(10, 3), subset(0, 3)], 10)), [
      [7, 0],
      [3, 0],
    ]));
});
