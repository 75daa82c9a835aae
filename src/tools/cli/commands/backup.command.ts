import { setTimeout as delay } from 'node:timers/promises';
import { ApiClientOptions } from '../../../base/config/api-client.options.js';
import { BackupOptions, BackupSelectionOptions } from '../../../base/config/backup.options.js';
import { BackupKeyOptions } from '../../../base/config/backup-key.options.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { type ParsedOptions, parseOptions, separateOperands } from '../../../base/config/parse-options.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { fileProblem } from '../../../base/machinery/file-problem.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { accessOf } from '../api-access.js';
import { readBackupSecret } from '../backup-secret.js';
import { checkFiles } from '../check-files.js';
import type { Command, CommandContext } from '../command.js';
import { ProgressLine } from '../progress-line.js';
import { readVersion } from '../version.js';

const groups = {
  backup: BackupOptions,
  backupSelection: BackupSelectionOptions,
  backupKey: BackupKeyOptions,
  client: ApiClientOptions,
} as const;
type Options = ParsedOptions<typeof groups>;

/** Exit code: the backup is complete except for something that the user did not exclude. */
const incomplete = 3;

export const backupCommand: Command = {
  name: 'backup',
  summary:
    'Save all objects of a cluster, as of one version, to a file: backup -o FILE. ' +
    'backup verify FILE checks a file, backup show FILE lists what it contains.',
  groups,
  operands: { forms: ['', 'verify FILE', 'show FILE'], words: ['verify', 'show'], files: true },
  defaults: {},
  async run(context) {
    const { operands, flags } = separateOperands(groups, context.argv);
    const options = parseOptions({ groups, argv: flags, environment: context.environment });
    const [action, path, ...more] = operands;
    if (action === undefined) return make(options, context);
    if (more.length > 0) throw new OptionsError([`unexpected argument ${JSON.stringify(more[0])}`]);
    if (action !== 'verify' && action !== 'show') {
      throw new OptionsError([
        `unexpected argument ${JSON.stringify(action)}: write -o FILE, verify FILE or show FILE`,
      ]);
    }
    if (path === undefined) throw new OptionsError([`${action} needs the name of a file`]);
    await describe(path, action === 'verify', options, context);
  },
};

async function make(options: Options, context: CommandContext): Promise<void> {
  const { backup, backupSelection, backupKey, client: access } = options;
  if (backup.output === undefined || backup.output === '') throw new OptionsError(['needs -o FILE']);
  await checkFiles({ client: ApiClientOptions }, options);
  const { makeBackup } = await import('../../backup/make-backup.js');
  const { ClusterClient } = await import('../../backup/cluster/cluster-client.js');
  const { resourceName } = await import('../../backup/format/lines.js');
  const { summaryJson, summaryLines } = await import('../../backup/summary.js');
  const secret = await readBackupSecret(backupKey, true);
  const client = new ClusterClient(await accessOf(access, context.environment.KUBECONFIG), pause);
  const progress = new ProgressLine(process.stderr);
  try {
    if (secret === undefined) progress.say('secrets are saved readable: --passphrase or --key-file encrypts them');
    const summary = await makeBackup({
      client,
      selection: backupSelection,
      path: backup.output,
      secret,
      sealedKinds: backup.sealedKinds,
      verify: backup.verify,
      program: `plinth ${await readVersion()}`,
      clock: systemClock,
      signal: context.signals.signal,
      warn: (line) => progress.say(line),
      onObject: (kind) => progress.count(resourceName(kind)),
    });
    progress.clear();
    if (backup.json) context.print(JSON.stringify(summaryJson(summary)));
    else for (const line of summaryLines(summary)) context.print(line);
    if (summary.notTaken.some(({ asked }) => !asked)) context.endWith(incomplete);
  } catch (error) {
    progress.clear();
    if (context.signals.signal.aborted) throw new StartupError('stopped; no backup was written');
    throw error;
  } finally {
    client.close();
  }
}

async function describe(path: string, whole: boolean, options: Options, context: CommandContext): Promise<void> {
  const { BackupReader } = await import('../../backup/format/backup-reader.js');
  const { BackupFileError } = await import('../../backup/format/backup-file-error.js');
  const { verifyBackup } = await import('../../backup/verify-backup.js');
  const { summaryJson, summaryLines } = await import('../../backup/summary.js');
  const secret = await readBackupSecret(options.backupKey, false);
  try {
    const reader = await BackupReader.open(path);
    try {
      if (secret !== undefined) await reader.unlock(secret);
      const summary = await verifyBackup(reader, { signal: context.signals.signal, whole });
      if (options.backup.json) context.print(JSON.stringify(summaryJson(summary)));
      else for (const line of summaryLines(summary)) context.print(line);
    } finally {
      await reader.close();
    }
  } catch (error) {
    const problem = error instanceof BackupFileError ? errorText(error) : `can't be read: ${fileProblem(error)}`;
    throw new StartupError(`${path} ${problem}`, { cause: error });
  }
}

const pause = async (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal });
