import type { FlagWords, ProgramWords } from './vocabulary.js';

/**
 * The script for bash 3.2 and later, without the package bash-completion. Bash splits words at `=` and `:`; the script
 * joins them again, and returns only the part that bash replaces.
 */
export function bashScript(programs: readonly ProgramWords[]): string {
  return `# bash completion for plinth. Use it by: source <(plinth completion bash)

${offerValues}
${knowFlags(programs)}
${completeLine(programs)}
complete -F _plinth plinth`;
}

/** The shell functions that offer words, files and folders. */
const offerValues = `_plinth_words() {
  local word
  while IFS= read -r word; do
    [ -n "$word" ] && COMPREPLY[\${#COMPREPLY[@]}]=$word
  done < <(compgen -W "$1" -- "$2")
}

# Files and folders, or folders alone, by a pattern: names may hold anything, and nothing of them or of the word is evaluated.
_plinth_files() {
  local word start=$2 home='' strict=
  case $start in
    [\\"\\']*) start=\${start:1} ;;
    *)
      start=\${start//\\\\\\\\/$'\\1'}
      start=\${start//\\\\/}
      start=\${start//$'\\1'/\\\\}
      case $start in
        \\~/*)
          home=$HOME
          start=$HOME\${start:1}
          ;;
      esac
      ;;
  esac
  shopt -q failglob && strict=yes && shopt -u failglob
  for word in "$start"*; do
    if [ "$1" = -d ]; then [[ -d $word ]] || continue; fi
    [[ -e $word || -L $word ]] || continue
    # As a word of its own it would be a flag.
    [[ -z $head && $word == -* ]] && continue
    [ -n "$home" ] && word=\\~\${word#"$home"}
    COMPREPLY[\${#COMPREPLY[@]}]=$word
  done
  [ -n "$strict" ] && shopt -s failglob
  compopt -o filenames 2>/dev/null
}

# One value, or the last of several with commas between them.
_plinth_value() {
  local kind=$1 list=$2 words=$3 text=$4 before='' i
  if [ "$list" = list ] && [ "\${text%,*}" != "$text" ]; then
    before=\${text%,*},
    text=\${text##*,}
  fi
  case $kind in
    file) _plinth_files -f "$text" ;;
    folder) _plinth_files -d "$text" ;;
    words) _plinth_words "$words" "$text" ;;
  esac
  for ((i = 0; i < \${#COMPREPLY[@]}; i++)); do COMPREPLY[i]=$before\${COMPREPLY[i]}; done
  [ "$list" = list ] && compopt -o nospace 2>/dev/null
  return 0
}
`;

/** The shell function that knows what the value of a flag is. */
function knowFlags(programs: readonly ProgramWords[]): string {
  return `# Sets kind, list and words for a flag; fails for a word that is none.
_plinth_flag() {
  kind=text list=one words=
  case $1:$2 in
${programs.flatMap(({ name, flags }) => flagCases(name, flags)).join('\n')}
    *) return 1 ;;
  esac
}
`;
}

/** The shell function that bash calls. */
function completeLine(programs: readonly ProgramWords[]): string {
  const names = programs.map(({ name }) => name).join(' ');
  return `_plinth() {
  local joined=() i part
  for ((i = 0; i <= COMP_CWORD; i++)); do
    part=\${COMP_WORDS[i]}
    if ((i > 1)) && { [[ $part == [=:]* ]] || [[ \${joined[\${#joined[@]} - 1]} == *[=:] ]]; }; then
      joined[\${#joined[@]} - 1]+=$part
    else
      joined[\${#joined[@]}]=$part
    fi
  done
  local current=\${joined[\${#joined[@]} - 1]} program=\${joined[1]} kind list words head='' breaks=''
  COMPREPLY=()
  if ((\${#joined[@]} <= 2)); then
    _plinth_words '${names} --help --version' "$current"
    return
  fi
  if [[ $current == -*=* ]]; then
    if _plinth_flag "$program" "\${current%%=*}"; then
      head=\${current%%=*}=
      [ "$kind" = none ] && kind=words
      _plinth_value "$kind" "$list" "$words" "\${current#*=}"
    fi
  elif _plinth_flag "$program" "\${joined[\${#joined[@]} - 2]}" && [ "$kind" != none ]; then
    _plinth_value "$kind" "$list" "$words" "$current"
  elif [[ $current == -* ]]; then
    case $program in
${programs.map(({ name, flags }) => `      ${name}) _plinth_words '${offered(flags)}' "$current" ;;`).join('\n')}
    esac
  else
    case $program in
${programs.flatMap(operandCase).join('\n')}
    esac
  fi
  # Bash replaces only what stands behind its last break.
  [[ $COMP_WORDBREAKS == *=* ]] && breaks+='='
  [[ $COMP_WORDBREAKS == *:* ]] && breaks+=':'
  local kept=''
  [ -n "$breaks" ] && [[ $current == *[$breaks]* ]] && kept=\${current%"\${current##*[$breaks]}"}
  for ((i = 0; i < \${#COMPREPLY[@]}; i++)); do
    part=$head\${COMPREPLY[i]}
    COMPREPLY[i]=\${part#"$kept"}
  done
}
`;
}

/** Words with an asterisk are data here; unquoted, the shell would replace them by names of files. */
function flagCases(program: string, flags: readonly FlagWords[]): string[] {
  return flags
    .filter(({ value, words }) => value !== 'text' || words.length > 0)
    .map(({ spellings, value, isList, words }) => {
      const patterns = spellings.map((spelling) => `${program}:${spelling}`).join(' | ');
      return `    ${patterns}) kind=${value} list=${isList ? 'list' : 'one'} words='${words.join(' ')}' ;;`;
    })
    .concat(textFlags(program, flags));
}

function textFlags(program: string, flags: readonly FlagWords[]): string[] {
  const spellings = flags
    .filter(({ value, words }) => value === 'text' && words.length === 0)
    .flatMap((f) => f.spellings);
  return spellings.length === 0 ? [] : [`    ${spellings.map((text) => `${program}:${text}`).join(' | ')}) ;;`];
}

function offered(flags: readonly FlagWords[]): string {
  return flags.flatMap((flag) => flag.offered).join(' ');
}

function operandCase({ name, operands, takesFiles }: ProgramWords): string[] {
  const files = takesFiles ? [`_plinth_files -f "$current"`] : [];
  // Only the first operand, after the subcommand and its flags, is completed with these words.
  const words = operands.length === 0 ? [] : [`_plinth_words '${operands.join(' ')}' "$current"`];
  const all = [...words, ...files];
  return all.length === 0 ? [] : [`      ${name}) ${all.join('; ')} ;;`];
}
