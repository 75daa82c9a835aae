import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Change } from '../../../storage/storage.interface.js';
import { EncodedChanges } from './encoded-changes.js';

const mebibyte = 2 ** 20;

function change(version: number): Change {
  const key = { resource: 'configmaps', namespace: 'default', name: 'a' };
  return { type: 'create', key, uid: 'u', resourceVersion: BigInt(version), json: '{}', previousJson: undefined };
}

test('watchers share the forms of a change', () => {
  const encoded = new EncodedChanges(mebibyte);
  const [first, second] = [change(1), change(2)];
  const json = Buffer.from('json');
  const table = Buffer.from('table');
  encoded.set(first, 'ADDED/json', json);
  encoded.set(first, 'ADDED/table', table);
  assert.equal(encoded.get(first, 'ADDED/json'), json);
  assert.equal(encoded.get(first, 'ADDED/table'), table);
  assert.equal(encoded.get(first, 'MODIFIED/json'), undefined);
  assert.equal(encoded.get(second, 'ADDED/json'), undefined);
});

test('forms are forgotten after others of the limit were made, although a cache keeps their changes', () => {
  const encoded = new EncodedChanges(mebibyte);
  const changes = Array.from({ length: 2_000 }, (_, i) => change(i));
  for (const each of changes) encoded.set(each, 'ADDED/json', Buffer.alloc(500));
  const kept = changes.map((each) => encoded.get(each, 'ADDED/json') !== undefined);
  const newest = kept.lastIndexOf(false) + 1;
  // The newest ones in a row, at least half of what the limit admits.
  assert.ok(kept.slice(newest).length >= mebibyte / 2 / 9_000, `${kept.slice(newest).length} are kept`);
  assert.ok(kept.slice(newest).length <= mebibyte / 8_000, `${kept.slice(newest).length} are kept`);
  assert.ok(kept.slice(0, newest).every((isKept) => !isKept));
});

test('long forms count with their length', () => {
  const encoded = new EncodedChanges(mebibyte);
  const changes = Array.from({ length: 10 }, (_, i) => change(i));
  for (const each of changes) encoded.set(each, 'ADDED/json', Buffer.alloc(300_000));
  const kept = changes.filter((each) => encoded.get(each, 'ADDED/json') !== undefined);
  assert.deepEqual(kept, changes.slice(-kept.length));
  assert.ok(kept.length >= 1 && kept.length <= 3, `${kept.length} are kept`);
});

test('a form that is still being made is shared, and forgotten if that fails', async () => {
  const encoded = new EncodedChanges(mebibyte);
  const [good, bad] = [change(1), change(2)];
  const made = Promise.withResolvers<Buffer>();
  const failing = Promise.withResolvers<Buffer>();
  encoded.set(good, 'ADDED/json', made.promise);
  encoded.set(bad, 'ADDED/json', failing.promise);
  assert.equal(encoded.get(good, 'ADDED/json'), made.promise);
  const bytes = Buffer.from('json');
  made.resolve(bytes);
  failing.reject(new Error('the other thread has ended'));
  await Promise.allSettled([made.promise, failing.promise]);
  assert.equal(encoded.get(good, 'ADDED/json'), bytes);
  assert.equal(encoded.get(bad, 'ADDED/json'), undefined);
});
