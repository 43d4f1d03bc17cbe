// Completion for fish.
import { isWords, type Place, takingValues } from './tree.ts'

/** @returns a script that fish sources, or finds in ~/.config/fish/completions/agent-gateway.fish */
export function fishScript(places: readonly Place[]): string {
  return `# fish completion of agent-gateway. Load it with: agent-gateway completion fish | source
function __agent_gateway_place
    set -l place
    set -l skip 0
    set -l tokens (commandline -opc)
    for word in $tokens[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case '--'
                echo '--'
                return
            case ${takingValues(places)
              .map((flag) => `'${flag}'`)
              .join(' ')}
                set skip 1
                continue
        end
        switch "$place $word"
${places
  .filter(({ path }) => path !== '')
  .map(({ path }) => {
    const names = path.split(' ')
    return `            case '${names.slice(0, -1).join(' ')} ${names.at(-1)}'\n                set place '${path}'`
  })
  .join('\n')}
        end
    end
    echo $place
end
function __agent_gateway_at
    test "$(__agent_gateway_place)" = "$argv[1]"
end
complete -c agent-gateway -f
complete -c agent-gateway -n "__agent_gateway_at '--'" -F
${places.flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, commands, options, argument }: Place): readonly string[] {
  const at = `complete -c agent-gateway -n "__agent_gateway_at '${path}'"`
  const flagsOf = (flags: readonly string[]) =>
    flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ')
  return [
    ...commands.map(({ name, description }) => `${at} -a '${name}' -d '${description}'`),
    ...options.map(({ flags, value, description }) => {
      const takes =
        value === undefined
          ? ''
          : isWords(value)
            ? ` -xa '${value.words.join(' ')}'`
            : value === 'file'
              ? ' -rF'
              : ' -x'
      return `${at} ${flagsOf(flags)}${takes} -d '${description}'`
    }),
    ...(isWords(argument)
      ? [`${at} -a '${argument.words.join(' ')}'`]
      : argument === 'file'
        ? [`${at} -F`]
        : []),
  ]
}
