import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MigrationError } from './migration-error.js';

/** An SQL script that is applied again whenever it changes. `digest` changes with it. */
export interface SchemaText {
  readonly name: string;
  readonly sql: string;
  readonly digest: string;
}

/** An SQL script that is applied once. */
export interface Migration extends SchemaText {
  readonly version: number;
}

/** All SQL scripts of the schema that come with this program. */
export interface SchemaTexts {
  /** Applied before anything else. */
  readonly locks: SchemaText;
  /** Migrations in ascending order of version. */
  readonly migrations: readonly Migration[];
  /** One script per function, sorted by name. */
  readonly functions: readonly SchemaText[];
  /** Version of the program. */
  readonly release: string;
}

const MIGRATION_NAME = /^(\d{6})_([a-z0-9_]+)\.sql$/;

function migrationsDirectory(): string {
  // The folder depth of compiled code differs from that of its source, so search upwards.
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const candidate = join(directory, 'migrations');
    if (existsSync(join(candidate, 'locks.sql'))) return candidate;
    if (directory === dirname(directory)) throw new MigrationError('the migrations folder is missing');
  }
}

/**
 * Reads the folder `migrations` synchronously: every start must wait for it, and the hundred small files take two
 * milliseconds.
 *
 * @throws MigrationError when its numbers have a gap.
 */
export function loadSchemaTexts(directory: string = migrationsDirectory()): SchemaTexts {
  const migrations: Migration[] = [];
  for (const file of readdirSync(directory).sort()) {
    const match = MIGRATION_NAME.exec(file);
    if (match === null) continue;
    const version = Number(match[1]);
    if (version !== migrations.length + 1) throw new MigrationError(`migration ${file}: the numbers have a gap`);
    migrations.push({ version, ...load(directory, file, match[2] ?? '') });
  }
  const functions: SchemaText[] = [];
  for (const file of readdirSync(join(directory, 'functions')).sort()) {
    if (file.endsWith('.sql')) functions.push(load(join(directory, 'functions'), file, file.slice(0, -4)));
  }
  return {
    locks: load(directory, 'locks.sql', 'locks'),
    migrations,
    functions,
    release: releaseAbove(directory),
  };
}

/** Changes whenever any script of the schema changes. */
export function schemaFingerprint(): string {
  const { locks, migrations, functions } = loadSchemaTexts();
  const hash = createHash('sha256');
  for (const { digest } of [locks, ...migrations, ...functions]) hash.update(digest);
  return hash.digest('hex').slice(0, 16);
}

/** Whether release `a` is later than release `b`, by their numbers, as in `1.10.0`. */
export function isLaterRelease(a: string, b: string): boolean {
  const numbers = (release: string) => (release.split(/[-+]/)[0] ?? '').split('.').map((part) => Number(part) || 0);
  const [left, right] = [numbers(a), numbers(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

function load(directory: string, file: string, name: string): SchemaText {
  const sql = readFileSync(join(directory, file), 'utf8');
  return { name, sql, digest: createHash('sha256').update(sql).digest('hex') };
}

function releaseAbove(directory: string): string {
  try {
    const { version } = JSON.parse(readFileSync(join(directory, '..', 'package.json'), 'utf8')) as {
      version?: unknown;
    };
    return String(version ?? '0.0.0');
  } catch {
    return '0.0.0';
  }
}

/**
 * Sorts the functions in the order of creation: PostgreSQL resolves the body of an SQL function when it is created, so
 * the functions that it calls must exist.
 */
export function calledFirst(functions: readonly SchemaText[]): SchemaText[] {
  const ordered = new Set<SchemaText>();
  const begun = new Set<SchemaText>();
  const visit = (text: SchemaText): void => {
    if (begun.has(text)) return;
    begun.add(text);
    for (const other of functions) if (isCalledBy(other, text)) visit(other);
    ordered.add(text);
  };
  for (const text of functions) visit(text);
  return [...ordered];
}

/** A variant with other arguments (`as_of.time`) calls the plain function, never the other way round. */
function isCalledBy(callee: SchemaText, caller: SchemaText): boolean {
  const [name] = callee.name.split('.');
  if (caller.name.split('.')[0] === name && callee.name !== name) return false;
  return caller.sql.includes(`plinth.${name}(`) || caller.sql.includes(`cluster.${name}(`);
}
