import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Check } from './check.js';
import { databaseUrlProblem } from './database-url-problem.js';
import { Flag } from './flag.js';

/** The address of the database, and the credentials of this process. */
export class DatabaseUrlOptions {
  @Flag({
    name: 'database-url',
    type: 'string',
    unit: 'url',
    usage:
      'PostgreSQL database (version 14 or newer), as postgresql://user:password@host:5432/database. ' +
      'Of several hosts (host1:5432,host2:5432) the primary is used.',
    secret: true,
  })
  @Check('databaseUrl', databaseUrlProblem)
  readonly databaseUrl: string | undefined = undefined;

  @Flag({
    name: 'database-url-file',
    type: 'string',
    unit: 'file',
    usage: 'File that contains the value of --database-url. It is read for each connection, so it may be replaced.',
  })
  @Check('databaseUrlFile', urlFileProblem)
  readonly databaseUrlFile: string | undefined = undefined;

  @Flag({
    name: 'database-password-file',
    type: 'string',
    unit: 'file',
    usage: 'File that contains the password for the database. It is read for each connection, so it may be replaced.',
  })
  @Check('databasePasswordFile', passwordProblem)
  readonly databasePasswordFile: string | undefined = undefined;

  @Flag({
    name: 'database-password-command',
    type: 'string',
    unit: 'command',
    usage:
      'Command of the shell that prints the password for the database, such as a token of a cloud provider. It has ten ' +
      'seconds, and finds PGHOST, PGPORT, PGDATABASE and PGUSER in its environment.',
    secret: true,
  })
  @Check('databasePasswordCommand', passwordProblem)
  readonly databasePasswordCommand: string | undefined = undefined;

  @Flag({
    name: 'database-password-lifetime',
    type: 'duration',
    usage:
      'How long a password that --database-password-command has printed is used for further connections. One that the ' +
      'database refuses is replaced at once.',
  })
  @Check<number>('lifetime', (value) => (value >= 0 ? undefined : 'must not be negative'))
  readonly databasePasswordLifetimeMs: number = 600_000;

  /**
   * Adds to each URL where it and its password are read from, so that every part of the program can connect with the
   * URL alone.
   */
  static settle(values: Record<string, unknown>): void {
    const { databaseUrl, databaseUrlFile, ...password } = values as Partial<DatabaseUrlOptions>;
    const url = databaseUrlFile === undefined ? databaseUrl : pathToFileURL(resolve(databaseUrlFile)).href;
    values.databaseUrl = withPassword(url, password);
    if (typeof values.listenDatabaseUrl === 'string') {
      values.listenDatabaseUrl = withPassword(values.listenDatabaseUrl, password);
    }
    const { readDatabaseUrl, readDatabaseUrlFile } = values;
    if (typeof readDatabaseUrlFile === 'string') {
      values.readDatabaseUrl = withPassword(pathToFileURL(resolve(readDatabaseUrlFile)).href, password);
    } else if (typeof readDatabaseUrl === 'string') values.readDatabaseUrl = withPassword(readDatabaseUrl, password);
  }
}

type PasswordOptions = Partial<
  Pick<DatabaseUrlOptions, 'databasePasswordFile' | 'databasePasswordCommand' | 'databasePasswordLifetimeMs'>
>;

function withPassword(url: string | undefined, options: PasswordOptions): string | undefined {
  const { databasePasswordFile, databasePasswordCommand, databasePasswordLifetimeMs } = options;
  if (url === undefined) return url;
  const added = new URLSearchParams();
  if (databasePasswordFile !== undefined) added.set('password_file', resolve(databasePasswordFile));
  if (databasePasswordCommand !== undefined) {
    added.set('password_command', databasePasswordCommand);
    added.set('password_lifetime', String(databasePasswordLifetimeMs));
  }
  return added.size === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${added}`;
}

function urlFileProblem(_file: string, { databaseUrl }: Readonly<Record<string, unknown>>): string | undefined {
  return databaseUrl === undefined ? undefined : 'excludes --database-url: both name the database';
}

function passwordProblem(_source: string, values: Readonly<Record<string, unknown>>): string | undefined {
  const { databaseUrl, databaseUrlFile, databasePasswordFile, databasePasswordCommand } = values;
  if (databasePasswordFile !== undefined && databasePasswordCommand !== undefined) {
    return '--database-password-file and --database-password-command exclude each other';
  }
  if (databaseUrl === undefined && databaseUrlFile === undefined) return 'needs --database-url or --database-url-file';
  const hasPassword = typeof databaseUrl === 'string' && /^[a-z]+:\/\/[^@/?#:]*:[^@/?#]+@/.test(databaseUrl);
  return hasPassword ? 'excludes the password in --database-url' : undefined;
}
