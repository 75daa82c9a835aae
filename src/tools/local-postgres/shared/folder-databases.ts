import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { withClient } from '../../../base/database/with-client.js';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { copyFiles } from './acquire-database.js';
import { databaseAt } from './databases.js';
import { migratedTemplate } from './template.js';

/*
 * Databases that outlive their user, as long as a folder has a note of them. The program that replaces etcd in test
 * suites keeps its data this way: they are removed with its data folder.
 */

/** The prefix of the names of these databases. */
export const folderPrefix = 'plinth_folder_';

/** A file in the folder with the names of its databases, by the names that its user gave them. */
const noteName = 'plinth-databases.json';
const namePattern = /^plinth_folder_[0-9a-f]{16}$/;

type Note = Readonly<Record<string, string>>;

/**
 * The URL of a database of a folder, made now if it has none of that name, with the schema. The caller has exclusive
 * use of the folder, and requests one database at a time.
 */
export async function folderDatabase(adminUrl: string, folder: string, called: string): Promise<string> {
  const note = await readNote(folder);
  return await withClient(adminUrl, async (admin) => {
    const known = note[called];
    if (known !== undefined) {
      const { rowCount } = await admin.query('select from pg_database where datname = $1', [known]);
      if (rowCount !== 0) return databaseAt(adminUrl, known);
    }
    const name = `${folderPrefix}${randomBytes(8).toString('hex')}`;
    // The note is written before the database is made: a database without a note may be dropped at any time.
    await writeFileAtomically(join(folder, noteName), `${JSON.stringify({ ...note, [called]: name })}\n`, 0o600);
    await copyFiles(admin, adminUrl, await migratedTemplate(), name);
    await admin.query(`comment on database ${name} is ${admin.escapeLiteral(folder)}`);
    return databaseAt(adminUrl, name);
  });
}

/** Drops the databases whose folder no longer has a note of them. */
export async function dropUnnamed(adminUrl: string): Promise<void> {
  await withClient(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ name: string; folder: string | null }>(
      "select datname as name, shobj_description(oid, 'pg_database') as folder from pg_database where starts_with(datname, $1)",
      [folderPrefix],
    );
    for (const { name, folder } of rows) {
      // A database without a comment is being made, or its maker was killed: then the start of a keeper drops it.
      if (folder === null) continue;
      const note = await readNote(folder);
      if (!Object.values(note).includes(name)) await admin.query(`drop database if exists ${name} with (force)`);
    }
  });
}

/** Drops databases whose creation was interrupted. Nobody creates any at the moment. */
export async function dropHalfMade(adminUrl: string): Promise<void> {
  await withClient(adminUrl, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(
      "select datname as name from pg_database where starts_with(datname, $1) and shobj_description(oid, 'pg_database') is null",
      [folderPrefix],
    );
    for (const { name } of rows) await admin.query(`drop database if exists ${name} with (force)`);
  });
}

/** A note that can't be understood is as good as none: the data are of one test run. */
async function readNote(folder: string): Promise<Note> {
  try {
    const note: unknown = JSON.parse((await readFileIfPresent(join(folder, noteName))) ?? '{}');
    const entries = Object.entries(note as object).filter(([, name]) => namePattern.test(String(name)));
    return Object.fromEntries(entries) as Note;
  } catch {
    return {};
  }
}
