import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gears, servesGears } from '../e2e/support/gears.js';
import { TestCluster } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';
import { Random } from '../support/random.js';
import { compareDecoders } from './fuzz.js';

/*
 * client-go with CBOR as its preferred encoding, over a real cluster, and the decoder of Kubernetes beside ours. Needs Go, so
 * it is not a part of `npm test`. The first build takes minutes.
 */

const folder = fileURLToPath(new URL('../../../test/cbor', import.meta.url));
const env = { ...process.env, KUBE_FEATURE_ClientsAllowCBOR: 'true', KUBE_FEATURE_ClientsPreferCBOR: 'true' };

let output: string;
let program: string;
let cluster: TestCluster;

before(async () => {
  output = mkdtempSync(join(tmpdir(), 'plinth-go-'));
  program = join(output, 'check');
  const built = spawnSync('go', ['build', '-o', program, '.'], { cwd: folder, stdio: 'inherit' });
  assert.equal(built.status, 0, 'Go could not build the program; is it installed?');
  cluster = await TestCluster.start({
    servers: 2,
    controllers: true,
    flags: ['--feature-gates=CBORServingAndStorage=true'],
  });
});

after(async () => {
  await cluster?.stop();
  rmSync(output, { recursive: true, force: true });
});

it('client-go speaks nothing but CBOR', async () => {
  const { client } = cluster.first;
  assert.equal((await client.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', gears)).status, 201);
  await servesGears(cluster);
  const child = spawn(program, ['check', cluster.first.kubeconfig], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  endWithUs(child);
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  console.log(text);
  assert.equal(code, 0, text);
});

it('the decoders agree', () => {
  const { inputs, accepted, differences } = compareDecoders(program, 100_000, new Random(1));
  console.log(`${accepted} of ${inputs} changed items accepted by both`);
  assert.deepEqual(differences.slice(0, 20), []);
  assert.ok(accepted > inputs / 20);
});
