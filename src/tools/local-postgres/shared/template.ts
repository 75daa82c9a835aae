import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { migrate } from '../../../storage/postgres/migrate.js';
import { schemaFingerprint } from '../../../storage/postgres/schema-texts.js';
import { databaseAt } from './databases.js';

/** The initial content of databases. It is made once on each server, and copied. */
export interface DatabaseTemplate {
  /** Lower-case letters, digits and `_`, at most 40; a different name for each content. */
  readonly name: string;
  /** Fills an empty database. No connection to it may be open afterwards. */
  prepare(databaseUrl: string): Promise<void>;
}

const prefix = 'plinth_template_';
const unfinished = 'plinth_unfinished_';
/** Session lock: only one process makes templates, and none removes one that is about to be copied. */
const lock = 7811071;
/** The most templates on a server: the oldest, which are of earlier releases, are removed. */
const mostTemplates = 12;

/** The schema of this release without objects. */
export async function migratedTemplate(): Promise<DatabaseTemplate> {
  return {
    name: `schema_${schemaFingerprint()}`,
    prepare: async (databaseUrl) => {
      await migrate(databaseUrl);
    },
  };
}

/** Makes the template unless it is there. Returns the name of its database. */
export async function ensureTemplate(admin: Client, adminUrl: string, template: DatabaseTemplate): Promise<string> {
  const name = `${prefix}${template.name}`;
  if (await isThere(admin, name)) return name;
  await admin.query('select pg_advisory_lock($1)', [lock]);
  try {
    if (await isThere(admin, name)) return name;
    await removeOthers(admin);
    const building = `${unfinished}${randomBytes(5).toString('hex')}`;
    await admin.query(`create database ${building} template template0 encoding 'UTF8'`);
    try {
      await template.prepare(databaseAt(adminUrl, building));
      await admin.query(`alter database ${building} rename to ${name}`);
    } catch (error) {
      await admin.query(`drop database if exists ${building} with (force)`).catch(() => undefined);
      throw error;
    }
    return name;
  } finally {
    await admin.query('select pg_advisory_unlock($1)', [lock]);
  }
}

async function isThere(admin: Client, name: string): Promise<boolean> {
  const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
  return rowCount !== 0;
}

/** Removes the oldest templates, and those that were left half made. The caller holds the lock. */
async function removeOthers(admin: Client): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    `(select datname from pg_database where starts_with(datname, $1) order by oid desc offset $2)
     union all (select datname from pg_database where starts_with(datname, $3))`,
    [prefix, mostTemplates - 1, unfinished],
  );
  for (const { datname } of rows) await admin.query(`drop database if exists ${datname}`);
}
