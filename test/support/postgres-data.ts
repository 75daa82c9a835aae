import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceUser } from '../../src/tools/local-postgres/embedded/service-user.js';
import { identity } from '../../src/tools/local-postgres/embedded/service-user.js';

/** Where to make a data directory, and as whom. */
export interface NewData {
  /** Is created. */
  readonly data: string;
  /** The program. */
  readonly initdb: string;
  readonly user: ServiceUser;
  /** A folder that the user can enter. */
  readonly cwd: string;
  readonly locale: string;
}

/**
 * Two servers of one process are never copies of the same one: each has an identity of its own, which distinguishes
 * them.
 */
let templatesUsed = 0;

/**
 * Makes the data directory of a new server. The first ones of a process are copies of what is in the folder
 * PLINTH_TEST_POSTGRES_TEMPLATES, if that is set, which takes a fraction of the time.
 *
 * @throws Error when that fails
 */
export function prepareData({ data, initdb, user, cwd, locale }: NewData): void {
  const templates = process.env.PLINTH_TEST_POSTGRES_TEMPLATES ?? '';
  const template = join(templates, String(templatesUsed));
  if (templates !== '' && existsSync(template)) {
    templatesUsed++;
    copyData(template, data);
    return;
  }
  const flags = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', `--locale=${locale}`, '--no-sync', '--no-instructions'];
  const options = { ...identity(user), cwd, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' } };
  mustSucceed(initdb, ['-D', data, ...flags], options);
}

/** Copies the data directory of a server that does not run, with owners and permissions. */
export function copyData(from: string, to: string): void {
  mustSucceed('cp', ['-Rp', from, to], {});
}

function mustSucceed(program: string, flags: readonly string[], options: object): void {
  const { status, stderr, error } = spawnSync(program, flags, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`, { cause: error });
}
