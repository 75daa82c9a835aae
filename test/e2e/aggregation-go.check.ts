/**
 * Runs an unmodified aggregated server of the Go library behind Plinth: the test adapter of
 * `sigs.k8s.io/custom-metrics-apiserver`. Needs `go` and its module proxy: `npm run check:aggregation`. The server checks
 * the certificate of Plinth against the config map that Plinth publishes, and asks it about the rights of users.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { endWithUs } from '../support/child-guard.js';
import { freePort } from '../support/ports.js';
import { TestIdentity } from '../support/test-authority.js';
import { eventually, TestCluster, tokens } from './support/test-cluster.js';

const module = 'sigs.k8s.io/custom-metrics-apiserver';
const moduleVersion = 'v1.37.0';
const groupVersion = 'custom.metrics.k8s.io/v1beta2';
let cluster: TestCluster;
let log = '';
let adapter: ChildProcess | undefined;

/** Builds the server once. PLINTH_GO_FOLDER keeps what it was built from. */
function build(): string {
  const folder = process.env.PLINTH_GO_FOLDER ?? join(tmpdir(), 'plinth-aggregation-go');
  const program = join(folder, 'test-adapter');
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'go.mod'), 'module example.com/aggregated\n\ngo 1.25\n');
  const go = (...args: string[]) =>
    execFileSync('go', args, { cwd: folder, stdio: 'inherit', env: { ...process.env, GOFLAGS: '-mod=mod' } });
  go('get', `${module}@${moduleVersion}`);
  go('build', '-p', '1', '-o', program, `${module}/test-adapter`);
  return program;
}

before(async () => {
  const program = build();
  const directory = mkdtempSync(join(tmpdir(), 'plinth-go-'));
  const proxies = await TestIdentity.root('proxies');
  const proxy = await proxies.issue({ subject: [{ CN: ['front-proxy'] }] });
  const file = (name: string, text: string) => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const port = await freePort();
  const reach = [
    '--compat=kubernetes',
    `--proxy-client-cert-file=${file('proxy.crt', proxy.chain)}`,
    `--proxy-client-key-file=${file('proxy.key', proxy.key)}`,
    `--admission-webhook-service-addresses=custom-metrics/adapter=127.0.0.1:${port}`,
  ];
  cluster = await TestCluster.start({
    flags: [
      ...reach,
      '--authorization-mode=RBAC',
      `--requestheader-client-ca-file=${file('proxies.crt', proxies.cert)}`,
      '--requestheader-allowed-names=front-proxy',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ],
    controllers: true,
    accounts: false,
    controllerFlags: reach,
  });
  const { kubeconfig } = cluster.first;
  const child = spawn(program, [
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${directory}`,
    `--lister-kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--v=2',
  ]);
  adapter = child;
  endWithUs(child);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      log += chunk.toString('utf8');
    });
  }
});
after(async () => {
  if (process.env.PLINTH_SHOW_LOG) process.stderr.write(log);
  adapter?.kill('SIGKILL');
  await cluster?.stop();
});

it('a server of the Go library is available, discovered and asked, and checks the rights of users here', async () => {
  const { client } = cluster.first;
  const name = 'v1beta2.custom.metrics.k8s.io';
  const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/${name}`;
  const made = await client.post('/apis/apiregistration.k8s.io/v1/apiservices', {
    metadata: { name },
    spec: {
      group: 'custom.metrics.k8s.io',
      version: 'v1beta2',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { namespace: 'custom-metrics', name: 'adapter' },
    },
  });
  assert.equal(made.status, 201, made.text);
  await eventually(async () => {
    const { body } = await client.get(apiService);
    return body.status?.conditions?.[0]?.reason === 'Passed';
  }, 'the server to be available').catch((error: unknown) => assert.fail(`${error}\n${log}`));
  await eventually(
    async () => (await cluster.second.client.get(`/apis/${groupVersion}`)).status === 200,
    'all to know',
  );
  const resources = await cluster.second.client.get(`/apis/${groupVersion}`);
  assert.equal(resources.body.groupVersion, groupVersion);

  // The adapter takes metrics by POST below /write-metrics, which is not an API: request a metric that nobody wrote.
  const metric = `/apis/${groupVersion}/namespaces/default/services/web/requests`;
  const asAdmin = await client.get(metric);
  assert.equal(asAdmin.status, 404, asAdmin.text);
  assert.match(asAdmin.body.message, /custom-metrics|not find|not found/i);
  // Alice may, by a role here. The server asks Plinth about her once more.
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: ['custom.metrics.k8s.io'], resources: ['*'], verbs: ['*'] }];
  assert.equal((await client.post(`${rbac}/clusterroles`, { metadata: { name: 'metrics' }, rules })).status, 201);
  const bound = await client.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'metrics' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'metrics' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  });
  assert.equal(bound.status, 201, bound.text);
  await eventually(async () => (await client.get(metric, { token: tokens.alice })).status === 404, 'what alice may');
  // Bob may not: Plinth refuses him before the server would.
  assert.equal((await client.get(metric, { token: tokens.bob })).status, 403);

  const v3 = await eventually(
    async () => (await client.get('/openapi/v3')).body.paths[`apis/${groupVersion}`]?.serverRelativeURL as string,
    'the OpenAPI document',
  );
  assert.equal((await client.get(v3)).body.openapi?.slice(0, 2), '3.');
  const v2 = await client.get('/openapi/v2');
  process.stdout.write(
    `discovered: ${JSON.stringify(resources.body.resources?.length)} resources; OpenAPI 2 has ${
      Object.keys(v2.body.paths).filter((path) => path.startsWith(`/apis/${groupVersion}`)).length
    } paths of it\n`,
  );
});
