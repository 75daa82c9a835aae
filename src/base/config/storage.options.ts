import { IsOptional, Max, Min } from 'class-validator';
import { Check } from './check.js';
import { DatabaseUrlOptions } from './database-url.options.js';
import { databaseUrlProblem, readDatabaseUrlProblem } from './database-url-problem.js';
import { Flag } from './flag.js';
import { formatFlagDuration } from './flag-duration.js';
import { sqlProjectionModes, sqlProjectionOverridesProblem, sqlProjectionProblem } from './sql-projection.js';
import { leastCacheBytes } from './watch-cache-bytes.js';
import { watchCacheSizesProblem } from './watch-cache-sizes.js';

const shortestHistoryMs = 300_000;

const resourceName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function historyExcludeProblem(names: readonly string[]): string | undefined {
  const wrong = names.find((name) => !resourceName.test(name));
  return wrong === undefined ? undefined : `has ${JSON.stringify(wrong)}, which is not resource[.group]`;
}

/** The database behind the API. */
export class StorageOptions extends DatabaseUrlOptions {
  @Flag({
    name: 'listen-database-url',
    type: 'string',
    unit: 'url',
    usage: 'The database of --database-url without a transaction pooler between, for LISTEN. Unset: --database-url.',
    secret: true,
  })
  @Check('databaseUrl', databaseUrlProblem)
  readonly listenDatabaseUrl: string | undefined = undefined;

  @Flag({
    name: 'read-database-url',
    type: 'string',
    unit: 'url',
    usage:
      'Read replica (a standby) of the database of --database-url: watches, caches and lists from the database ' +
      'are read there. Reads that need the newest version wait until the replica has it. Of several hosts, the ' +
      'first standby that answers is used; while none does, or it lags by more than a second, the primary is ' +
      'read. The --database-password-* flags apply here too.',
    secret: true,
  })
  @Check('readDatabaseUrl', readDatabaseUrlProblem)
  readonly readDatabaseUrl: string | undefined = undefined;

  @Flag({
    name: 'read-database-url-file',
    type: 'string',
    unit: 'file',
    usage:
      'File that contains the value of --read-database-url. It is read for each connection, so it may be ' +
      'replaced.',
  })
  @Check<string>('readDatabaseUrlFile', (_file, { readDatabaseUrl }) =>
    readDatabaseUrl === undefined ? undefined : 'excludes --read-database-url: both name the replica',
  )
  readonly readDatabaseUrlFile: string | undefined = undefined;

  @Flag({
    name: 'database-pool-size',
    type: 'int',
    unit: 'connections',
    usage: 'Maximum number of connections for reading. One for writing and one for LISTEN are opened in addition.',
  })
  @Min(1, { message: 'must be between 1 and 100' })
  @Max(100, { message: 'must be between 1 and 100' })
  readonly databasePoolSize: number = 3;

  @Flag({
    name: 'slow-statement-threshold',
    type: 'duration',
    usage:
      'Statements of the database that take longer are logged by name, with the ids of the requests that wait for them ' +
      '(not with --workers). 0s: none.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly slowStatementThresholdMs: number = 0;

  @Flag({
    name: 'watch-history',
    type: 'duration',
    usage: 'How long old versions are kept for watches, continued lists and reads of the past; at least 5m0s.',
  })
  @Min(shortestHistoryMs, { message: `must be at least ${formatFlagDuration(shortestHistoryMs)}` })
  readonly watchHistoryMs: number = 300_000;

  @Flag({
    name: 'history-retention',
    type: 'duration',
    usage:
      'How long earlier states are kept for SQL (cluster.as_of, cluster.history), exact reads of old versions ' +
      'and plinth restore, for example 720h. 0: only as long as --watch-history. Give every process the same ' +
      'value.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly historyRetentionMs: number = 0;

  @Flag({
    name: 'history-max-bytes',
    type: 'int',
    unit: 'bytes',
    usage:
      'Maximum disk space, indexes included, for what --history-retention keeps: above it, the oldest parts ' +
      'are dropped earlier. 0: no limit. Give every process the same value.',
  })
  @Min(0, { message: 'must not be negative' })
  readonly historyMaxBytes: number = 0;

  @Flag({
    name: 'history-exclude',
    type: 'list',
    unit: 'resource[.group],...',
    usage:
      'Resources that --history-retention does not keep: those that are written often and that nobody needs ' +
      'later. Default: leases.coordination.<vendor>.',
  })
  @Check('historyExclude', historyExcludeProblem)
  readonly historyExclude: readonly string[] | undefined = undefined;

  @Flag({
    name: 'encryption-provider-config',
    type: 'string',
    unit: 'file',
    usage: 'EncryptionConfiguration: which resources are encrypted in the database, and how. Every process needs it.',
  })
  readonly encryptionProviderConfig: string | undefined = undefined;

  @Flag({
    name: 'encryption-provider-config-automatic-reload',
    type: 'bool',
    usage: 'Apply changes of the file of --encryption-provider-config while the process runs.',
  })
  readonly encryptionProviderConfigAutomaticReload: boolean = false;

  @Flag({
    name: 'sql-projection',
    type: 'string',
    values: sqlProjectionModes,
    unit: 'mode',
    usage:
      'How SQL shows objects in schema cluster: off; views (over the stored objects); tables (rows with columns and ' +
      'indexes, which a control loop keeps in step); or indexed (rows with an index on the whole object, which makes ' +
      'writes dearer). Give every process the same value.',
  })
  @Check('sqlProjection', sqlProjectionProblem)
  readonly sqlProjection: string = 'views';

  @Flag({
    name: 'sql-projection-overrides',
    type: 'list',
    unit: 'resource[.group]=mode,...',
    usage: 'Resources with another mode than that of --sql-projection.',
  })
  @Check('sqlProjectionOverrides', sqlProjectionOverridesProblem)
  readonly sqlProjectionOverrides: readonly string[] = Object.freeze([]);

  @Flag({
    name: 'watch-cache',
    type: 'bool',
    usage:
      'Keep the objects of resources that are listed or watched in memory. Otherwise everything is read from the database.',
  })
  readonly watchCache: boolean = true;

  @Flag({
    name: 'default-watch-cache-size',
    type: 'int',
    unit: 'changes',
    usage:
      'How many of the newest changes of a resource are kept in memory at least, however large they are, for watches and ' +
      'lists that go on from an older version. 0: no resource is kept in memory unless --watch-cache-sizes names it.',
  })
  @Min(0, { message: 'must not be negative' })
  @Max(1_000_000, { message: 'must not be above 1000000' })
  readonly defaultWatchCacheSize: number = 100;

  @Flag({
    name: 'watch-cache-sizes',
    type: 'list',
    unit: 'resource[.group]#size',
    usage:
      '--default-watch-cache-size for single resources, such as events#0 or deployments.apps#1000. 0: not kept in memory.',
  })
  @Check('watchCacheSizes', watchCacheSizesProblem)
  readonly watchCacheSizes: readonly string[] = [];

  @Flag({
    name: 'watch-cache-max-bytes',
    type: 'int',
    unit: 'bytes',
    usage:
      'Maximum memory in each process for the objects that --watch-cache keeps. Resources that do not fit, or ' +
      'not into the heap (NODE_OPTIONS=--max-old-space-size=…), are read from the database. Default: half of ' +
      'the heap, and with all workers at most a quarter of the memory.',
  })
  @IsOptional()
  @Min(leastCacheBytes, { message: `must be at least ${leastCacheBytes}` })
  readonly watchCacheMaxBytes: number | undefined = undefined;

  @Flag({
    name: 'watch-backlog-max-bytes',
    type: 'int',
    unit: 'bytes',
    usage:
      'Maximum memory in each process for changes that watches of --watch-cache have not sent yet; each change ' +
      'counts once. Above it, the slowest watch of the user (or of the service accounts of the namespace) ' +
      'whose watches are furthest behind is ended. Default: an eighth of the heap.',
  })
  @IsOptional()
  @Min(leastCacheBytes, { message: `must be at least ${leastCacheBytes}` })
  readonly watchBacklogMaxBytes: number | undefined = undefined;
}

/** The value of `--history-exclude`, or its default for the suffix of the vendor's groups. */
export function historyExclusions({ historyExclude }: StorageOptions, suffix: string): readonly string[] {
  return historyExclude ?? [`leases.coordination.${suffix}`];
}
