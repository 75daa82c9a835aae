import pg from 'pg';
import type { TestPostgres } from '../../../../../test/support/test-postgres.js';
import { onlyViews } from '../../../../base/config/sql-projection.js';
import type { KindType } from '../../../../base/machinery/schema/index.js';
import { Logger } from '../../../../base/observability/logger.js';
import { event } from '../../../../objects/apis/core/v1/event.types.js';
import { namespace } from '../../../../objects/apis/core/v1/namespace.types.js';
import { pod } from '../../../../objects/apis/core/v1/pod.types.js';
import { secret } from '../../../../objects/apis/core/v1/secret.types.js';
import {
  defineResource,
  type ResourceDefinition,
  type StoredResource,
} from '../../../../objects/registry/resource-definition.js';
import { createPostgresStorage, type PostgresStorage } from '../../../../storage/postgres/postgres-storage.js';
import { syncViews } from '../sync-views.js';

export const suffix = 'k8s.io';
export const quiet = new Logger('error', 'text', () => {});

/** A resource of the core group with views. */
export function definition(type: KindType, resource: string, extra: Partial<StoredResource> = {}): ResourceDefinition {
  return defineResource({
    group: '',
    resource,
    singular: resource.slice(0, -1),
    kind: type.kind.kind,
    namespaced: type.kind.scope === 'Namespaced',
    versions: [{ version: 'v1', type }],
    strategy: {},
    ...extra,
  });
}

export const pods = definition(pod as KindType, 'pods');
export const secrets = definition(secret as KindType, 'secrets');
export const events = definition(event as KindType, 'events');
export const namespaces = definition(namespace as KindType, 'namespaces');
/** The resources that have views in every scene. */
export const all = [pods, secrets, events, namespaces];

export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

/** A database with views, and a login with no more than the reader role. */
export async function withReader(
  postgres: TestPostgres,
  use: (ctx: { storage: PostgresStorage; url: string; reader: pg.Client }) => Promise<void>,
) {
  const url = await postgres.createTestDatabase();
  const storage = await createPostgresStorage({ databaseUrl: url });
  await syncViews(url, all, suffix, onlyViews, quiet);
  const owner = await connect(url);
  await owner.query(`do $$ begin
    if not exists (select from pg_roles where rolname = 'test_reader') then
      create role test_reader login in role plinth_reader;
    end if;
  end $$`);
  await owner.end();
  const readerUrl = new URL(url);
  readerUrl.username = 'test_reader';
  const reader = await connect(readerUrl.href);
  try {
    await use({ storage, url, reader });
  } finally {
    await reader.end();
    await storage.stop();
  }
}

/** Stores the JSON unchanged. */
export function put(storage: PostgresStorage, resource: string, name: string, json: string, ns = 'default') {
  return storage.create({ resource, namespace: ns, name }, `uid-${name}`, json);
}
