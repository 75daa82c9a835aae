import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeniedAddresses } from './denied-addresses.js';

describe('DeniedAddresses', () => {
  const denied = new DeniedAddresses(['169.254.0.0/16', '10.1.2.3/32', 'fe80::/10', 'fd00:ec2::254/128', '::/128']);
  const cases: [string, boolean][] = [
    ['169.254.169.254', true],
    ['169.253.255.255', false],
    ['10.1.2.3', true],
    ['10.1.2.4', false],
    ['127.0.0.1', false],
    ['::1', false],
    ['::', true],
    ['fe80::1', true],
    ['fe80::1%eth0', true],
    ['febf:ffff::', true],
    ['fec0::1', false],
    ['fd00:ec2::254', true],
    ['fd00:ec2:0:0:0:0:0:254', true],
    ['::ffff:169.254.169.254', true],
    ['::ffff:a9fe:a9fe', true],
    ['::ffff:127.0.0.1', false],
    ['::169.254.169.254', true],
    ['64:ff9b::169.254.169.254', true],
    ['64:ff9b::10.1.2.4', false],
    ['2002:a9fe:a9fe::1', true],
    ['2002:7f00:1::', false],
  ];
  for (const [address, expected] of cases) {
    it(`${expected ? 'denies' : 'allows'} ${address}`, () => assert.equal(denied.has(address), expected));
  }

  it('denies nothing without ranges', () => {
    assert.equal(new DeniedAddresses([]).has('169.254.169.254'), false);
  });

  it('judges literal addresses at once and names by what they stand for', async () => {
    assert.throws(() => denied.check('10.1.2.3'), /connections to 10\.1\.2\.3 are not allowed/);
    denied.check('localhost');
    const local = new DeniedAddresses(['127.0.0.0/8', '::1/128']);
    const resolve = (one: DeniedAddresses, all: boolean) =>
      new Promise((found, failed) => {
        one.lookup('localhost', { all }, (error, address) => (error ? failed(error) : found(address)));
      });
    await assert.rejects(resolve(local, true), /localhost is at .*, and connections to it are not allowed/);
    await assert.rejects(resolve(local, false), /not allowed/);
    const onlySix = new DeniedAddresses(['::1/128']);
    assert.deepEqual(await resolve(onlySix, true), [{ address: '127.0.0.1', family: 4 }]);
    assert.equal(await resolve(onlySix, false), '127.0.0.1');
  });
});
