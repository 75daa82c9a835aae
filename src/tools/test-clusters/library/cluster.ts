import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HostProcess } from './host-process.js';
import type { FixtureInput, StartAnswer, StartSettings } from './messages.js';
import type {
  Access,
  ClusterOptions,
  Fixtures,
  FlagValue,
  Identity,
  LoadsKubeconfig,
  ResetOptions,
  TestCluster,
} from './types.js';
import { UserAccess } from './user-access.js';

const startMs = 60_000;
/** Selects the controllers without which a server does not work; those of the SQL views are not among them. */
const serverLoops = ['-*', '-sql-views', '-sql-projection'];

/** A disk with less space than this is not enough for a start. */
const scarceBytes = 64 * 2 ** 20;

const known: Readonly<Record<keyof ClusterOptions, true>> = {
  flags: true,
  featureGates: true,
  vendor: true,
  compat: true,
  controllers: true,
  nodes: true,
  fixtures: true,
  port: true,
  databaseUrl: true,
  logLevel: true,
  startTimeoutMs: true,
};

/** Starts a server and its process. */
export async function openCluster(options: ClusterOptions): Promise<TestCluster> {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name)) throw new Error(`startCluster: there is no option ${name}`);
  }
  const flags = flagsOf(options);
  const fixtures = fixtureInputs([options.fixtures ?? []].flat());
  const nodes = options.nodes ?? 0;
  if (!Number.isInteger(nodes) || nodes < 0) throw new Error(`nodes: ${nodes} is not a number of nodes`);
  const host = new HostProcess();
  const settings: StartSettings = {
    folder: host.folder,
    flags,
    controllers: loopsOf(options.controllers ?? nodes > 0),
    nodes,
    port: options.port,
    databaseUrl: options.databaseUrl,
    fixtures,
  };
  const limit = options.startTimeoutMs ?? startMs;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(host.withLog(`the server did not start within ${limit} ms`))), limit);
  });
  try {
    const answer = await Promise.race([host.call('start', settings), late]);
    return new RunningCluster(host, answer);
  } catch (error) {
    await host.kill('SIGKILL');
    throw new Error(`startCluster: ${(error as Error).message}${await scarcity()}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** A hint when the disk is full: failures on a full disk have many messages. */
async function scarcity(): Promise<string> {
  const folder = tmpdir();
  // Without the folder another error is reported.
  const disk = await statfs(folder).catch(() => undefined);
  const free = disk === undefined ? scarceBytes : disk.bavail * disk.bsize;
  if (free >= scarceBytes) return '';
  return `\nOnly ${Math.floor(free / 2 ** 20)} MiB are free in ${folder}: set TMPDIR to a folder with more room`;
}

class RunningCluster implements TestCluster {
  readonly url: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly admin: UserAccess;
  private readonly others: UserAccess[] = [];
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly host: HostProcess,
    private readonly started: StartAnswer,
  ) {
    const { url, port, databaseUrl, certificate, privateKey } = started;
    this.url = url;
    this.port = port;
    this.databaseUrl = databaseUrl;
    this.admin = this.access('admin', { certificate, privateKey });
  }

  get kubeconfig(): string {
    return this.admin.kubeconfig;
  }

  get kubeconfigFile(): string {
    return this.admin.kubeconfigFile;
  }

  get settings(): Access['settings'] {
    return this.admin.settings;
  }

  get pid(): number {
    return this.host.pid;
  }

  loadInto<Config extends LoadsKubeconfig>(config: Config): Config {
    return this.admin.loadInto(config);
  }

  request<Answer>(...asked: Parameters<Access['request']>): Promise<Answer> {
    return this.admin.request<Answer>(...asked);
  }

  apply(...fixtures: Fixtures[]): Promise<object[]> {
    return this.host.call('apply', fixtureInputs(fixtures.flat() as (string | object)[]));
  }

  async kubeconfigFor(identity: Identity): Promise<Access> {
    const isAccount = 'serviceAccount' in identity;
    const namespace = isAccount ? (identity.namespace ?? 'default') : '';
    const request = isAccount
      ? { serviceAccount: identity.serviceAccount, namespace }
      : { user: identity.user, groups: identity.groups ?? [] };
    const name = isAccount ? `${namespace}.${identity.serviceAccount}` : identity.user;
    const access = this.access(name, await this.host.call('user', request), String(this.others.length + 1));
    this.others.push(access);
    return access;
  }

  async reset({ endWatches = false }: ResetOptions = {}): Promise<void> {
    await this.host.call('reset', { endWatches });
  }

  async checkpoint(): Promise<void> {
    await this.host.call('checkpoint');
  }

  logs(): string {
    return this.host.logs();
  }

  stop(): Promise<void> {
    this.stopping ??= this.end();
    return this.stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  private async end(): Promise<void> {
    for (const access of [this.admin, ...this.others]) access.close();
    await this.host.stop();
  }

  private access(
    name: string,
    credentials: ConstructorParameters<typeof UserAccess>[0]['credentials'],
    part = '',
  ): UserAccess {
    const { url, authority } = this.started;
    return new UserAccess({ url, authority, credentials, name, folder: join(this.host.folder, 'kubeconfig', part) });
  }
}

function loopsOf(controllers: boolean | readonly string[]): readonly string[] {
  if (controllers === true) return ['*', '-sql-views', '-sql-projection'];
  return controllers === false ? serverLoops : controllers;
}

function flagsOf({
  flags = {},
  featureGates = {},
  vendor = 'k8s.io',
  compat = 'kubernetes',
  logLevel,
}: ClusterOptions): string[] {
  const gates = Object.entries(featureGates).map(([name, isOn]) => `${name}=${isOn}`);
  const choosesAuthorization = Object.keys(flags).some((name) => /^-*authorization-(mode|config)$/.test(name));
  const all: Record<string, FlagValue> = {
    vendor,
    compat,
    ...(choosesAuthorization ? {} : { 'authorization-mode': ['Node', 'RBAC'] }),
    ...(gates.length === 0 ? {} : { 'feature-gates': gates }),
    ...(logLevel === undefined ? {} : { 'log-level': logLevel }),
    ...flags,
  };
  return Object.entries(all).map(
    ([name, value]) => `--${name.replace(/^-+/, '')}=${Array.isArray(value) ? value.join(',') : value}`,
  );
}

function fixtureInputs(fixtures: readonly (string | object)[]): FixtureInput[] {
  return fixtures.map((fixture): FixtureInput => {
    // A URL object of another realm, as test runners make them, counts as well.
    if (/^file:\/\/[^\n]*$/.test(String(fixture))) return { path: fileURLToPath(String(fixture)) };
    if (typeof fixture !== 'string') return { object: fixture };
    return isPath(fixture) ? { path: fixture } : { text: fixture };
  });
}

/** Whether a string of one line is a path: YAML or JSON of an object always has a colon and never ends in that way. */
function isPath(text: string): boolean {
  return /^[^\n]*(\.ya?ml|\.json|\/)$/.test(text) || /^[^\n:{[#]+$/.test(text.trim());
}
