import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { removeWithUs } from '../support/child-guard.js';
import { TestCluster } from './support/test-cluster.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const parts = [
  'src',
  'scripts',
  'migrations',
  'test',
  // Only new files are compiled.
  'dist/src',
  'dist/test',
  'dist/.tsbuildinfo',
  'package.json',
  'tsconfig.json',
  'nest-cli.json',
  'biome.json',
] as const;

/** A copy of the sources, in which kinds are generated. */
let copy: string;
let cluster: TestCluster;

function run(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { NODE_TEST_CONTEXT: _context, ...environment } = process.env;
  // The compiler takes an eighth less of the processors if it collects its garbage less often.
  const env: NodeJS.ProcessEnv = { ...environment, GOGC: '400' };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, encoding: 'utf8', env });
  return { status, output: `${stdout}${stderr}` };
}

function generate(...args: readonly string[]): string {
  const { status, output } = run('scripts/generate.js', 'kind', ...args);
  assert.equal(status, 0, output);
  return output;
}

before(async () => {
  // No other run has the paths of the copy, so its compiled code is not worth keeping.
  process.env.NODE_DISABLE_COMPILE_CACHE = '1';
  copy = mkdtempSync(join(tmpdir(), 'plinth-generated-'));
  removeWithUs(copy);
  mkdirSync(join(copy, 'dist'));
  for (const part of parts) {
    const { status, stderr } = spawnSync('cp', ['-Rp', join(root, part), join(copy, part)], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  // If each package had a path of its own, the compiler would check all of them again.
  const config = join(copy, 'tsconfig.json');
  const { compilerOptions, ...others } = JSON.parse(readFileSync(config, 'utf8'));
  writeFileSync(config, JSON.stringify({ ...others, compilerOptions: { ...compilerOptions, preserveSymlinks: true } }));
  generate('workshop', 'ToolShelf', '--plural', 'toolshelves');
  generate('workshop', 'Workbench', '--version', 'v1beta1', '--cluster-scoped');
  generate('coordination', 'Handover');
  const { status, output } = run(join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json');
  assert.equal(status, 0, output);
  cluster = await TestCluster.start({ servers: 1, mainFile: join(copy, 'dist/src/main.js') });
});
after(async () => {
  await cluster?.stop();
  rmSync(copy, { recursive: true, force: true });
});

describe('a generated kind', () => {
  it('passes its own test and those of all declarations', () => {
    const specs = [
      'dist/src/modules/workshop/tool-shelf/tool-shelf.spec.js',
      'dist/src/modules/workshop/workbench/workbench.spec.js',
      'dist/src/modules/coordination/handover/handover.spec.js',
      'dist/src/objects/apis/declarations.types.spec.js',
      'dist/src/objects/apis/descriptions/field-descriptions.spec.js',
      'dist/test/round-trip/field-numbers.spec.js',
    ];
    // In one process, since each would load the declarations of all kinds.
    const { status, output } = run('--test', '--test-isolation=none', ...specs);
    assert.equal(status, 0, output);
  });

  it('has a valid object for the tests that make one of every kind', () => {
    const text = readFileSync(join(copy, 'test/support/valid-objects.ts'), 'utf8');
    for (const name of ['toolshelves.workshop', 'workbenches.workshop', 'handovers.coordination']) {
      assert.ok(text.includes(`'${name}': {},`), name);
    }
  });

  it('is formed as the linter wants it', () => {
    const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
    const changed = [
      'src/objects/apis/workshop',
      'src/modules/workshop',
      'src/modules/api-group-modules.ts',
      'test/facts',
      'test/support',
    ];
    const { status, output } = run(biome, 'ci', ...changed);
    assert.equal(status, 0, output);
  });

  it('is served, in a new group and in an existing one', async () => {
    const { client } = cluster.first;
    const shelves = '/apis/workshop.k8s.io/v1/namespaces/default/toolshelves';
    const created = await client.post(shelves, { metadata: { name: 'a' } });
    assert.equal(created.status, 201, created.text);
    assert.deepEqual(created.body.spec, { size: 1 });
    const changed = await client.put(`${shelves}/a/status`, { ...created.body, status: { phase: 'Made' } });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual((await client.get(`${shelves}/a`)).body.status, { phase: 'Made' });
    assert.equal((await client.post(shelves, { metadata: { name: 'b' }, spec: { size: 0 } })).status, 422);
    const bench = await client.post('/apis/workshop.k8s.io/v1beta1/workbenches', { metadata: { name: 'a' } });
    assert.equal(bench.status, 201, bench.text);
    const handovers = '/apis/coordination.k8s.io/v1/namespaces/default/handovers';
    assert.equal((await client.post(handovers, { metadata: { name: 'a' } })).status, 201);
  });

  it('is never written over another one', () => {
    const path = join(copy, 'src/modules/coordination/handover/handover.resource.ts');
    const text = readFileSync(path, 'utf8');
    const { status, output } = run('scripts/generate.js', 'kind', 'coordination', 'Handover');
    assert.equal(status, 1);
    assert.match(output, /exists already/);
    assert.equal(readFileSync(path, 'utf8'), text);
  });
});
