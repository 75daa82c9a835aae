import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RememberedList } from './remembered-list.js';
import { message, nestedList, scalar, texts } from './wire.js';

const entry = message({ id: scalar(1, 'string'), state: scalar(3, 'integer'), labels: texts(5) });
const answer = message({ entries: nestedList(2, entry), note: scalar(4, 'string') });
const labels = { a: '1', b: '2' };
const encode = (...entries: readonly { id: string; state?: number; labels: Record<string, string> }[]) =>
  answer.encode({ entries, note: 'x' });

describe('RememberedList', () => {
  it('gives the same objects for entries whose state has not changed, in any order, and new ones for others', () => {
    const list = new RememberedList(2, 3, entry);
    const first = encode({ id: 'a', state: 1, labels }, { id: 'b', labels });
    const [a, b] = list.decode(first);
    assert.deepEqual([a, b], answer.decode(first).entries);
    // Runtimes write labels in another order each time.
    const turned = { b: '2', a: '1' };
    const [b2, c, a2] = list.decode(
      encode({ id: 'b', state: 2, labels }, { id: 'é', labels: {} }, { id: 'a', state: 1, labels: turned }),
    );
    assert.equal(a2, a);
    assert.deepEqual(
      [b2, c],
      [
        { id: 'b', state: 2, labels },
        { id: 'é', state: 0, labels: {} },
      ],
    );
    assert.deepEqual(list.decode(encode()), []);
    assert.notEqual(list.decode(first)[0], a, 'only the answer before is remembered');
  });

  it('refuses an answer that is cut off', () => {
    const list = new RememberedList(2, 3, entry);
    const whole = encode({ id: 'a', state: 1, labels });
    for (let length = 1; length < whole.length; length++) {
      // Between two fields, nothing tells that there were more.
      if (length === whole.length - 3) continue;
      assert.throws(() => list.decode(whole.subarray(0, length)), `${length} bytes`);
    }
    assert.throws(() => list.decode(Buffer.from([2 * 8 + 2, 255, 255, 255, 255, 15])), RangeError);
  });
});
