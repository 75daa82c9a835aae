import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceUser } from '../../src/tools/local-postgres/embedded/service-user.js';
import { identity } from '../../src/tools/local-postgres/embedded/service-user.js';

/** Where to create a data directory, and as which user. */
export interface NewData {
  /** Folder that is created. */
  readonly data: string;
  /** Path of the program. */
  readonly initdb: string;
  readonly user: ServiceUser;
  /** A working directory that the user may enter. */
  readonly cwd: string;
  readonly locale: string;
}

/**
 * Each template is used only once per process: two servers with the same template would have the same system
 * identifier.
 */
let templatesUsed = 0;

/**
 * Makes the data directory of a new server. The first ones of a process are copied from the folder
 * PLINTH_TEST_POSTGRES_TEMPLATES if that is set, which takes a fraction of the time.
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

/** Copies the data directory of a stopped server, with owners and permissions. */
export function copyData(from: string, to: string): void {
  mustSucceed('cp', ['-Rp', from, to], {});
}

function mustSucceed(program: string, flags: readonly string[], options: object): void {
  const { status, stderr, error } = spawnSync(program, flags, { ...options, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`, { cause: error });
}
