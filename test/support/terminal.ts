// A program on a terminal of its own, as a person starts it: what is written to it is typed, Ctrl-C too.
import { type Started, start } from './process.ts'

export const CTRL_C = '\u0003'

export interface OnTerminal extends Started {
  readonly type: (text: string) => void
}

/** By `script` of util-linux, which every Debian has. */
export function startOnTerminal(command: readonly string[], env: NodeJS.ProcessEnv): OnTerminal {
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  // A shell that stayed would be ended by Ctrl-C itself.
  const started = start('script', ['-qefc', `exec ${line}`, '/dev/null'], { env, stdin: 'pipe' })
  return { ...started, type: (text) => void started.child.stdin!.write(text) }
}
