import { flagsOf, readFlagValue } from '../../base/config/flag.js';
import { ignoredFlagsNotes } from '../../base/config/ignored-flags.js';
import { debugVerbosity, LoggingOptions } from '../../base/config/logging.options.js';
import {
  deprecationWarnings,
  givenFlags,
  givenText,
  type OptionGroups,
  type ParseRequest,
} from '../../base/config/parse-options.js';
import type { StopSignals } from '../../base/machinery/stop-signals.js';
import { Logger } from '../../base/observability/logger.js';
import type { LastResort } from './last-resort.js';
import type { VersionTexts } from './version-flag.js';

/** The environment of a subcommand: the source of its options, and the signal to stop. */
export interface CommandContext {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The other commands that have a flag, by its spelling. */
  readonly commandsWith?: (spelling: string) => readonly string[];
  readonly signals: StopSignals;
  /** Handles uncaught faults. */
  readonly lastResort: Pick<LastResort, 'logTo'>;
  /** Writes a line for the user to standard output. */
  readonly print: (line: string) => void;
  /** Sets the exit code for a command that ends without an error; default 0. */
  readonly endWith: (code: number) => void;
}

/** Arguments of a subcommand that are not flags. */
export interface CommandOperands {
  /** The operands in the form of a manual page: `verify FILE`, one line for each variant. */
  readonly forms: readonly string[];
  /** The words that the first operand can be. */
  readonly words: readonly string[];
  /** Whether operands can be names of files. */
  readonly files: boolean;
}

/** One subcommand of the program. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly groups: OptionGroups;
  /** The operands besides its flags; none by default. */
  readonly operands?: CommandOperands;
  /** Defaults by flag name that differ from the declared ones. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** What it prints for `--version`, where that is not the version of the whole program. */
  readonly versions?: VersionTexts;
  /**
   * Returns when the work is done, or when a requested stop is complete.
   *
   * @throws OptionsError for a wrong command line, StartupError when it cannot start.
   */
  run(context: CommandContext): Promise<void>;
}

/** The input of `parseOptions` for a command. */
export function parseRequest<Groups extends OptionGroups>(
  groups: Groups,
  defaults: Readonly<Record<string, unknown>>,
  context: CommandContext,
): ParseRequest<Groups> {
  const { argv, environment, commandsWith } = context;
  const request = { groups, defaults, argv, environment, commandsWith };
  const verbosity = Number(givenText(request, 'v') ?? 0);
  return verbosity >= debugVerbosity ? { ...request, defaults: { ...defaults, 'log-level': 'debug' } } : request;
}

/** The log of a command. Reports given flags that have no effect. Warns of deprecated flags and values at once, unless `--deprecation-warnings` is off. */
export function openLog<Groups extends OptionGroups>(request: ParseRequest<Groups>, options: LoggingOptions): Logger {
  const logger = new Logger(options.logLevel, options.logFormat);
  for (const line of ignoredFlagsNotes(givenFlags(request), Object.values(request.groups))) logger.warn(line);
  if (options.deprecationWarnings) for (const line of deprecationWarnings(request)) logger.warn(line);
  return logger;
}

/**
 * The deprecation warnings of a command that keeps no log, as lines for standard error. The variable of
 * `--deprecation-warnings` silences them, since it has no such flag. None for commands with a log.
 */
export function warningsWithoutLog(
  { groups }: Pick<Command, 'groups'>,
  argv: readonly string[],
  environment: CommandContext['environment'],
): readonly string[] {
  if (Object.values(groups).includes(LoggingOptions)) return [];
  const silencer = flagsOf(LoggingOptions).find(({ name }) => name === 'deprecation-warnings');
  const text = silencer && environment[silencer.environment];
  const reading = silencer && text ? readFlagValue(silencer, [text]) : {};
  if ('value' in reading && reading.value === false) return [];
  return deprecationWarnings({ groups, argv, environment });
}
