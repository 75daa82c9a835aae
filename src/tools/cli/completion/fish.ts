import type { FlagWords, ProgramWords } from './vocabulary.js';

/** The script for fish 3.0 and later. */
export function fishScript(programs: readonly ProgramWords[]): string {
  return `# fish completion for plinth. Use it by: plinth completion fish | source

function __plinth_program
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = $argv[1]
end

function __plinth_no_program
    test (count (commandline -opc)) -eq 1
end

# Several values with commas between them: what stands before the last one stays.
function __plinth_list
    set -l token (commandline -ct | string replace -r '^-[^=]*=' '')
    set -l before (string match -r '^.*,' -- $token)
    for value in $argv
        echo "$before$value"
    end
end

complete -c plinth -e
complete -c plinth -f
complete -c plinth -n __plinth_no_program -l help -s h -d 'Show all commands'
complete -c plinth -n __plinth_no_program -l version -d 'Show the version'
${programs.flatMap(programLines).join('\n')}`;
}

function programLines({ name, about, flags, operands, takesFiles }: ProgramWords): string[] {
  const start = `complete -c plinth -n '__plinth_program ${name}'`;
  return [
    `complete -c plinth -n __plinth_no_program -a ${name} -d ${quoted(about)}`,
    ...flags.map((flag) => flagLine(start, flag)).filter((line) => line !== undefined),
    ...(operands.length === 0 ? [] : [`${start} -a ${quoted(operands.join(' '))}`]),
    ...(takesFiles ? [`${start} -F`] : []),
  ];
}

function flagLine(start: string, { offered, value, isList, words, about }: FlagWords): string | undefined {
  if (offered.length === 0) return undefined;
  const names = offered.map((text) => (text.startsWith('--') ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`));
  const line = [start, ...names, `-d ${quoted(about)}`];
  switch (value) {
    case 'none':
      break;
    case 'file':
    case 'folder':
      line.push(value === 'file' ? '-rF' : `-xa '(__fish_complete_directories)'`);
      break;
    case 'words': {
      const list = words.map((word) => (/[*=?~]/.test(word) ? `"${word}"` : word)).join(' ');
      line.push(`-xa ${quoted(isList ? `(__plinth_list ${list})` : list)}`);
      break;
    }
    default:
      line.push('-x');
  }
  return line.join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
