import { formatDuration } from './duration.js';
import { Flag } from './flag.js';
import { Check, Max, Min } from './validators.js';

const shortestHistoryMs = 300_000;

function databaseUrlProblem(value: string): string | undefined {
  try {
    const { protocol } = new URL(value);
    if (protocol === 'postgres:' || protocol === 'postgresql:') return undefined;
  } catch {
    // Falls through to the same message: the text of the URL error could repeat the password.
  }
  return 'must be a URL of the form postgresql://user:password@host:5432/database';
}

/** The database behind the API. */
export class StorageOptions {
  @Flag({
    name: 'database-url',
    type: 'string',
    unit: 'url',
    usage: 'PostgreSQL database (version 14 or newer), as postgresql://user:password@host:5432/database.',
    secret: true,
  })
  @Check('databaseUrl', databaseUrlProblem)
  readonly databaseUrl: string | undefined = undefined;

  @Flag({
    name: 'listen-database-url',
    type: 'string',
    unit: 'url',
    usage: 'The same database without a transaction pooler between, for LISTEN. Unset: --database-url.',
    secret: true,
  })
  @Check('databaseUrl', databaseUrlProblem)
  readonly listenDatabaseUrl: string | undefined = undefined;

  @Flag({
    name: 'database-pool-size',
    type: 'int',
    unit: 'connections',
    usage: 'Most connections for reading. One for writing and one for LISTEN come on top.',
  })
  @Min(1, { message: 'must be between 1 and 100' })
  @Max(100, { message: 'must be between 1 and 100' })
  readonly databasePoolSize: number = 3;

  @Flag({
    name: 'watch-history',
    type: 'duration',
    usage: 'How long old versions are kept for watches, continued lists and reads of the past; at least 5m0s.',
  })
  @Min(shortestHistoryMs, { message: `must be at least ${formatDuration(shortestHistoryMs)}` })
  readonly watchHistoryMs: number = 600_000;
}
