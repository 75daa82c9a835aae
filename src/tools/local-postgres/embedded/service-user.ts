import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';

/** The system user that Postgres runs as. `uid` and `gid` are set when it is not our own user. */
export interface ServiceUser {
  readonly name: string;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

const unprivileged = ['postgres', 'nobody'];

/** Name of the system user of this process, as Postgres sees it when we connect. */
export function ourUserName(): string {
  try {
    return userInfo().username;
  } catch (error) {
    throw new StartupError(
      `user id ${process.getuid?.()} has no name on this system, which the embedded Postgres needs: ` +
        'use a named user, or a PostgreSQL of your own with --database-url',
      { cause: error },
    );
  }
}

/**
 * Our own user. For root it is the owner of existing data, or else an unprivileged user, because Postgres refuses to
 * run as root.
 *
 * @throws StartupError when no user is left to run it.
 */
export async function chooseServiceUser(dataOwner?: number): Promise<ServiceUser> {
  const name = ourUserName();
  if (process.getuid?.() !== 0) return { name };
  const accounts = new Map<string, ServiceUser>();
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [account = '', , uid, gid] = line.split(':');
    accounts.set(account, { name: account, uid: Number(uid), gid: Number(gid) });
  }
  const owner = dataOwner === 0 ? undefined : [...accounts.values()].find(({ uid }) => uid === dataOwner);
  const chosen = owner ?? unprivileged.map((account) => accounts.get(account)).find((user) => user !== undefined);
  if (chosen === undefined || !(Number(chosen.uid) > 0) || !Number.isInteger(chosen.gid)) {
    throw new StartupError(
      `Postgres refuses to run as root and this system has no user ${unprivileged.join(' or ')}: ` +
        'run plinth as an ordinary user, or use a PostgreSQL of your own with --database-url',
    );
  }
  return chosen;
}

/** Runs a short program as the service user. Returns its output on success, otherwise its error output. */
export function runAs(
  user: ServiceUser,
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): { readonly ok: boolean; readonly output: string } {
  const result = spawnSync(program, args, {
    cwd: '/',
    env: environment,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...identity(user),
  });
  if (result.error !== undefined) return { ok: false, output: errorText(result.error) };
  return { ok: result.status === 0, output: `${result.stdout}${result.stderr}`.trim() };
}

/** The part of spawn options that makes a process run as the user. */
export function identity(user: ServiceUser): { readonly uid?: number; readonly gid?: number } {
  return user.uid === undefined || user.gid === undefined ? {} : { uid: user.uid, gid: user.gid };
}
