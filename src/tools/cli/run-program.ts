import { environment } from '../../base/config/environment.js';
import { flagsOf } from '../../base/config/flag.js';
import { formatFlags } from '../../base/config/help.js';
import { OptionsError } from '../../base/config/options-error.js';
import { nearest } from '../../base/config/suggest.js';
import { fileProblem, isFileError, withoutSpace } from '../../base/machinery/file-problem.js';
import { errorCode, errorText } from '../../base/machinery/startup-error.js';
import { StopSignals } from '../../base/machinery/stop-signals.js';
import { limitStart } from '../../base/process/engine-phases.js';
import { type Command, warningsWithoutLog } from './command.js';
import { keepIdleMemorySmall } from './idle-memory.js';
import { LastResort } from './last-resort.js';
import { readVersion } from './version.js';
import { takeVersionFlag } from './version-flag.js';

/** Exit codes: 1 for a failure, 2 for a wrong command line. A forced end is 128 plus the signal's number. */
const failed = 1;
const wrongUsage = 2;

/** What the program can be asked for. */
export interface KnownCommands {
  /** The subcommands, in the order of the help. */
  readonly commands: readonly Command[];
  /** Run by the files that `plinth assets` writes, not by people. */
  readonly assetPrograms: readonly Command[];
  /** Explains a wrong command line where not all commands are known, and returns the exit code. */
  readonly explain?: () => Promise<number>;
}

/**
 * Runs the program for its arguments and returns the exit code. Failures go to standard error: one line per problem of
 * the command line, one line for anything else.
 */
export async function runProgram(argv: readonly string[], known: KnownCommands): Promise<number> {
  const [name = '', ...given] = argv;
  const closed = { stop: () => {} };
  watchOutput(() => closed.stop());
  if (name === '--version' || name === 'version') {
    print(await ownVersion());
    return 0;
  }
  const { commands, assetPrograms, explain } = known;
  const command = [...commands, ...assetPrograms].find((candidate) => candidate.name === name);
  if (command === undefined) {
    const help = name === '--help' || name === '-h' || name === 'help';
    if (!help) printError(name === '' ? 'no subcommand' : unknownCommand(name, commands));
    (help ? print : printRawError)(overview(commands));
    return help ? 0 : wrongUsage;
  }
  if (given.includes('--help') || given.includes('-h')) {
    print(commandHelp(command));
    return 0;
  }
  const signals = new StopSignals((signal) => process.exit(signal === 'SIGINT' ? 130 : 143));
  closed.stop = () => signals.abort();
  const lastResort = new LastResort({ stop: () => signals.abort(), exit: (code) => process.exit(code) });
  keepIdleMemorySmall();
  limitStart();
  try {
    const { rest, text } = takeVersionFlag(given, command.versions ?? { true: ownVersion });
    if (text !== undefined) {
      print(await text());
      return 0;
    }
    let code = 0;
    const endWith = (wanted: number) => {
      code = wanted;
    };
    for (const line of warningsWithoutLog(command, rest, environment)) printError(line);
    const commandsWith = (spelling: string) => otherCommandsWith(spelling, command, commands);
    await command.run({ argv: rest, environment, commandsWith, signals, lastResort, print, endWith });
    return lastResort.isFaulty ? failed : code;
  } catch (error) {
    return explain !== undefined && error instanceof OptionsError ? explain() : report(error, command);
  } finally {
    signals.release();
    lastResort.release();
  }
}

/**
 * Watches for output that can't be written. When nobody reads it any more, as behind `| head`, that is not an error:
 * the program stops if it was the requested output, and continues if it was the log. Output that can't be written to
 * its file is an error.
 */
function watchOutput(stop: () => void): void {
  process.stdout.on('error', (error) => {
    stop();
    if (errorCode(error) === 'EPIPE') return;
    printError(`the output can't be written: ${fileProblem(error)}`);
    // Overrides any other exit code of the program.
    process.once('exit', () => {
      process.exitCode = failed;
    });
  });
  process.stderr.on('error', () => undefined);
}

async function ownVersion(): Promise<string> {
  return `plinth ${await readVersion()}`;
}

function unknownCommand(name: string, commands: readonly Command[]): string {
  const names = commands.map((command) => command.name);
  const meant = nearest(name, names);
  return `unknown subcommand ${JSON.stringify(name)}${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

function otherCommandsWith(spelling: string, own: Command, commands: readonly Command[]): string[] {
  const name = spelling.replace(/^--/, '');
  const others = commands.filter((other) => other !== own && other.groups !== own.groups);
  return others
    .filter(({ groups }) =>
      Object.values(groups)
        .flatMap(flagsOf)
        .some((flag) => flag.name === name || flag.aliases?.includes(name) === true),
    )
    .map((command) => command.name);
}

function report(error: unknown, command: Command): number {
  if (error instanceof OptionsError) {
    for (const problem of error.problems) printError(problem);
    printRawError(`Run plinth ${command.name} --help for all flags.`);
    return wrongUsage;
  }
  printError(problemText(error).replaceAll(/\s*\n\s*/g, ' '));
  const debug = environment.PLINTH_LOG_LEVEL === 'debug';
  if (debug && error instanceof Error) printRawError(error.stack ?? '');
  return failed;
}

function problemText(error: unknown): string {
  if (isFileError(error)) return `${error.path}: ${fileProblem(error)}`;
  return withoutSpace(error) ? `a file can't be written: ${fileProblem(error)}` : errorText(error);
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}${command.summary}`);
  return ['Usage: plinth <command> [flags]', '', ...lines, '', 'plinth <command> --help shows the flags.'].join('\n');
}

const globalFlags = [
  'Global flags:',
  '  -h, --help',
  '        Show this text.',
  '  --version',
  '        Show the version and do nothing else.',
].join('\n');

function commandHelp({ name, summary, operands, groups, defaults }: Command): string {
  const forms = operands?.forms ?? [''];
  const flags = formatFlags(groups, defaults);
  const end = flags === '' ? '' : ' [flags]';
  const usage = forms.map((form) => `plinth ${name}${form === '' ? '' : ` ${form}`}${end}`);
  return [
    ...usage.map((line, index) => `${index === 0 ? 'Usage:' : '      '} ${line}`),
    '',
    summary,
    ...(flags === ''
      ? []
      : [
          'Each flag can also be set by the environment variable in brackets; the flag wins.',
          '',
          flags,
          '',
          globalFlags,
        ]),
  ].join('\n');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function printRawError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function printError(message: string): void {
  printRawError(`plinth: ${message}`);
}
