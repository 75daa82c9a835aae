import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { withClient } from '../../../base/database/with-client.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { databaseAt } from './databases.js';
import { type KeeperLease, leaseKeeper } from './keeper-lease.js';
import { sharedPrefix } from './keeper-protocol.js';
import { type DatabaseTemplate, ensureTemplate, migratedTemplate } from './template.js';

/** An empty, migrated database for one user, on a Postgres that others use as well. */
export interface SharedDatabase {
  readonly name: string;
  readonly url: string;
  /** Has the database dropped. Without this call it is dropped when this process has ended, in any way. */
  release(): Promise<void>;
}

export interface AcquireOptions {
  /**
   * A PostgreSQL of the user's own, by the URL of any database of it, as a role that may create databases. Unset: the one
   * that all processes of this user and machine share; it is started by the first and ends with the last of them.
   */
  readonly databaseUrl?: string | undefined;
  /** The initial content of the database. Unset: the schema, without objects. */
  readonly template?: DatabaseTemplate;
  /** How long the shared Postgres stays after the last process, if this one has to start it. Default 1000. */
  readonly lingerMs?: number;
  /** Called when the copy of the template was requested: from then on this process only waits. */
  readonly onCopy?: (() => void) | undefined;
}

/**
 * On a server of the user's own, databases without connections for this long were left by processes that were killed.
 */
const leftAfterSeconds = 60;
const insufficientPrivilege = '42501';
const noSuchDatabase = '3D000';
const copyAttempts = 3;
const firstWithStrategies = 150_000;

/**
 * Makes a database of its own for this process.
 *
 * @throws StartupError when there is no Postgres and none can be started, or it refuses the database.
 */
export async function acquireDatabase(options: AcquireOptions = {}): Promise<SharedDatabase> {
  const template = options.template ?? (await migratedTemplate());
  if (options.databaseUrl !== undefined) return acquireOn(options.databaseUrl, template, options.onCopy);
  const lease = await leaseKeeper(options.lingerMs);
  try {
    return await acquireFrom(lease, template, options.onCopy);
  } catch (error) {
    await lease.end();
    throw error;
  }
}

async function acquireFrom(
  lease: KeeperLease,
  template: DatabaseTemplate,
  onCopy: AcquireOptions['onCopy'],
): Promise<SharedDatabase> {
  const name = `${lease.prefix}${randomBytes(4).toString('hex')}`;
  await withClient(lease.adminUrl, (admin) => copyFiles(admin, lease.adminUrl, template, name, onCopy));
  return { name, url: databaseAt(lease.adminUrl, name), release: () => lease.end() };
}

async function acquireOn(
  adminUrl: string,
  template: DatabaseTemplate,
  onCopy: AcquireOptions['onCopy'],
): Promise<SharedDatabase> {
  const name = `${sharedPrefix}${Math.floor(Date.now() / 1000)}_${randomBytes(6).toString('hex')}`;
  try {
    await withClient(adminUrl, async (admin) => {
      await dropLeft(admin);
      await copyTemplate(admin, adminUrl, template, name, { onCopy });
    });
  } catch (error) {
    const isDenied = (error as { code?: unknown }).code === insufficientPrivilege;
    const remedy = isDenied ? '; the role needs the attribute CREATEDB' : '';
    throw new StartupError(`no database can be made on the given PostgreSQL: ${errorText(error)}${remedy}`, {
      cause: error,
    });
  }
  const release = () =>
    withClient(adminUrl, async (admin) => void (await admin.query(`drop database if exists ${name} with (force)`)));
  return { name, url: databaseAt(adminUrl, name), release };
}

/**
 * Makes a database on the shared Postgres that begins with the template. The files are copied, not page by page through
 * the log: several times faster. It takes two checkpoints, which are cheap where nothing waits for a disk.
 */
export async function copyFiles(
  admin: Client,
  adminUrl: string,
  template: DatabaseTemplate,
  name: string,
  onCopy?: AcquireOptions['onCopy'],
): Promise<void> {
  const { rows } = await admin.query<{ version: number }>(
    "select current_setting('server_version_num')::int as version",
  );
  // Older versions of PostgreSQL know no other way.
  const hasStrategies = (rows[0]?.version ?? 0) >= firstWithStrategies;
  await copyTemplate(admin, adminUrl, template, name, { how: hasStrategies ? 'strategy file_copy' : '', onCopy });
}

async function copyTemplate(
  admin: Client,
  adminUrl: string,
  template: DatabaseTemplate,
  name: string,
  { how = '', onCopy }: { readonly how?: string; readonly onCopy?: AcquireOptions['onCopy'] },
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const from = await ensureTemplate(admin, adminUrl, template);
    try {
      const copied = admin.query(`create database ${name} template ${from} ${how}`);
      onCopy?.();
      await copied;
      return;
    } catch (error) {
      // Another release has just made a template, and this one, the oldest, was dropped for it.
      if ((error as { code?: unknown }).code !== noSuchDatabase || attempt === copyAttempts) throw error;
    }
  }
}

async function dropLeft(admin: Client): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    `select datname from pg_database d
     where starts_with(datname, $1) and not exists (select from pg_stat_activity a where a.datname = d.datname)
       and split_part(substr(datname, length($1) + 1), '_', 1) ~ '^[0-9]{10}$'
       and split_part(substr(datname, length($1) + 1), '_', 1)::bigint < $2::bigint`,
    [sharedPrefix, Math.floor(Date.now() / 1000) - leftAfterSeconds],
  );
  // Another process may be dropping the database too, or use it after all.
  for (const { datname } of rows) await admin.query(`drop database if exists ${datname}`).catch(() => undefined);
}
