// `completion bash|zsh|fish`: the script with which a shell completes this command line.
import { Argument, type Command } from 'commander'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { placesOf } from './tree.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript }
type Shell = keyof typeof SCRIPTS

/** Adds `completion`, which describes all commands that the program has when it runs. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(SCRIPTS)))
    .description('print a script that completes commands, options, their words and files in your shell')
    .addHelpText(
      'after',
      `
It needs no gateway, and asks none when you press the key. Print it again after an update.

Examples:
  source <(agent-gateway completion bash)
      Now. For every shell from now on, put this line into ~/.bashrc (or, with zsh in the place of bash, into ~/.zshrc).
  agent-gateway completion fish > ~/.config/fish/completions/agent-gateway.fish`,
    )
    .action((shell: Shell) => void process.stdout.write(SCRIPTS[shell](placesOf(program))))
}
