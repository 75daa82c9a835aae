import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManifestError } from './manifest-error.js';
import { manifestValues } from './manifest-values.js';
import { readManifestValues } from './read-manifest-values.js';

describe('large manifests', () => {
  it('are read as small ones are', async () => {
    const text = Array.from(
      { length: 200 },
      (_, i) => `kind: Pod\nmetadata: {name: pod-${i}, note: "${'x'.repeat(60)}"}\n`,
    );
    const whole = text.join('---\n');
    assert.ok(whole.length > 8192);
    assert.deepEqual(await readManifestValues(whole), manifestValues(whole));
    await assert.rejects(
      readManifestValues(`${whole}---\na: [`),
      (error) => error instanceof ManifestError && /^is neither YAML nor JSON: [^\n]+$/.test(error.message),
    );
    await assert.rejects(readManifestValues('---\na: 1\n'.repeat(5000)), /has more than 256 documents/);
  });

  it('do not hold up the agent, however much work they are', async () => {
    const keys = Array.from({ length: 15_000 }, (_, i) => `k${i}: 1\n`).join('');
    for (const text of [keys, '['.repeat(20_000), 'a: '.repeat(20_000)]) {
      const before = process.threadCpuUsage();
      await readManifestValues(text).catch((error) => assert.ok(error instanceof ManifestError));
      const { user, system } = process.threadCpuUsage(before);
      assert.ok(user + system < 300_000, `${user + system} µs`);
    }
  });

  it('are given up when they take too long', async () => {
    await assert.rejects(readManifestValues('a: '.repeat(50_000), 1), /takes too long to read/);
  });
});
