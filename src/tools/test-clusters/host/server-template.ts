import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { withClient } from '../../../base/database/with-client.js';
import { type DatabaseTemplate, migratedTemplate } from '../../local-postgres/shared/template.js';

/**
 * Flags that decide what a server writes when it first serves a database. A server with any other flag begins with an
 * empty one.
 */
const deciding: ReadonlySet<string> = new Set([
  'authorization-mode',
  'compat',
  'disable-admission-plugins',
  'enable-admission-plugins',
  'feature-gates',
  'runtime-config',
  'service-cluster-ip-range',
  'vendor',
]);
/** Flags that do not affect what a server writes. */
const harmless: ReadonlySet<string> = new Set([
  'bind-address',
  'controllers',
  'deprecation-warnings',
  'log-format',
  'log-level',
  'secure-port',
]);

export interface TemplateRequest {
  readonly flags: readonly string[];
  readonly givenFlags: ReadonlySet<string>;
  readonly hasNodes: boolean;
  /** Stored name of leases. */
  readonly leases: string;
  readonly systemNamespace: string;
  /** Serves an empty, migrated database until it has every object that a server maintains, then stops. */
  readonly serveOnce: (databaseUrl: string) => Promise<void>;
}

/**
 * A database that a server with these flags has served before: the next one finds everything in place. Nothing that
 * distinguishes clusters remains: the identity of the system's namespace, leases, the mark of the database itself.
 */
export async function serverTemplate(request: TemplateRequest): Promise<DatabaseTemplate> {
  const migrated = await migratedTemplate();
  if ([...request.givenFlags].some((flag) => !deciding.has(flag) && !harmless.has(flag))) return migrated;
  const flags = request.flags.filter((flag) => deciding.has(/^-*([^=]*)/.exec(flag)?.[1] ?? ''));
  const key = JSON.stringify([migrated.name, await buildOf(), request.hasNodes, [...flags].sort()]);
  return {
    name: `served_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`,
    prepare: async (databaseUrl) => {
      await migrated.prepare(databaseUrl);
      await request.serveOnce(databaseUrl);
      await forget(databaseUrl, request);
    },
  };
}

/** Identifies the build of the program. */
async function buildOf(): Promise<string> {
  const { size, mtimeMs } = await stat(fileURLToPath(import.meta.url));
  return `${size} ${mtimeMs}`;
}

async function forget(databaseUrl: string, { leases, systemNamespace }: TemplateRequest): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    for (const table of ['objects', 'changes']) {
      await client.query(
        `delete from plinth.${table} where resource = $1 or resource = 'serverleases.internal'
           or resource = 'namespaces' and name = $2`,
        [leases, systemNamespace],
      );
    }
    await client.query('update plinth.epoch set relation = null, database = null');
  });
}
