import { isAbsolute, resolve, sep } from 'node:path';
import { type ClientConfigEntry, flagOf, isEntry, type Problem, textOf } from '../client-config-document.js';

/** The versions of `ExecCredential` that a plugin may speak. */
export const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const;

/** Name of the extension of a cluster whose content plugins get. */
const clusterExtension = 'client.authentication.k8s.io/exec';

/** A program that gives the credentials of a user (specification 5.2), as a kubeconfig names it. */
export interface ExecPlugin {
  readonly apiVersion: (typeof execVersions)[number];
  /** A path, or a name that is looked for where programs are. */
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** How to get the program; may be empty. */
  readonly installHint: string;
  /** Whether it reads standard input: never, if there is a terminal, or not without one. */
  readonly interactiveMode: (typeof interactiveModes)[number];
  /** Whether it gets to know the cluster that the credentials are for. */
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

/** What a plugin gets to know of its cluster that only the file says. */
export type ClusterExtras = Readonly<Record<'disable-compression' | 'config', unknown>>;

/** Reads them from the cluster of the file. */
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
  // Only the older version has a default.
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
