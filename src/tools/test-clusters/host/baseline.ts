import type { Client } from 'pg';
import { quoteText } from '../../../base/database/sql-text.js';

/** The result of a return to the baseline. */
export interface BaselineResult {
  readonly objects: number;
  /** The newest version of each stored resource that was changed. */
  readonly changes: ReadonlyMap<string, bigint>;
  /** Where the new epoch begins, if watches were ended. */
  readonly epochStart: bigint | undefined;
}

/** Objects that processes renew for themselves to show that they are alive: the present ones stay. */
export interface KeptObjects {
  /** Stored name of leases. */
  readonly leases: string;
  readonly namespaces: readonly string[];
  /** Stored names of resources that stay as a whole. */
  readonly resources: readonly string[];
}

interface RestoreRow {
  readonly objects: string;
  /** Versions as strings. */
  readonly changes: Readonly<Record<string, string>> | null;
  readonly epoch_start: string | null;
}

/** How far versions leap when watches have to end. */
const leap = 1000;

/**
 * The state that tests begin with, and the return to it: one transaction of ordinary changes under the writers' lock.
 * So a write of a client comes either before it and is undone, or after it and stays. Watches see the changes, object
 * by object, under new versions; nothing that a client knows is ever contradicted.
 */
export class Baseline {
  private readonly isKept: string;

  constructor(
    private readonly client: Client,
    kept: KeptObjects,
    /** Stored names of resources: objects that hold others are removed after them, and restored before. */
    private readonly holders: readonly string[],
  ) {
    const list = (texts: readonly string[]) => texts.map(quoteText).join(', ');
    this.isKept =
      `(x.resource = ${quoteText(kept.leases)} and x.namespace in (${list(kept.namespaces)})` +
      ` or x.resource in (${list(kept.resources)}))`;
  }

  /** Makes the present state the one to return to. */
  async capture(): Promise<void> {
    await this.inTransaction(async () => {
      await this.client.query('create schema if not exists plinth_testing');
      await this.client.query(
        `create unlogged table if not exists plinth_testing.baseline (
           like plinth.objects including storage, primary key (resource, namespace, name))`,
      );
      await this.client.query('truncate plinth_testing.baseline');
      await this.client.query(
        `insert into plinth_testing.baseline select x.* from plinth.objects x where not ${this.isKept}`,
      );
      await this.client.query('analyze plinth_testing.baseline');
      await this.client.query(this.restoreFunction);
    });
  }

  /** The newest version of a change that is not about a kept object; 0 before the first. */
  async newestChange(): Promise<bigint> {
    const { rows } = await this.client.query<{ version: string | null }>(
      `select resource_version as version from plinth.changes x where not ${this.isKept}
       order by resource_version desc limit 1`,
    );
    return BigInt(rows[0]?.version ?? 0);
  }

  /**
   * Brings back the state of the last capture.
   *
   * @param endWatches also begins a new epoch: watches end, and versions from before can't be read any more
   */
  async restore(endWatches: boolean): Promise<BaselineResult> {
    const { rows } = await this.client.query<RestoreRow>({
      name: 'restore',
      text: 'select objects, changes, epoch_start from plinth_testing.restore($1)',
      values: [endWatches],
    });
    const { objects = '0', changes = null, epoch_start: start = null } = rows[0] ?? {};
    return {
      objects: Number(objects),
      changes: new Map(Object.entries(changes ?? {}).map(([resource, version]) => [resource, BigInt(version)])),
      epochStart: start === null ? undefined : BigInt(start),
    };
  }

  private async inTransaction<T>(work: () => Promise<T>): Promise<T> {
    await this.client.query('begin');
    try {
      await this.client.query('lock table plinth.lock_writes in exclusive mode');
      const result = await work();
      await this.client.query('commit');
      return result;
    } catch (error) {
      await this.client.query('rollback').catch(() => undefined);
      throw error;
    }
  }

  private get rank(): string {
    const cases = this.holders.map((resource, at) => `when ${quoteText(resource)} then ${at + 1}`);
    return `case x.resource ${cases.join(' ')} else 0 end`;
  }

  /** A single call, so that no round trip happens while the lock of the writers is held. */
  private get restoreFunction(): string {
    return `
      create or replace function plinth_testing.restore(end_watches boolean)
      returns table (objects bigint, changes jsonb, epoch_start bigint)
      language plpgsql
      set jit = off
      as $$
      #variable_conflict use_column
      declare
        gone record;
        back record;
        newest bigint;
        start bigint;
      begin
        lock table plinth.lock_writes in exclusive mode;
        ${this.removal} into gone;
        ${this.restoration} into back;
        newest := greatest(gone.version, back.version);
        if newest is not null then
          perform pg_notify(e.channel, newest::text) from plinth.epoch e where e.singleton;
        end if;
        if end_watches then
          select f.head into start from plinth.fence(${leap}) f;
        end if;
        return query select gone.objects + back.objects,
          coalesce(gone.changes, '{}') || coalesce(back.changes, '{}'), start;
      end
      $$`;
  }

  /** SQL that removes the objects that the baseline does not have, or has under another identity. */
  private get removal(): string {
    return `
      with versioned as materialized (
        select x.*, nextval('plinth.resource_version') as version from (
          select x.* from plinth.objects x
          left join plinth_testing.baseline b
            on b.resource = x.resource and b.namespace = x.namespace and b.name = x.name and b.uid = x.uid
          where b.uid is null and not ${this.isKept}
          order by ${this.rank}, x.resource_version offset 0
        ) x
      ), deleted as (
        delete from plinth.objects o using versioned v
        where o.resource = v.resource and o.namespace = v.namespace and o.name = v.name
      ), logged as (
        insert into plinth.changes
          (resource_version, type, resource, namespace, name, uid, data, previous, previous_version, batch, at)
        select v.version, 2, v.resource, v.namespace, v.name, v.uid, v.data, v.data, v.resource_version,
          ${batch()}, clock_timestamp()
        from versioned v
      )
      select coalesce(sum(r.count), 0)::bigint as objects, max(r.version) as version,
        jsonb_object_agg(r.resource, r.version::text) as changes
      from (select v.resource, count(*), max(v.version) as version from versioned v group by v.resource) r`;
  }

  /** SQL that puts back the objects that are missing, or were changed. */
  private get restoration(): string {
    return `
      with versioned as materialized (
        select x.*, nextval('plinth.resource_version') as version from (
          select x.resource, x.namespace, x.name, x.uid, x.data,
            o.resource_version as live_version, o.data as live_data
          from plinth_testing.baseline x
          left join plinth.objects o on o.resource = x.resource and o.namespace = x.namespace and o.name = x.name
          where o.resource_version is distinct from x.resource_version
          order by ${this.rank} desc, x.resource_version offset 0
        ) x
      ), inserted as (
        insert into plinth.objects (resource, namespace, name, uid, resource_version, data)
        select v.resource, v.namespace, v.name, v.uid, v.version, v.data from versioned v where v.live_version is null
      ), updated as (
        update plinth.objects o set resource_version = v.version, data = v.data
        from versioned v
        where v.live_version is not null
          and o.resource = v.resource and o.namespace = v.namespace and o.name = v.name
      ), logged as (
        insert into plinth.changes
          (resource_version, type, resource, namespace, name, uid, data, previous, previous_version, batch, at)
        select v.version, case when v.live_version is null then 0 else 1 end, v.resource, v.namespace, v.name, v.uid,
          v.data, v.live_data, v.live_version, ${batch()}, clock_timestamp()
        from versioned v
      ), noted as (
        update plinth_testing.baseline b set resource_version = v.version
        from versioned v where b.resource = v.resource and b.namespace = v.namespace and b.name = v.name
      )
      select coalesce(sum(r.count), 0)::bigint as objects, max(r.version) as version,
        jsonb_object_agg(r.resource, r.version::text) as changes
      from (select v.resource, count(*), max(v.version) as version from versioned v group by v.resource) r`;
  }
}

/** The number for the batches of a return to the baseline, which no batch of a server has. */
function batch(): string {
  return '-1';
}
