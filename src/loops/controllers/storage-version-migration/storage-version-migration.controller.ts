import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { Condition } from '../../../objects/apis/meta/v1/condition.types.js';
import type { StorageVersionMigration } from '../../../objects/apis/storagemigration/v1/storage-version-migration.types.js';
import { mostPageBytes } from '../../../storage/page-size.js';
import type { ListPosition, StoredObject } from '../../../storage/storage.interface.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { ownKey, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';

type Migration = StorageVersionMigration & ApiObject;

/** How long the resource of a new migration may take to appear. */
const patienceMs = 60_000;
const retryMs = 5_000;
const pageSize = 200;

/** What keeps a migration from ever succeeding. */
class Hopeless extends Error {}

/**
 * Carries out StorageVersionMigrations: every object of the resource that was written before is written again, in its
 * present form and through admission. One migration of a resource runs at a time, the oldest first.
 */
export class StorageVersionMigrationController extends ReconcileLoop {
  readonly name = 'storage-version-migrator-controller';
  private readonly migrations = this.informer<Migration>('storagemigration', 'storageversionmigrations');

  protected sources(): readonly Source[] {
    return [
      source(this.migrations, (migration, old) => {
        // The next migration of the resource begins when the previous one ends.
        const of = (migration ?? old) as Migration;
        return [...ownKey(migration, old), ...this.ofResource(of).map(({ metadata }) => metadata.name ?? '')];
      }),
    ];
  }

  private ofResource({ spec }: Migration): readonly Migration[] {
    const { group = '', resource } = spec.resource;
    return [...this.migrations.all()].filter(({ spec: { resource: other } }) => {
      return (other.group ?? '') === group && other.resource === resource;
    });
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const migration = this.migrations.get('', name);
    if (migration === undefined || isOver(migration) || !this.isNext(migration)) return 'done';
    try {
      return await this.migrate(migration, work);
    } catch (error) {
      if (!(error instanceof Hopeless)) throw error;
      await this.end(migration, work, {
        type: 'Failed',
        reason: 'StorageVersionMigrationFailed',
        message: error.message,
      });
      return 'done';
    }
  }

  /** Whether no other migration of the resource goes first. */
  private isNext(migration: Migration): boolean {
    if (hasTrue(migration, 'Running')) return true;
    const rivals = this.ofResource(migration).filter((each) => each !== migration && !isOver(each));
    return !rivals.some((rival) => hasTrue(rival, 'Running') || isBefore(rival, migration));
  }

  private async migrate(migration: Migration, work: ReconcileContext): Promise<WorkOutcome> {
    const { group = '', resource } = migration.spec.resource;
    const { storage, registry, timers } = this.dependencies;
    const found = registry.findStored(formatGroupResource({ group, resource }));
    if (found === undefined) {
      if (Date.parse(migration.metadata.creationTimestamp ?? '') + patienceMs > timers.now()) return retryMs;
      throw new Hopeless('resource does not exist in discovery');
    }
    if (!hasTrue(migration, 'Running')) {
      await this.report(migration, work, {
        type: 'Running',
        reason: 'MigrationRunning',
        message: 'The migration is running',
      });
    }
    let until = migration.status.resourceVersion ?? '';
    if (until === '') {
      const { resourceVersion } = await storage.list({ resource: found.storageResource, limit: 1 });
      until = String(resourceVersion);
      await this.update(migration, work, (live) => {
        live.status.resourceVersion = until;
      });
    }
    await this.rewriteAll(found.storageResource, { group, resource }, BigInt(until), work);
    await this.end(migration, work, {
      type: 'Succeeded',
      reason: 'StorageVersionMigrationSucceeded',
      message: 'Migration completed',
    });
    return 'done';
  }

  private async rewriteAll(
    storageResource: string,
    resource: { readonly group: string; readonly resource: string },
    until: bigint,
    work: ReconcileContext,
  ): Promise<void> {
    const { storage } = this.dependencies;
    let after: ListPosition | undefined;
    while (!work.signal.aborted) {
      const page = await storage.list({ resource: storageResource, after, limit: pageSize, pageBytes: mostPageBytes });
      for (const item of page.items) {
        if (item.resourceVersion <= until) await this.rewrite(item, resource, work);
      }
      const last = page.items.at(-1)?.key;
      if (!page.more || last === undefined) return;
      after = { namespace: last.namespace, name: last.name };
    }
    throw new Error('the migration was interrupted');
  }

  private async rewrite(
    { key, uid }: StoredObject,
    resource: { readonly group: string; readonly resource: string },
    work: ReconcileContext,
  ): Promise<void> {
    const { namespace, name } = key;
    const object = { kind: '', apiVersion: '', metadata: { namespace, name, uid } } as ApiObject;
    try {
      // The write changes only the stored form, and only where it is not the current one.
      await this.dependencies.client.of(resource).update(work, object, (live) => live);
    } catch (error) {
      // Any other write migrates the object as well.
      if (error instanceof StatusError && (error.reason === 'Conflict' || error.reason === 'NotFound')) return;
      if (!(error instanceof StatusError) || error.code >= 500 || error.code === 429) throw error;
      throw new Hopeless(`migration encountered unhandled error: ${error.message}`);
    }
  }

  private async report(
    migration: Migration,
    work: ReconcileContext,
    { type, reason, message }: { readonly type: string; readonly reason: string; readonly message: string },
    status: 'True' | 'False' = 'True',
  ): Promise<void> {
    await this.update(migration, work, (live) => setCondition(live, { type, status, reason, message }, this.now));
  }

  /** Writes the final conditions of a migration. */
  private async end(
    migration: Migration,
    work: ReconcileContext,
    outcome: { readonly type: string; readonly reason: string; readonly message: string },
  ): Promise<void> {
    const { type, reason, message } = outcome;
    await this.update(migration, work, (live) => {
      const done = {
        type: 'Running',
        status: 'False',
        reason: 'MigrationCompleted',
        message: 'Migration completed',
      } as const;
      if (hasTrue(live, 'Running')) setCondition(live, done, this.now);
      setCondition(live, { type, status: 'True', reason, message }, this.now);
    });
  }

  private get now(): string {
    return formatTime(this.dependencies.timers.now());
  }

  private async update(migration: Migration, work: ReconcileContext, change: (live: Migration) => void): Promise<void> {
    const client = this.client<Migration>('storagemigration', 'storageversionmigrations');
    await client.updateStatus(work, migration, (live) => {
      if (isOver(live)) return undefined;
      change(live);
      return live;
    });
  }
}

function hasTrue({ status }: Migration, type: string): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True');
}

function isOver(migration: Migration): boolean {
  return hasTrue(migration, 'Succeeded') || hasTrue(migration, 'Failed');
}

function isBefore({ metadata: a }: Migration, { metadata: b }: Migration): boolean {
  const [one = '', other = ''] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return one === other ? (a.name ?? '') < (b.name ?? '') : one < other;
}

function setCondition(
  { metadata, status }: Migration,
  condition: {
    readonly type: string;
    readonly status: 'True' | 'False';
    readonly reason: string;
    readonly message: string;
  },
  lastTransitionTime: string,
): void {
  const made = { ...condition, observedGeneration: metadata.generation, lastTransitionTime } as unknown as Condition;
  const conditions = status.conditions ?? [];
  const i = conditions.findIndex(({ type }) => type === condition.type);
  if (i < 0) conditions.push(made);
  else conditions[i] = made;
  status.conditions = conditions;
}
