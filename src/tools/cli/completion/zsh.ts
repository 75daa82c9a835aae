import type { FlagWords, ProgramWords } from './vocabulary.js';

/** The script for zsh with its own completion system, as a function in `fpath` or read by `source`. */
export function zshScript(programs: readonly ProgramWords[]): string {
  return `#compdef plinth
# zsh completion for plinth. Use it by: source <(plinth completion zsh)

_plinth() {
  local -a programs
  programs=(
${programs.map(({ name, about }) => `    ${quoted(`${name}:${about}`)}`).join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe -t commands command programs -- && return
    _arguments '(- *)--help[Show all commands]' '(- *)--version[Show the version]'
    return
  fi
  local program=$words[2]
  shift words
  ((CURRENT--))
  case $program in
${programs.map(programCase).join('\n')}
  esac
}

if [ "$funcstack[1]" = _plinth ]; then
  _plinth "$@"
else
  compdef _plinth plinth
fi`;
}

function programCase({ name, flags, operands, takesFiles }: ProgramWords): string {
  const words = operands.length === 0 ? [] : [quoted(`1:argument:(${operands.join(' ')})`)];
  const files = takesFiles ? [quoted('*:file:_files')] : [];
  const specs = [...flags.flatMap(flagSpecs), ...words, ...files];
  return `    ${name})\n      _arguments -s : \\\n${specs.map((spec) => `        ${spec}`).join(' \\\n')} ;;`;
}

/** A list may be given several times, everything else once, in any of its spellings. */
function flagSpecs({ spellings, offered, value, isList, words, about }: FlagWords): string[] {
  const others = isList ? '*' : `(${spellings.join(' ')})`;
  const shown = offered.length === 0 ? [] : offered;
  return shown.map((spelling) => {
    if (value === 'none') return quoted(`${others}${spelling}[${escaped(about)}]`);
    const joins = spelling.startsWith('--') ? '=' : '+';
    return quoted(`${others}${spelling}${joins}[${escaped(about)}]:value:${action(value, isList, words)}`);
  });
}

function action(value: FlagWords['value'], isList: boolean, words: readonly string[]): string {
  switch (value) {
    case 'file':
      return isList ? '_sequence _files' : '_files';
    case 'folder':
      return '_files -/';
    case 'words':
      return isList ? `_sequence compadd - ${words.map(pattern).join(' ')}` : `(${words.map(pattern).join(' ')})`;
    default:
      return ' ';
  }
}

/** The shell reads these words again: an asterisk must stay an asterisk. */
function pattern(word: string): string {
  return word.replaceAll(/[*?[\]()=~#]/g, '\\$&');
}

function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, '\\$&');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
