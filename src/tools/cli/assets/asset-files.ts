import { constants } from 'node:fs';
import { access, lstat, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { makeFolder } from '../../../base/machinery/make-folder.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { OwnFiles } from '../own-files.js';

/** The programs that replace those of a control plane. */
const programs = ['kube-apiserver', 'etcd'] as const;

export interface AssetFilesOptions {
  /** Absolute path of the folder. */
  readonly directory: string;
  /** Absolute paths of Node and of our own program. */
  readonly node: string;
  readonly program: string;
  readonly version: string;
  /** The search path, for kubectl. */
  readonly path: string;
}

/** The outcome for kubectl, the one program that is not ours. */
export type KubectlAsset = { readonly linkedTo: string } | { readonly note: string };

/**
 * Writes the programs into a folder, created if necessary, and a link to kubectl, or a program that explains how to get
 * it.
 *
 * @throws StartupError when the folder has programs of others with these names
 */
export async function writeAssets(options: AssetFilesOptions): Promise<KubectlAsset> {
  const { directory } = options;
  // The folder is readable by all, because other users may run the programs.
  makeFolder(directory, 0o755);
  const files = new OwnFiles(directory);
  for (const name of programs) {
    if (await files.mayWrite(name)) continue;
    throw new StartupError(`${files.path(name)} was not made by plinth: remove it, or choose another folder`);
  }
  for (const name of programs) await files.write(name, launcher(name, options), 0o755);
  return await provideKubectl(files, options);
}

/** The shell is replaced by the program, so signals of its caller reach the program itself. */
function launcher(name: string, { node, program, version }: AssetFilesOptions): string {
  const [runtime, script] = [node, program].map(quote);
  return [
    '#!/bin/sh',
    `# Made by plinth ${version}: plinth assets makes it anew.`,
    `if [ ! -x ${runtime} ] || [ ! -f ${script} ]; then`,
    `  echo "${name}: the copy of plinth that made this program is gone: run plinth assets again" >&2`,
    '  exit 1',
    'fi',
    `exec ${runtime} ${script} ${name} "$@"`,
    '',
  ].join('\n');
}

async function provideKubectl(files: OwnFiles, { directory, path }: AssetFilesOptions): Promise<KubectlAsset> {
  const name = 'kubectl';
  const place = files.path(name);
  const link = await readlink(place).catch(() => undefined);
  if (link !== undefined) {
    if (await isExecutable(place)) return { linkedTo: resolve(directory, link) };
    await rm(place);
  }
  const present = await lstat(place).catch(() => undefined);
  if (present !== undefined && !(await files.mayWrite(name))) return { linkedTo: place };
  const found = await findOnPath(name, path, directory);
  if (found === undefined) {
    await files.write(name, kubectlNote, 0o755);
    return { note: place };
  }
  await rm(place, { force: true });
  await symlink(found, place);
  return { linkedTo: found };
}

const kubectlNote = [
  '#!/bin/sh',
  'echo "kubectl: there was none on the PATH when plinth assets ran. Install it (https://kubernetes.io/docs/tasks/tools/)" >&2',
  'echo "and run plinth assets again, or put it in place of this file." >&2',
  'exit 1',
  '',
].join('\n');

async function findOnPath(name: string, path: string, except: string): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (folder === '') continue;
    const candidate = resolve(join(folder, name));
    if (!(await isExecutable(candidate))) continue;
    if ((await realpath(folder)) !== (await realpath(except))) return candidate;
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
