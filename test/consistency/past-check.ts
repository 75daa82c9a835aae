import type { ChildProcess } from 'node:child_process';
import pg from 'pg';
import type { TestCluster } from '../e2e/support/test-cluster.js';
import type { Random } from '../support/random.js';
import { differenceOf } from './differences.js';
import { compareKeys, type Placed } from './history.js';
import { infoOf, versionOf } from './object-digest.js';
import type { Workbench } from './writers.js';

/** The flags of every process of a run with this check. */
export const pastFlags: readonly string[] = [
  '--sql-projection=tables',
  '--history-retention=24h',
  // Nothing is left out: the log is compared with the history, too.
  '--history-exclude=nothing',
];

/** A list as the API gave it. */
interface Listed {
  readonly resource: string;
  readonly version: number;
  readonly items: readonly Placed[];
}

interface ObjectRow {
  readonly namespace: string;
  readonly name: string;
  readonly resource_version: string;
  readonly object: unknown;
}

/**
 * Waits for rows end after this time; it is long, since a killed process has to be replaced, and a table may be filled
 * again.
 */
const waitFor = '90 seconds';

/**
 * Compares what SQL shows with lists of the API: the rows of the projection at the version of a list, and
 * `cluster.as_of` at the versions of this list and of all before it. Processes that maintain the rows are killed in
 * between, and changes are copied from the log to the history, where `as_of` finds them from then on.
 */
export class PastCheck {
  private readonly lists: Listed[] = [];
  private process: ChildProcess | undefined;

  constructor(
    private readonly cluster: TestCluster,
    private readonly bench: Workbench,
    private readonly random: Random,
  ) {
    this.start();
  }

  /** One round. Nothing else may write to the kinds of the run meanwhile. */
  async compareNow(): Promise<void> {
    const { bench, random } = this;
    await this.withDatabase(async (client) => {
      for (const { resource, path } of bench.kinds) {
        const answer = await bench.view.send(random.below(bench.view.size), 'GET', path(undefined), [200]);
        if (answer?.status !== 200) continue;
        const items = answer.body.items.map(placedIn(resource)) as Placed[];
        const listed = { resource, version: versionOf(answer.body), items };
        this.lists.push(listed);
        await this.compareRows(client, listed);
      }
    });
  }

  /** Compares all lists so far with the past, breaks something, and compares again. */
  async compareAll(): Promise<void> {
    await this.withDatabase((client) => this.comparePast(client));
    await this.disturb();
    await this.withDatabase((client) => this.comparePast(client));
  }

  private async disturb(): Promise<void> {
    const { bench, random } = this;
    await this.withDatabase(async (client) => {
      if (random.chance(0.5)) {
        bench.report.count('processes of the projection killed');
        this.process?.kill('SIGKILL');
        this.start();
      } else {
        bench.report.count('sessions of the projection ended');
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and application_name = 'plinth projection'`,
        );
      }
      if (random.chance(0.5)) await this.copy(client);
    });
  }

  /** Copies the changes so far to the history, as log upkeep does before it drops them. The log stays for the other checks. */
  private async copy(client: pg.Client): Promise<void> {
    await client.query(`select * from plinth.keep_changes('24 hours', '-1 second', 3)`);
    const { rows } = await client.query<{ copied: boolean }>(
      `select plinth.copy_to_history(p.lower) as copied from (
         select p.lower from plinth.change_partitions p where p.closed_at is not null order by p.lower) p`,
    );
    this.bench.report.count('partitions of the log in the history', rows.filter(({ copied }) => copied).length);
  }

  private async compareRows(client: pg.Client, listed: Listed): Promise<void> {
    const { report } = this.bench;
    const { resource, version } = listed;
    try {
      await client.query('select cluster.wait_for($1, $2::interval)', [version, waitFor]);
    } catch (error) {
      report.fail('rows-content', `the rows do not get there: ${String(error)}`, { resource, version });
      return;
    }
    const { rows: views } = await client.query<{ name: string; isOfRows: boolean }>(
      `select v.name, pg_get_viewdef(to_regclass(format('cluster.%I', v.name))) like '%rows\\_%' as "isOfRows"
       from plinth.sql_views v where v.resource = $1 order by length(v.name) limit 1`,
      [resource],
    );
    const [view] = views;
    if (view === undefined) {
      report.fail('rows-content', 'there is no view', { resource, version });
      return;
    }
    report.count(view.isOfRows ? 'comparisons with rows' : 'comparisons with views of objects');
    await this.compare(client, 'rows-content', listed, `select * from cluster.${pg.escapeIdentifier(view.name)}`, []);
  }

  private async comparePast(client: pg.Client): Promise<void> {
    for (const listed of this.lists) {
      const sql = 'select * from cluster.as_of($1, $2::bigint)';
      await this.compare(client, 'past-content', listed, sql, [listed.resource, listed.version]);
    }
  }

  private async compare(
    client: pg.Client,
    check: 'rows-content' | 'past-content',
    { resource, version, items }: Listed,
    sql: string,
    values: readonly unknown[],
  ): Promise<void> {
    const { report } = this.bench;
    const { rows } = await client.query<ObjectRow>(sql, [...values]);
    const shown = rows.map(({ namespace, name, resource_version, object }) => ({
      key: { resource, namespace, name },
      version: Number(resource_version),
      info: infoOf(object),
    }));
    const problem = differenceOf(
      items,
      shown.toSorted((a, b) => compareKeys(a.key, b.key)),
    );
    if (problem === undefined) report.pass(check);
    else report.fail(check, problem, { resource, version, listed: items.length, shown: shown.length });
  }

  private start(): void {
    this.process = this.cluster.startControllers(['--controllers=sql-views,sql-projection', ...pastFlags]);
  }

  private async withDatabase(work: (client: pg.Client) => Promise<void>): Promise<void> {
    const connectionString = this.cluster.databaseUrl;
    const client = new pg.Client({ connectionString, application_name: 'consistency past' });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
    }
  }
}

function placedIn(resource: string) {
  return (item: { metadata: { namespace: string; name: string } }): Placed => ({
    key: { resource, namespace: item.metadata.namespace, name: item.metadata.name },
    version: versionOf(item),
    info: infoOf(item),
  });
}
