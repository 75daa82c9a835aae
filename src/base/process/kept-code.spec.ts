import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-kept-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const functions = ['first', 'second', 'third'] as const;

/** Runs a script whose code is cached, calls some of its functions, and uses `workMs` of CPU time. */
function run(calls: readonly (typeof functions)[number][], workMs: number, command = 'spec'): void {
  const file = join(folder, 'script.cjs');
  const program = `
    import { readFileSync } from 'node:fs';
    import { Script } from 'node:vm';
    import { KeptCode } from ${JSON.stringify(new URL('./kept-code.js', import.meta.url).href)};
    const file = ${JSON.stringify(file)};
    const bytes = readFileSync(file);
    const kept = KeptCode.open({ folder: ${JSON.stringify(folder)}, file, bytes, name: '${command}' });
    const { data } = kept;
    const script = new Script(bytes.toString('latin1'), { filename: file, ...(data && { cachedData: data }) });
    if (script.cachedDataRejected === true) throw new Error('the kept code was refused');
    kept.keepFrom(script);
    kept.release();
    const functions = script.runInThisContext();
    for (const name of ${JSON.stringify(calls)}) functions[name]();
    for (;;) {
      const { user, system } = process.cpuUsage();
      if (user + system >= ${workMs} * 1000) break;
    }
  `;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal(status, 0, stderr);
}

/** The file with the cached code, its size, and the CPU time of the process that wrote it. */
function kept() {
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.plinth-code'));
  const path = join(folder, name as string);
  const { ino, size } = statSync(path);
  return { path, ino, size, workedMs: readFileSync(path).readUInt32LE(4) };
}

function writeScript(): void {
  const body = (name: string) => `${name}() { return [${'1 + Math.random(),'.repeat(500)}]; }`;
  writeFileSync(join(folder, 'script.cjs'), `({ ${functions.map(body).join(', ')} })`);
}

test('code that was used last stays, however long ago it was written', () => {
  writeScript();
  run(['first'], 0);
  const { path } = kept();
  utimesSync(path, 1, 1);
  for (let i = 2; i < 40; i++) {
    const other = join(folder, `${i}.plinth-code`);
    writeFileSync(other, '');
    utimesSync(other, i, i);
  }
  run(['first'], 0);
  run(['first'], 0, 'other');
  assert.ok(existsSync(path), 'the code of the command that was used');
  assert.ok(!existsSync(join(folder, '2.plinth-code')), 'code that nobody used for longer');
  assert.equal(readdirSync(folder).filter((file) => file.endsWith('.plinth-code')).length, 24);
});

test('code is kept anew by a process that worked clearly more, with what was kept before', () => {
  writeScript();
  run(['first'], 0);
  const one = kept();
  run(['second'], 0);
  assert.deepEqual(kept(), one, 'about as much work is not worth it');
  run(['second'], 1_100 + 2 * one.workedMs);
  const two = kept();
  assert.notEqual(two.ino, one.ino);
  assert.ok(two.workedMs > one.workedMs);
  assert.ok(two.size > 1.5 * one.size, `${one.size}, then ${two.size} with both functions`);
  run(['third'], 1_100 + 2 * one.workedMs);
  assert.equal(kept().ino, two.ino);
});

test('a process that lives long writes its code while it runs, and once only', () => {
  writeScript();
  const file = join(folder, 'script.cjs');
  const program = `
    import assert from 'node:assert/strict';
    import { readdirSync, readFileSync, rmSync } from 'node:fs';
    import { join } from 'node:path';
    import { Script } from 'node:vm';
    import { KeptCode } from ${JSON.stringify(new URL('./kept-code.js', import.meta.url).href)};
    const folder = ${JSON.stringify(folder)};
    const file = ${JSON.stringify(file)};
    const bytes = readFileSync(file);
    const kept = KeptCode.open({ folder, file, bytes, name: 'lasting' });
    const script = new Script(bytes.toString('latin1'), { filename: file });
    kept.keepFrom(script, 10);
    script.runInThisContext().first();
    const written = () => readdirSync(folder).filter((name) => name.endsWith('.plinth-code'));
    const look = setInterval(() => {
      if (written().length === 0) return;
      clearInterval(look);
      for (const name of written()) rmSync(join(folder, name));
      assert.equal(process.listenerCount('exit'), 0);
    }, 5);
  `;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(readdirSync(folder), ['script.cjs']);
});
