import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments, stringify } from 'yaml';
import { eventually, TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { endWithUs } from '../support/child-guard.js';
import { freePort } from '../support/ports.js';
import type { TestStandby } from '../support/test-postgres.js';

/*
 * Every query of the dashboard and every alert, asked of a Prometheus that reads a server, its control loops and a database
 * with a read replica. Needs Debian's prometheus, and Helm on the PATH.
 */

const root = join(import.meta.dirname, '../../..');
const maps = '/api/v1/namespaces/default/configmaps';
/** What these show does not happen here. */
const mayBeEmpty = new Set(['Requests refused', 'Errors of the database', 'Repeated work', 'Waiting entries']);
/** Alerts that a busy machine meets for a moment; they are sent only when it lasts for minutes. */
const onBusyMachines = new Set(['PlinthEventLoopBlocked', 'PlinthRequestsAreSlow', 'PlinthLoopsFallBehind']);

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}
interface Rule {
  readonly alert: string;
  readonly expr: string;
}

let cluster: TestCluster;
let standby: TestStandby;
let folder: string;
let prometheus: ChildProcess;
let url: string;
let isOver = false;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-prometheus-'));
  const metricsPort = await freePort();
  cluster = await TestCluster.start({
    servers: 1,
    flags: ['--history-retention=1h'],
    controllers: true,
    controllerFlags: [`--controllers-metrics-bind-address=127.0.0.1:${metricsPort}`, '--history-retention=1h'],
  });
  standby = await cluster.postgres.createStandby();
  await standby.caughtUp();
  const replica = new URL(cluster.databaseUrl);
  replica.port = String(standby.port);
  const reader = await cluster.addServer(undefined, ['--history-retention=1h', `--read-database-url=${replica.href}`]);
  const target = (server: string) => new URL(server).host;
  const job = (name: string, more: object, targets: readonly string[]) => ({
    job_name: name,
    scrape_interval: '1s',
    ...more,
    static_configs: [{ targets }],
  });
  const secure = {
    scheme: 'https',
    authorization: { credentials: tokens.admin },
    tls_config: { ca_file: cluster.pki.authorityFile },
  };
  const config = {
    scrape_configs: [
      job('kube-apiserver', secure, [target(cluster.first.url), target(reader.url)]),
      job('kube-controller-manager', {}, [`127.0.0.1:${metricsPort}`]),
    ],
  };
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  endWithUs(prometheus);
  const isUp = async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok;
  await eventually(isUp, 'prometheus is ready');
  void traffic();
});
after(async () => {
  isOver = true;
  prometheus?.kill('SIGKILL');
  await cluster?.stop();
  await standby?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Requests of every kind until the end: a rate needs two scrapes. */
async function traffic(): Promise<void> {
  for (let i = 0; !isOver; i++) {
    for (const { client } of cluster.servers) {
      await client.post(maps, { metadata: { name: `a${i}-${client.url.slice(-5)}` } }).catch(() => undefined);
      await client.get(`${maps}?limit=2`).catch(() => undefined);
      await client.get(`${maps}/missing`).catch(() => undefined);
    }
  }
}

async function ask(expression: string): Promise<readonly unknown[]> {
  const answer = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expression)}`);
  const { status, error, data } = (await answer.json()) as {
    readonly status: string;
    readonly error?: string;
    readonly data?: { readonly result: readonly unknown[] };
  };
  assert.equal(status, 'success', `${expression}: ${error}`);
  return data?.result ?? [];
}

describe('in a Prometheus', () => {
  const { panels } = JSON.parse(readFileSync(join(root, 'charts/plinth/dashboards/plinth.json'), 'utf8')) as {
    readonly panels: readonly Panel[];
  };

  for (const { title, targets = [] } of panels) {
    for (const [i, { expr }] of targets.entries()) {
      it(`the dashboard's "${title}"${i === 0 ? '' : ` (${i + 1})`} has an answer`, async () => {
        const expression = expr
          .replaceAll('$server_job', 'kube-apiserver')
          .replaceAll('$loops_job', 'kube-controller-manager')
          .replaceAll('$__rate_interval', '1m');
        assert.doesNotMatch(expression, /\$/);
        const isThere = async () => (await ask(expression)).length > 0 || mayBeEmpty.has(title);
        // What upkeep of the database finds comes with its next round.
        await eventually(isThere, `an answer to ${expression}`, 180_000);
      });
    }
  }

  it('the alerts are rules that it takes, and none is met while all is well', async () => {
    const rendered = spawnSync(
      'helm',
      ['template', 'x', 'charts/plinth', '--set=database.existingSecret=d', '--set=prometheusRule.enabled=true'].concat(
        '--kube-version=1.33.0',
      ),
      { cwd: root, encoding: 'utf8' },
    );
    assert.equal(rendered.status, 0, rendered.stderr || String(rendered.error));
    const documents = parseAllDocuments(rendered.stdout).map((one) => one.toJS() as Record<string, unknown> | null);
    const found = documents.find((one) => one?.kind === 'PrometheusRule') as {
      readonly spec: { readonly groups: readonly { readonly rules: readonly Rule[] }[] };
    };
    const file = join(folder, 'rules.yml');
    writeFileSync(file, stringify(found.spec));
    const checked = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    assert.equal(checked.status, 0, checked.stdout + checked.stderr);
    const rules = found.spec.groups.flatMap((group) => group.rules);
    assert.ok(rules.length >= 15);
    const met = [];
    for (const { alert, expr } of rules) if ((await ask(expr)).length > 0) met.push(alert);
    assert.deepEqual(
      met.filter((alert) => !onBusyMachines.has(alert)),
      [],
    );
  });
});
