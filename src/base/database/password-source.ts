import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DatabaseUrlError } from './database-url-error.js';

/**
 * The source of a connection's password when its URL contains none. Files are read for each connection, so they may be
 * replaced.
 */
export type PasswordSource =
  | { readonly kind: 'file'; readonly path: string }
  /** A file with one line per server, in the format of libpq. */
  | { readonly kind: 'passfile'; readonly path: string }
  /** A shell command whose output is the password, which is reused for `lifetimeMs`. */
  | { readonly kind: 'command'; readonly command: string; readonly lifetimeMs: number };

/**
 * How long the password of a command is used, in milliseconds: tokens of the usual providers are valid for 15 minutes.
 */
export const usualPasswordLifetimeMs = 600_000;

/**
 * Takes the parameters `password_file`, `password_command`, `password_lifetime` (milliseconds) and `passfile` out of
 * `parameters`. Without any of them the password is looked up in the password file of libpq, if there is one.
 *
 * @throws DatabaseUrlError when more than one source is named
 */
export function takePasswordSource(
  parameters: URLSearchParams,
  variables: Readonly<Record<string, string | undefined>>,
): PasswordSource | undefined {
  const take = (name: string): string | undefined => {
    const value = parameters.get(name) ?? '';
    parameters.delete(name);
    return value === '' ? undefined : value;
  };
  const path = take('password_file');
  const command = take('password_command');
  const lifetimeMs = Number(take('password_lifetime') ?? usualPasswordLifetimeMs);
  const passfile = take('passfile');
  if ([path, command, passfile].filter((given) => given !== undefined).length > 1) {
    throw new DatabaseUrlError('only one of password_file, password_command and passfile can name the password');
  }
  if (!(lifetimeMs >= 0)) throw new DatabaseUrlError('password_lifetime must be a number of milliseconds');
  if (path !== undefined) return { kind: 'file', path };
  if (command !== undefined) return { kind: 'command', command, lifetimeMs };
  const usual = passfile ?? (variables.PGPASSFILE || join(homedir(), '.pgpass'));
  return existsSync(usual) || passfile !== undefined ? { kind: 'passfile', path: usual } : undefined;
}
