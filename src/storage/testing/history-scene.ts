import pg from 'pg';
import type { TestPostgres } from '../../../test/support/test-postgres.js';
import { onlyViews } from '../../base/config/sql-projection.js';
import { createPostgresStorage, type PostgresStorage } from '../postgres/postgres-storage.js';
import { resolveOptions } from '../postgres/postgres-storage-options.js';
import { Retention } from '../postgres/retention.js';
import { SessionPool } from '../postgres/session-pool.js';
import { syncSqlViews } from '../postgres/sql-views.js';
import { HOUR_MS, view } from './history-helpers.js';

interface Row {
  readonly name: string;
  readonly resource_version: string;
  readonly object: { readonly spec?: unknown } | null;
}

/** A database that keeps history; log upkeep runs when the test requests it. */
export class HistoryScene {
  private constructor(
    readonly url: string,
    readonly storage: PostgresStorage,
    readonly owner: pg.Client,
    readonly pool: SessionPool,
    readonly retention: Retention,
  ) {}

  static async use(
    server: TestPostgres,
    work: (scene: HistoryScene) => Promise<void>,
    settings: {
      readonly historyRetentionMs?: number;
      readonly historyMaxBytes?: number;
      readonly historyExclude?: readonly string[];
    } = {},
  ): Promise<void> {
    const databaseUrl = await server.createTestDatabase();
    const options = resolveOptions({
      databaseUrl,
      retentionIntervalMs: 0,
      historyRetentionMs: HOUR_MS,
      historyExclude: ['leases'],
      ...settings,
    });
    const storage = await createPostgresStorage(options);
    const pool = new SessionPool(options);
    const owner = new pg.Client({ connectionString: databaseUrl });
    await owner.connect();
    await syncSqlViews(
      databaseUrl,
      ['things', 'others', 'leases', 'secrets'].map((name) => view(name)),
      onlyViews,
    );
    try {
      await work(new HistoryScene(databaseUrl, storage, owner, pool, new Retention(options, pool)));
    } finally {
      await owner.end();
      await pool.stop();
      await storage.stop();
    }
  }

  /** Moves everything written so far from the log to the history. */
  async retire(retention = this.retention): Promise<void> {
    await retention.round(HOUR_MS, 0);
    await retention.round(0, HOUR_MS);
  }

  async asOf(at: bigint | string, resource = 'things'): Promise<Record<string, unknown>> {
    const moment = typeof at === 'bigint' ? '$2::bigint' : '$2::text';
    const sql = `select name, resource_version, object from cluster.as_of($1, ${moment})`;
    const { rows } = await this.owner.query<Row>(sql, [resource, String(at)]);
    return Object.fromEntries(
      rows.map(({ name, resource_version, object }) => [name, [resource_version, object?.spec]]),
    );
  }

  async rows<T extends object = Record<string, unknown>>(sql: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await this.owner.query<T>(sql, [...values])).rows;
  }

  async listed(resource = 'things'): Promise<[bigint, Record<string, unknown>]> {
    const page = await this.storage.list({ resource });
    const entries = page.items.map(({ key: { name }, json, resourceVersion }) => [
      name,
      [String(resourceVersion), (JSON.parse(json) as { spec?: unknown }).spec],
    ]);
    return [page.resourceVersion, Object.fromEntries(entries)];
  }
}
