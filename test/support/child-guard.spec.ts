import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { isRunning } from '../e2e/support/processes.js';
import { eventually } from '../e2e/support/test-cluster.js';

const guardModule = new URL('./child-guard.js', import.meta.url).href;

/** A test process with two children and two folders. It has ended one child and removed one folder. */
const script = `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { mkdtempSync, rmdirSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  const { endWithUs, forgetFolder, removeWithUs } = await import(${JSON.stringify(guardModule)});
  const children = [1, 2].map(() => spawn('sleep', ['1000'], { stdio: 'ignore' }));
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'plinth-guard-')));
  for (const child of children) endWithUs(child);
  for (const folder of folders) removeWithUs(folder);
  children[0].kill();
  await once(children[0], 'exit');
  rmdirSync(folders[0]);
  forgetFolder(folders[0]);
  console.log(JSON.stringify({ child: children[1].pid, folder: folders[1] }));
  process.argv.includes('hang') ? setInterval(() => {}, 1000) : children[1].unref();
`;

for (const [how, args] of [
  ['is killed', ['hang']],
  ['ends by itself', []],
] as const) {
  describe(`a test process that ${how}`, () => {
    it('leaves no children and no folders behind', async () => {
      const tester = spawn(process.execPath, ['--input-type=module', '-e', script, '--', ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(tester, 'exit');
      try {
        const [line] = (await once(tester.stdout, 'data')) as [Buffer];
        const { child, folder } = JSON.parse(line.toString()) as { readonly child: number; readonly folder: string };
        if (args.length > 0) {
          assert.ok(isRunning(child));
          tester.kill('SIGKILL');
        }
        await ended;
        await eventually(() => !isRunning(child), 'the child to end');
        await eventually(() => !existsSync(folder), 'the folder to go');
      } finally {
        tester.kill('SIGKILL');
      }
    });
  });
}
