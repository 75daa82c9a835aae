import { after, before } from 'node:test';
import pg from 'pg';
import { eventually } from '../../../../../test/e2e/support/test-cluster.js';
import { startTestPostgres, type TestPostgres } from '../../../../../test/support/test-postgres.js';
import { sqlProjectionMode } from '../../../../base/config/sql-projection.js';
import type { KindType } from '../../../../base/machinery/schema/index.js';
import { systemTimers } from '../../../../base/machinery/timers.js';
import { Logger } from '../../../../base/observability/logger.js';
import { pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { secret } from '../../../../objects/apis/core/v1/secret.types.js';
import { defineResource, type ResourceDefinition } from '../../../../objects/registry/resource-definition.js';
import type { ResourceRegistry } from '../../../../objects/registry/resource-registry.js';
import { createPostgresStorage, type PostgresStorage } from '../../../../storage/postgres/postgres-storage.js';
import { SqlProjectionController } from '../sql-projection.controller.js';

export const suffix = 'k8s.io';
export const quiet = new Logger('error', 'text', () => {});
let postgres: TestPostgres;
before(async () => {
  postgres = await startTestPostgres({ fsync: false });
});
after(() => postgres.stop());

function definition(type: KindType, resource: string, more: object = {}): ResourceDefinition {
  const { kind } = type.kind;
  return defineResource({
    group: '',
    resource,
    singular: resource.slice(0, -1),
    kind,
    namespaced: true,
    versions: [{ version: 'v1', type }],
    strategy: {},
    ...more,
  });
}

export const pods = definition(pod as KindType, 'pods');
export const secrets = definition(secret as KindType, 'secrets');
export const things = definition(pod as KindType, 'things', { group: 'example.com' });
export const keyOf = (name: string, resource = 'pods') => ({ resource, namespace: 'default', name });

interface PodState {
  readonly phase?: string;
  readonly node?: string;
  readonly labels?: object;
  readonly image?: string;
}

export function podText({
  phase = 'Running',
  node = 'n1',
  labels = { app: 'web' },
  image = 'img:1',
}: PodState = {}): string {
  return JSON.stringify({
    metadata: {
      labels,
      creationTimestamp: '2026-01-02T03:04:05Z',
      ownerReferences: [
        { kind: 'Other', name: 'x' },
        { kind: 'ReplicaSet', name: 'web-1', controller: true },
      ],
    },
    spec: { nodeName: node, containers: [{ image }, { image }], initContainers: [{ image: 'init:1' }] },
    status: { phase },
  });
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // A server that ends breaks the connection; whoever uses it next is told.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** A database with rows that processes keep in step. */
export class RowScene {
  readonly definitions: ResourceDefinition[] = [pods, secrets];
  private readonly listeners = new Set<() => void>();
  private readonly running: { stop(): Promise<void> }[] = [];

  private constructor(
    readonly url: string,
    readonly storage: PostgresStorage,
    private owner: pg.Client,
  ) {}

  /** @param server where the database is made, if not on the one of the file */
  static async use(work: (scene: RowScene) => Promise<void>, server: TestPostgres = postgres): Promise<void> {
    const url = await server.createTestDatabase();
    const storage = await createPostgresStorage({ databaseUrl: url });
    const owner = await connected(url);
    const scene = new RowScene(url, storage, owner);
    try {
      await work(scene);
    } finally {
      await Promise.all(scene.running.map((one) => one.stop()));
      await scene.owner.end();
      await storage.stop();
    }
  }

  run(overrides: readonly string[] = []) {
    const registry = {
      definitions: () => this.definitions,
      onChange: (listener: () => void) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
      },
    } as unknown as ResourceRegistry;
    const mode = sqlProjectionMode('tables', overrides);
    const timers = systemTimers;
    const loop = new SqlProjectionController({ databaseUrl: this.url, registry, suffix, mode, timers, logger: quiet });
    const stopping = new AbortController();
    const ended = loop.run(stopping.signal);
    const one = {
      stop: async () => {
        stopping.abort();
        await ended.catch(() => undefined);
      },
    };
    this.running.push(one);
    return one;
  }

  /** Connects anew after a restart of the database. */
  async reconnect(): Promise<void> {
    await this.owner.end().catch(() => undefined);
    this.owner = await connected(this.url);
  }

  change(): void {
    for (const listener of this.listeners) listener();
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.owner.query(sql)).rows;
  }

  /** Waits until the views read the tables of rows and these are up to date. */
  async caughtUp(view = 'pods'): Promise<void> {
    const head = await this.storage.head();
    await eventually(async () => {
      // The view may be replaced while it is read.
      const sql = `select pg_get_viewdef(to_regclass('cluster.${view}')) like '%rows_%' as yes`;
      const [found] = await this.rows(sql).catch(() => []);
      return found?.yes === true;
    }, 'the view of the rows');
    await this.rows(`select cluster.wait_for(${head})`);
  }

  /** The content of the view, as it was written. */
  async shown(resource = 'pods'): Promise<unknown[]> {
    const rows = await this.rows(
      `select name, resource_version, object #- '{metadata,resourceVersion}' as object from cluster.${resource} order by name`,
    );
    return rows.map(({ name, resource_version, object }) => [name, String(resource_version), object]);
  }

  /** The content of the store. */
  async stored(resource = 'pods'): Promise<unknown[]> {
    const { items } = await this.storage.list({ resource });
    return items.map(({ key, resourceVersion, json }) => [key.name, String(resourceVersion), JSON.parse(json)]);
  }
}
