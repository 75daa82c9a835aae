import { describeDeprecation } from '../../src/base/config/deprecation.js';
import { type BoundFlag, flagsOf, type OptionsClass, showFlagValue } from '../../src/base/config/flag.js';
import { titleOf } from '../../src/base/config/help.js';
import { commands } from '../../src/tools/cli/all-commands.js';
import type { Command } from '../../src/tools/cli/command.js';

/** Flags that some commands share, under the title that they have in the help. */
interface Section {
  readonly title: string;
  readonly optionsClass: OptionsClass;
  readonly users: readonly Command[];
}

/** The sections, one per class of options, in the order in which the commands list them. */
function sections(): readonly Section[] {
  const found = new Map<OptionsClass, Section>();
  for (const command of commands) {
    for (const [group, optionsClass] of Object.entries(command.groups)) {
      const known = found.get(optionsClass);
      const title = known?.title ?? titleOf(group);
      found.set(optionsClass, { title, optionsClass, users: [...(known?.users ?? []), command] });
    }
  }
  return [...found.values()];
}

/** Escapes characters that have a meaning in a table or a page: bars, and `<name>`. */
const asCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;

const listOf = (names: readonly Command[]): string => names.map(({ name }) => code(name)).join(', ');

function head(flag: BoundFlag): string {
  const value = flag.type === 'bool' ? '' : ` ${flag.unit ?? flag.type}`;
  const short = flag.short === undefined ? '' : `, ${code(`-${flag.short}`)}`;
  const aliases = (flag.aliases ?? []).map((alias) => `, ${code(`--${alias}`)}`).join('');
  return `${code(`--${flag.name}${value}`)}${short}${aliases}`;
}

/** The declared default, and the defaults of commands that have another. */
function defaultOf(flag: BoundFlag, { optionsClass, users }: Section): string {
  const declared = showFlagValue(flag, (new optionsClass() as Record<string, unknown>)[flag.property]);
  const shown = users.map((command) =>
    flag.name in command.defaults ? showFlagValue(flag, command.defaults[flag.name]) : declared,
  );
  const texts = [...new Set(shown)];
  if (texts.length <= 1) return texts[0] === undefined || texts[0] === '' ? '' : code(texts[0]);
  const each = texts.map((text) => {
    const having = users.filter((_, index) => shown[index] === text);
    return `${text === '' ? 'none' : code(text)} (${listOf(having)})`;
  });
  return each.join('; ');
}

function meaning({ usage, deprecated }: BoundFlag): string {
  return asCell(deprecated === undefined ? usage : `${usage} **Deprecated** ${describeDeprecation(deprecated)}.`);
}

function sectionText(section: Section): string {
  const rows = flagsOf(section.optionsClass).map(
    (flag) => `| ${head(flag)} | ${defaultOf(flag, section)} | ${meaning(flag)} |`,
  );
  return [
    `## ${section.title}`,
    '',
    `For ${listOf(section.users)}.`,
    '',
    '| Flag | Default | Meaning |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n');
}

function commandRow(command: Command): string {
  return `| ${code(command.name)} | ${asCell(command.summary)} |`;
}

/** The text of `docs/flags.md`. */
export function flagsPage(): string {
  return `# Flags

Every flag of every command, as \`plinth <command> --help\` shows them. Each can also be set by an environment variable:
\`--secure-port\` is \`PLINTH_SECURE_PORT\`; the flag wins. \`--name value\` and \`--name=value\` mean the same; a flag without a
value in the table is on or off (\`--name\`, \`--name=false\`). Lists are separated by commas, or the flag is given several times. Durations are
such as \`30s\`, \`5m0s\` or \`720h\`. A flag that a command does not have is refused.

\`npm run docs:flags\` writes this page from the declarations, and a test fails until it is up to date.

| Command | |
| --- | --- |
${commands.map(commandRow).join('\n')}

${sections().map(sectionText).join('\n\n')}
`;
}
