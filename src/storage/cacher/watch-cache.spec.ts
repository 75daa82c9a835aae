import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Random, testSeeds } from '../../../test/support/random.js';
import { parseFieldSelector } from '../../base/machinery/field-selector.js';
import { InvariantError } from '../../base/machinery/invariant-error.js';
import { parseLabelSelector } from '../../base/machinery/label-selector.js';
import { comparePositions } from '../key-order.js';
import type { AttributeSource } from '../selection-predicate.js';
import type { Change, StoredObject } from '../storage.interface.js';
import type { EarlierState } from './earlier-state.js';
import { type CacheQuery, WatchCache } from './watch-cache.js';

const resource = 'things';
const source: AttributeSource = {
  extract: (json) => ({ source, labels: JSON.parse(json).labels, fields: {} }),
};
const select = (labels: string, fields = '') => ({
  source,
  labels: parseLabelSelector(labels),
  fields: parseFieldSelector(fields),
});

const objects = 6_000;
const id = ({ key }: StoredObject) => `${key.namespace}/${key.name}`;

function object(random: Random, n: number, version: bigint): StoredObject {
  const labels = { part: random.below(3), group: `g${random.below(40)}`, version: String(version) };
  const key = { resource, namespace: `ns-${n % 3}`, name: `n${n}` };
  const uid = `uid-${version}`;
  // The uid is missing from the text of the first objects.
  return { key, uid, resourceVersion: version, json: JSON.stringify(n < 10 ? { labels } : { uid, labels }) };
}

const versioned = (object: StoredObject) => `${id(object)} ${object.resourceVersion} ${object.json}`;

/** How many earlier states the objects of a cache keep, deleted ones included. */
function pastOf(cache: WatchCache): number {
  let count = 0;
  const visit = (state: EarlierState): boolean => {
    for (let { previous } = state; previous !== undefined; previous = previous.previous) count += 1;
    return true;
  };
  cache.entries.visit({}, undefined, visit);
  cache.window.deleted({}, undefined, objects).every(visit);
  return count;
}

/** A cache, and the objects that it should show at every version. */
class Scene {
  readonly cache: WatchCache;
  readonly live = new Map<string, StoredObject>();
  version = 0n;

  constructor(
    private readonly random: Random,
    private readonly most = objects,
    changes = 1_000,
  ) {
    this.cache = new WatchCache(resource, { changes, bytes: 1 << 30 });
    for (let n = 0; n < most; n += 2) this.live.set(`n${n}`, object(random, n, ++this.version));
    this.cache.load([...this.live.values()]);
    this.cache.begin(this.version);
  }

  change(): void {
    const n = this.random.below(this.most);
    const before = this.live.get(`n${n}`);
    const next = object(this.random, n, ++this.version);
    const type = before === undefined ? 'create' : this.random.chance(0.5) ? 'delete' : 'update';
    if (type === 'delete') this.live.delete(`n${n}`);
    else this.live.set(`n${n}`, next);
    const json = type === 'delete' ? (before as StoredObject).json : next.json;
    const uid = type === 'create' ? next.uid : (before as StoredObject).uid;
    const change: Change = { ...next, type, uid, json, previousJson: before?.json };
    if (type !== 'delete') this.live.set(`n${n}`, { ...next, uid });
    this.cache.apply([change], this.version);
  }
}

describe('a cache with many objects', () => {
  for (const seed of testSeeds('WatchCache')) {
    it(`lists one version in steps while it goes on (seed ${seed})`, () => {
      const random = new Random(seed);
      const scene = new Scene(random);
      const wantsGroup = (labels: { group: string; part: number }) => labels.group === 'g7';
      const queries: [CacheQuery, (labels: { group: string; part: number }, key: StoredObject['key']) => boolean][] = [
        [{}, () => true],
        [{ namespace: 'ns-1' }, (_, key) => key.namespace === 'ns-1'],
        [{ select: select('group=g7') }, wantsGroup],
        [{ select: select('group in (g1,g2,g3)') }, ({ group }) => ['g1', 'g2', 'g3'].includes(group)],
        [{ select: select('group!=g7') }, (labels) => !wantsGroup(labels)],
        [
          { select: select('group=g7', 'metadata.namespace=ns-2') },
          (l, key) => wantsGroup(l) && key.namespace === 'ns-2',
        ],
        [{ select: select('', 'metadata.name!=n4') }, (_, key) => key.name !== 'n4'],
      ];
      const kept: { at: bigint; states: ReadonlyMap<string, StoredObject> }[] = [];
      for (let round = 0; round < 3; round++) {
        for (const [query, wants] of queries) {
          const past = random.chance(0.4) ? random.pick([undefined, ...kept.slice(-3)]) : undefined;
          const limit = random.chance(0.3) ? random.below(2_000) : undefined;
          const after = random.chance(0.3) ? { namespace: 'ns-1', name: `n${random.below(objects)}` } : undefined;
          const now = new Map(scene.live);
          const states = new Map([[scene.version, now]]);
          if (past !== undefined) states.set(past.at, new Map(past.states));
          const countRemaining = query.select === undefined && limit !== undefined;
          const steps = scene.cache.lists({ ...query, after, limit, at: past?.at, countRemaining });
          let count = 0;
          let step = steps.next();
          for (; step.done !== true; step = steps.next()) {
            count += 1;
            for (let i = random.below(4); i > 0; i--) scene.change();
            states.set(scene.version, new Map(scene.live));
          }
          const readsAll = Object.keys(query).length === 0 && limit === undefined && after === undefined;
          if (readsAll) assert.ok(count > 1);
          const page = step.value;
          assert.ok(page !== undefined);
          const expected = [...(states.get(page.resourceVersion) as Map<string, StoredObject>).values()]
            .filter(({ json, key }) => wants(JSON.parse(json).labels, key))
            .filter(({ key }) => after === undefined || comparePositions(key, after) > 0)
            .sort((a, b) => comparePositions(a.key, b.key));
          const shown = expected.slice(0, limit ?? expected.length);
          assert.deepEqual(page.items.map(id), shown.map(id));
          assert.deepEqual(
            page.items.map(({ key, uid, resourceVersion, json }) => ({ key, uid, resourceVersion, json })),
            shown,
          );
          assert.equal(page.more, expected.length > shown.length);
          if (countRemaining) assert.equal(page.remaining, expected.length - shown.length);
          kept.push({ at: scene.version, states: new Map(scene.live) });
        }
      }
    });
  }

  for (const seed of testSeeds('Past')) {
    it(`lists every version of the recent past, and forgets what is older (seed ${seed})`, () => {
      const random = new Random(seed);
      const scene = new Scene(random, 30, 80);
      const versions = new Map([[scene.version, new Map(scene.live)]]);
      for (let round = 0; round < 400; round++) {
        scene.change();
        versions.set(scene.version, new Map(scene.live));
        if (!random.chance(0.2)) continue;
        const { oldest } = scene.cache;
        for (const [at, states] of versions) {
          if (at < oldest) {
            assert.equal(scene.cache.list({ at }), undefined);
            versions.delete(at);
            continue;
          }
          const namespace = random.pick([undefined, 'ns-0', 'ns-1']);
          const after = random.chance(0.5) ? { namespace: 'ns-1', name: `n${random.below(30)}` } : undefined;
          const limit = 1 + random.below(30);
          const expected = [...states.values()]
            .filter(({ key }) => namespace === undefined || key.namespace === namespace)
            .filter(({ key }) => after === undefined || comparePositions(key, after) > 0)
            .sort((a, b) => comparePositions(a.key, b.key));
          const page = scene.cache.list({ at, namespace, after, limit, countRemaining: true });
          assert.deepEqual(page?.items.map(versioned), expected.slice(0, limit).map(versioned));
          assert.equal(page?.remaining, Math.max(0, expected.length - limit));
        }
      }
      assert.ok(pastOf(scene.cache) <= 80, 'states that no version shows are released');
    });
  }

  it('takes no change that is not newer than all before it', () => {
    const key = { resource, namespace: 'a', name: 'n' };
    const at = (resourceVersion: bigint): Change => {
      return { type: 'update', key, uid: 'u', resourceVersion, json: '{}', previousJson: '{}' };
    };
    for (const changes of [[at(5n)], [at(7n), at(6n)], [at(6n), at(6n)]]) {
      const cache = new WatchCache(resource, { changes: 10, bytes: 1 << 20 });
      cache.load([{ key, uid: 'u', resourceVersion: 1n, json: '{"n":1}' }]);
      cache.begin(5n);
      assert.throws(() => cache.apply(changes, 7n), InvariantError);
      assert.equal(cache.get('a', 'n')?.json, '{"n":1}', 'nothing was taken');
    }
  });

  it('gives up a version that is lost between two steps', () => {
    const scene = new Scene(new Random(3));
    const steps = scene.cache.lists({ select: select('part!=9') });
    assert.equal(steps.next().done, false);
    const walking = scene.cache.lists({});
    assert.equal(walking.next().done, false);
    for (let i = 0; i < 1_001; i++) scene.change();
    let step = walking.next();
    while (step.done !== true) step = walking.next();
    assert.equal(step.value, undefined);
  });
});
