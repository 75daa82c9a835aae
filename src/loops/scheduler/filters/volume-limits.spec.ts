import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterObjects } from '../cluster-objects.js';
import { placement, sampleCluster, samplePod } from '../testing/sample-cluster.js';

const driver = 'disks.example.com';
const full = (nodes: number) => `0/${nodes} nodes are available: ${nodes} node(s) exceed max volume count.`;

/** Claims by name: `handle` for one that is bound to such a volume, `new` for one for which a volume will be made. */
function clusterObjects(
  claims: Readonly<Record<string, { readonly handle?: string; readonly driver?: string }>>,
  limits: Readonly<Record<string, Readonly<Record<string, number>>>>,
): ClusterObjects {
  return {
    claim: (_namespace, name) => {
      const claim = claims[name];
      if (claim === undefined) return undefined;
      const volumeName = claim.handle === undefined ? undefined : `pv-${name}`;
      return {
        metadata: { name, namespace: 'ns' },
        spec: { volumeName, storageClassName: claim.driver ?? driver },
        status: { phase: volumeName === undefined ? 'Pending' : 'Bound' },
      } as never;
    },
    volume: (name) => {
      const claim = claims[name.slice('pv-'.length)];
      const csi = { driver: claim?.driver ?? driver, volumeHandle: claim?.handle };
      return { metadata: { name }, spec: claim?.driver === 'none' ? {} : { csi } } as never;
    },
    storageClass: (name) =>
      ({ metadata: { name }, provisioner: name, volumeBindingMode: 'WaitForFirstConsumer' }) as never,
    volumeLimits: (node) => (limits[node] === undefined ? undefined : new Map(Object.entries(limits[node]))),
  };
}

const using = (...claims: string[]) =>
  samplePod({
    volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  });

describe('NodeVolumeLimits', () => {
  const claims = {
    a: { handle: 'h-a' },
    b: { handle: 'h-b' },
    twin: { handle: 'h-a' },
    other: { handle: 'h-o', driver: 'files.example.com' },
    plain: { handle: 'h-p', driver: 'none' },
    new: {},
  };
  const cases: readonly (readonly [what: string, wants: string[], there: string[], limit: number, outcome: string])[] =
    [
      ['there is room for one more', ['a'], ['b'], 2, 'n'],
      ['there is room for none', ['a'], ['b'], 1, full(1)],
      ['a volume that is there already', ['a'], ['a'], 1, 'n'],
      ['the same volume through another claim', ['a'], ['twin'], 1, 'n'],
      ['two at once', ['a', 'b'], [], 1, full(1)],
      ['a volume that will be made', ['new'], ['b'], 1, full(1)],
      ['a place for the volume that will be made', ['new'], ['b'], 2, 'n'],
      ['a volume that will be made counts', ['a'], ['new'], 1, full(1)],
      ['another driver', ['other'], ['a', 'b'], 1, 'n'],
      ['others of another driver', ['a'], ['other'], 1, 'n'],
      ['no driver at all', ['plain'], ['a'], 1, 'n'],
      ['no room at all', ['a'], [], 0, full(1)],
    ];
  for (const [what, wants, there, limit, outcome] of cases) {
    it(what, () => {
      const cluster = sampleCluster(
        { n: { pods: there.map((claim) => using(claim)) } },
        clusterObjects(claims, { n: { [driver]: limit } }),
      );
      assert.equal(placement(using(...wants), cluster), outcome);
    });
  }

  it('does not limit nodes that say nothing', () => {
    const cluster = sampleCluster({ n: { pods: [using('b')] } }, clusterObjects(claims, {}));
    assert.equal(placement(using('a'), cluster), 'n');
  });

  it('chooses the node with room', () => {
    const limits = { n1: { [driver]: 1 }, n2: { [driver]: 1 } };
    const cluster = sampleCluster({ n1: { pods: [using('b')] }, n2: {} }, clusterObjects(claims, limits));
    assert.equal(placement(using('a'), cluster), 'n2');
  });
});
