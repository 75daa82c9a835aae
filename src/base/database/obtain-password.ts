import { exec } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { environment } from '../config/environment.js';
import { type PasswordOwner, passwordFromFile } from './pass-file.js';
import type { PasswordSource } from './password-source.js';

const run = promisify(exec);
const commandMs = 10_000;
const mostCharacters = 64 * 1024;

interface Issued {
  readonly password: Promise<string>;
  readonly until: number;
  /** Unset while the command runs. */
  value?: string;
}

/**
 * Passwords that commands have issued in this process, by command and account. Connections that are opened together
 * share one run.
 */
const issued = new Map<string, Issued>();

/**
 * The password for a connection; undefined when the source has none for this server and account. A command has ten seconds,
 * and finds the server and the account in `PGHOST`, `PGPORT`, `PGDATABASE` and `PGUSER`.
 *
 * @throws Error that names the source when it fails; it never contains the password.
 */
export async function obtainPassword(source: PasswordSource, owner: PasswordOwner): Promise<string | undefined> {
  switch (source.kind) {
    case 'file':
      return nonEmpty(await readFile(source.path, 'utf8'), `the password file ${source.path}`);
    case 'passfile':
      return fromPassFile(source.path, owner);
    case 'command':
      return fromCommand(source, owner);
  }
}

/**
 * Drops a password that the server has refused, so that the next connection obtains a new one. One that was issued since stays:
 * connections that are refused together share the next run too.
 *
 * @returns whether another one may be had at once: false for files, which are read for each connection anyway
 */
export function forgetPassword(source: PasswordSource, owner: PasswordOwner, refused: string): boolean {
  if (source.kind !== 'command') return false;
  const key = keyOf(source.command, owner);
  if (issued.get(key)?.value === refused) issued.delete(key);
  return true;
}

/** Like libpq, this ignores a file that others can read. */
async function fromPassFile(path: string, owner: PasswordOwner): Promise<string | undefined> {
  const { mode } = await stat(path);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new Error(`the password file ${path} can be read by others: chmod 0600 ${path}`);
  }
  return passwordFromFile(await readFile(path, 'utf8'), owner);
}

function fromCommand(source: PasswordSource & { kind: 'command' }, owner: PasswordOwner): Promise<string> {
  const key = keyOf(source.command, owner);
  const known = issued.get(key);
  if (known !== undefined && performance.now() < known.until) return known.password;
  const password = runCommand(source.command, owner);
  const issue: Issued = { password, until: performance.now() + source.lifetimeMs };
  issued.set(key, issue);
  password.then(
    (value) => {
      issue.value = value;
    },
    () => {
      if (issued.get(key) === issue) issued.delete(key);
    },
  );
  return password;
}

async function runCommand(command: string, { host, port, database, user }: PasswordOwner): Promise<string> {
  const what = 'the command for the password of the database';
  const variables = { PGHOST: host, PGPORT: String(port), PGDATABASE: database, PGUSER: user };
  try {
    const { stdout } = await run(command, {
      timeout: commandMs,
      killSignal: 'SIGKILL',
      maxBuffer: mostCharacters,
      env: { ...environment, ...variables },
    });
    return nonEmpty(stdout, what);
  } catch (error) {
    const { killed, code, stderr = '' } = error as { killed?: boolean; code?: unknown; stderr?: string };
    if (killed === true) throw new Error(`${what} took longer than ${commandMs / 1000} seconds`);
    if (typeof code !== 'number') throw error;
    throw new Error(`${what} failed with exit code ${code}: ${stderr.trim().split('\n').at(-1)?.slice(0, 200)}`);
  }
}

/** The text without the newline at its end, which programs and editors write. */
function nonEmpty(text: string, what: string): string {
  const password = text.replace(/\r?\n$/, '');
  if (password === '') throw new Error(`${what} is empty`);
  return password;
}

function keyOf(command: string, { host, port, database, user }: PasswordOwner): string {
  return JSON.stringify([command, host, port, database, user]);
}
