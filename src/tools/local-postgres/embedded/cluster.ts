import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environment } from '../../../base/config/environment.js';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { handOverFolder } from './hand-over.js';
import type { PostgresHome } from './home.js';
import { loopback } from './loopback-port.js';
import { ourUserName, runAs, type ServiceUser } from './service-user.js';

/** The superuser of the embedded Postgres. */
export const roleName = 'plinth';

/**
 * Makes the data directory unless it exists, with further flags for initdb. A half-made one is never used.
 *
 * @throws StartupError when the data are of another major version or the directory holds something else.
 */
export async function initialiseCluster(
  home: PostgresHome,
  user: ServiceUser,
  flags: readonly string[] = [],
): Promise<void> {
  const { dataDirectory } = home;
  const version = (await readFileIfPresent(join(dataDirectory, 'PG_VERSION')))?.trim();
  if (version !== undefined) {
    const [, major] = /\) (\d+)/.exec(runAs(user, home.binaries.postgres, ['--version']).output) ?? [];
    if (major === version) return;
    throw new StartupError(
      `${dataDirectory} was made by Postgres ${version} and this is Postgres ${major}: ` +
        'dump it with the old version, or choose another --data-dir',
    );
  }
  if ((await readdir(dataDirectory)).length > 0) {
    throw new StartupError(`${dataDirectory} is neither empty nor a Postgres database: choose another --data-dir`);
  }
  const unfinished = `${dataDirectory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await handOverFolder(unfinished, user, 0o700);
  const args = [
    '-D',
    unfinished,
    '-U',
    roleName,
    '-E',
    'UTF8',
    '--locale=C',
    '--auth=peer',
    '--no-instructions',
    ...flags,
  ];
  const made = runAs(user, home.binaries.initdb, args, postgresEnvironment());
  if (!made.ok) {
    const lines = made.output.split('\n');
    const causes = lines.filter((line) => /\b(FATAL|PANIC|ERROR|error):/.test(line));
    const reason = (causes.length > 0 ? causes : lines).slice(-2).join(' | ');
    throw new StartupError(`cannot prepare the embedded database: ${reason}`);
  }
  await rename(unfinished, dataDirectory);
}

/**
 * Writes who may connect. The superuser connects only through the socket, as the user of this process, without a
 * password. Every other role connects with its password, through the socket or on loopback.
 */
export async function writeAccessRules(home: PostgresHome, user: ServiceUser): Promise<void> {
  const files = {
    'pg_hba.conf': [
      `local all ${roleName} peer map=plinth`,
      'local all all scram-sha-256',
      `host all ${roleName} all reject`,
      `host all all ${loopback}/32 scram-sha-256`,
      '',
    ].join('\n'),
    'pg_ident.conf': `plinth ${JSON.stringify(ourUserName())} ${roleName}\n`,
  };
  for (const [name, content] of Object.entries(files)) {
    const path = join(home.dataDirectory, name);
    if ((await readFileIfPresent(path)) === content) continue;
    const { uid, gid } = user;
    await writeFileAtomically(path, content, 0o600, uid === undefined || gid === undefined ? undefined : { uid, gid });
  }
}

/** Keeps only our search path: variables such as PGDATA would change the behaviour of Postgres. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: environment.PATH, LC_ALL: 'C', TZ: 'UTC' };
}
