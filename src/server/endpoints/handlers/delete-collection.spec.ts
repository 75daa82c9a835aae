import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { forEachAtOnce } from './delete-collection.js';

const items = Array.from({ length: 20 }, (_, i) => i);

/** Work items that the test ends one by one. */
function heldWork() {
  const begun: number[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = (item: number) => {
    begun.push(item);
    return new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
  };
  return { begun, ends, work };
}

/** Lets all pending work run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('forEachAtOnce', () => {
  const never = new AbortController().signal;

  it('works on every item once', async () => {
    const done: number[] = [];
    await forEachAtOnce(items, 8, never, async (item) => {
      await settle();
      done.push(item);
    });
    assert.deepEqual(
      done.sort((a, b) => a - b),
      items,
    );
    await forEachAtOnce([], 8, never, () => assert.fail('there is nothing to do'));
  });

  it('starts nothing after a failure, and rejects once all started items have ended', async () => {
    const { begun, ends, work } = heldWork();
    let outcome: Error | undefined;
    const all = forEachAtOnce(items, 3, never, work).catch((error: unknown) => {
      outcome = error as Error;
    });
    ends[1]?.reject(new Error('broken'));
    await settle();
    ends[0]?.resolve();
    await settle();
    assert.deepEqual(begun, [0, 1, 2]);
    assert.equal(outcome, undefined, 'one is still under way');
    ends[2]?.reject(new Error('later'));
    await all;
    assert.equal((outcome as unknown as Error).message, 'broken');
    assert.deepEqual(begun, [0, 1, 2]);
  });

  it('starts nothing after the end of the request', async () => {
    const { begun, ends, work } = heldWork();
    const request = new AbortController();
    const all = forEachAtOnce(items, 2, request.signal, work);
    ends[0]?.resolve();
    await settle();
    assert.deepEqual(begun, [0, 1, 2]);
    request.abort();
    for (const { resolve } of ends) resolve();
    await assert.rejects(all, { code: 504 });
    assert.deepEqual(begun, [0, 1, 2]);
  });
});
