import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressAt } from './network.js';
import { NodeIpamOptions, nodeRangesOf } from './node-ipam.options.js';
import { OptionsError } from './options-error.js';
import { parseOptions } from './parse-options.js';

const parse = (...argv: string[]) => parseOptions({ groups: { ipam: NodeIpamOptions }, argv, environment: {} }).ipam;

function problems(...argv: string[]): readonly string[] {
  try {
    parse(...argv);
    return [];
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
}

const ranges = (...argv: string[]) =>
  nodeRangesOf(parse('--allocate-node-cidrs', ...argv)).map(
    ({ range, mask }) => `${addressAt(range, 0n)}/${range.prefix} by /${mask}`,
  );

describe('the flags of node ranges', () => {
  it('give no ranges unless they are switched on', () => {
    assert.deepEqual(nodeRangesOf(parse()), []);
    assert.deepEqual(nodeRangesOf(parse('--cluster-cidr=10.244.0.0/16')), []);
  });

  it('read one range or two', () => {
    assert.deepEqual(ranges('--cluster-cidr=10.244.7.1/16'), ['10.244.0.0/16 by /24']);
    assert.deepEqual(ranges('--cluster-cidr=fd00::/48'), ['fd00::/48 by /64']);
    assert.deepEqual(ranges('--cluster-cidr=10.244.0.0/16', '--node-cidr-mask-size=26'), ['10.244.0.0/16 by /26']);
    assert.deepEqual(ranges('--cluster-cidr=10.244.0.0/16', '--node-cidr-mask-size-ipv4=26'), ['10.244.0.0/16 by /26']);
    assert.deepEqual(
      ranges(
        '--cluster-cidr=fd00::/48,10.244.0.0/16',
        '--node-cidr-mask-size-ipv6=60',
        '--node-cidr-mask-size-ipv4=25',
      ),
      ['fd00::/48 by /60', '10.244.0.0/16 by /25'],
    );
    assert.deepEqual(ranges('--cluster-cidr=10.0.0.0/24'), ['10.0.0.0/24 by /24']);
  });

  const refused: readonly (readonly [string[], RegExp])[] = [
    [['--allocate-node-cidrs'], /^--allocate-node-cidrs.*: needs --cluster-cidr$/],
    [['--cluster-cidr=10.0.0.0/33'], /one or two address ranges/],
    [['--cluster-cidr=10.0.0.0'], /one or two address ranges/],
    [['--cluster-cidr=10.0.0.0/16,10.1.0.0/16'], /one range for IPv4 and one for IPv6/],
    [['--cluster-cidr=10.0.0.0/16,fd00::/48,fd01::/48'], /one range for IPv4 and one for IPv6/],
    [['--cluster-cidr=10.0.0.0/25'], /no room for the ranges of nodes: \/24 must be from 25 to 32/],
    [['--cluster-cidr=fd00::/40'], /no room for the ranges of nodes: \/64 must be from 40 to 56/],
    [['--cluster-cidr=10.0.0.0/16', '--node-cidr-mask-size=15'], /must be from 16 to 32/],
    [['--cluster-cidr=10.0.0.0/16', '--node-cidr-mask-size=33'], /must be from 16 to 32/],
    [['--cluster-cidr=10.0.0.0/8', '--node-cidr-mask-size=29'], /must be from 8 to 28/],
    [['--cluster-cidr=10.0.0.0/16', '--node-cidr-mask-size-ipv6=64'], /is for a range of IPv6/],
    [['--cluster-cidr=fd00::/48', '--node-cidr-mask-size-ipv4=24'], /is for a range of IPv4/],
    [['--cluster-cidr=fd00::/48', '--node-cidr-mask-size-ipv6=65'], /must be from 48 to 64/],
    [['--cluster-cidr=10.0.0.0/16,fd00::/48', '--node-cidr-mask-size=24'], /is for one range; with two/],
    [['--node-cidr-mask-size=24', '--node-cidr-mask-size-ipv4=24'], /^--node-cidr-mask-size 24: may not be given/],
    [['--node-cidr-mask-size-ipv4=0'], /not the length of a prefix/],
    [['--node-cidr-mask-size=many'], /whole number/],
  ];
  for (const [argv, expected] of refused) {
    it(`refuse ${argv.join(' ')}`, () => {
      const found = problems(...argv);
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', expected);
    });
  }

  it('name all problems at once', () => {
    const found = problems(
      '--cluster-cidr=10.0.0.0/16,nonsense',
      '--node-cidr-mask-size-ipv4=40',
      '--node-cidr-mask-size-ipv6=x',
    );
    assert.equal(found.length, 3, found.join('\n'));
  });
});
