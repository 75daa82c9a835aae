import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { nodeRoutes } from './node-routes.js';

interface Sample {
  readonly name: string;
  readonly ranges: readonly string[];
  readonly addresses: readonly string[];
  readonly born?: number;
}

const node = ({ name, ranges, addresses, born = 0 }: Sample) =>
  ({
    metadata: { name, creationTimestamp: `2026-01-01T00:00:0${born}Z` },
    spec: { podCIDR: ranges[0] ?? '', podCIDRs: [...ranges] },
    status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
  }) as unknown as Node;

const own = node({ name: 'a', ranges: ['10.244.0.0/24', 'fd00:1::/64'], addresses: ['192.0.2.1', '2001:db8::1'] });
const second = node({
  name: 'b',
  ranges: ['10.244.1.0/24', 'fd00:1:0:1::/64'],
  addresses: ['192.0.2.2', '2001:db8::2'],
});

function shown(others: readonly Node[], families: readonly ('IPv4' | 'IPv6')[] = ['IPv4', 'IPv6']): string[] {
  const routes = nodeRoutes([...others, own], 'a', ['10.244.0.0/16', 'fd00:1::/48'], families);
  return routes.map(({ range, gateway }) => `${range} ${gateway}`);
}

const cases: readonly { what: string; others: readonly Node[]; routes: readonly string[] }[] = [
  { what: 'nobody else', others: [], routes: [] },
  { what: 'both families', others: [second], routes: ['10.244.1.0/24 192.0.2.2', 'fd00:1:0:1::/64 2001:db8::2'] },
  { what: 'no address yet', others: [node({ name: 'c', ranges: ['10.244.2.0/24'], addresses: [] })], routes: [] },
  { what: 'no range yet', others: [node({ name: 'c', ranges: [], addresses: ['192.0.2.3'] })], routes: [] },
  {
    what: 'no address of the family',
    others: [node({ name: 'c', ranges: ['fd00:1:0:2::/64'], addresses: ['192.0.2.3'] })],
    routes: [],
  },
  {
    what: 'bits behind the prefix',
    others: [node({ name: 'c', ranges: ['10.244.3.9/24'], addresses: ['192.0.2.3'] })],
    routes: ['10.244.3.0/24 192.0.2.3'],
  },
  {
    what: 'a range outside of the cluster, or all of it',
    others: [node({ name: 'c', ranges: ['0.0.0.0/0', '10.0.0.0/8', '192.0.2.0/24'], addresses: ['192.0.2.3'] })],
    routes: [],
  },
  {
    what: 'the range of this node',
    others: [node({ name: 'c', ranges: ['10.244.0.128/25'], addresses: ['192.0.2.3'] })],
    routes: [],
  },
  {
    what: 'the range of an older node',
    others: [node({ name: 'c', ranges: ['10.244.1.0/25'], addresses: ['192.0.2.3'], born: 1 }), second],
    routes: ['10.244.1.0/24 192.0.2.2', 'fd00:1:0:1::/64 2001:db8::2'],
  },
  {
    what: 'a wrong range',
    others: [node({ name: 'c', ranges: ['10.244.7.0/33', 'x; reboot'], addresses: ['192.0.2.3'] })],
    routes: [],
  },
];

for (const { what, others, routes } of cases) {
  it(`routes to the pods of other nodes: ${what}`, () => assert.deepEqual(shown(others), routes));
}

it('leaves out families that the machine does not have', () => {
  assert.deepEqual(shown([second], ['IPv4']), ['10.244.1.0/24 192.0.2.2']);
});
