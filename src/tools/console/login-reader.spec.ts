import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LoginError } from './login-error.js';
import { LoginReader } from './login-reader.js';

const kubeconfig = (more: string) =>
  `apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts: [{name: c, context: {user: u, cluster: k}}]\nusers: [{name: u, user: {token: secret}}]\n${more}`;
const most = 60_000;

describe('texts of logins', () => {
  const reader = new LoginReader();

  it('are read whether they are short or long', async () => {
    assert.equal((await reader.read('a', 'token')).authorization, 'Bearer token');
    for (const more of ['', `preferences: {text: ${'x'.repeat(20_000)}}\n`]) {
      assert.deepEqual(await reader.read('a', kubeconfig(more)), {
        tls: { cert: undefined, key: undefined },
        authorization: 'Bearer secret',
      });
    }
    await assert.rejects(reader.read('a', `a:${' '.repeat(most)}b`), /current-context must be set/);
  });

  it('hold up nothing else, however hard they are to read', async () => {
    const hostile = {
      tags: '!<x> '.repeat(most / 5),
      nested: '{a: '.repeat(most / 4),
      pairs: 'a: 1\n'.repeat(most / 5),
      colons: ': '.repeat(most / 2),
      aliases: `a: &a {${'k: 1, '.repeat(1000)}}\n${'- *a\n'.repeat(5000)}`,
    };
    let isOver = false;
    let longest = 0;
    // Processor time of this thread alone, so that other work on the machine does not count.
    const watching = (async () => {
      let before = process.threadCpuUsage();
      while (!isOver) {
        await new Promise(setImmediate);
        const now = process.threadCpuUsage();
        longest = Math.max(longest, now.user + now.system - before.user - before.system);
        before = now;
      }
    })();
    // One after the other: on a busy machine the last of several would wait longer for its turn than it may.
    for (const [name, text] of Object.entries(hostile)) await assert.rejects(reader.read(name, text), LoginError);
    isOver = true;
    await watching;
    assert.ok(longest < 100_000, `${longest} us`);
  });
});
