import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import type { ServedResource } from '../../../objects/registry/resource-registry.js';
import { FormBlocks } from '../../../storage/cacher/form-blocks.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import type { PackedBytes } from './gzip-pieces.js';
import { keptRun, packBytes, packRun, type Run, runsOf, wasDense } from './packed-runs.js';

// Only its identity matters here.
const resource = {} as ServedResource;

const object = (i: number, version = BigInt(i + 1), length = 1_000): StoredObject => ({
  key: { resource: 'pods', namespace: 'default', name: `pod-${String(i).padStart(5, '0')}` },
  uid: `uid-${i}`,
  resourceVersion: version,
  json: JSON.stringify({ i, version: String(version), text: 'x'.repeat(length) }),
});
const textOf = (run: Run) => run.map(({ json }) => json).join(',');
const encode = (run: Run) => ({ plain: Buffer.from(textOf(run)) });
const inflated = ({ blocks: { source, start, end } }: PackedBytes) =>
  // The blocks do not end the stream.
  inflateRawSync(Buffer.concat([source.subarray(start, end), Buffer.from([3, 0])]));
const plain = (packed: PackedBytes) => inflated(packed).toString();

function cacheOf(limit: number): FormBlocks {
  return new FormBlocks(() => limit);
}

describe('runs of a list', () => {
  const items = Array.from({ length: 3_000 }, (_, i) => object(i));

  it('contain every object once, in order, and are bounded', () => {
    for (const list of [items, items.slice(0, 1), [], [object(0, 1n, 500_000), object(1, 2n, 500_000)]]) {
      const runs = [...runsOf(list)];
      assert.deepEqual(runs.flat(), list);
      for (const run of runs) {
        assert.ok(run.length >= 1 && run.length <= 128);
        const characters = run.slice(0, -1).reduce((sum, { json }) => sum + json.length, 0);
        assert.ok(characters < 192 * 1024);
      }
    }
  });

  it('are the same but for the first, wherever a page begins, and when an object is missing', () => {
    const whole = new Set([...runsOf(items)].map((run) => run.map(({ uid }) => uid).join()));
    const others = (list: readonly StoredObject[]) =>
      [...runsOf(list)].filter((run) => !whole.has(run.map(({ uid }) => uid).join())).length;
    for (const from of [1, 500, 1_037]) assert.ok(others(items.slice(from)) <= 1);
    assert.ok(others(items.toSpliced(700, 1)) <= 2);
  });
});

describe('compressed runs', () => {
  const run = Array.from({ length: 20 }, (_, i) => object(i));

  it('are found again for the same states only', async () => {
    const kept = cacheOf(64 * 1024 * 1024);
    assert.equal(keptRun(resource, 'json', run, kept, 0), undefined);
    const packed = await packRun(resource, 'json', run, kept, encode(run), false);
    assert.ok(plain(packed) === textOf(run));
    const found = keptRun(resource, 'json', run, kept, 0);
    assert.ok(found !== undefined);
    assert.ok(plain(found) === plain(packed));
    assert.deepEqual({ ...found, blocks: 0 }, { ...packed, blocks: 0 });
    for (const other of [
      run.toSpliced(7, 1, object(7, 99n)),
      run.toSpliced(19, 1, object(19, 99n)),
      // The first object is recognized by its identity, not its version.
      run.toSpliced(0, 1, object(0)),
      run.slice(0, -1),
      run.slice(1),
      [...run, object(20)],
    ]) {
      assert.equal(keptRun(resource, 'json', other, kept, 0), undefined);
    }
    assert.equal(keptRun(resource, 'protobuf', run, kept, 0), undefined);
    assert.equal(keptRun({} as ServedResource, 'json', run, kept, 0), undefined);
  });

  it('that begin with the same object are mostly kept beside each other', async () => {
    const kept = cacheOf(64 * 1024 * 1024);
    const runs = [3, 5, 8, 13].map((end) => [run[0] as StoredObject, ...run.slice(2, end)]);
    for (const one of runs) await packRun(resource, 'json', one, kept, encode(one), false);
    let count = 0;
    for (const one of runs) {
      const found = keptRun(resource, 'json', one, kept, 0);
      if (found === undefined) continue;
      assert.ok(plain(found) === textOf(one));
      count += 1;
    }
    assert.ok(count >= 2, String(count));
  });

  it('are made although there is no room for them, or no cache', async () => {
    for (const kept of [cacheOf(0), undefined]) {
      const packed = await packRun(resource, 'json', run, kept, encode(run), false);
      assert.ok(plain(packed) === textOf(run));
      assert.equal(keptRun(resource, 'json', run, kept, 0), undefined);
    }
  });

  it('are the same wherever they are made, and dense only if they hardly get shorter', async () => {
    const [long, random] = [Buffer.from('text '.repeat(100_000)), randomBytes(50_000)];
    for (const bytes of [long, random, Buffer.alloc(1_000)]) {
      for (const areDense of [false, true]) {
        const packed = await packBytes(bytes, areDense);
        assert.equal(packed.length, bytes.length);
        assert.ok(inflated(packed).equals(bytes));
        assert.equal(wasDense(packed), bytes === random);
      }
    }
  });

  it('that depend on the time are found only while they are true', async () => {
    const kept = cacheOf(64 * 1024 * 1024);
    await packRun(resource, 'table', run, kept, { ...encode(run), validity: { from: 1_000, until: 2_000 } }, false);
    const found = [-1, 0, 999, 1_000, 1_500, 1_999, 2_000, 1e15].filter((now) =>
      keptRun(resource, 'table', run, kept, now),
    );
    assert.deepEqual(found, [1_000, 1_500, 1_999]);
  });

  it('of objects that went out of the cache are made again', async () => {
    const kept = cacheOf(64 * 1024 * 1024);
    await packRun(resource, 'json', run, kept, encode(run), false);
    kept.drop();
    assert.equal(keptRun(resource, 'json', run, kept, 0), undefined);
  });
});
