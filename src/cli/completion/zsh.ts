// Completion for zsh, as a function that its completion system loads.
import { type CompletedOption, isWords, type Place, takingValues, type Value } from './tree.ts'

/** @returns a script that zsh sources, or autoloads as `_agent-gateway` */
export function zshScript(places: readonly Place[]): string {
  return `#compdef agent-gateway
# zsh completion of agent-gateway. Load it with: source <(agent-gateway completion zsh)
_agent_gateway() {
  local place="" word prev="\${words[CURRENT-1]}" cur="\${words[CURRENT]}"
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ "$word" == "--" ]]; then
      _command_names -e || _files
      return
    fi
    case "$word" in
      ${takingValues(places).join('|')}) ((i++)); continue ;;
    esac
    case "$place $word" in
${places
  .filter(({ path }) => path !== '')
  .map(({ path }) => {
    const names = path.split(' ')
    return `      '${names.slice(0, -1).join(' ')} ${names.at(-1)}') place='${path}' ;;`
  })
  .join('\n')}
    esac
  done
  case "$place:$prev" in
${places.flatMap(({ path, options }) => options.flatMap((option) => optionCase(path, option))).join('\n')}
  esac
  case "$place" in
${places.map(placeCase).join('\n')}
  esac
}
if [[ "$funcstack[1]" == _agent_gateway || "$funcstack[1]" == _agent-gateway ]]; then
  _agent_gateway "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _agent_gateway agent-gateway
fi
`
}

const offered = (value: Value): string =>
  isWords(value) ? `compadd -- ${value.words.join(' ')}` : value === 'file' ? '_files' : `_message 'value'`

function optionCase(path: string, { flags, value }: CompletedOption): readonly string[] {
  if (value === undefined) return []
  return [`    ${flags.map((flag) => `'${path}:${flag}'`).join('|')}) ${offered(value)}; return ;;`]
}

function placeCase({ path, commands, options, argument }: Place): string {
  const described = (name: string, description: string) => `'${name}:${description}'`
  const lists = [
    ...(commands.length > 0
      ? [
          `local -a commands=(${commands.map(({ name, description }) => described(name, description)).join(' ')})`,
          `_describe 'command' commands`,
        ]
      : []),
    ...(argument === undefined || argument === 'any'
      ? []
      : [`if [[ "$cur" != -* ]]; then ${offered(argument)}; fi`]),
    `local -a flags=(${options
      .flatMap((option) =>
        option.flags
          .filter((flag) => flag.startsWith('--'))
          .map((flag) => described(flag, option.description)),
      )
      .join(' ')})`,
    `if [[ "$cur" == -* ]]; then _describe 'option' flags; fi`,
  ]
  return `    '${path}')\n      ${lists.join('\n      ')}\n      ;;`
}
