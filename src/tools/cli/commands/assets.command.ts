import { resolve } from 'node:path';
import { LoggingOptions } from '../../../base/config/logging.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { findBinaries } from '../../local-postgres/embedded/binaries.js';
import { writeAssets } from '../assets/asset-files.js';
import type { Command } from '../command.js';
import { programFile } from '../program-file.js';
import { readVersion } from '../version.js';

const groups = { logging: LoggingOptions } as const;

export const assetsCommand: Command = {
  name: 'assets',
  summary: 'Write stand-ins for kube-apiserver and etcd, for envtest suites: assets DIR, then KUBEBUILDER_ASSETS=DIR.',
  groups,
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    parseOptions({ groups, argv: flags, environment: context.environment });
    const [folder, ...more] = operands;
    if (folder === undefined || folder === '') throw new OptionsError(['needs a folder: plinth assets DIR']);
    if (more.length > 0) throw new OptionsError([`unexpected argument ${JSON.stringify(more[0])}`]);
    if (process.platform === 'win32') throw new StartupError('the programs need a shell, which Windows does not have');
    // Without this check, a test suite would report missing programs much later and in less detail.
    await findBinaries();
    const directory = resolve(folder);
    const kubectl = await writeAssets({
      directory,
      node: process.execPath,
      program: programFile,
      version: await readVersion(),
      path: context.environment.PATH ?? '',
    });
    context.print(`Wrote kube-apiserver and etcd to ${directory}`);
    context.print(
      'linkedTo' in kubectl ? `kubectl is ${kubectl.linkedTo}` : `There is no kubectl: see ${kubectl.note}`,
    );
    context.print('Run a suite with them:');
    context.print(`  KUBEBUILDER_ASSETS=${shellWord(directory)} go test ./...`);
  },
};

function shellWord(text: string): string {
  return /^[\w./:@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
