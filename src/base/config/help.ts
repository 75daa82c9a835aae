import { describeDeprecation } from './deprecation.js';
import { type BoundFlag, flagsOf, showFlagValue } from './flag.js';
import type { OptionGroups } from './parse-options.js';

const groupTitles: Readonly<Record<string, string>> = {
  secureServing: 'Serving',
  storage: 'Storage',
  authentication: 'Authentication',
  authorization: 'Authorization',
  admission: 'Admission',
  audit: 'Audit',
  aggregation: 'Extension servers',
  api: 'API',
  cluster: 'Cluster',
  controllers: 'Control loop',
  nodeLoops: 'Node loop',
  nodeIpam: 'Node range',
  autoscaler: 'Autoscaler',
  info: 'Cluster info',
  database: 'Database',
  token: 'Token',
  init: 'Set-up',
  join: 'Joining',
  certs: 'Renewal',
  reset: 'Reset',
  logging: 'Logging',
  debugging: 'Debugging',
  profiling: 'Profiling',
  tracing: 'Tracing',
  top: 'Display',
  console: 'Console',
  dev: 'Development',
  pki: 'Certificate',
  fence: 'Fence',
  prune: 'Prune',
  events: 'Event',
  nodeAgents: 'Node agent',
  proxyPaths: 'Proxy',
  controllersServing: 'Metrics',
  nodes: 'Simulated node',
  agentApi: 'Node agent API',
  agentNode: 'Node',
  agentPods: 'Pod',
  agentServer: 'Node agent server',
  agentSources: 'Static pod',
  agentHousekeeping: 'Housekeeping',
  serviceProxy: 'Service proxy',
  nameServer: 'Name server',
  serverNames: 'Server names',
  proxyConntrack: 'Connection tracking',
  client: 'API client',
  replica: 'Replica',
  restore: 'Restore',
  sql: 'History',
  backup: 'Backup',
  import: 'Import',
  backupSelection: 'Selection',
  backupKey: 'Key',
  assets: 'Asset',
  etcd: 'Store',
  controlPlane: 'Control plane',
  ignoredEtcd: 'Other store',
  etcdClient: 'Store',
  ignoredEveryProgram: 'Other general',
  ignoredStore: 'Other store',
  ignoredServe: 'Other database',
  ignoredEvents: 'Other event',
  ignoredServer: 'Other server',
  ignoredLoops: 'Other control loop',
  ignoredLoopServing: 'Other port',
  kubeconfig: 'Kubeconfig',
  doctor: 'Report',
};

const textColumn = 8;
const width = 110;

/** The flags of one concern. */
export interface FlagSection {
  readonly title: string;
  readonly flags: readonly DescribedFlag[];
}

/** A flag as help and manual pages show it. */
export interface DescribedFlag {
  readonly flag: BoundFlag;
  /** `-v, --log-level <level>`. */
  readonly head: string;
  /** The usage of the flag, and the announced end if it is deprecated. */
  readonly usage: string;
  /** The default as it would be written; empty for none. */
  readonly defaultText: string;
}

/** The flags of a subcommand, grouped by concern, each with its default. */
export function flagSections(
  groups: OptionGroups,
  defaults: Readonly<Record<string, unknown>> = {},
): readonly FlagSection[] {
  return Object.entries(groups).map(([name, optionsClass]) => {
    const declared = new optionsClass() as Record<string, unknown>;
    const flags = flagsOf(optionsClass).map((flag) => {
      const value = flag.name in defaults ? defaults[flag.name] : declared[flag.property];
      return { flag, head: flagHead(flag), usage: usageOf(flag), defaultText: showFlagValue(flag, value) };
    });
    return { title: `${titleOf(name)} flags`, flags };
  });
}

/** The flags of a subcommand for `--help`, with their environment variables. */
export function formatFlags(groups: OptionGroups, defaults: Readonly<Record<string, unknown>> = {}): string {
  return flagSections(groups, defaults)
    .map(({ title, flags }) =>
      [
        `${title}:`,
        ...flags.flatMap((one) => [
          `  ${one.head}`,
          // Names of other programs for the same flag.
          ...(one.flag.aliases ?? []).map((alias) => `  ${flagHead({ ...one.flag, name: alias, short: undefined })}`),
          ...wrap(`${one.usage} ${flagTail(one)}`),
        ]),
      ].join('\n'),
    )
    .join('\n\n');
}

/**
 * The topic of a group of flags, such as `Storage`.
 *
 * @throws Error for a group without a title
 */
export function titleOf(group: string): string {
  const title = groupTitles[group];
  if (title === undefined) throw new Error(`the group of flags ${group} has no title`);
  return title;
}

function usageOf({ usage, deprecated }: BoundFlag): string {
  return deprecated === undefined ? usage : `${usage} Deprecated ${describeDeprecation(deprecated)}.`;
}

function flagHead(flag: Pick<BoundFlag, 'type' | 'name' | 'unit'> & { readonly short?: string | undefined }): string {
  const long = flag.type === 'bool' ? `--${flag.name}` : `--${flag.name} <${flag.unit ?? flag.type}>`;
  return flag.short === undefined ? long : `-${flag.short}, ${long}`;
}

function flagTail({ flag, defaultText }: DescribedFlag): string {
  if (defaultText === '') return `[${flag.environment}]`;
  const isList = flag.type === 'list' || flag.type === 'array';
  return `(default ${isList ? `[${defaultText}]` : defaultText}) [${flag.environment}]`;
}

function wrap(text: string): string[] {
  const indent = ' '.repeat(textColumn);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width - textColumn) {
      lines.push(indent + line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}
