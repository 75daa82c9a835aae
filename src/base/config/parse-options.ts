import { Validator } from 'class-validator';
import { describeDeprecation } from './deprecation.js';
import { type BoundFlag, flagsOf, type OptionsClass, readFlagValue } from './flag.js';
import { OptionsError } from './options-error.js';
import { nearest } from './suggest.js';

/** Options classes by name, one per concern. */
export type OptionGroups = Readonly<Record<string, OptionsClass>>;

/** One frozen options object per concern. */
export type ParsedOptions<Groups extends OptionGroups> = {
  readonly [Name in keyof Groups]: Readonly<InstanceType<Groups[Name]>>;
};

export interface ParseRequest<Groups extends OptionGroups> {
  readonly groups: Groups;
  /** The arguments after the subcommand. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Defaults by flag name, replacing the declared ones. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** The other commands that have a flag, by its spelling. */
  readonly commandsWith?: ((spelling: string) => readonly string[]) | undefined;
}

interface Given {
  readonly texts: string[];
  /** The flag or variable as the user spelled it, for messages. */
  readonly source: string;
}

/**
 * Reads flags, then environment variables for missing flags, then defaults, and checks them. An empty environment
 * variable counts as missing.
 *
 * @throws OptionsError with all problems at once; it never contains values of secret flags.
 */
export function parseOptions<Groups extends OptionGroups>(request: ParseRequest<Groups>): ParsedOptions<Groups> {
  const flags = Object.values(request.groups).flatMap(flagsOf);
  const problems: string[] = [];
  const given = readGiven(flags, request, problems);
  const parsed: Record<string, object> = {};
  for (const [name, optionsClass] of Object.entries(request.groups)) {
    parsed[name] = buildOptions(optionsClass, given, request.defaults ?? {}, problems);
  }
  if (problems.length > 0) throw new OptionsError(problems);
  return parsed as ParsedOptions<Groups>;
}

/** The arguments of a command line apart from its flags, such as names of files, and the flags with their values. */
export interface SeparatedArguments {
  readonly operands: readonly string[];
  /** Pass these as `argv`. */
  readonly flags: readonly string[];
}

/** Removes the arguments that are neither flags nor values of flags from a command line, wherever they are. */
export function separateOperands(groups: OptionGroups, argv: readonly string[]): SeparatedArguments {
  const bySpelling = spellings(Object.values(groups).flatMap(flagsOf));
  const operands: string[] = [];
  const flags: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? '';
    if (!argument.startsWith('-') || argument === '-') {
      operands.push(argument);
      continue;
    }
    flags.push(argument);
    const flag = bySpelling.get(argument);
    if (flag === undefined || flag.type === 'bool') continue;
    const next = argv[index + 1];
    if (next !== undefined && takesNext(flag, next)) {
      flags.push(next);
      index++;
    }
  }
  return { operands, flags };
}

/** The names of the flags that the command line or the environment sets. */
export function givenFlags(request: ParseRequest<OptionGroups>): ReadonlySet<string> {
  const flags = Object.values(request.groups).flatMap(flagsOf);
  return new Set(readGiven(flags, request, []).keys());
}

/** The last text that the command line or the environment gives a flag; undefined when neither sets it. */
export function givenText(request: ParseRequest<OptionGroups>, name: string): string | undefined {
  const flags = Object.values(request.groups).flatMap(flagsOf);
  return readGiven(flags, request, []).get(name)?.texts.at(-1);
}

/**
 * One line for each deprecated flag or value that the command line or the environment uses (specification 9.5, rule 6).
 *
 * @param request one that {@link parseOptions} has accepted
 */
export function deprecationWarnings(request: ParseRequest<OptionGroups>): readonly string[] {
  const flags = Object.values(request.groups).flatMap(flagsOf);
  const given = readGiven(flags, request, []);
  return flags.flatMap((flag) => {
    const input = given.get(flag.name);
    if (input === undefined) return [];
    if (flag.deprecated !== undefined) return [`${input.source} is deprecated ${describeDeprecation(flag.deprecated)}`];
    const reading = readFlagValue(flag, input.texts);
    const lines = 'value' in reading ? (flag.warnings?.(reading.value) ?? []) : [];
    return lines.map((line) => `${input.source}: ${line}`);
  });
}

function readGiven(
  flags: readonly BoundFlag[],
  { argv, environment, commandsWith }: ParseRequest<OptionGroups>,
  problems: string[],
): Map<string, Given> {
  const given = readArguments(flags, argv, problems, commandsWith);
  for (const flag of flags) {
    const text = environment[flag.environment];
    if (!given.has(flag.name) && text !== undefined && text !== '') {
      given.set(flag.name, { texts: [text], source: flag.environment });
    }
  }
  return given;
}

function readArguments(
  flags: readonly BoundFlag[],
  argv: readonly string[],
  problems: string[],
  commandsWith: (spelling: string) => readonly string[] = () => [],
): Map<string, Given> {
  const bySpelling = spellings(flags);
  const given = new Map<string, Given>();
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] ?? '';
    if (!argument.startsWith('-') || argument === '-' || argument === '--') {
      problems.push(
        `unexpected argument ${JSON.stringify(argument)}${boolHint(bySpelling, argv[index - 1], argument)}`,
      );
      continue;
    }
    const equals = argument.indexOf('=');
    const spelling = equals < 0 ? argument : argument.slice(0, equals);
    const flag = bySpelling.get(spelling);
    if (flag === undefined) {
      problems.push(`unknown flag ${spelling}${remedy(spelling, commandsWith(spelling), bySpelling.keys())}`);
      // The word after an unknown flag is most likely its value: report one mistake once.
      if (equals < 0 && isValue(argv[index + 1])) index++;
      continue;
    }
    let text: string;
    if (equals >= 0) text = argument.slice(equals + 1);
    else if (flag.type === 'bool') text = 'true';
    else if (takesNext(flag, argv[index + 1])) text = argv[++index] ?? '';
    else {
      problems.push(`${spelling} needs a value`);
      continue;
    }
    const { name } = numberedFlag(flag, spelling, text, bySpelling);
    const before = given.get(name);
    if (before === undefined) given.set(name, { texts: [text], source: spelling });
    else before.texts.push(text);
  }
  return given;
}

/** The flag that a short spelling means: with a number, the long flag of that letter, if there is one (`-v 4` is `--v 4`). */
function numberedFlag(
  flag: BoundFlag,
  spelling: string,
  text: string,
  bySpelling: ReadonlyMap<string, BoundFlag>,
): BoundFlag {
  if (spelling.startsWith('--') || !/^\d+$/.test(text)) return flag;
  return bySpelling.get(`-${spelling}`) ?? flag;
}

/** Which command has an unknown flag, or which flag was probably meant. */
function remedy(spelling: string, commands: readonly string[], known: Iterable<string>): string {
  if (commands.length > 0) return `; it belongs to ${commands.map((name) => `plinth ${name}`).join(', ')}`;
  const meant = nearest(spelling, known);
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

function spellings(flags: readonly BoundFlag[]): Map<string, BoundFlag> {
  const bySpelling = new Map<string, BoundFlag>();
  for (const flag of flags) {
    bySpelling.set(`--${flag.name}`, flag);
    for (const alias of flag.aliases ?? []) bySpelling.set(`--${alias}`, flag);
    if (flag.short !== undefined) bySpelling.set(`-${flag.short}`, flag);
  }
  return bySpelling;
}

function isValue(argument: string | undefined): boolean {
  return argument !== undefined && !argument.startsWith('-');
}

function takesNext(flag: BoundFlag, next: string | undefined): boolean {
  if (next === undefined) return false;
  if (!next.startsWith('-') || next === '-') return true;
  return !['string', 'list', 'array'].includes(flag.type) && /^-[\d.]/.test(next);
}

function boolHint(bySpelling: ReadonlyMap<string, BoundFlag>, before: string | undefined, argument: string): string {
  return before !== undefined && bySpelling.get(before)?.type === 'bool' ? `: write ${before}=${argument}` : '';
}

function buildOptions(
  optionsClass: OptionsClass,
  given: ReadonlyMap<string, Given>,
  defaults: Readonly<Record<string, unknown>>,
  problems: string[],
): object {
  const options = new optionsClass();
  const values = options as Record<string, unknown>;
  const unreadable = new Set<string>();
  for (const flag of flagsOf(optionsClass)) {
    if (flag.name in defaults) values[flag.property] = defaults[flag.name];
    const input = given.get(flag.name);
    if (input === undefined) continue;
    const reading = readFlagValue(flag, input.texts);
    if ('problem' in reading) {
      problems.push(describe(flag, input, reading.problem));
      unreadable.add(flag.property);
    } else {
      // An optional string set to nothing counts as unset.
      const unset = reading.value === '' && values[flag.property] === undefined;
      values[flag.property] = unset ? undefined : reading.value;
    }
  }
  for (const error of new Validator().validateSync(options, { forbidUnknownValues: false })) {
    if (unreadable.has(error.property)) continue;
    const flag = flagsOf(optionsClass).find(({ property }) => property === error.property);
    if (flag === undefined) continue;
    const messages = new Set(Object.values(error.constraints ?? {}));
    for (const message of messages) problems.push(describe(flag, given.get(flag.name), message));
  }
  if (problems.length === 0) optionsClass.settle?.(values);
  return Object.freeze(options);
}

function describe(flag: BoundFlag, input: Given | undefined, problem: string): string {
  const source = input?.source ?? `--${flag.name}`;
  const text = input?.texts.join(',');
  if (flag.secret === true || text === undefined) return `${source} ${problem}`;
  return `${source} ${text === '' ? '""' : text}: ${problem}`;
}
