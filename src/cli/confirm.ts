// A question to the person at the terminal, where there is one.
import { createInterface } from 'node:readline'
import { CommandFailure, Exit } from './exit.ts'

interface Person {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
}

/**
 * @param otherwise what to do where nobody can be asked
 * @throws {CommandFailure} unless the answer is yes
 */
export async function confirm(
  question: string,
  otherwise: string,
  { stdin, stderr }: Person = process,
): Promise<void> {
  if (!stdin.isTTY || !stderr.isTTY) throw new CommandFailure(Exit.usage, otherwise)
  const terminal = createInterface({ input: stdin, output: stderr, historySize: 0 })
  const answer = await new Promise<string>((resolve) => {
    terminal.once('close', () => resolve(''))
    terminal.once('SIGINT', () => terminal.close())
    terminal.question(`${question} [yes/no] `, resolve)
  })
  terminal.close()
  if (!/^(?:y|yes)$/i.test(answer.trim()))
    throw new CommandFailure(Exit.failed, 'Nothing was decided: the answer was not yes.')
}
