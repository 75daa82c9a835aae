import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atOnce } from '../../base/machinery/turns.js';
import { select, source } from '../testing/cached-scene.js';
import { AttributeIndex } from './attribute-index.js';
import { CacheEntry } from './cache-entry.js';

const shelf = { resource: 'things', namespace: 'a' };
const entries = Array.from({ length: 40 }, (_, i) => {
  const key = { ...shelf, name: `n-${i}` };
  const labels = Object.fromEntries(Array.from({ length: 40 }, (_, k) => [`l${k}`, `v${i}`]));
  return new CacheEntry(shelf, {
    key,
    uid: `u-${i}`,
    resourceVersion: BigInt(i + 1),
    json: JSON.stringify({ labels }),
  });
});

class Scene {
  readonly index = new AttributeIndex();
  /** How often all entries were visited. */
  scans = 0;

  /** Names of the entries that the index finds for a selector; undefined when it needs a scan. */
  find(labels: string): string[] | undefined {
    const found = atOnce(
      this.index.candidates(
        { ...select(labels), source },
        () => true,
        (visit) => this.scan(visit),
      ),
    );
    return found?.map(({ name }) => name);
  }

  private *scan(visit: (entry: CacheEntry) => void) {
    this.scans++;
    for (const entry of entries) visit(entry);
    yield;
  }
}

describe('the terms of an index', () => {
  it('are not for the first who ask for some: one that is asked for again takes the place of the oldest', () => {
    const scene = new Scene();
    for (let i = 0; i < 16; i++) assert.deepEqual(scene.find(`l${i}=v1`), ['n-1']);
    // Uses all terms but the second one.
    for (let i = 0; i < 16; i++) if (i !== 1) assert.deepEqual(scene.find(`l${i}=v2`), ['n-2']);
    assert.equal(scene.find('l20=v3'), undefined);
    assert.deepEqual(scene.find('l20=v3'), ['n-3']);
    assert.equal(scene.scans, 17);
    assert.deepEqual(scene.find('l0=v1'), ['n-1']);
    assert.equal(scene.find('l1=v1'), undefined);
  });

  it('stay when others come only once', () => {
    const scene = new Scene();
    for (let i = 0; i < 16; i++) scene.find(`l${i}=v1`);
    for (let i = 0; i < 500; i++) assert.equal(scene.find(`once-${i}=x`), undefined);
    for (let i = 0; i < 16; i++) assert.deepEqual(scene.find(`l${i}=v1`), ['n-1']);
    assert.equal(scene.scans, 16);
  });

  it('are few for one request', () => {
    const scene = new Scene();
    const all = Array.from({ length: 40 }, (_, i) => `l${i}=v1`).join();
    assert.deepEqual(scene.find(all), ['n-1']);
    assert.ok(scene.scans <= 4);
    for (let i = 0; i < 20; i++) scene.find(all);
    assert.ok(scene.scans <= 36, String(scene.scans));
    // A term that replaced another one is kept up to date.
    const [first] = entries as [CacheEntry];
    scene.index.update(first, undefined);
    assert.deepEqual(scene.find('l1=v0'), []);
  });
});
