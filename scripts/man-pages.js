// Writes the manual pages of the compiled program to dist/man/ (npm runs this script before npm pack).
//   --check  also lets mandoc and groff read them, and fails if one of them reports a fault
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist', 'man');

/** The date of the commit, so that the same commit makes the same pages. */
function dateOfRelease() {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%cs'], { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : new Date().toISOString().slice(0, 10);
}

function read(path, command, ...args) {
  const { error, status, stdout, stderr } = spawnSync(command, [...args, path], { encoding: 'utf8' });
  const found = error?.message ?? (status === 0 && command === 'groff' ? stderr : `${stdout}${stderr}`);
  if (found === '') return true;
  console.error(`${command}: ${found.trim()}`);
  return false;
}

const { manualPages } = await import('../dist/src/tools/cli/manual/man-page.js');
const { commands } = await import('../dist/src/tools/cli/all-commands.js');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const pages = manualPages(commands, { version, date: dateOfRelease() });
for (const [name, text] of pages) writeFileSync(join(folder, name), text);
console.error(`${pages.size} manual pages`);
if (process.argv.includes('--check')) {
  const faults = [...pages.keys()]
    .map((name) => join(folder, name))
    .filter(
      (path) => !read(path, 'mandoc', '-Tlint', '-Wwarning') || !read(path, 'groff', '-ww', '-man', '-Tutf8', '-z'),
    );
  if (faults.length > 0) process.exitCode = 1;
}
