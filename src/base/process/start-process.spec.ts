import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const starter = new URL('./start-process.js', import.meta.url).href;

describe('startProcess', { skip: process.platform === 'win32' }, () => {
  let place: string;
  let file: string;
  before(() => {
    place = mkdtempSync(join(tmpdir(), 'plinth-start-'));
    file = join(place, 'program.cjs');
  });
  after(() => rmSync(place, { recursive: true, force: true }));

  const writeProgram = (word: string) => {
    writeFileSync(file, `(function (exports) { exports.processes = { main: () => console.log('${word}') }; })`);
    utimesSync(file, 1e9, 1e9);
  };
  const run = (folder: string): string => {
    const code = `import { startProcess } from '${starter}'; startProcess('${file}', 'main');`;
    const { NODE_OPTIONS: _own, NODE_DISABLE_COMPILE_CACHE: _off, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
      encoding: 'utf8',
      env: { ...env, NODE_COMPILE_CACHE: folder },
      timeout: 60_000,
    });
    assert.equal(status, 0, stderr);
    return stdout.trim();
  };
  const keptIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.plinth-code'));

  it('runs the file as it is, even where the code of another one of the same time and length is kept', () => {
    const folder = join(place, 'same');
    mkdirSync(folder, { mode: 0o700 });
    for (const word of ['one', 'two', 'one']) {
      writeProgram(word);
      assert.equal(run(folder), word);
    }
    assert.equal(keptIn(folder).length, 2);
  });

  it('runs no kept code that others may have written', () => {
    const folder = join(place, 'planted');
    mkdirSync(folder, { mode: 0o700 });
    const keep = (word: string): string => {
      writeProgram(word);
      const before = keptIn(folder);
      run(folder);
      return join(folder, keptIn(folder).find((name) => !before.includes(name)) as string);
    };
    const [good, evil] = [keep('one'), keep('bad')];
    writeProgram('one');
    const plant: Readonly<Record<string, () => void>> = {
      'a file that others can write': () => {
        copyFileSync(evil, good);
        chmodSync(good, 0o666);
      },
      ...(process.getuid?.() === 0 && {
        'a file of another user': () => {
          copyFileSync(evil, good);
          chownSync(good, 65_534, 65_534);
        },
      }),
      'a link': () => symlinkSync(evil, good),
      'a pipe': () => assert.equal(spawnSync('mkfifo', [good]).status, 0),
      'a folder': () => mkdirSync(good),
    };
    for (const [what, put] of Object.entries(plant)) {
      rmSync(good, { recursive: true, force: true });
      put();
      assert.equal(run(folder), 'one', what);
    }
  });

  it('keeps nothing where others can write', () => {
    writeProgram('one');
    const folder = join(place, 'shared');
    mkdirSync(folder, { mode: 0o755 });
    run(folder);
    const [code] = keptIn(folder);
    const [own] = readdirSync(folder);
    assert.ok(code !== undefined && own !== undefined);
    rmSync(join(folder, code));
    for (const mode of [0o777, 0o775]) {
      chmodSync(join(folder, own), mode);
      run(folder);
      assert.deepEqual(keptIn(folder), [], mode.toString(8));
    }
    // Now other users can't enter the parent folder.
    chmodSync(folder, 0o700);
    run(folder);
    assert.equal(keptIn(folder).length, 1);
    assert.equal(statSync(join(folder, keptIn(folder)[0] as string)).mode & 0o777, 0o600);
  });
});
