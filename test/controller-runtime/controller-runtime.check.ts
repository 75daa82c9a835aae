import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TestCluster } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';

/*
 * An operator made with controller-runtime, over a real cluster. Needs Go, so it is not part of `npm test`. The first
 * build takes minutes.
 */

const folder = fileURLToPath(new URL('../../../test/controller-runtime', import.meta.url));

let output: string;
let cluster: TestCluster;

before(async () => {
  output = mkdtempSync(join(tmpdir(), 'plinth-go-'));
  const built = spawnSync('go', ['build', '-o', join(output, 'check'), '.'], { cwd: folder, stdio: 'inherit' });
  assert.equal(built.status, 0, 'Go could not build the operator; is it installed?');
  cluster = await TestCluster.start({ servers: 2, controllers: true });
});

after(async () => {
  await cluster?.stop();
  rmSync(output, { recursive: true, force: true });
});

describe('an operator of controller-runtime', () => {
  it('defines, converts, checks, reconciles and tidies up', async () => {
    const child = spawn(join(output, 'check'), [cluster.first.kubeconfig], { stdio: ['ignore', 'pipe', 'inherit'] });
    endWithUs(child);
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
    const [code] = (await once(child, 'close')) as [number | null];
    console.log(text);
    assert.equal(code, 0, text);
    assert.doesNotMatch(cluster.servers.map(({ log }) => log).join(''), /"level":"error"/);
  });
});
