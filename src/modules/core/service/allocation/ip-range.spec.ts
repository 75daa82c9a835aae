import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IpRange } from './ip-range.js';

describe('address ranges', () => {
  it('count the usable addresses of IPv4 networks', () => {
    const range = new IpRange('10.0.0.0/16');
    assert.equal(range.size, 65534);
    assert.equal(range.at(0), '10.0.0.1');
    assert.equal(range.at(255), '10.0.1.0');
    assert.equal(range.at(range.size - 1), '10.0.255.254');
    assert.equal(new IpRange('10.0.0.77/30').at(0), '10.0.0.77');
  });

  it('find offsets again, but only inside the range', () => {
    const range = new IpRange('10.96.0.0/12');
    for (const offset of [0, 1, 4711, range.size - 1]) assert.equal(range.offsetOf(range.at(offset)), offset);
    for (const outside of ['10.96.0.0', '10.111.255.255', '10.95.0.1', '192.168.0.1', 'fd00::1']) {
      assert.equal(range.offsetOf(outside), undefined, outside);
    }
  });

  it('handle IPv6', () => {
    const range = new IpRange('fd00:1::/112');
    assert.equal(range.size, 65535);
    assert.equal(range.at(0), 'fd00:1::1');
    assert.equal(range.at(range.size - 1), 'fd00:1::ffff');
    assert.equal(range.offsetOf('fd00:1::ff'), 254);
    assert.equal(range.offsetOf('fd00:1::1:0'), undefined);
    assert.equal(range.offsetOf('10.0.0.1'), undefined);
    const wide = new IpRange('fd00::/8');
    assert.equal(wide.size, 2 ** 47);
    assert.equal(wide.offsetOf(wide.at(wide.size - 1)), wide.size - 1);
  });

  it('refuse networks without room', () => {
    for (const text of ['10.0.0.0', 'x/8', '10.0.0.0/31', '10.0.0.1/32', 'fd00::/128']) {
      assert.throws(() => new IpRange(text), Error, text);
    }
  });
});
