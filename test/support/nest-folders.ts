import { execFileSync } from 'node:child_process';

/** Nests folders in a folder, deeper than any path can be long. */
export function nestFolders(folder: string): void {
  const program = `
    for (let depth = 0; depth < 50; depth++) {
      require('node:fs').mkdirSync('x'.repeat(200));
      process.chdir('x'.repeat(200));
    }`;
  execFileSync(process.execPath, ['-e', program], { cwd: folder });
}
