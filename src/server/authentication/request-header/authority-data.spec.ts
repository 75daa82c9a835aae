import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestIdentity } from '../../../../test/support/test-authority.js';
import { mergeAuthorities } from './authority-data.js';

describe('mergeAuthorities', () => {
  const now = Date.now();
  const names = (list: readonly string[]) => ({ 'requestheader-allowed-names': JSON.stringify(list) });
  const users = (list: readonly string[]) => ({ 'requestheader-username-headers': JSON.stringify(list) });

  it('adds authorities once and drops expired ones', async () => {
    const [a, b] = [await TestIdentity.root('a'), await TestIdentity.root('b')];
    const merge = (stored: string, own: string, at = now) =>
      mergeAuthorities({ 'client-ca-file': stored }, { 'client-ca-file': own }, at)['client-ca-file'];
    assert.equal(merge(a.cert, b.cert), a.cert + b.cert);
    assert.equal(merge(a.cert + b.cert, b.cert), a.cert + b.cert);
    assert.equal(merge('nonsense', b.cert), b.cert);
    assert.equal(
      merge(`${a.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`, b.cert),
      a.cert + b.cert,
    );
    assert.equal(merge(a.cert, b.cert, now + 2 * 86_400_000), '');
  });

  it('adds headers, in order', () => {
    assert.deepEqual(mergeAuthorities(users(['A', 'B']), users(['C', 'A']), now), users(['A', 'B', 'C']));
    const broken = { 'requestheader-username-headers': '{' };
    assert.deepEqual(mergeAuthorities(broken, users(['C']), now), users(['C']));
  });

  it('accepts every name if any process does', () => {
    assert.deepEqual(mergeAuthorities({}, names(['a']), now), names(['a']));
    assert.deepEqual(mergeAuthorities(names(['a']), names(['b']), now), names(['a', 'b']));
    assert.deepEqual(mergeAuthorities(names(['a']), names([]), now), names([]));
    assert.deepEqual(mergeAuthorities(names([]), names(['b']), now), names([]));
  });

  it('keeps entries that it does not know', () => {
    const stored = { other: 'x', 'client-ca-file': 'kept as it is', ...users(['A']) };
    assert.deepEqual(mergeAuthorities(stored, names(['a']), now), { ...stored, ...names(['a']) });
  });
});
