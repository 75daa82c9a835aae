import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ByteRange, StoredObject } from '../storage.interface.js';
import { FormBlocks } from './form-blocks.js';

const block = 256 * 1024;
const object = (name: string): StoredObject => ({
  key: { resource: 'r', namespace: '', name },
  uid: name,
  resourceVersion: 1n,
  json: '{}',
});
const textOf = (range: ByteRange | undefined) => range?.source.toString('utf8', range.start, range.end);

describe('kept forms', () => {
  it('are found by their object and form', () => {
    const kept = new FormBlocks(() => 2 * block);
    const [a, b] = [object('a'), object('b')];
    const [one, other] = [{}, {}];
    assert.equal(textOf(kept.keep(a, one, Buffer.from('a one'))), 'a one');
    kept.keep(b, one, Buffer.from('b one'));
    kept.keep(a, other, Buffer.from('a other'));
    assert.equal(textOf(kept.find(a, one)), 'a one');
    assert.equal(textOf(kept.find(a, other)), 'a other');
    assert.equal(textOf(kept.find(b, one)), 'b one');
    assert.equal(textOf(kept.find(b, other)), undefined);
    assert.equal(textOf(kept.find({ ...a }, one)), undefined, 'another state has forms of its own');
    kept.keep(a, one, Buffer.from('a again'));
    assert.equal(textOf(kept.find(a, one)), 'a again');
    assert.equal(textOf(kept.find(a, other)), 'a other');
  });

  it('lie together when they were made one after the other', () => {
    const kept = new FormBlocks(() => 2 * block);
    const form = {};
    const [a, b] = [kept.keep(object('a'), form, Buffer.from('aa')), kept.keep(object('b'), form, Buffer.from('b'))];
    assert.ok(a?.source === b?.source);
    assert.equal(a?.end, b?.start);
  });

  it('give way to new ones, the oldest first, and never take more memory than allowed', () => {
    let limit = 3.5 * block;
    const kept = new FormBlocks(() => limit);
    const form = {};
    const objects = Array.from({ length: 400 }, (_, i) => object(String(i)));
    const ranges = objects.map((each, i) => {
      const range = kept.keep(each, form, Buffer.alloc(10_000, String(i % 10)));
      assert.ok(kept.bytes <= limit);
      return range;
    });
    const isThere = objects.map((each) => kept.find(each, form) !== undefined);
    const first = isThere.indexOf(true);
    assert.ok(first > 300 && first < 399, String(first));
    assert.ok(isThere.slice(first).every(Boolean));
    // Dropping blocks does not affect a reader that still uses them.
    assert.equal(textOf(ranges[3])?.[9_999], '3');
    limit = block / 2;
    const isKept = (bytes: number) => kept.keep(object('more'), form, Buffer.alloc(bytes)) !== undefined;
    assert.equal(isKept(70_000), false);
    // Forms fit only in the rest of the newest block; no further block is started.
    assert.deepEqual(Array.from({ length: 5 }, () => isKept(60_000)).slice(-2), [false, false]);
    assert.equal(textOf(kept.find(objects[399] as StoredObject, form)), undefined, 'all had to go');
    kept.drop();
    assert.equal(kept.bytes, 0);
    assert.equal(textOf(kept.find(objects[399] as StoredObject, form)), undefined);
  });
});
