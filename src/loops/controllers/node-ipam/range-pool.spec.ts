import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCidr } from '../../../base/config/network.js';
import { RangePool } from './range-pool.js';

function pool(cidr: string, mask: number, reserved?: string): RangePool {
  const range = parseCidr(cidr);
  assert.ok(range);
  return new RangePool(
    { range, mask },
    [parseCidr(reserved ?? '')].filter((one) => one !== undefined),
  );
}

/** All free parts, in the order in which nodes would get them. */
function free(from: RangePool): string[] {
  const found = new Set<number>();
  for (let part = from.find(found); part !== undefined; part = from.find(found)) found.add(part);
  return [...found].map((part) => from.text(part));
}

describe('RangePool', () => {
  it('answers the parts in turn', () => {
    const parts = pool('10.0.0.0/22', 24);
    assert.equal(parts.size, 4);
    assert.deepEqual(free(parts), ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']);
    const first = parts.find(new Set()) as number;
    parts.hold(first, 'a');
    const second = parts.find(new Set()) as number;
    assert.equal(parts.text(second), '10.0.1.0/24');
    parts.release(first, 'a');
    // A range that was given back a moment ago is assigned again last.
    assert.equal(parts.text(parts.find(new Set()) as number), '10.0.2.0/24');
  });

  const occupied: readonly (readonly [string, number, string, readonly string[]])[] = [
    ['10.0.0.0/22', 24, '10.0.1.0/24', ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24']],
    ['10.0.0.0/22', 24, '10.0.1.128/25', ['10.0.0.0/24', '10.0.2.0/24', '10.0.3.0/24']],
    ['10.0.0.0/22', 24, '10.0.2.0/23', ['10.0.0.0/24', '10.0.1.0/24']],
    ['10.0.0.0/22', 24, '10.0.0.0/8', []],
    ['10.0.0.0/23', 24, '9.255.0.0/16', ['10.0.0.0/24', '10.0.1.0/24']],
    ['10.0.0.0/23', 24, '10.0.2.0/24', ['10.0.0.0/24', '10.0.1.0/24']],
    ['10.0.0.0/23', 24, 'fd00::/24', ['10.0.0.0/24', '10.0.1.0/24']],
    ['10.0.0.0/24', 24, '10.0.0.7/32', []],
    ['fd00:0:0:0::/62', 64, 'fd00:0:0:2::/64', ['fd00::/64', 'fd00:0:0:1::/64', 'fd00:0:0:3::/64']],
    ['0.0.0.0/0', 1, '128.0.0.0/1', ['0.0.0.0/1']],
  ];
  for (const [cidr, mask, range, expected] of occupied) {
    it(`${range} is taken from the /${mask} parts of ${cidr}`, () => {
      const parts = pool(cidr, mask);
      parts.occupy(range, 'node');
      assert.deepEqual(free(parts), expected);
      assert.deepEqual(free(pool(cidr, mask, range)), expected, 'reserved');
      parts.free(range, 'another');
      assert.deepEqual(free(parts).sort(), [...expected].sort());
      parts.free(range, 'node');
      assert.equal(free(parts).length, parts.size);
    });
  }

  it('keeps a part that two have until both gave it up', () => {
    const parts = pool('10.0.0.0/24', 24);
    parts.occupy('10.0.0.0/24', 'a');
    parts.occupy('10.0.0.0/25', 'b');
    parts.free('10.0.0.0/24', 'a');
    assert.deepEqual(free(parts), []);
    parts.free('10.0.0.0/25', 'b');
    assert.deepEqual(free(parts), ['10.0.0.0/24']);
  });

  it('takes nonsense for nothing', () => {
    const parts = pool('10.0.0.0/24', 24);
    parts.occupy('nonsense', 'a');
    parts.free('nonsense', 'a');
    assert.deepEqual(free(parts), ['10.0.0.0/24']);
  });
});
