import { join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../../base/machinery/files.js';
import { StartupError } from '../../../base/machinery/startup-error.js';

/** What the data folder records about its embedded Postgres, in `postgres.json`. */
export interface PostgresNote {
  /** Where the data are, if that is another folder. Absolute. */
  readonly directory?: string;
  /** TCP port on loopback. */
  readonly port?: number;
}

/** @throws StartupError when it can't be understood. */
export async function readNote(directory: string): Promise<PostgresNote> {
  const path = notePath(directory);
  const text = await readFileIfPresent(path);
  if (text === undefined) return {};
  try {
    const note = JSON.parse(text) as PostgresNote;
    if (isPlace(note.directory) && isPort(note.port) && Object.values(note).length > 0) return note;
  } catch {
    // Invalid JSON is handled like any other content that is not a note.
  }
  throw new StartupError(`${path} is damaged: it must name a "directory" or a "port"`);
}

/** Changes some fields of the note. */
export async function changeNote(directory: string, change: PostgresNote): Promise<void> {
  const note = { ...(await readNote(directory)), ...change };
  await writeFileAtomically(notePath(directory), `${JSON.stringify(note)}\n`, 0o644);
}

/** The file of the note, for messages. */
export function notePath(directory: string): string {
  return join(directory, 'postgres.json');
}

function isPlace(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.startsWith('/'));
}

function isPort(value: unknown): boolean {
  return value === undefined || (Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536);
}
