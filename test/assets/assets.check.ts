import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram, startProgram } from '../e2e/support/program.js';
import { eventually } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';
import { freePort } from '../support/ports.js';

/*
 * A suite of controller-runtime's envtest on the programs of `plinth assets`, and on `plinth dev`. Needs Go, so it is
 * not part of `npm test`. The first build takes minutes.
 */

const source = fileURLToPath(new URL('../../../test/assets', import.meta.url));

let folder: string;
let suite: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth assets '));
  // The user that runs Postgres passes through.
  chmodSync(folder, 0o711);
  suite = join(folder, 'suite.test');
  const built = spawnSync('go', ['test', '-c', '-o', suite, '.'], { cwd: source, stdio: 'inherit' });
  assert.equal(built.status, 0, 'Go could not build the suite; is it installed?');
});

after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }));

async function runSuite(settings: Readonly<Record<string, string>>): Promise<string> {
  const temporary = mkdtempSync(join(folder, 'tmp-'));
  chmodSync(temporary, 0o711);
  const env = { PATH: process.env.PATH, TMPDIR: temporary, HOME: '/nonexistent', ...settings };
  const child = spawn(suite, ['-test.v', '-test.parallel=3', '-test.timeout=5m'], { env, stdio: 'pipe' });
  endWithUs(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  assert.equal(code, 0, text);
  return text;
}

describe('a suite of controller-runtime', () => {
  it('runs on the programs of plinth assets, several control planes at once', async () => {
    const assets = join(folder, 'bin');
    assert.equal((await runProgram('assets', assets)).code, 0);
    const text = await runSuite({ KUBEBUILDER_ASSETS: assets });
    assert.equal(text.match(/^\s*--- PASS/gm)?.length, 3, text);
    console.log(text.match(/(started|stopped) in \S+/g)?.join('\n'));
  });

  it('runs on plinth dev', async () => {
    const data = join(folder, 'dev');
    mkdirSync(data, { mode: 0o711 });
    const { child, ended } = startProgram(
      'dev',
      '--compat=kubernetes',
      `--data-dir=${data}`,
      `--secure-port=${await freePort()}`,
      '--console-port=0',
    );
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
    });
    await eventually(() => said.includes('get namespaces'), 'the cluster serves');
    const text = await runSuite({ USE_EXISTING_CLUSTER: 'true', KUBECONFIG: join(data, 'admin.kubeconfig') });
    assert.equal(text.match(/^\s*--- PASS/gm)?.length, 1, text);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
  });
});
