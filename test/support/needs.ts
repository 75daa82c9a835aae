import { appendFileSync, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Folders of administrators' programs, which a user's path may not contain. */
const moreFolders = ['/usr/sbin', '/sbin'];

function isThere(program: string): boolean {
  if (program === 'root') return process.getuid?.() === 0;
  if (program.startsWith('/')) return existsSync(program);
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...moreFolders];
  return folders.some((folder) => existsSync(join(folder, program)));
}

/**
 * Why tests that need programs of the machine can't run, for `skip`; false if they can. Skipped tests are listed in one
 * line at the end of `npm test`. Where all tests must run (`CI`), a missing program is an error instead.
 *
 * @param needs names or paths of programs, or `root` for its rights
 */
export function unlessThere(what: string, needs: readonly string[]): string | false {
  const missing = needs.filter((need) => !isThere(need));
  if (missing.length === 0) return false;
  const why = `${what} needs ${missing.join(', ')}`;
  if (process.env.CI === 'true') throw new Error(why);
  const record = process.env.PLINTH_TEST_NEEDS;
  if (record !== undefined) appendFileSync(record, `${why}\n`);
  return why;
}
