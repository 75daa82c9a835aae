import { setTimeout as delay } from 'node:timers/promises';
import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { BackupSelectionOptions } from '../../../base/config/backup.options.js';
import { BackupKeyOptions } from '../../../base/config/backup-key.options.js';
import { ImportOptions } from '../../../base/config/import.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { fileProblem } from '../../../base/machinery/file-problem.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import type { BackupReader } from '../../backup/format/backup-reader.js';
import { accessOf } from '../api-access.js';
import { readBackupSecret } from '../backup-secret.js';
import { checkFiles } from '../check-files.js';
import type { Command, CommandContext } from '../command.js';
import { ProgressLine } from '../progress-line.js';
import { readVersion } from '../version.js';

const groups = {
  import: ImportOptions,
  backupSelection: BackupSelectionOptions,
  backupKey: BackupKeyOptions,
  client: ApiClientOptions,
} as const;
type Options = ParsedOptions<typeof groups>;

/** Exit code: the import finished, but something was not imported. */
const incomplete = 3;

export const importCommand: Command = {
  name: 'import',
  summary:
    'Import the objects of a backup, or of another cluster, into a cluster: import FILE, import --from-kubeconfig K.',
  groups,
  operands: { forms: ['FILE', ''], words: [], files: true },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const options = parseOptions({ groups, argv: flags, environment: context.environment });
    const [path, ...more] = operands;
    const { fromKubeconfig, fromContext } = options.import;
    if (more.length > 0) throw new OptionsError([`unexpected argument ${JSON.stringify(more[0])}`]);
    if ((path === undefined) === (fromKubeconfig === undefined)) {
      throw new OptionsError(['needs the name of a backup, or --from-kubeconfig']);
    }
    if (fromContext !== undefined && fromKubeconfig === undefined) {
      throw new OptionsError(['--from-context needs --from-kubeconfig']);
    }
    await checkFiles({ import: ImportOptions, client: ApiClientOptions }, options);
    await bring(path, options, context);
  },
};

async function bring(path: string | undefined, options: Options, context: CommandContext): Promise<void> {
  const { ClusterClient } = await import('../../backup/cluster/cluster-client.js');
  const { BackupFileError } = await import('../../backup/format/backup-file-error.js');
  const { importBackup } = await import('../../backup/importing/importer.js');
  const {
    importPlanLines: planLines,
    importResultLines: resultLines,
    tallyJson,
  } = await import('../../backup/importing/report.js');
  const { TargetCluster } = await import('../../backup/importing/target-cluster.js');
  const { signal } = context.signals;
  const { dryRun, output, existing, parallel, withStatus, withDerived, withVolumes, keepAddresses } = options.import;
  const access = await accessOf(options.client, context.environment.KUBECONFIG);
  const client = new ClusterClient(access, pause, parallel + 1);
  const progress = new ProgressLine(process.stderr);
  let reader: BackupReader | undefined;
  try {
    reader = await (path === undefined ? readCluster(options, context, progress) : readFile(path, options));
    const { plan, result } = await importBackup({
      reader,
      target: new TargetCluster(client, pause, signal),
      options: {
        // Only the selected objects were read from another cluster.
        ...(path === undefined ? new BackupSelectionOptions() : options.backupSelection),
        existing: existing as 'skip' | 'update' | 'fail',
        parallel,
        dryRun,
        withStatus,
        withDerived,
        withVolumes,
        keepAddresses,
      },
      signal,
      onObject: (resource) => progress.count(resource),
      onPlan: (made) => {
        const sum = made.rows.reduce((total, [, { created, updated }]) => total + created + updated, 0);
        progress.say(dryRun ? `${client.server} would get ${sum} objects` : `${client.server} gets ${sum} objects`);
      },
    });
    progress.clear();
    const reported = result ?? plan;
    if (output === 'json') {
      const both = { plan: tallyJson(plan), ...(result === undefined ? {} : { result: tallyJson(result) }) };
      context.print(JSON.stringify(both));
    } else for (const line of result === undefined ? planLines(plan) : resultLines(result)) context.print(line);
    if (reported.hasFaults) context.endWith(incomplete);
  } catch (error) {
    progress.clear();
    if (signal.aborted) throw new StartupError('stopped; run the import again to continue');
    if (error instanceof BackupFileError && path !== undefined) throw new StartupError(`${path} ${errorText(error)}`);
    throw error;
  } finally {
    await reader?.close();
    client.close();
  }
}

async function readFile(path: string, options: Options): Promise<BackupReader> {
  const { BackupReader } = await import('../../backup/format/backup-reader.js');
  const { BackupFileError } = await import('../../backup/format/backup-file-error.js');
  const secret = await readBackupSecret(options.backupKey, false);
  let reader: BackupReader;
  try {
    reader = await BackupReader.open(path);
  } catch (error) {
    if (error instanceof BackupFileError) throw error;
    throw new StartupError(`${path} can't be read: ${fileProblem(error)}`, { cause: error });
  }
  try {
    if (secret !== undefined) await reader.unlock(secret);
    return reader;
  } catch (error) {
    await reader.close();
    throw error;
  }
}

/** Reads the other cluster, as it is at one version. */
async function readCluster(options: Options, context: CommandContext, progress: ProgressLine): Promise<BackupReader> {
  const { ClusterClient } = await import('../../backup/cluster/cluster-client.js');
  const { copyCluster } = await import('../../backup/copy-cluster.js');
  const { resourceName } = await import('../../backup/format/lines.js');
  const { fromKubeconfig, fromContext } = options.import;
  const access = await accessOf({ ...new ApiClientOptions(), kubeconfig: fromKubeconfig, context: fromContext });
  const client = new ClusterClient(access, pause);
  try {
    return await copyCluster({
      client,
      selection: options.backupSelection,
      program: `plinth ${await readVersion()}`,
      clock: systemClock,
      signal: context.signals.signal,
      warn: (line) => progress.say(line),
      onObject: (kind) => progress.count(resourceName(kind)),
    });
  } finally {
    client.close();
  }
}

const pause = async (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
