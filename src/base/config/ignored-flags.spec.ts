import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { flagsOf } from './flag.js';
import { declareIgnored, ignoredFlagsNotes } from './ignored-flags.js';
import { OptionsError } from './options-error.js';
import { originsProblem } from './origins.js';
import { parseOptions } from './parse-options.js';
import { releaseFlagGroups } from './release-flag-groups.js';
import { TlsOptions, tlsSettings } from './tls.options.js';

describe('flags without effect', () => {
  it('have the type and the default of other programs, and are checked', () => {
    const optionsClass = class {};
    declareIgnored(optionsClass, [{ why: 'there is none', flags: 'duration: wait=5s pause\n list: names=a,b' }]);
    const parse = (...argv: string[]) => parseOptions({ groups: { optionsClass }, argv, environment: {} }).optionsClass;
    const defaults = parse() as Record<string, unknown>;
    assert.equal(defaults.wait, 5_000);
    assert.equal(defaults.pause, undefined);
    assert.deepEqual(defaults.names, ['a', 'b']);
    assert.equal((parse('--wait=1m') as Record<string, unknown>).wait, 60_000);
    assert.throws(() => parse('--pause=soon'), OptionsError);
    assert.throws(() => parse('--waits=1m'), /unknown flag --waits; did you mean --wait/);
  });

  it('are reported by reason', () => {
    const { ignoredStore, ignoredLoops } = releaseFlagGroups;
    const notes = ignoredFlagsNotes(new Set(['etcd-cafile', 'etcd-keyfile', 'leader-elect', 'v']), [
      ignoredStore,
      ignoredLoops,
    ]);
    assert.deepEqual(notes, [
      '--etcd-cafile, --etcd-keyfile have no effect: the store is PostgreSQL; see --database-url',
      '--leader-elect has no effect: the processes of the loops elect the one that works in the database',
    ]);
  });

  it('are declared once in all groups of a program', () => {
    const { ignoredEvents: _, ...others } = releaseFlagGroups;
    const names = Object.values(others).flatMap((group) => flagsOf(group).map(({ name }) => name));
    assert.ok(names.length >= 150);
    const { ignoredLoopServing, ...server } = others;
    const own = Object.values(server).flatMap((group) => flagsOf(group).map(({ name }) => name));
    assert.equal(new Set(own).size, own.length);
    assert.ok(flagsOf(ignoredLoopServing).length > 20);
  });
});

describe('origins', () => {
  it('must be pinned at both ends', () => {
    for (const good of ['^https://a.b$', '//example\\.com(:|$)', '^https://a:'])
      assert.equal(originsProblem([good]), undefined);
    for (const bad of ['.*', '//x', 'example.com', '.*$', '^https://a', '^(']) {
      assert.notEqual(originsProblem(['//a$', bad]), undefined, bad);
    }
  });
});

describe('tls settings', () => {
  it('leave the defaults of the library where nothing is named', () => {
    assert.deepEqual(tlsSettings(new TlsOptions()), { minVersion: 'TLSv1.2' });
    const { minVersion, ciphers, ecdhCurve } = tlsSettings({
      ...new TlsOptions(),
      tlsMinVersion: 'VersionTLS13',
      tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
      tlsCurvePreferences: ['29'],
    });
    assert.equal(minVersion, 'TLSv1.3');
    assert.match(ciphers ?? '', /^TLS_AES_128_GCM_SHA256:.*:ECDHE-RSA-AES128-GCM-SHA256$/);
    assert.equal(ecdhCurve, 'X25519');
  });
});
