// Asks pods by real connections while network policies change: rules of the kernel between network namespaces, in both families. As
// root, in a network namespace of its own: `npm run check:policies`.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { ObjectMeta } from '../../src/base/machinery/api-object.js';
import { systemTimers } from '../../src/base/machinery/timers.js';
import { Logger } from '../../src/base/observability/logger.js';
import { kernelTable } from '../../src/nodes/proxy/nftables/kernel-table.js';
import type { PodView } from '../../src/nodes/proxy/policies/pod-view.js';
import { PolicyState } from '../../src/nodes/proxy/policies/policy-state.js';
import { PolicyTable, policyTableName } from '../../src/nodes/proxy/policies/policy-table.js';
import { policyView } from '../../src/nodes/proxy/policies/policy-view.js';
import type { Family } from '../../src/nodes/proxy/rules/family.js';
import type { NetworkPolicy } from '../../src/objects/apis/networking/v1/network-policy.types.js';
import { NodeNetwork } from './node-network.js';

type Who = 'pod' | 'other' | 'client' | 'node';

/** The places of all parties: `node` is the machine as pods see it. */
const places: Readonly<Record<Who, Readonly<Record<Family, string>>>> = {
  pod: { IPv4: '10.244.1.2', IPv6: 'fd00:244:1::2' },
  other: { IPv4: '10.244.2.2', IPv6: 'fd00:244:2::2' },
  client: { IPv4: '192.0.2.2', IPv6: '2001:db8:1::2' },
  node: { IPv4: '10.244.1.1', IPv6: 'fd00:244:1::1' },
};

interface PolicyCase {
  readonly what: string;
  /** Policies of the namespace of `pod`. */
  readonly policies: readonly object[];
  /** Who reaches whom: `other>pod`, `client>pod udp`. */
  readonly reaches: readonly string[];
  readonly fails: readonly string[];
}

const web = { matchLabels: { app: 'web' } };
const other = { matchLabels: { app: 'other' } };
const team = { matchLabels: { team: 'a' } };
const selectsWeb = { podSelector: web };

const cases: readonly PolicyCase[] = [
  {
    what: 'without a policy everybody reaches everybody',
    policies: [],
    reaches: ['other>pod', 'client>pod', 'client>pod udp', 'node>pod', 'pod>other', 'pod>client', 'pod>node'],
    fails: [],
  },
  {
    what: 'default deny of what comes in leaves the node, the way out and other pods alone',
    policies: [{ podSelector: {}, policyTypes: ['Ingress'] }],
    reaches: ['node>pod', 'pod>other', 'pod>client', 'pod>node', 'client>other', 'pod>pod'],
    fails: ['other>pod', 'client>pod', 'client>pod udp'],
  },
  {
    what: 'default deny of what goes out leaves the own node and the way in alone',
    policies: [{ podSelector: {}, policyTypes: ['Egress'] }],
    reaches: ['node>pod', 'other>pod', 'client>pod', 'pod>node', 'pod>pod'],
    fails: ['pod>other', 'pod>client', 'pod>client udp'],
  },
  {
    what: 'default deny of both',
    policies: [{ podSelector: {}, policyTypes: ['Ingress', 'Egress'] }],
    reaches: ['node>pod', 'pod>node', 'other>client'],
    fails: ['other>pod', 'pod>other'],
  },
  {
    what: 'a policy for other pods says nothing of this one',
    policies: [{ podSelector: { matchLabels: { app: 'db' } }, policyTypes: ['Ingress', 'Egress'] }],
    reaches: ['other>pod', 'pod>other'],
    fails: [],
  },
  {
    what: 'selectors of pods are about the own namespace',
    policies: [{ ...selectsWeb, ingress: [{ from: [{ podSelector: other }] }] }],
    reaches: ['node>pod'],
    fails: ['other>pod', 'client>pod'],
  },
  {
    what: 'selectors of namespaces and pods together',
    policies: [{ ...selectsWeb, ingress: [{ from: [{ podSelector: other, namespaceSelector: team }] }] }],
    reaches: ['other>pod', 'other>pod udp'],
    fails: ['client>pod'],
  },
  {
    what: 'an expression that the namespace does not meet',
    policies: [
      {
        ...selectsWeb,
        ingress: [
          { from: [{ namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['a'] }] } }] },
        ],
      },
    ],
    reaches: [],
    fails: ['other>pod'],
  },
  {
    what: 'ports and protocols',
    policies: [{ ...selectsWeb, ingress: [{ ports: [{ protocol: 'TCP', port: 8080 }] }] }],
    reaches: ['other>pod', 'client>pod'],
    fails: ['client>pod udp'],
  },
  {
    what: 'ranges of ports',
    policies: [{ ...selectsWeb, ingress: [{ ports: [{ protocol: 'UDP', port: 8000, endPort: 8100 }] }] }],
    reaches: ['client>pod udp'],
    fails: ['client>pod'],
  },
  {
    what: 'a range of ports that ends before',
    policies: [{ ...selectsWeb, ingress: [{ ports: [{ port: 8000, endPort: 8079 }] }] }],
    reaches: [],
    fails: ['client>pod'],
  },
  {
    what: 'a named port of this pod',
    policies: [{ ...selectsWeb, ingress: [{ ports: [{ port: 'http' }] }] }],
    reaches: ['client>pod'],
    fails: ['client>pod udp'],
  },
  {
    what: 'a name that no port has',
    policies: [{ ...selectsWeb, ingress: [{ ports: [{ port: 'metrics' }] }] }],
    reaches: [],
    fails: ['client>pod'],
  },
  {
    what: 'ranges of addresses',
    policies: [
      {
        ...selectsWeb,
        ingress: [{ from: [{ ipBlock: { cidr: '192.0.2.0/24' } }, { ipBlock: { cidr: '2001:db8::/32' } }] }],
      },
    ],
    reaches: ['client>pod'],
    fails: ['other>pod'],
  },
  {
    what: 'ranges of addresses with exceptions',
    policies: [
      {
        ...selectsWeb,
        ingress: [
          {
            from: [
              { ipBlock: { cidr: '0.0.0.0/0', except: ['192.0.2.0/24'] } },
              { ipBlock: { cidr: '::/0', except: ['2001:db8::/32'] } },
            ],
          },
        ],
      },
    ],
    reaches: ['other>pod'],
    fails: ['client>pod'],
  },
  {
    what: 'the way out by range, port and named port',
    policies: [
      {
        ...selectsWeb,
        policyTypes: ['Egress'],
        egress: [
          {
            to: [{ ipBlock: { cidr: '192.0.2.0/24' } }, { ipBlock: { cidr: '2001:db8::/32' } }],
            ports: [{ protocol: 'UDP', port: 8080 }],
          },
          { to: [{ namespaceSelector: team }], ports: [{ port: 'http' }] },
        ],
      },
    ],
    reaches: ['pod>client udp', 'pod>other', 'client>pod'],
    fails: ['pod>client', 'pod>other udp'],
  },
  {
    what: 'several policies add up',
    policies: [
      { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
      { ...selectsWeb, ingress: [{ from: [{ namespaceSelector: team }] }] },
      { ...selectsWeb, policyTypes: ['Egress'], egress: [{ to: [{ namespaceSelector: {} }] }] },
    ],
    reaches: ['other>pod', 'pod>other'],
    fails: ['client>pod', 'pod>client'],
  },
  {
    what: 'everything is allowed again',
    policies: [
      { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
      { podSelector: {}, policyTypes: ['Ingress', 'Egress'], ingress: [{}], egress: [{}] },
    ],
    reaches: ['other>pod', 'client>pod udp', 'pod>client'],
    fails: [],
  },
];

describe('network policies', () => {
  let network: NodeNetwork;
  let server: Server;
  const state = new PolicyState('here');
  const families = ['IPv4', 'IPv6'] as const;
  const tables = families.map((family) => {
    const kernel = kernelTable(family, policyTableName);
    return [family, new PolicyTable({ family, kernel, timers: systemTimers, logger: new Logger('warn') })] as const;
  });
  let count = 0;

  before(async () => {
    network = NodeNetwork.prepare();
    await network.add('pod', '10.244.1.');
    await network.add('other', '10.244.2.');
    await network.add('client', '192.0.2.');
    network.addSix('pod', 'fd00:244:1::');
    network.addSix('other', 'fd00:244:2::');
    network.addSix('client', '2001:db8:1::');
    server = createServer((socket) => socket.on('error', () => socket.destroy()).end('node')).listen(8080, '::');
    await once(server, 'listening');
    const ports = [{ name: 'http', protocol: 'tcp', port: 8080 }] as const;
    const of = (who: Who, namespace: string, app: string): PodView => ({
      ...{ namespace, node: 'here', labels: { app }, ports },
      addresses: { IPv4: [places[who].IPv4], IPv6: [places[who].IPv6] },
    });
    state.putPod('pod', of('pod', 'shop', 'web'));
    state.putPod('other', of('other', 'team-a', 'other'));
    state.putNamespace('shop', { name: 'shop', labels: {} });
    state.putNamespace('team-a', { name: 'team-a', labels: { team: 'a' } });
  });

  after(() => {
    network?.stop();
    server?.close();
    execFileSync('nft', ['flush', 'ruleset']);
  });

  async function use(policies: readonly object[]): Promise<void> {
    for (let index = 0; index < count; index++) state.putPolicy(`p${index}`, undefined);
    count = policies.length;
    policies.forEach((spec, index) => {
      const policy = { metadata: { namespace: 'shop', name: `p${index}` }, spec };
      state.putPolicy(`p${index}`, policyView(policy as unknown as NetworkPolicy & { metadata: ObjectMeta }));
    });
    for (const [family, table] of tables) await table.write(state.hasPolicies ? state.want(family) : undefined);
  }

  async function isReached(way: string, family: Family): Promise<boolean> {
    const [, from = '', to = '', protocol = 'tcp'] = /^(\w+)>(\w+)(?: (\w+))?$/.exec(way) ?? [];
    const address = places[to as Who][family];
    const question = { protocol: protocol as 'tcp' | 'udp', address, port: 8080, tries: 1 };
    const [answer = ''] = await network.party(from).ask(question);
    return answer.startsWith(to);
  }

  for (const { what, policies, reaches, fails } of cases) {
    it(what, async () => {
      await use(policies);
      for (const family of families) {
        const found = await Promise.all([...reaches, ...fails].map((way) => isReached(way, family)));
        const reached = [...reaches, ...fails].filter((_, index) => found[index]);
        assert.deepEqual(reached, reaches, family);
      }
    });
  }

  it('leaves connections alone that were there before a policy', async () => {
    // The kernel tracks connections as long as there are rules that ask for it; those of the services do.
    await use([{ podSelector: { matchLabels: { app: 'db' } } }]);
    const flow = { protocol: 'udp', address: places.pod.IPv4, port: 8080, tries: 1 } as const;
    const client = network.pods.get('client');
    assert.match((await client?.again(flow)) ?? '', /^pod/);
    await use([{ podSelector: {}, policyTypes: ['Ingress'] }]);
    assert.match((await client?.again(flow)) ?? '', /^pod/);
    assert.equal(await isReached('client>pod udp', 'IPv4'), false);
  });

  it('lets pods in that come, and no longer those that have gone', async () => {
    await use([{ ...selectsWeb, ingress: [{ from: [{ namespaceSelector: team }] }] }]);
    assert.equal(await isReached('client>pod', 'IPv4'), false);
    const addresses = { IPv4: [places.client.IPv4], IPv6: [] };
    state.putPod('late', { namespace: 'team-a', node: 'there', labels: {}, ports: [], addresses });
    for (const [family, table] of tables) await table.write(state.want(family));
    assert.equal(await isReached('client>pod', 'IPv4'), true);
    state.putPod('late', undefined);
    for (const [family, table] of tables) await table.write(state.want(family));
    assert.equal(await isReached('client>pod', 'IPv4'), false);
  });

  it('takes 1,000 policies for 100 pods among 10,000, and one change among them', async () => {
    const large = new PolicyState('here');
    const table = new PolicyTable({
      ...{
        family: 'IPv4',
        kernel: kernelTable('IPv4', policyTableName),
        timers: systemTimers,
        logger: new Logger('warn'),
      },
    });
    const address = (index: number) => `10.${100 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
    for (let index = 0; index < 100; index++)
      large.putNamespace(`n${index}`, { name: `n${index}`, labels: { n: `${index % 10}` } });
    const put = (index: number, at = index) =>
      large.putPod(`u${index}`, {
        ...{
          namespace: `n${index % 100}`,
          node: index < 100 ? 'here' : 'there',
          labels: { app: `a${index % 7}` },
          ports: [],
        },
        addresses: { IPv4: [address(at)], IPv6: [] },
      });
    for (let index = 0; index < 10_000; index++) put(index);
    for (let index = 0; index < 1_000; index++) {
      const spec = {
        podSelector: {},
        ingress: [
          {
            from: [
              { podSelector: { matchLabels: { app: `a${index % 7}` } } },
              { namespaceSelector: { matchLabels: { n: `${index % 10}` } } },
            ],
          },
          { from: [{ ipBlock: { cidr: `172.${index % 255}.0.0/16` } }], ports: [{ port: 1 + index }] },
        ],
      };
      const policy = { metadata: { namespace: `n${index % 100}`, name: `p${index}` }, spec };
      large.putPolicy(`p${index}`, policyView(policy as unknown as NetworkPolicy & { metadata: ObjectMeta }));
    }
    const measure = async (what: string, step: () => void) => {
      const began = performance.now();
      const before = process.cpuUsage();
      step();
      await table.write(large.want('IPv4'));
      const { user, system } = process.cpuUsage(before);
      const [own, all] = [(user + system) / 1000, performance.now() - began].map((ms) => `${ms.toFixed(0)} ms`);
      console.log(`${what}: ${own} of this program, ${all} in all`);
    };
    await measure('1,000 policies', () => undefined);
    for (let turn = 0; turn < 3; turn++) await measure('a pod elsewhere', () => put(5_000, 20_000 + turn));
    await measure('a pod of this node', () => put(5, 30_000));
  });
});
