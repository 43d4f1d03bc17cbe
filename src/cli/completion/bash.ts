// Completion for bash, 3.2 and newer: macOS has no other.
import { isWords, type Place, takingValues } from './tree.ts'

/** @returns a script that bash sources */
export function bashScript(places: readonly Place[]): string {
  return `# bash completion of agent-gateway. Load it with: source <(agent-gateway completion bash)
_agent_gateway() {
  local cur prev place word i words="" kind="any"
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  place=""
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ "$word" == "--" ]]; then
      COMPREPLY=($(compgen -c -f -- "$cur"))
      return 0
    fi
    case "$word" in
      ${takingValues(places).join('|')}) ((i++)); continue ;;
    esac
    case "$place $word" in
${places
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      '${parentOf(path)} ${nameOf(path)}') place='${path}' ;;`)
  .join('\n')}
    esac
  done
  case "$place:$prev" in
${places.flatMap(optionCases).join('\n')}
  esac
  if [[ -n "$words" ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return 0
  elif [[ "$kind" == "file" ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
    return 0
  elif [[ "$kind" == "value" ]]; then
    return 0
  fi
  case "$place" in
${places.map(placeCase).join('\n')}
  esac
  if [[ "$cur" != -* && "$kind" == "file" ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  elif [[ "$cur" == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "\${words%%--*}" -- "$cur"))
  fi
}
complete -o filenames -o bashdefault -F _agent_gateway agent-gateway
`
}

const parentOf = (path: string) => path.split(' ').slice(0, -1).join(' ')
const nameOf = (path: string) => path.split(' ').at(-1) ?? ''

function optionCases({ path, options }: Place): readonly string[] {
  return options.flatMap(({ flags, value }) => {
    if (value === undefined) return []
    const pattern = flags.map((flag) => `'${path}:${flag}'`).join('|')
    const then = isWords(value)
      ? `words='${value.words.join(' ')}'`
      : `kind='${value === 'file' ? 'file' : 'value'}'`
    return [`    ${pattern}) ${then} ;;`]
  })
}

/** Plain words come first, then the options: bash shows these once a dash is typed. */
function placeCase({ path, commands, options, argument }: Place): string {
  const words = [...commands.map(({ name }) => name), ...(isWords(argument) ? argument.words : [])]
  const flags = options.flatMap((option) => option.flags.filter((flag) => flag.startsWith('--')))
  const kind = argument === 'file' ? ` kind='file'` : ''
  return `    '${path}') words='${[...words, ...flags].join(' ')}'${kind} ;;`
}
