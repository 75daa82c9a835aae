import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { parseArgs } from 'node:util';
import { Registry } from 'prom-client';
import { AuthenticationOptions } from '../src/base/config/authentication.options.js';
import { defaultFeatureGates } from '../src/base/config/feature-gates.js';
import { parseOptions } from '../src/base/config/parse-options.js';
import { systemClock } from '../src/base/machinery/clock.js';
import { groupName, vendorNames } from '../src/base/machinery/vendor.js';
import { Logger } from '../src/base/observability/logger.js';
import type { ClusterRole } from '../src/objects/apis/rbac/v1/role.types.js';
import type { RoleBinding } from '../src/objects/apis/rbac/v1/role-binding.types.js';
import { ResourceRegistry } from '../src/objects/registry/resource-registry.js';
import { AuthenticationGuard } from '../src/server/authentication/authentication.guard.js';
import { buildAuthentication } from '../src/server/authentication/build-authentication.js';
import { ImpersonationGuard } from '../src/server/authentication/impersonation/impersonation.guard.js';
import { checkProxyAuthorities } from '../src/server/authentication/request-header/build-request-header.js';
import { TlsFiles } from '../src/server/authentication/x509/tls-files.js';
import { AuthorizationGuard } from '../src/server/authorization/authorization.guard.js';
import { AuthorizationMetrics } from '../src/server/authorization/authorization-metrics.js';
import { PrivilegedGroupAuthorizer } from '../src/server/authorization/privileged-group.authorizer.js';
import { bootstrapPolicy } from '../src/server/authorization/rbac/bootstrap/bootstrap-policy.js';
import { PolicyIndex } from '../src/server/authorization/rbac/policy-index.js';
import { RbacAuthorizer } from '../src/server/authorization/rbac/rbac.authorizer.js';
import { UnionAuthorizer } from '../src/server/authorization/union.authorizer.js';
import { HttpRequestContext } from '../src/server/endpoints/request-info/http-request-context.js';
import { createPostgresStorage } from '../src/storage/postgres/postgres-storage.js';
import { TestIdentity } from '../test/support/test-authority.js';
import { startTestPostgres } from '../test/support/test-postgres.js';

/*
 * The cost of passing the three guards for a request from a known sender: making the context, finding out who sent it,
 * impersonation that isn't requested, and RBAC with 10,000 bindings. All methods of authentication are on, as in a real
 * process. Prints one JSON line per kind of credentials, and fails when the median is not below the target.
 */

const { values: flags } = parseArgs({
  options: { bindings: { type: 'string', default: '10000' }, requests: { type: 'string', default: '100000' } },
});
const requests = Number(flags.requests);
const targetUs = 30;

const names = vendorNames('k8s.io');
const group = groupName('rbac', names);

/** Each subject has bindings among those of 2,000 others. */
function policy(subjects: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[]) {
  const index = new PolicyIndex();
  const bootstrap = bootstrapPolicy(names);
  for (const role of bootstrap.clusterRoles) index.setRole(role, 'ClusterRole');
  for (const binding of bootstrap.clusterRoleBindings) index.setBinding(binding);
  const rules = [{ verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['pods', 'services'] }];
  index.setRole({ metadata: { name: 'reader' }, rules } as unknown as ClusterRole, 'ClusterRole');
  for (let i = 0; i < Number(flags.bindings); i++) {
    const metadata = { name: `binding-${i}`, namespace: `ns-${i % 1000}` };
    const others = [{ kind: 'User', apiGroup: group, name: `user-${i % 2000}` }];
    const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'reader' };
    const all = i % 100 === 0 ? [...others, ...subjects] : others;
    index.setBinding({ metadata, subjects: all, roleRef } as unknown as RoleBinding);
  }
  return new UnionAuthorizer([new PrivilegedGroupAuthorizer(), new RbacAuthorizer(index, group)]);
}

/** The server's side of a connection with a client certificate. */
async function certifiedSocket(tls: TlsFiles, client: TestIdentity, ca: string): Promise<[TLSSocket, () => void]> {
  const server = createServer(tls.listenerOptions());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const socket = connect({
    port,
    host: '127.0.0.1',
    ca,
    cert: client.chain,
    key: client.key,
    checkServerIdentity: () => undefined,
  });
  const [peer] = await accepted;
  return [
    peer,
    () => {
      socket.destroy();
      peer.destroy();
      server.close();
    },
  ];
}

const directory = mkdtempSync(join(tmpdir(), 'plinth-bench-'));
const file = (name: string, text: string) => {
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const root = await TestIdentity.root('authority');
const serving = await root.issue({ subject: [{ CN: ['127.0.0.1'] }], usages: [] });
const proxies = await TestIdentity.root('proxies');
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const servingKeyFile = file('tls.key', serving.key);
const clientCaFile = file('ca.pem', root.cert);
const proxyCaFile = file('proxies.pem', proxies.cert);
const { authentication: options } = parseOptions({
  groups: { authentication: AuthenticationOptions },
  argv: [
    `--client-ca-file=${clientCaFile}`,
    `--requestheader-client-ca-file=${proxyCaFile}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--token-auth-file=${file('tokens.csv', Array.from({ length: 100 }, (_, i) => `token-${i},file-user-${i},uid-${i}`).join('\n'))}`,
    `--service-account-signing-key-file=${file('sa.key', String(key))}`,
    '--enable-bootstrap-token-auth',
  ],
  environment: {},
});

const postgres = await startTestPostgres();
const storage = await createPostgresStorage({ databaseUrl: await postgres.createTestDatabase() });
const logger = new Logger('error');
const tls = new TlsFiles(
  {
    certificate: file('tls.crt', serving.chain),
    privateKey: servingKeyFile,
    clientAuthorities: { client: clientCaFile, proxy: proxyCaFile },
  },
  (authorities) => checkProxyAuthorities(options, authorities),
  logger,
);
const authentication = buildAuthentication(options, {
  storage,
  registry: new ResourceRegistry(),
  names,
  clock: systemClock,
  logger,
  metrics: new Registry(),
  tls,
  servingKeyFile,
  processId: 'bench',
  secrets: () => {
    throw new Error('no token in a secret is used here');
  },
  keySetUrl: 'https://127.0.0.1/openid/v1/jwks',
});
await authentication.start();
const client = await root.issue({ subject: [{ CN: ['certified'] }] });
const [certified, closeConnection] = await certifiedSocket(tls, client, root.cert);
const plain = Object.assign(new Socket(), { getPeerCertificate: () => ({}) }) as unknown as TLSSocket;
let failed = false;
try {
  const metadata = { name: 'robot', namespace: 'ns-100', uid: 'robot-uid' };
  await storage.create(
    { resource: 'serviceaccounts', namespace: 'ns-100', name: 'robot' },
    'robot-uid',
    JSON.stringify({ metadata }),
  );
  const audiences = [names.defaultTokenIssuer];
  const issued = await authentication.issuer?.issue({ ...metadata, audiences, expirationSeconds: 3600 });
  const authorizer = policy([
    { kind: 'User', name: 'certified' },
    { kind: 'User', name: 'file-user-99' },
    { kind: 'ServiceAccount', name: 'robot', namespace: 'ns-100' },
  ]);
  const guards = [
    new AuthenticationGuard(authentication.authenticator, authentication, authentication.metrics, logger),
    new ImpersonationGuard(authorizer, names, defaultFeatureGates),
    new AuthorizationGuard(authorizer, new AuthorizationMetrics(new Registry())),
  ];

  /** A request as the guards see it; making it is not measured. */
  const prepare = (socket: TLSSocket, headers: Record<string, string>) => {
    const raw = Object.assign(new IncomingMessage(socket), { url: '/api/v1/namespaces/ns-100/pods/p', method: 'GET' });
    Object.assign(raw.headers, headers);
    raw.rawHeaders = Object.entries(headers).flat();
    return { method: 'GET', headers: raw.headers, raw, plinthContext: undefined as unknown };
  };
  const pass = async (request: ReturnType<typeof prepare>): Promise<void> => {
    request.plinthContext = new HttpRequestContext(request as never);
    const host = { switchToHttp: () => ({ getRequest: () => request, getResponse: () => undefined }) };
    for (const guard of guards) {
      const answer = guard.canActivate(host as never);
      if (answer instanceof Promise) await answer;
    }
  };

  for (const [what, socket, token] of [
    ['service account token', plain, issued?.token],
    ['token of the file', plain, 'token-99'],
    ['client certificate', certified, undefined],
  ] as const) {
    const headers: Record<string, string> = { host: 'x', accept: 'application/json', 'user-agent': 'bench/1.0' };
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    for (let i = 0; i < requests / 10; i++) await pass(prepare(socket, headers));
    const times = new Float64Array(requests);
    const before = process.cpuUsage();
    for (let i = 0; i < requests; i++) {
      const request = prepare(socket, headers);
      const start = process.hrtime.bigint();
      await pass(request);
      times[i] = Number(process.hrtime.bigint() - start) / 1000;
    }
    const { user, system } = process.cpuUsage(before);
    times.sort();
    const at = (share: number) => Number((times[Math.floor((requests - 1) * share)] as number).toFixed(2));
    const isMet = at(0.5) < targetUs;
    failed ||= !isMet;
    const cpuUs = Number(((user + system) / requests).toFixed(2));
    console.log(
      JSON.stringify({
        what,
        bindings: Number(flags.bindings),
        p50Us: at(0.5),
        p99Us: at(0.99),
        cpuUsEach: cpuUs,
        targetUs,
        isMet,
      }),
    );
  }
} finally {
  closeConnection();
  await authentication.stop();
  await storage.stop();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}
if (failed) process.exitCode = 1;
