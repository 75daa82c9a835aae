import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SampleNode, SamplePod } from '../testing/sample-cluster.js';
import { placement, sampleCluster, samplePod } from '../testing/sample-cluster.js';

type Case = readonly [what: string, pod: SamplePod, nodes: Readonly<Record<string, SampleNode>>, outcome: string];

const none = (count: number, reasons: string) => `0/${count} nodes are available: ${reasons}.`;

function check(cases: readonly Case[]): void {
  for (const [what, pod, nodes, outcome] of cases) {
    it(what, () => assert.equal(placement(samplePod(pod), sampleCluster(nodes)), outcome));
  }
}

describe('InterPodAffinity', () => {
  const zone = 'topology.kubernetes.io/zone';
  const host = 'kubernetes.io/hostname';
  const term = (topologyKey: string, matchLabels: object, rest: object = {}) => ({
    topologyKey,
    labelSelector: { matchLabels },
    ...rest,
  });
  const near = (...terms: object[]) => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  });
  const far = (...terms: object[]) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
  });
  const at = (name: string, ...pods: SamplePod[]): SampleNode => ({
    labels: { [zone]: name },
    pods: pods.map(samplePod),
  });
  const web = { labels: { app: 'web' } };
  const notNear = (count: number) => none(count, `${count} node(s) didn't match pod affinity rules`);
  const tooNear = (count: number) => none(count, `${count} node(s) didn't match pod anti-affinity rules`);
  const unwelcome = (count: number) => none(count, `${count} node(s) didn't satisfy existing pods anti-affinity rules`);

  check([
    ['near a pod on the same node', near(term(host, { app: 'web' })), { a: at('1'), b: at('1', web) }, 'b'],
    [
      'near a pod in the same zone',
      { ...near(term(zone, { app: 'web' })), nodeSelector: { [host]: 'c' } },
      { a: at('1', web), b: at('2'), c: at('1') },
      'c',
    ],
    ['near nobody', near(term(zone, { app: 'web' })), { a: at('1'), b: at('2') }, notNear(2)],
    [
      'the first of a group that wants to be together',
      { ...web, ...near(term(zone, { app: 'web' })) },
      { a: at('1') },
      'a',
    ],
    [
      'the first of a group, where the key is missing',
      { ...web, ...near(term('rack', { app: 'web' })) },
      { a: at('1') },
      notNear(1),
    ],
    [
      'pods of other namespaces do not count',
      near(term(host, { app: 'web' })),
      { a: at('1', { ...web, namespace: 'other' }) },
      notNear(1),
    ],
    [
      'pods of a named namespace',
      near(term(host, { app: 'web' }, { namespaces: ['other'] })),
      { a: at('1'), b: at('1', { ...web, namespace: 'other' }) },
      'b',
    ],
    [
      'a named namespace replaces the own one',
      near(term(host, { app: 'web' }, { namespaces: ['other'] })),
      { a: at('1', web) },
      notNear(1),
    ],
    [
      'all terms must be met by the same pods',
      near(term(host, { app: 'web' }), term(host, { tier: '1' })),
      { a: at('1', web, { labels: { tier: '1' } }) },
      notNear(1),
    ],
    [
      'all terms are met',
      near(term(host, { app: 'web' }), term(zone, { tier: '1' })),
      { a: at('1', { labels: { app: 'web', tier: '1' } }) },
      'a',
    ],
    ['away from a pod on the same node', far(term(host, { app: 'web' })), { a: at('1', web), b: at('1') }, 'b'],
    ['away from a pod in the same zone', far(term(zone, { app: 'web' })), { a: at('1', web), b: at('1') }, tooNear(2)],
    [
      'away from one of two',
      far(term(host, { app: 'web' }), term(host, { app: 'db' })),
      { a: at('1', web), b: at('1', { labels: { app: 'db' } }) },
      tooNear(2),
    ],
    ['away, where nodes lack the key', far(term('rack', { app: 'web' })), { a: at('1', web) }, 'a'],
    [
      'existing pods that want to be alone',
      web,
      { a: at('1', far(term(zone, { app: 'web' }))), b: at('1') },
      unwelcome(2),
    ],
    ['existing pods that mind others', { labels: { app: 'db' } }, { a: at('1', far(term(zone, { app: 'web' }))) }, 'a'],
    [
      'existing pods of other namespaces mind their own',
      web,
      { a: at('1', { ...far(term(zone, { app: 'web' })), namespace: 'other' }) },
      'a',
    ],
    [
      'only pods of the same revision count',
      { labels: { app: 'web', rev: '2' }, ...far(term(host, { app: 'web' }, { matchLabelKeys: ['rev'] })) },
      { a: at('1', { labels: { app: 'web', rev: '1' } }) },
      'a',
    ],
    [
      'only pods of other tenants count',
      { labels: { tenant: 'x' }, ...far(term(host, {}, { mismatchLabelKeys: ['tenant'] })) },
      { a: at('1', { labels: { tenant: 'y' } }), b: at('1', { labels: { tenant: 'x' } }) },
      'b',
    ],
    ['a term without a selector is about no pod', far({ topologyKey: host }), { a: at('1', web) }, 'a'],
  ]);

  const labelled = { namespaceLabels: (name: string) => (name === 'ns' ? { team: 'x' } : { team: 'y' }) };
  const byTeam = (team: string) => near(term(host, { app: 'web' }, { namespaceSelector: { matchLabels: { team } } }));
  for (const [what, pod, outcome] of [
    ['a namespace selector', byTeam('y'), 'a'],
    ['a namespace selector that does not fit', byTeam('z'), notNear(2)],
    ['an empty namespace selector stands for all', near(term(host, { app: 'web' }, { namespaceSelector: {} })), 'a'],
  ] as const) {
    it(what, () => {
      const nodes = { a: at('1', { ...web, namespace: 'other' }), b: at('1') };
      assert.equal(placement(samplePod(pod), sampleCluster(nodes, labelled)), outcome);
    });
  }
});

describe('PodTopologySpread', () => {
  const zone = 'topology.kubernetes.io/zone';
  const web = { labels: { app: 'web' } };
  const spread = (rest: object = {}, ...others: object[]) => ({
    ...web,
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: zone,
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'web' } },
        ...rest,
      },
      ...others,
    ],
  });
  const at = (name: string, count = 0, rest: SampleNode = {}, pod: SamplePod = web): SampleNode => ({
    ...rest,
    labels: { [zone]: name, ...rest.labels },
    pods: Array.from({ length: count }, () => samplePod(pod)),
  });
  const skewed = (count: number) => none(count, `${count} node(s) didn't match pod topology spread constraints`);
  const missing = (count: number) =>
    none(count, `${count} node(s) didn't match pod topology spread constraints (missing required label)`);
  const taints = [{ key: 'k', effect: 'NoSchedule' }];

  check([
    ['to the zone with fewer', spread(), { a: at('1', 2), b: at('2', 1) }, 'b'],
    [
      'a larger skew is allowed',
      { ...spread({ maxSkew: 2 }), nodeSelector: { 'kubernetes.io/hostname': 'a' } },
      { a: at('1', 1), b: at('2') },
      'a',
    ],
    [
      'zones that the selector excludes do not count',
      { ...spread(), nodeSelector: { 'kubernetes.io/hostname': 'a' } },
      { a: at('1', 3), b: at('2') },
      'a',
    ],
    [
      'unless the constraint says so',
      { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { 'kubernetes.io/hostname': 'a' } },
      { a: at('1', 3), b: at('2') },
      none(
        2,
        "1 node(s) didn't match Pod's node affinity/selector, 1 node(s) didn't match pod topology spread constraints",
      ),
    ],
    [
      'tainted nodes count',
      spread(),
      { a: at('1', 1), b: at('2', 0, { taints }) },
      none(2, "1 node(s) didn't match pod topology spread constraints, 1 node(s) had untolerated taint(s)"),
    ],
    [
      'unless the constraint honours taints',
      spread({ nodeTaintsPolicy: 'Honor' }),
      { a: at('1', 1), b: at('2', 0, { taints }) },
      'a',
    ],
    ['nodes without the label', spread(), { a: {} }, missing(1)],
    ['too few zones count as an empty one', spread({ minDomains: 3 }), { a: at('1', 1), b: at('2', 1) }, skewed(2)],
    ['enough zones', spread({ minDomains: 2 }), { a: at('1', 1), b: at('2', 1), c: at('2', 3) }, 'a'],
    [
      'pods that end do not count',
      spread(),
      { a: at('1', 3, {}, { ...web, metadata: { deletionTimestamp: 't' } }), b: at('2', 1) },
      'a',
    ],
    [
      'pods of other namespaces do not count',
      spread(),
      { a: at('1', 3, {}, { ...web, namespace: 'other' }), b: at('2', 1) },
      'a',
    ],
    [
      'a pod that its own constraint does not count',
      { ...spread(), labels: {}, nodeSelector: { [zone]: '1' } },
      { a: at('1', 1), b: at('2') },
      'a',
    ],
    [
      'only pods of the same revision',
      { ...spread({ matchLabelKeys: ['rev'] }), labels: { app: 'web', rev: '2' }, nodeSelector: {} },
      {
        a: at('1', 5, {}, { labels: { app: 'web', rev: '1' } }),
        b: at('2', 1, {}, { labels: { app: 'web', rev: '2' } }),
      },
      'a',
    ],
    [
      'two constraints at once',
      spread(
        {},
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ),
      { a: at('1', 1), b: at('1', 0), c: at('2', 1), d: at('2', 1) },
      'b',
    ],
  ]);
});

describe('limits of what pods say about each other', () => {
  const term = (i: number) => ({
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { text: `${i}-${'x'.repeat(50)}` } },
  });
  const apart = (from: number, count: number) => ({
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: Array.from({ length: count }, (_, i) => term(from + i)),
      },
    },
  });
  const tooLarge = 'the affinity, node selector and topology spread constraints of the pod are larger than 64 KiB';

  it('refuses a pod with thousands of terms', () => {
    const cluster = sampleCluster({ a: {} });
    assert.equal(placement(samplePod(apart(0, 3_500)), cluster), none(1, tooLarge));
    assert.equal(placement(samplePod(apart(0, 100)), cluster), 'a');
  });

  it('keeps only so many different terms of one namespace', () => {
    const cluster = sampleCluster({ a: { allocatable: { pods: '1000' } } });
    for (let i = 0; i < 100; i++) cluster.addPod(samplePod(apart(i * 200, 200)), 'a');
    const kept = [...cluster.counts.termsOf('antiAffinity')].reduce((sum, { term: { key } }) => sum + key.length, 0);
    assert.ok(kept > 1_000_000 && kept <= 2 * 1024 * 1024, `${kept} characters`);
    assert.ok(cluster.counts.ignoredPods > 0);
    assert.match(placement(samplePod(apart(0, 400)), cluster), /^a$|would be larger/);
    assert.match(placement(samplePod(apart(1_000_000, 400)), cluster), /terms of the running pods of namespace ns/);
    // Another namespace has its own limit, and pods without terms are not limited.
    assert.equal(placement(samplePod({ namespace: 'other', ...apart(1_000_000, 400) }), cluster), 'a');
    assert.equal(placement(samplePod(), cluster), 'a');
  });

  it('forgets the terms of pods that have left', () => {
    const cluster = sampleCluster({ a: { allocatable: { pods: '1000' } } });
    const pods = Array.from({ length: 100 }, (_, i) => samplePod(apart(i * 200, 200)));
    for (const pod of pods) cluster.addPod(pod, 'a');
    for (const pod of pods) cluster.removePod(pod.uid);
    assert.deepEqual([...cluster.counts.termsOf('antiAffinity')], []);
    assert.equal(cluster.counts.ignoredPods, 0);
    assert.equal(placement(samplePod(apart(1_000_000, 400)), cluster), 'a');
  });
});
