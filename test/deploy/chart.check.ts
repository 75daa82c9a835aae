import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ensurePki } from '../../src/tools/cli/pki/pki.js';
import { ensureServiceAccountKey } from '../../src/tools/cli/pki/service-account-key.js';
import { ApiClient } from '../e2e/support/api-client.js';
import { Kubectl } from '../e2e/support/kubectl.js';
import { NodeProcess } from '../e2e/support/node-process.js';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { unlessThere } from '../support/needs.js';
import { freePort } from '../support/ports.js';
import { TlsPostgres, tlsHost } from '../support/tls-postgres.js';
import { PodContainer, type PodSpec } from './pod-container.js';

// The chart with Helm itself, which must be on the PATH: linted, rendered, and installed in Plinth with simulated nodes.

const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'charts/plinth');
const supported = '--kube-version=1.33.0';
const mode = '--authorization-mode=Node,RBAC';

let cluster: TestCluster;
let nodes: NodeProcess;
let kubectl: Kubectl;
let folder: string;

function helm(...args: readonly string[]): { readonly code: number | null; readonly output: string } {
  const { status, stdout, stderr, error } = spawnSync('helm', args, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: folder, KUBECONFIG: cluster?.first.kubeconfig },
    encoding: 'utf8',
    timeout: 180_000,
  });
  if (error !== undefined) throw new Error('Helm 3 must be on the PATH', { cause: error });
  return { code: status, output: `${stdout}${stderr}` };
}

function mustHelm(...args: readonly string[]): string {
  const { code, output } = helm(...args);
  assert.equal(code, 0, output);
  return output;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-chart-'));
  cluster = await TestCluster.start({ servers: 1, flags: [mode], controllers: true, controllerFlags: [mode] });
  kubectl = new Kubectl(cluster.first.kubeconfig);
  nodes = await NodeProcess.start([`--kubeconfig=${cluster.first.kubeconfig}`, '--count=3']);
});
after(async () => {
  await nodes?.stop();
  await cluster?.stop();
  await rm(folder, { recursive: true });
});

async function makeSecrets(namespace: string, url = 'postgresql://u:p@db/plinth'): Promise<void> {
  kubectl.ok(['create', 'namespace', namespace]);
  kubectl.ok(['-n', namespace, 'create', 'secret', 'generic', 'plinth-database', `--from-literal=url=${url}`]);
  const clock = { now: () => Date.now() };
  await ensurePki({ directory: folder, bindAddress: '0.0.0.0', serviceClusterIpRange: '10.0.0.0/16', clock });
  await ensureServiceAccountKey(folder);
  const files = (await readdir(folder)).filter((name) => /\.(crt|key)$/.test(name));
  kubectl.ok([
    '-n',
    namespace,
    'create',
    'secret',
    'generic',
    'plinth-pki',
    ...files.map((name) => `--from-file=${join(folder, name)}`),
  ]);
}

const isAvailable = (namespace: string) => {
  const { items } = JSON.parse(kubectl.ok(['-n', namespace, 'get', 'deployments', '-o', 'json'])) as {
    readonly items: readonly {
      readonly spec: { readonly replicas: number };
      readonly status: { readonly availableReplicas?: number };
    }[];
  };
  return items.length === 2 && items.every(({ spec, status }) => status.availableReplicas === spec.replicas);
};

describe('the chart', () => {
  it('is without fault for the linter, with the least and with all values', () => {
    for (const values of ['secret', 'all']) {
      const output = mustHelm('lint', '--strict', chart, supported, `--values=${chart}/ci/${values}-values.yaml`);
      assert.match(output, /1 chart\(s\) linted, 0 chart\(s\) failed/);
    }
  });

  it('refuses wrong values and says which', () => {
    const least = ['template', 'x', chart, supported];
    for (const [flags, expected] of [
      [[], /existingSecret/],
      [['--set=database.url=mysql://x'], /database/],
      [['--set=database.existingSecret=d', '--set=serve.replicas=0'], /replicas/],
      [['--set=database.existingSecret=d', '--set=serve.replica=3'], /replica/],
      [['--set=database.existingSecret=d', '--set=serve.antiAffinity=maybe'], /antiAffinity/],
      [['--set=database.existingSecret=d', '--set=serviceMonitor.enabled=true'], /tokenSecret is needed/],
      [['--set=database.existingSecret=d', '--set=console.enabled=true'], /tlsSecret is needed/],
      [['--set=database.existingSecret=d', '--set=console.origins[0]=http://x'], /origins/],
      [['--set=database.existingSecret=d', '--set=certificates.existingSecret='], /certificates/],
      [['--set=database.existingSecret=d', '--set=configuration.auditPolicies=x'], /auditPolicies/],
    ] as const) {
      const { code, output } = helm(...least, ...flags);
      assert.notEqual(code, 0, output);
      assert.match(output, expected);
    }
  });

  it('is what deploy/plinth.yaml says', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/manifests.js', '--check'], {
      cwd: root,
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });

  it('has the version of the program', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { readonly version: string };
    const text = await readFile(join(chart, 'Chart.yaml'), 'utf8');
    assert.match(text, new RegExp(`^version: ${version}$`, 'm'));
    assert.match(text, new RegExp(`^appVersion: ${version}$`, 'm'));
  });
});

describe('in a cluster of Plinth with simulated nodes', () => {
  it('the manifests become ready, on different nodes', async () => {
    await makeSecrets('plain');
    kubectl.ok(['-n', 'plain', 'apply', '-f', 'deploy/plinth.yaml']);
    await eventually(() => isAvailable('plain'), 'the deployments are available', 60_000);
    kubectl.ok(['-n', 'plain', 'wait', '--for=condition=complete', 'job/plinth-migrate', '--timeout=60s']);
    const names = kubectl.ok([
      '-n',
      'plain',
      'get',
      'pods',
      '-l',
      'app.kubernetes.io/component=serve',
      '-o',
      'jsonpath={.items[*].spec.nodeName}',
    ]);
    assert.equal(new Set(names.split(' ')).size, 2, names);
    await eventually(
      () =>
        kubectl.ok(['-n', 'plain', 'get', 'pdb', 'plinth-serve', '-o', 'jsonpath={.status.disruptionsAllowed}']) ===
        '1',
      'one pod may be disrupted',
    );
    await eventually(
      () =>
        kubectl
          .ok(['-n', 'plain', 'get', 'endpoints', 'plinth', '-o', 'jsonpath={.subsets[*].addresses[*].ip}'])
          .split(' ').length === 2,
      'the service has two addresses',
    );
  });

  it('the manifests change nothing when they are applied again', async () => {
    const versions = () =>
      kubectl.ok([
        '-n',
        'plain',
        'get',
        'networkpolicies,pdb,sa,services',
        '-o',
        'jsonpath={.items[*].metadata.resourceVersion}',
      ]);
    const generations = () =>
      kubectl.ok(['-n', 'plain', 'get', 'deployments,jobs', '-o', 'jsonpath={.items[*].metadata.generation}']);
    await eventually(
      () =>
        kubectl.ok(['-n', 'plain', 'get', 'pdb', 'plinth-serve', '-o', 'jsonpath={.status.currentHealthy}']) === '2',
      'the budget has counted its pods',
    );
    const before = [versions(), generations()];
    const said = kubectl.ok(['-n', 'plain', 'apply', '-f', 'deploy/plinth.yaml']);
    const others = said
      .trim()
      .split('\n')
      .filter((line) => !line.endsWith(' unchanged'));
    // kubectl always sends the selector of a budget, which a patch replaces as a whole, and reports that.
    assert.deepEqual(others, ['poddisruptionbudget.policy/plinth-serve configured']);
    assert.deepEqual([versions(), generations()], before);
    const modes = kubectl.ok(['-n', 'plain', 'get', 'deployments', '-o', 'jsonpath={..secret.defaultMode}']);
    const octal = new Set(modes.split(' ').map((mode) => Number(mode).toString(8)));
    assert.deepEqual([...octal], ['440']);
  });

  it('helm installs, tests, upgrades, rolls back and removes it', async () => {
    await makeSecrets('charted');
    const values = ['--namespace=charted', '--set=database.existingSecret=plinth-database', '--wait', '--timeout=120s'];
    const installed = mustHelm('install', 'plinth', chart, ...values);
    assert.match(installed, /STATUS: deployed/);
    assert.match(installed, /https:\/\/plinth\.charted\.svc:6443/);
    assert.ok(isAvailable('charted'));
    // The migration is a hook that is removed when it is done.
    assert.equal(kubectl.ok(['-n', 'charted', 'get', 'jobs', '-o', 'name']), '');
    assert.match(mustHelm('test', 'plinth', '--namespace=charted', '--timeout=60s'), /Phase:\s+Succeeded/);
    mustHelm('upgrade', 'plinth', chart, ...values, '--set=serve.replicas=3', '--set=serve.antiAffinity=hard');
    assert.ok(isAvailable('charted'));
    const pods = kubectl.ok(['-n', 'charted', 'get', 'pods', '-l', 'app.kubernetes.io/component=serve', '-o', 'name']);
    assert.equal(pods.trim().split('\n').length, 3);
    mustHelm('rollback', 'plinth', '1', '--namespace=charted', '--wait', '--timeout=120s');
    mustHelm('uninstall', 'plinth', '--namespace=charted', '--wait', '--timeout=60s');
    assert.equal(kubectl.ok(['-n', 'charted', 'get', 'deployments', '-o', 'name']), '');
  });

  it('its processes serve on a database that takes nobody without TLS, with sslmode=verify-full', async (t) => {
    const missing = unlessThere('the processes of a chart in their volumes', ['root', 'unshare']);
    if (missing !== false) return t.skip(missing);
    const database = await TlsPostgres.start();
    const running: PodContainer[] = [];
    try {
      await database.addAccount('charted');
      await database.sql(`alter role charted password 'right'`);
      const port = database.postgres.port;
      const tls = 'sslmode=verify-full&sslrootcert=/etc/plinth-database/authority/ca.crt';
      await makeSecrets('verified', `postgresql://charted:right@${tlsHost}:${port}/charted?${tls}`);
      kubectl.ok([
        ...['-n', 'verified', 'create', 'configmap', 'database-authority'],
        `--from-file=ca.crt=${database.authorityFile}`,
      ]);
      const [apiPort, metricsPort] = [await freePort(), await freePort()];
      mustHelm(
        ...['install', 'plinth', chart, '--namespace=verified', '--wait', '--timeout=120s'],
        ...[
          '--set=database.existingSecret=plinth-database',
          '--set=database.authority.existingConfigMap=database-authority',
        ],
        `--set=serve.extraFlags={--secure-port=${apiPort}}`,
        `--set=controllers.extraFlags={--controllers-metrics-bind-address=127.0.0.1:${metricsPort}}`,
      );
      const hooks = parseAllDocuments(mustHelm('get', 'hooks', 'plinth', '--namespace=verified')).map((one) =>
        one.toJS(),
      );
      const migrate = hooks.find(({ kind }) => kind === 'Job').spec.template.spec as PodSpec;
      const run = (spec: PodSpec): PodContainer => {
        const container = PodContainer.start(kubectl, 'verified', spec, '127.0.0.1');
        running.push(container);
        return container;
      };
      const migration = run(migrate);
      assert.equal(await migration.ended, 0, migration.log);
      const [serve, loops] = ['serve', 'controllers'].map((component) => {
        const pods = kubectl.ok([
          ...['-n', 'verified', 'get', 'pods', '-l', `app.kubernetes.io/component=${component}`, '-o', 'json'],
        ]);
        return run(JSON.parse(pods).items[0].spec as PodSpec);
      }) as [PodContainer, PodContainer];
      const ca = await readFile(join(folder, 'ca.crt'), 'utf8');
      const api = new ApiClient(`https://127.0.0.1:${apiPort}`, { ca });
      const isReady = async () => {
        assert.ok(serve.isRunning, serve.log);
        return (await api.get('/readyz').catch(() => undefined))?.status === 200;
      };
      await eventually(isReady, 'the API is ready');
      const loopsReady = async () => {
        assert.ok(loops.isRunning, loops.log);
        return (await fetch(`http://127.0.0.1:${metricsPort}/readyz`).catch(() => undefined))?.status === 200;
      };
      await eventually(loopsReady, 'the control loops are ready');
      const kinds = await database.sql(
        `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where usename = 'charted'`,
      );
      assert.deepEqual(kinds, [{ ssl: true }]);
      assert.doesNotMatch(serve.log + loops.log, /in the clear|nobody checks/);
      api.close();
    } finally {
      for (const container of running.reverse()) await container.stop();
      await database.stop();
    }
  });
});
