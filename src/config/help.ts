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
  logging: 'Logging',
  debugging: 'Debugging',
  profiling: 'Profiling',
  tracing: 'Tracing',
  top: 'Display',
  console: 'Console',
  dev: 'Development',
  pki: 'Certificate',
  fence: 'Fence',
  events: 'Event',
  nodeAgents: 'Node agent',
  controllersServing: 'Metrics',
  nodes: 'Simulated node',
  client: 'API client',
  restore: 'Restore',
  sql: 'History',
  backup: 'Backup',
  import: 'Import',
  backupSelection: 'Selection',
  backupKey: 'Key',
};

const textColumn = 8;
const width = 110;

/** The flags of a subcommand for `--help`, grouped by concern, each with its default and environment variable. */
export function formatFlags(groups: OptionGroups, defaults: Readonly<Record<string, unknown>> = {}): string {
  const sections: string[] = [];
  for (const [name, optionsClass] of Object.entries(groups)) {
    const declared = new optionsClass() as Record<string, unknown>;
    const lines = [`${titleOf(name)} flags:`];
    for (const flag of flagsOf(optionsClass)) {
      const value = flag.name in defaults ? defaults[flag.name] : declared[flag.property];
      lines.push(`  ${flagHead(flag)}`, ...wrap(`${usageOf(flag)} ${flagTail(flag, value)}`));
    }
    sections.push(lines.join('\n'));
  }
  return sections.join('\n\n');
}

/**
 * What the flags of a group are about, such as `Storage`.
 *
 * @throws Error for a group without a title
 */
export function titleOf(group: string): string {
  const title = groupTitles[group];
  if (title === undefined) throw new Error(`the group of flags ${group} has no title`);
  return title;
}

function usageOf({ usage, deprecated }: BoundFlag): string {
  return deprecated === undefined ? usage : `${usage} Deprecated: ${deprecated}.`;
}

function flagHead(flag: BoundFlag): string {
  const long = flag.type === 'bool' ? `--${flag.name}` : `--${flag.name} <${flag.unit ?? flag.type}>`;
  return flag.short === undefined ? long : `-${flag.short}, ${long}`;
}

function flagTail(flag: BoundFlag, value: unknown): string {
  const text = showFlagValue(flag, value);
  return text === '' ? `[${flag.environment}]` : `(default ${text}) [${flag.environment}]`;
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
