import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import { Logger } from '../../../base/observability/logger.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { NetworkPolicy } from '../../../objects/apis/networking/v1/network-policy.types.js';
import { mergedPorts, outermostRanges } from './nested-ranges.js';
import { PodChoice } from './pod-choice.js';
import { type PodView, podView } from './pod-view.js';
import { policyChain, shortHash } from './policy-rules.js';
import { PolicyState } from './policy-state.js';
import { PolicyTable } from './policy-table.js';
import { policyView } from './policy-view.js';

type Spec = Partial<NetworkPolicy['spec']>;

function view(spec: object, name = 'rule') {
  const policy = { metadata: { namespace: 'shop', name }, spec: { podSelector: {}, ...spec } };
  return policyView(policy as unknown as NetworkPolicy & { metadata: ObjectMeta });
}

function pod(namespace: string, address: string, labels: Record<string, string> = {}, node = 'there'): PodView {
  const [IPv4, IPv6] = address.includes(':') ? [[], [address]] : [[address], []];
  return { namespace, labels, node, addresses: { IPv4, IPv6 }, ports: [{ name: 'http', protocol: 'tcp', port: 8080 }] };
}

const setOf = (choice: PodChoice, kind = 'pods', port = ' ') => `${kind}-${shortHash(`${choice.text} ${port}`)}`;
const web = new PodChoice('shop', { matchLabels: { app: 'web' } });
const teams = new PodChoice('shop', {}, { matchLabels: { team: 'a' } });

describe('the rules of network policies', () => {
  const cases: readonly {
    what: string;
    ingress?: Spec['ingress'];
    egress?: object[];
    wanted: readonly string[];
    six?: readonly string[];
  }[] = [
    { what: 'nothing may come in', ingress: [], wanted: [] },
    { what: 'everything may come in', ingress: [{}], wanted: ['return'] },
    {
      what: 'pods of the own namespace',
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }] as Spec['ingress'],
      wanted: [`ip saddr @${setOf(web)} return`],
    },
    {
      what: 'pods of chosen namespaces',
      ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'a' } } }] }] as Spec['ingress'],
      wanted: [`ip saddr @${setOf(teams)} return`],
    },
    {
      what: 'ports, merged, of any protocol without a number',
      ingress: [
        {
          ports: [
            { port: 80 },
            { port: 80, endPort: 90 },
            { port: 91 },
            { protocol: 'UDP' },
            { protocol: 'SCTP', port: 7 },
          ],
        },
      ] as Spec['ingress'],
      wanted: ['meta l4proto . th dport { tcp . 80-91, udp . 0-65535, sctp . 7 } return'],
    },
    {
      what: 'a named port is one of the pod that packets come to',
      ingress: [
        { from: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 'http' }] },
      ] as Spec['ingress'],
      wanted: [
        `ip saddr @${setOf(web)} ip daddr . meta l4proto . th dport @${setOf(new PodChoice('shop', {}), 'ports', 'tcp http')} return`,
      ],
    },
    {
      what: 'ranges, without those inside of others, and exceptions',
      ingress: [
        {
          from: [
            { ipBlock: { cidr: '10.0.0.0/8' } },
            { ipBlock: { cidr: '10.1.0.0/16' } },
            { ipBlock: { cidr: '192.0.2.0/24', except: ['192.0.2.0/28', '192.0.2.1/32'] } },
            { ipBlock: { cidr: '2001:db8::/32', except: ['2001:db8:1::/48'] } },
          ],
        },
      ] as Spec['ingress'],
      wanted: ['ip saddr { 192.0.2.0/24 } ip saddr != { 192.0.2.0/28 } return', 'ip saddr { 10.0.0.0/8 } return'],
      six: ['ip6 saddr { 2001:db8::/32 } ip6 saddr != { 2001:db8:1::/48 } return'],
    },
    {
      what: 'all addresses but some',
      ingress: [
        { from: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.0.0.0/8'] } }], ports: [{ port: 1 }] },
      ] as Spec['ingress'],
      wanted: ['ip saddr != { 10.0.0.0/8 } meta l4proto . th dport { tcp . 1 } return'],
      six: [],
    },
    {
      what: 'the way out, by the ports of those at its end',
      egress: [
        {
          to: [{ podSelector: { matchLabels: { app: 'web' } } }],
          ports: [{ port: 'http' }, { port: 53, protocol: 'UDP' }],
        },
        { to: [{ ipBlock: { cidr: '192.0.2.0/24' } }], ports: [{ port: 'http' }] },
      ],
      wanted: [
        `ip daddr @${setOf(web)} meta l4proto . th dport { udp . 53 } return`,
        `ip daddr . meta l4proto . th dport @${setOf(web, 'ports', 'tcp http')} return`,
      ],
    },
    {
      what: 'a named port of whatever pod',
      egress: [{ ports: [{ port: 'http' }] }],
      wanted: [`ip daddr . meta l4proto . th dport @${setOf(new PodChoice('', {}, {}), 'ports', 'tcp http')} return`],
    },
  ];
  for (const { what, ingress, egress, wanted, six } of cases) {
    it(what, () => {
      const direction = egress === undefined ? 'ingress' : 'egress';
      const policy = view({ ingress, egress, policyTypes: [egress === undefined ? 'Ingress' : 'Egress'] });
      assert.deepEqual(policyChain([policy], direction, 'IPv4').rules, [...wanted, 'drop']);
      if (six !== undefined) assert.deepEqual(policyChain([policy], direction, 'IPv6').rules, [...six, 'drop']);
    });
  }

  it('are in the direction that the policy is about', () => {
    assert.deepEqual([view({}).ingress, view({}).egress], [[], undefined]);
    assert.deepEqual([view({ egress: [{}] }).ingress, view({ egress: [{}] }).egress?.length], [[], 1]);
    const out = view({ policyTypes: ['Egress'] });
    assert.deepEqual([out.ingress, out.egress], [undefined, []]);
  });

  it('add up for pods that several policies choose', () => {
    const one = view({ ingress: [{ ports: [{ port: 1 }] }] }, 'b');
    const two = view({ ingress: [{ ports: [{ port: 2 }] }] }, 'a');
    const rules = ['meta l4proto . th dport { tcp . 2 } return', 'meta l4proto . th dport { tcp . 1 } return', 'drop'];
    assert.deepEqual(policyChain([one, two], 'ingress', 'IPv4').rules, rules);
  });
});

describe('ranges', () => {
  it('lose those inside of others', () => {
    const texts = ['10.1.0.0/16', '10.0.0.0/8', '11.0.0.0/8', '10.0.0.0/8', 'fd00::/8', '10.255.255.255/32'];
    assert.deepEqual(outermostRanges(texts, 'IPv4'), ['10.0.0.0/8', '11.0.0.0/8']);
    assert.deepEqual(outermostRanges(texts, 'IPv6'), ['fd00::/8']);
    assert.deepEqual(
      mergedPorts([
        { first: 5, last: 9 },
        { first: 1, last: 1 },
        { first: 2, last: 3 },
        { first: 6, last: 7 },
      ]),
      [
        { first: 1, last: 3 },
        { first: 5, last: 9 },
      ],
    );
  });
});

describe('podView', () => {
  it('leaves out pods that have ended, and those with the network of their node', () => {
    const of = (spec: object, status: object) =>
      podView({ metadata: { namespace: 'shop' }, spec, status } as unknown as Pod & { metadata: ObjectMeta });
    const containers = [{ name: 'a', ports: [{ name: 'http', containerPort: 80 }, { containerPort: 81 }] }];
    const running = of({ containers, nodeName: 'here' }, { podIPs: [{ ip: '10.0.0.1' }, { ip: 'FD00::0:1' }] });
    assert.deepEqual(running?.addresses, { IPv4: ['10.0.0.1'], IPv6: ['fd00::1'] });
    assert.deepEqual(running?.ports, [{ name: 'http', protocol: 'tcp', port: 80 }]);
    assert.equal(of({ containers, hostNetwork: true }, {}), undefined);
    assert.equal(of({ containers }, { phase: 'Failed', podIP: '10.0.0.1' }), undefined);
  });
});

describe('the table of network policies', () => {
  /** A kernel that keeps what it gets. */
  function tableOf(state: PolicyState) {
    const scripts: string[] = [];
    let fails = false;
    let now = 0;
    const table = new PolicyTable({
      family: 'IPv4',
      timers: { elapsed: () => now },
      logger: new Logger('error'),
      kernel: {
        run: async (script) => {
          if (fails) throw new Error('no');
          scripts.push(script);
        },
        read: async () => undefined,
        exists: async () => true,
      },
    });
    const write = async () => {
      const kind = await table.write(state.hasPolicies ? state.want('IPv4') : undefined);
      return [kind, ...scripts.splice(0).join('').trim().split('\n')];
    };
    const fail = (value: boolean) => {
      fails = value;
    };
    return { write, fail, pass: (ms: number) => (now += ms) };
  }

  const t = 'ip plinth-policies';
  const set = setOf(web);
  const chain = `ingress-${shortHash('shop/rule')}`;

  function shopState(): PolicyState {
    const state = new PolicyState('here');
    state.putNamespace('n', { name: 'shop', labels: {} });
    state.putPod('own', pod('shop', '10.0.0.1', {}, 'here'));
    state.putPod('one', pod('shop', '10.0.0.2', { app: 'web' }));
    state.putPolicy('p', view({ ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }] }));
    return state;
  }

  it('is written as a whole, then only what changes, and is gone with the last policy', async () => {
    const state = shopState();
    const { write, pass } = tableOf(state);
    const [kind, ...whole] = await write();
    assert.equal(kind, 'full');
    assert.deepEqual(whole.slice(0, 3), [`add table ${t}`, `delete table ${t}`, `add table ${t}`]);
    assert.deepEqual(whole.slice(-7), [
      `add element ${t} ${set} { 10.0.0.2 }`,
      `add chain ${t} ${chain}`,
      `flush chain ${t} ${chain}`,
      `add rule ${t} ${chain} ip saddr @${set} return`,
      `add rule ${t} ${chain} drop`,
      `add element ${t} same { 10.0.0.1 . 10.0.0.1 }`,
      `add element ${t} ingress { 10.0.0.1 : jump ${chain} }`,
    ]);
    assert.deepEqual(await write(), [undefined, '']);
    state.putPod('two', pod('shop', '10.0.0.3', { app: 'web' }));
    state.putPod('one', undefined);
    assert.deepEqual(await write(), [
      'partial',
      `delete element ${t} ${set} { 10.0.0.2 }`,
      `add element ${t} ${set} { 10.0.0.3 }`,
    ]);
    state.putPod('two', pod('shop', '10.0.0.3', { app: 'web', more: 'labels' }));
    assert.deepEqual(await write(), [undefined, '']);
    state.putPolicy('p', view({ ingress: [{}] }));
    assert.deepEqual(await write(), [
      'partial',
      ...[`add chain ${t} ${chain}`, `flush chain ${t} ${chain}`, `add rule ${t} ${chain} return`],
      `add rule ${t} ${chain} drop`,
    ]);
    pass(2_000);
    state.putPod('own', undefined);
    assert.deepEqual(await write(), [
      'partial',
      // The set was removed before, in a transaction of its own.
      `delete set ${t} ${set}`,
      `delete element ${t} same { 10.0.0.1 . 10.0.0.1 }`,
      `delete element ${t} ingress { 10.0.0.1 }`,
      `flush chain ${t} ${chain}`,
    ]);
    state.putPolicy('p', undefined);
    assert.deepEqual(await write(), ['full', `delete table ${t}`]);
  });

  it('is written as a whole after a failure', async () => {
    const state = shopState();
    const { write, fail } = tableOf(state);
    await write();
    state.putPod('two', pod('shop', '10.0.0.3', { app: 'web' }));
    fail(true);
    await assert.rejects(write());
    fail(false);
    const [kind, ...lines] = await write();
    assert.equal(kind, 'full');
    assert.ok(lines.includes(`add element ${t} ${set} { 10.0.0.2, 10.0.0.3 }`));
  });

  it('follows labels of namespaces, and addresses that go from pod to pod', () => {
    const state = new PolicyState('here');
    state.putPod('own', pod('shop', '10.0.0.1', {}, 'here'));
    state.putPod('far', pod('other', '10.0.0.9'));
    state.putPolicy('p', view({ ingress: [{ from: [{ namespaceSelector: { matchLabels: { team: 'a' } } }] }] }));
    const elements = () => [...(state.want('IPv4').sets.get(setOf(teams))?.elements('IPv4') ?? [])];
    assert.deepEqual(elements(), []);
    state.putNamespace('n', { name: 'other', labels: { team: 'a' } });
    assert.deepEqual(elements(), ['10.0.0.9']);
    state.putPod('next', pod('other', '10.0.0.9'));
    state.putPod('far', undefined);
    assert.deepEqual(elements(), ['10.0.0.9']);
    state.putNamespace('n', { name: 'other', labels: {} });
    assert.deepEqual(elements(), []);
  });

  it('concerns pods of this node that a policy chooses, and no other', () => {
    const state = shopState();
    state.putPod('elsewhere', pod('shop', '10.0.0.7'));
    state.putPod('free', pod('free', '10.0.0.8', {}, 'here'));
    const { verdicts } = state.want('IPv4');
    assert.deepEqual([[...verdicts.ingress.keys()], [...verdicts.egress.keys()]], [['10.0.0.1'], []]);
    assert.equal(state.want('IPv6').chains.size, 0);
  });
});
