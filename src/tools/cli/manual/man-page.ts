import { type DescribedFlag, flagSections } from '../../../base/config/help.js';
import type { Command } from '../command.js';

/** What the pages of one release have in common. */
export interface Manual {
  readonly version: string;
  /** The date of the release: `2026-11-23`. */
  readonly date: string;
}

/** Manual pages in section 1 by the names of their files: one of the program, and one of each subcommand. */
export function manualPages(commands: readonly Command[], manual: Manual): ReadonlyMap<string, string> {
  const pages = new Map([['plinth.1', overviewPage(commands, manual)]]);
  for (const command of commands) pages.set(`${pageName(command)}.1`, commandPage(command, manual));
  return pages;
}

const sourceWidth = 80;

const pageName = ({ name }: Command) => `plinth-${name}`;

function overviewPage(commands: readonly Command[], manual: Manual): string {
  return page('plinth', manual, [
    ...section('NAME', ['plinth \\- cluster API server on PostgreSQL']),
    ...section('SYNOPSIS', ['.B plinth', '.I command', '[\\fIflags\\fR]']),
    ...section('DESCRIPTION', [
      ...paragraph('Plinth serves the Kubernetes API from a PostgreSQL database. Each command has a page of its own.'),
    ]),
    ...section(
      'COMMANDS',
      commands.flatMap((command) => ['.TP', `.BR ${escaped(pageName(command))} (1)`, ...paragraph(command.summary)]),
    ),
    ...environment(),
    ...exitStatus(),
  ]);
}

function commandPage(command: Command, manual: Manual): string {
  const { name, summary, groups, defaults, operands } = command;
  const [first = ''] = /^.*?(?=[.:;] |\.$|$)/.exec(summary) ?? [];
  const sections = flagSections(groups, defaults);
  const synopsis = (operands?.forms ?? ['']).flatMap((form, index) => [
    ...(index === 0 ? [] : ['.br']),
    `.B plinth ${escaped(name)}${form === '' ? '' : `\n.I ${escaped(form)}`}`,
    ...(sections.length === 0 ? [] : ['[\\fIflags\\fR]']),
  ]);
  return page(pageName(command), manual, [
    ...section('NAME', [
      `${escaped(pageName(command))} \\- ${escaped(first.charAt(0).toLowerCase() + first.slice(1))}`,
    ]),
    ...section('SYNOPSIS', synopsis),
    ...section('DESCRIPTION', paragraph(summary)),
    ...(sections.length === 0
      ? []
      : section(
          'OPTIONS',
          sections.flatMap(({ title, flags }) => [`.SS ${quoted(title)}`, ...flags.flatMap(flagLines)]),
        )),
    ...environment(),
    ...exitStatus(),
    ...section('SEE ALSO', ['.BR plinth (1)']),
  ]);
}

function flagLines({ flag, head, usage, defaultText }: DescribedFlag): string[] {
  const [names = '', value] = head.split(/ (?=<)/);
  const more = [
    ...(defaultText === '' ? [] : [`Default: ${defaultText}.`]),
    ...(flag.aliases === undefined ? [] : [`Also: ${flag.aliases.map((alias) => `--${alias}`).join(', ')}.`]),
    `Environment: ${flag.environment}.`,
  ];
  const shown = value === undefined ? '' : ` \\fI${escaped(value.slice(1, -1))}\\fR`;
  return ['.TP', `\\fB${escaped(names)}\\fR${shown}`, ...paragraph(usage), ...more.flatMap(paragraph)];
}

function environment(): string[] {
  return section(
    'ENVIRONMENT',
    paragraph(
      'Each flag can also be set by the variable that its description names; the flag wins. An empty variable counts as ' +
        'missing.',
    ),
  );
}

function exitStatus(): string[] {
  const row = (code: string, text: string) => ['.TP', `.B ${code}`, ...paragraph(text)];
  return section('EXIT STATUS', [
    ...row('0', 'Done, or stopped in order.'),
    ...row('1', 'Failed; standard error says why.'),
    ...row('2', 'The command line is wrong.'),
    ...row('3', 'Done, but something is left out or failed in part.'),
  ]);
}

function page(name: string, { version, date }: Manual, lines: readonly string[]): string {
  const title = `.TH ${escaped(name.toUpperCase())} 1 ${date} ${quoted(`plinth ${version}`)} ${quoted('Plinth manual')}`;
  // Names of flags must not be broken, and lines must not be stretched.
  return `${[title, '.nh', '.ad l', ...lines].join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return [`.SH ${quoted(title)}`, ...lines];
}

/** Each sentence begins a line, as formatters want it, and no line is long. */
function paragraph(text: string): string[] {
  return text.split(/(?<=[.?!:]) (?=[A-Z])/).flatMap((sentence) => {
    const lines: string[] = [];
    for (const word of sentence.split(' ').map(breakable)) {
      const last = lines.at(-1);
      if (last === undefined || last.length + word.length >= sourceWidth) lines.push(word);
      else lines[lines.length - 1] = `${last} ${word}`;
    }
    return lines.map((line) => line.replace(/^(?=[.'])/, '\\&'));
  });
}

/** Lists of values without spaces may be broken after a comma. */
function breakable(word: string): string {
  return escaped(word).replaceAll(/,(?=.)/g, ',\\:');
}

function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** A dash that is written as such can be searched for and copied. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll(
      /[^\x20-\x7e]/gu,
      (letter) => `\\[u${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
