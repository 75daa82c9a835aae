import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { areOwnAddresses, nodeAddresses } from './node-addresses.js';

describe('nodeAddresses', () => {
  it('gives each node one of the loopback network', () => {
    assert.deepEqual(nodeAddresses('127.0.0.1', 2, 'linux'), ['127.0.16.1', '127.0.16.2']);
    const many = nodeAddresses('127.0.0.1', 1000, 'linux');
    assert.equal(new Set(many).size, 1000);
    assert.equal(many[999], '127.0.19.250');
  });

  it('gives all the same where there are no others, too many, or the user says so', () => {
    assert.deepEqual(nodeAddresses('127.0.0.1', 2, 'darwin'), ['127.0.0.1', '127.0.0.1']);
    assert.equal(new Set(nodeAddresses('127.0.0.1', 1001, 'linux')).size, 1);
    assert.deepEqual(nodeAddresses('10.0.0.7', 2, 'linux'), ['10.0.0.7', '10.0.0.7']);
  });

  it('tells nodes apart by their addresses, also where there is one node only', () => {
    const areOwn = (address: string, count: number) => areOwnAddresses(nodeAddresses(address, count, 'linux'));
    assert.deepEqual(
      [areOwn('127.0.0.1', 1), areOwn('127.0.0.1', 3), areOwn('10.0.0.7', 1), areOwn('10.0.0.7', 2)],
      [true, true, true, false],
    );
  });
});
