import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { OptionsError } from '../../../base/config/options-error.js';
import { givenFlags, type ParsedOptions, parseOptions } from '../../../base/config/parse-options.js';
import { controllerOptionGroups, type ServerOptions, serverOptionGroups } from '../../../base/config/server-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { type Running, stopAll } from '../../../base/machinery/lifecycle.js';
import { checkPortFree } from '../../../base/machinery/port-check.js';
import { errorCode, StartupError } from '../../../base/machinery/startup-error.js';
import { groupName, type VendorNames, vendorNames } from '../../../base/machinery/vendor.js';
import { Logger } from '../../../base/observability/logger.js';
import { DefinitionInformer } from '../../../objects/custom-resources/serving/definition-informer.js';
import { SharedListers } from '../../../objects/registry/informers/shared-listers.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { servingLeaseResource } from '../../../server/advertise/serving-leases.js';
import type { RunningServer } from '../../../start-server.js';
import { ClusterClient } from '../../backup/cluster/cluster-client.js';
import { checkFiles } from '../../cli/check-files.js';
import { httpsGet } from '../../cli/cluster/https-get.js';
import { completeOptions, withLoopFiles, withNodeAgents, withTokenKey } from '../../cli/own-server.js';
import { issueCertificate } from '../../cli/pki/issue-certificate.js';
import { ensureNodePki, type NodePki } from '../../cli/pki/node-pki.js';
import { ensurePki, type Pki } from '../../cli/pki/pki.js';
import { ensureServiceAccountKey } from '../../cli/pki/service-account-key.js';
import { acquireDatabase, type SharedDatabase } from '../../local-postgres/shared/acquire-database.js';
import type {
  FixtureInput,
  ResetAnswer,
  StartAnswer,
  StartSettings,
  UserAnswer,
  UserRequest,
} from '../library/messages.js';
import { Baseline, type BaselineResult } from './baseline.js';
import { applyFixtures, type FixtureDependencies } from './fixtures.js';
import { serverTemplate } from './server-template.js';

const groups = { ...serverOptionGroups, ...controllerOptionGroups } as const;
type Flags = ParsedOptions<typeof groups>;

const address = '127.0.0.1';
/** The range of ports to choose from: below the ports that systems give to outgoing connections. */
const ports = { from: 20_000, to: 32_768 } as const;
const portTries = 20;
const connectMs = 30_000;
const readyMs = 30_000;
const mostReadyBytes = 64 * 1024;
const pollMs = 5;
/** The control loops count as settled when nothing was written for this long, in milliseconds. */
const quietMs = 150;
const settleMs = 20_000;
/** The most passes of a reset: work that control loops had begun may write after a pass, which is then repeated. */
const mostPasses = 20;
const passPauseMs = 10;
const userDays = 1;

/** The requested settings. */
interface Wanted {
  readonly settings: StartSettings;
  readonly flags: Flags;
  readonly given: ReadonlySet<string>;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly pkiDirectory: string;
}

/** Everything that the start needs. */
interface Plan extends Wanted {
  readonly pki: Pki;
  readonly nodePki: NodePki | undefined;
}

/** The things that a test server consists of. */
interface ServerResources {
  readonly plan: Plan;
  readonly database: SharedDatabase;
  readonly server: RunningServer;
  readonly port: number;
  readonly client: ClusterClient;
  /** A connection to the database. */
  readonly admin: Client;
  /** In the order in which they were started. */
  readonly started: readonly Running[];
}

/** A server of one test file, with a database and certificates of its own. */
export class TestServer {
  private baseline: Baseline | undefined;
  private ending: Promise<void> | undefined;

  private constructor(private readonly resources: ServerResources) {}

  /**
   * Resolves when everything is there: the API answers, control loops and nodes have settled, fixtures are applied.
   *
   * @throws StartupError or OptionsError that explains what to do
   */
  static async start(settings: StartSettings): Promise<TestServer> {
    const wanted = await readSettings(settings);
    if (settings.port !== undefined) await checkPortFree(address, settings.port, 'port');
    // While the database is copied, the modules of the server are loaded and certificates made.
    const copying = Promise.withResolvers<void>();
    let making: Promise<Plan> | undefined;
    const planned = () => {
      making ??= withCertificates(wanted);
      making.catch(() => undefined);
      return making;
    };
    const acquiring = acquireFor(wanted, planned, copying.resolve);
    await Promise.race([copying.promise, acquiring]);
    import('../../../start-server.js').catch(() => undefined);
    void planned();
    const database = await acquiring;
    const started: Running[] = [{ stop: () => database.release() }];
    try {
      const plan = await planned();
      const { server, port, options } = await serveOnAnyPort(plan, database.url);
      started.push(server);
      const client = adminClient(plan.pki, port);
      started.push({ stop: async () => client.close() });
      const admin = await connect(database.url);
      started.push({ stop: () => admin.end() });
      await untilReady(plan.pki, port);
      const test = new TestServer({ plan, database, server, port, client, admin, started });
      if (plan.nodePki !== undefined) {
        const { startDevNodes } = await import('../../cli/dev-nodes.js');
        const { pki, nodePki, logger } = plan;
        const nodes = { count: settings.nodes, authority: pki.servingAuthority, pki, nodePki, logger };
        started.push(await startDevNodes(options, nodes));
      }
      await test.begin();
      return test;
    } catch (error) {
      await stopAll(started).catch(() => undefined);
      throw error;
    }
  }

  get answer(): StartAnswer {
    const { pki } = this.resources.plan;
    return {
      url: `https://${address}:${this.resources.port}`,
      port: this.resources.port,
      authority: pki.servingAuthority,
      certificate: pki.admin.certificate,
      privateKey: pki.admin.privateKey,
      databaseUrl: this.resources.database.url,
    };
  }

  /** Makes the present state the one that `reset` returns to. */
  async checkpoint(): Promise<void> {
    await this.usedBaseline.capture();
  }

  /**
   * Returns to the state of the last checkpoint. Resolves when the server answers from it in every respect: which kinds
   * it serves, who may do what, which rules apply.
   */
  async reset(endWatches: boolean): Promise<ResetAnswer> {
    let objects = 0;
    for (let pass = 1; ; pass++) {
      const result = await this.usedBaseline.restore(endWatches && pass === 1);
      objects += result.objects;
      await this.caughtUp(result);
      if (!this.hasLoops || result.objects === 0 || pass === mostPasses) return { objects };
      await delay(passPauseMs);
    }
  }

  /** Applies objects as an administrator; definitions are served when it resolves. */
  apply(inputs: readonly FixtureInput[]): Promise<object[]> {
    const registry = this.resources.server.get(ResourceRegistry, { strict: false });
    const dependencies: FixtureDependencies = {
      client: this.resources.client,
      registry,
      definitionGroup: groupName('apiextensions', this.resources.plan.names),
      reached: (version) => this.resources.server.get(DefinitionInformer, { strict: false }).reached(version),
    };
    return applyFixtures(inputs, dependencies);
  }

  /** Credentials for a user that the server knows. */
  async user(request: UserRequest): Promise<UserAnswer> {
    if ('serviceAccount' in request) {
      const { namespace, serviceAccount } = request;
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(serviceAccount)}/token`;
      const apiVersion = `${groupName('authentication', this.resources.plan.names)}/v1`;
      const body = { apiVersion, kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } };
      const signal = AbortSignal.timeout(readyMs);
      const { status } = await this.resources.client.send<{ status: { token: string } }>('POST', path, {
        body,
        signal,
      });
      return { token: status.token };
    }
    const { authority, authorityKeyFile } = this.resources.plan.pki;
    const { readFile } = await import('node:fs/promises');
    const issuer = { certificate: authority, privateKey: await readFile(authorityKeyFile, 'utf8') };
    return issueCertificate(
      { commonName: request.user, organization: request.groups, usage: 'client', validDays: userDays },
      systemClock.now(),
      issuer,
    );
  }

  /** Stops everything in order; the database is dropped. */
  stop(): Promise<void> {
    this.ending ??= stopAll(this.resources.started);
    return this.ending;
  }

  /** Does what has to be done before the process may simply exit: usually nothing. */
  async finish(): Promise<void> {
    // Lines of the audit log and traces are still being sent.
    if ([...this.resources.plan.given].some((flag) => /^(audit|tracing)-/.test(flag))) await this.stop();
    // The shared Postgres notices the end of this process by itself.
    else if (this.resources.plan.settings.databaseUrl !== undefined) await this.resources.database.release();
  }

  private get hasLoops(): boolean {
    return this.resources.plan.settings.nodes > 0 || !this.resources.plan.settings.controllers.includes('-*');
  }

  private get usedBaseline(): Baseline {
    if (this.baseline === undefined) throw new Error('the server has not started');
    return this.baseline;
  }

  private async begin(): Promise<void> {
    const { names } = this.resources.plan;
    this.baseline = new Baseline(
      this.resources.admin,
      {
        leases: formatGroupResource({ group: groupName('coordination', names), resource: 'leases' }),
        namespaces: [names.systemNamespace, names.nodeLeaseNamespace],
        resources: [servingLeaseResource],
      },
      ['namespaces', this.definitions],
    );
    if (this.hasLoops) await this.settle();
    const { fixtures } = this.resources.plan.settings;
    if (fixtures.length > 0) {
      await this.apply(fixtures);
      if (this.hasLoops) await this.settle();
    }
    await this.checkpoint();
  }

  private async settle(): Promise<void> {
    let newest = await this.usedBaseline.newestChange();
    let since = performance.now();
    for (const deadline = since + settleMs; performance.now() < deadline; await delay(pollMs * 4)) {
      const now = await this.usedBaseline.newestChange();
      if (now === newest && performance.now() - since > quietMs) return;
      if (now !== newest) since = performance.now();
      newest = now;
    }
  }

  /** Resolves when this process has learned of all changes. */
  private async caughtUp({ changes, epochStart }: BaselineResult): Promise<void> {
    const listers = this.resources.server.get(SharedListers, { strict: false });
    const follower = this.resources.server.get(DefinitionInformer, { strict: false });
    const definitions = epochStart ?? changes.get(this.definitions);
    const all = epochStart === undefined ? changes : new Map([...listers.resources].map((name) => [name, epochStart]));
    await Promise.all([listers.reached(all), definitions === undefined ? undefined : follower.reached(definitions)]);
  }

  /** The stored name of definitions. */
  private get definitions(): string {
    return formatGroupResource({
      group: groupName('apiextensions', this.resources.plan.names),
      resource: 'customresourcedefinitions',
    });
  }
}

async function readSettings(settings: StartSettings): Promise<Wanted> {
  const argv = [`--bind-address=${address}`, ...settings.flags, `--controllers=${settings.controllers.join(',')}`];
  const request = { groups, argv, environment: {}, defaults: { 'log-level': 'warn' } };
  const flags = parseOptions(request);
  const given = givenFlags(request);
  for (const flag of ['secure-port', 'database-url', 'tls-cert-file', 'client-ca-file', 'workers']) {
    if (given.has(flag)) throw new OptionsError([`flags: --${flag} is chosen by startCluster`]);
  }
  await checkFiles(groups, flags);
  const pkiDirectory = join(settings.folder, 'pki');
  mkdirSync(pkiDirectory, { mode: 0o700 });
  const { vendor, compat } = flags.cluster;
  const names = vendorNames(vendor, compat);
  return {
    settings,
    flags,
    given,
    names,
    logger: new Logger(flags.logging.logLevel, flags.logging.logFormat),
    pkiDirectory,
  };
}

/** The key is made beside the certificates, and each folder has one writer. */
const tokenFolder = ({ pkiDirectory }: Wanted) => join(pkiDirectory, 'tokens');

async function withCertificates(wanted: Wanted): Promise<Plan> {
  const { settings, flags, given, pkiDirectory: directory } = wanted;
  const { serviceClusterIpRange } = flags.cluster;
  // This takes long, but not in this thread.
  const key = [...given].some((flag) => flag.startsWith('service-account-'))
    ? undefined
    : ensureServiceAccountKey(tokenFolder(wanted));
  key?.catch(() => undefined);
  const pki = await ensurePki({ directory, bindAddress: address, serviceClusterIpRange, clock: systemClock });
  const nodePki = settings.nodes > 0 ? await ensureNodePki(directory, systemClock, settings.nodes) : undefined;
  await key;
  return { ...wanted, pki, nodePki };
}

async function acquireFor(
  { names, settings, given }: Wanted,
  planned: () => Promise<Plan>,
  onCopy: () => void,
): Promise<SharedDatabase> {
  const template = await serverTemplate({
    flags: settings.flags,
    givenFlags: given,
    hasNodes: settings.nodes > 0,
    leases: formatGroupResource({ group: groupName('coordination', names), resource: 'leases' }),
    systemNamespace: names.systemNamespace,
    serveOnce: async (databaseUrl) => {
      const plan = await planned();
      const { server, port } = await serveOnAnyPort(plan, databaseUrl);
      try {
        await untilReady(plan.pki, port);
      } finally {
        await server.stop();
      }
    },
  });
  return acquireDatabase({ databaseUrl: settings.databaseUrl, template, onCopy });
}

async function serveOnAnyPort(
  plan: Plan,
  databaseUrl: string,
): Promise<{ readonly server: RunningServer; readonly port: number; readonly options: ServerOptions }> {
  const wanted = plan.settings.port;
  for (let attempt = 1; ; attempt++) {
    const port = wanted ?? randomInt(ports.from, ports.to);
    try {
      if (wanted === undefined) await checkPortFree(address, port);
      return await serve(plan, databaseUrl, port);
    } catch (error) {
      const isTaken =
        errorCode(error) === 'EADDRINUSE' || (error instanceof StartupError && /already listens/.test(error.message));
      if (!isTaken || wanted !== undefined || attempt === portTries) throw error;
    }
  }
}

async function serve(plan: Plan, databaseUrl: string, port: number) {
  const { flags, given, pki, nodePki, settings, logger } = plan;
  const secureServing = { ...flags.secureServing, bindAddress: address, securePort: port };
  const own = { pki, databaseUrl, simulatedNodes: settings.nodes };
  const options = withNodeAgents(
    await withTokenKey(completeOptions({ ...flags, secureServing }, given, own), tokenFolder(plan)),
    given,
    { pki, nodePki },
  );
  const { events, nodeLoops, nodeIpam, autoscaler } = flags;
  const controllers = {
    events,
    nodeLoops,
    nodeIpam,
    autoscaler,
    controllers: withLoopFiles(flags.controllers, given, options, pki),
  };
  const { startServer } = await import('../../../start-server.js');
  const server = await startServer(options, { logger, controllers, answersWhileStarting: false });
  return { server, port, options };
}

async function connect(databaseUrl: string): Promise<Client> {
  const [{ connectDatabase }, { databaseTargets }] = await Promise.all([
    import('../../../base/database/connect-database.js'),
    import('../../../base/database/database-targets.js'),
  ]);
  const [target] = databaseTargets(databaseUrl);
  if (target === undefined) throw new Error('the URL names no database');
  const { client } = await connectDatabase({
    target,
    config: { application_name: 'plinth testing' },
    timeoutMs: connectMs,
  });
  return client;
}

function adminClient({ servingAuthority, admin }: Pki, port: number): ClusterClient {
  const { certificate: cert, privateKey: key } = admin;
  const tls = { ca: servingAuthority, cert, key, serverName: undefined, insecureSkipVerify: false };
  const credentials = { tls, authorization: undefined };
  return new ClusterClient(
    { server: `https://${address}:${port}`, tls, present: async () => credentials, renew: async () => false },
    (ms, signal) => delay(ms, undefined, { signal }),
    16,
    'plinth-testing',
  );
}

/** Waits until the server reports that it is ready. */
async function untilReady({ servingAuthority }: Pki, port: number): Promise<void> {
  const signal = AbortSignal.timeout(readyMs);
  const ask = () => httpsGet({ host: address, port }, '/readyz', servingAuthority, mostReadyBytes, signal);
  let last = '';
  for (const deadline = performance.now() + readyMs; performance.now() < deadline; await delay(pollMs)) {
    last = await ask().then(
      ({ status, text }) => (status === 200 ? '' : text),
      (error: Error) => error.message,
    );
    if (last === '') return;
  }
  throw new StartupError(`the server is not ready after ${readyMs / 1000} s: ${last.replaceAll(/\s+/g, ' ')}`);
}
