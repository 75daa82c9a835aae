import { isAbsolute, resolve, sep } from 'node:path';
import { type ClientConfigEntry, flagOf, isEntry, type Problem, textOf } from '../client-config-document.js';

/** The versions of `ExecCredential` that a plugin may use. */
export const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const;

/** Name of the cluster extension whose content is passed to plugins. */
const clusterExtension = 'client.authentication.k8s.io/exec';

/** A program that provides the credentials of a user (specification 5.2), as named by a kubeconfig. */
export interface ExecPlugin {
  readonly apiVersion: (typeof execVersions)[number];
  /** A path, or a name that is looked up in `PATH`. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** How to install the program; may be empty. */
  readonly installHint: string;
  /** Whether the plugin reads standard input: never, if there is a terminal, or not without one. */
  readonly interactiveMode: (typeof interactiveModes)[number];
  /** Whether the plugin receives the cluster that the credentials are for. */
  readonly provideClusterInfo: boolean;
}

/** Reads the field `exec` of a user. A command with a slash is relative to the folder of the file. */
export function readExecPlugin(exec: unknown, folder: string, problem: Problem): ExecPlugin {
  const inExec: Problem = (text) => problem(`exec: ${text}`);
  if (!isEntry(exec)) throw problem('exec must be an object');
  const apiVersion = execVersions.find((version) => version === textOf(exec, 'apiVersion', inExec));
  if (apiVersion === undefined) throw inExec(`apiVersion must be ${execVersions.join(' or ')}`);
  const command = textOf(exec, 'command', inExec);
  if (command === '') throw inExec('command must be set');
  return Object.freeze({
    apiVersion,
    command: command.includes(sep) && !isAbsolute(command) ? resolve(folder, command) : command,
    args: argsOf(exec, inExec),
    env: envOf(exec, inExec),
    installHint: textOf(exec, 'installHint', inExec),
    interactiveMode: modeOf(exec, apiVersion, inExec),
    provideClusterInfo: flagOf(exec, 'provideClusterInfo', inExec),
  });
}

/** What a plugin receives about its cluster that only the kubeconfig contains. */
export type ClusterExtras = Readonly<Record<'disable-compression' | 'config', unknown>>;

/** Reads the {@link ClusterExtras} from the cluster entry of the kubeconfig. */
export function readClusterExtras(cluster: ClientConfigEntry, problem: Problem): ClusterExtras {
  const extensions: readonly unknown[] = Array.isArray(cluster.extensions) ? cluster.extensions : [];
  const found = extensions.find((entry) => isEntry(entry) && entry.name === clusterExtension);
  return {
    'disable-compression': flagOf(cluster, 'disable-compression', problem) || undefined,
    config: (found as ClientConfigEntry | undefined)?.extension ?? null,
  };
}

function modeOf(
  exec: ClientConfigEntry,
  apiVersion: ExecPlugin['apiVersion'],
  problem: Problem,
): ExecPlugin['interactiveMode'] {
  const given = textOf(exec, 'interactiveMode', problem);
  // Only the older version has a default interactive mode.
  if (given === '' && apiVersion === 'client.authentication.k8s.io/v1beta1') return 'IfAvailable';
  const mode = interactiveModes.find((each) => each === given);
  if (mode === undefined) throw problem(`interactiveMode must be ${interactiveModes.join(', ')}`);
  return mode;
}

function argsOf(exec: ClientConfigEntry, problem: Problem): readonly string[] {
  const args = exec.args ?? [];
  if (!Array.isArray(args) || !args.every((each) => typeof each === 'string')) {
    throw problem('args must be a list of strings');
  }
  return args;
}

function envOf(exec: ClientConfigEntry, problem: Problem): Readonly<Record<string, string>> {
  const entries = exec.env ?? [];
  if (!Array.isArray(entries) || !entries.every(isEntry)) throw problem('env must be a list of names and values');
  return Object.fromEntries(
    entries.map((entry) => {
      const name = textOf(entry, 'name', problem);
      if (name === '') throw problem('every variable of env needs a name');
      return [name, textOf(entry, 'value', problem)];
    }),
  );
}
