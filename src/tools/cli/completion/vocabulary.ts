import { type BoundFlag, flagsOf } from '../../../base/config/flag.js';
import type { Command } from '../command.js';

/** The possible values of a flag, as far as a shell can help. */
export type ValueKind = 'none' | 'text' | 'file' | 'folder' | 'words';

/** One flag as shells see it. */
export interface FlagWords {
  /** The spellings with dashes, the usual one first. */
  readonly spellings: readonly string[];
  /** The spellings that are offered: no aliases, and nothing that is deprecated. */
  readonly offered: readonly string[];
  readonly value: ValueKind;
  /** Whether the value is a list separated by commas. */
  readonly isList: boolean;
  /** The values of the kind `words`; for a flag without a value, the words that may follow `=`. */
  readonly words: readonly string[];
  /** The description: one line without a full stop. */
  readonly about: string;
}

/** One subcommand as shells see it. */
export interface ProgramWords {
  readonly name: string;
  readonly about: string;
  readonly flags: readonly FlagWords[];
  readonly operands: readonly string[];
  readonly takesFiles: boolean;
}

const mostLetters = 80;
const fileUnits: ReadonlySet<string> = new Set(['file', 'files', 'path']);

const help: FlagWords = {
  spellings: ['--help', '-h'],
  offered: ['--help', '-h'],
  value: 'none',
  isList: false,
  words: [],
  about: 'Show all flags',
};

/** What can be completed, from the declarations of the subcommands. */
export function vocabularyOf(commands: readonly Command[]): readonly ProgramWords[] {
  return commands.map(({ name, summary, groups, operands }) => ({
    name,
    about: firstSentence(summary),
    flags: [...Object.values(groups).flatMap(flagsOf).map(wordsOf), help],
    operands: operands?.words ?? [],
    takesFiles: operands?.files ?? false,
  }));
}

function wordsOf(flag: BoundFlag): FlagWords {
  const short = flag.short === undefined ? [] : [`-${flag.short}`];
  const own = [`--${flag.name}`, ...short];
  const isBool = flag.type === 'bool';
  return {
    spellings: [...own, ...(flag.aliases ?? []).map((alias) => `--${alias}`)],
    offered: flag.deprecated === undefined ? own : [],
    value: isBool ? 'none' : kindOf(flag),
    isList: flag.type === 'list',
    words: isBool ? ['true', 'false'] : (flag.values ?? []),
    about: firstSentence(flag.usage),
  };
}

function kindOf({ unit = '', values }: BoundFlag): ValueKind {
  if (values !== undefined) return 'words';
  if (fileUnits.has(unit)) return 'file';
  return unit === 'folder' ? 'folder' : 'text';
}

/** Cut where a line of a shell's menu gets too long. */
function firstSentence(text: string): string {
  const [sentence = ''] = /^.*?(?=[.:;] |\.$|$)/.exec(text) ?? [];
  return sentence.length <= mostLetters ? sentence : `${sentence.slice(0, mostLetters - 1).trimEnd()}…`;
}
