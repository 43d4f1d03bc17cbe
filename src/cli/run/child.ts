// The program of a run: started with this terminal, told of every signal, and its end is ours.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { CommandFailure, Exit } from '../exit.ts'

const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

const ENDING = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const

/**
 * From now on a signal does not end this process: what the run holds is given back first, which takes a moment.
 * @returns what lets signals end it again
 */
export function ignoreEndingSignals(): () => void {
  let isTold = false
  const handler = () => {
    if (!isTold)
      process.stderr.write('agent-gateway run: the program has ended; what it was given is taken back.\n')
    isTold = true
  }
  for (const signal of ENDING) process.on(signal, handler)
  return () => {
    for (const signal of ENDING) process.off(signal, handler)
  }
}

/**
 * @returns the exit code; 128 and the number of the signal where one ended it
 * @throws {CommandFailure} where there is no such program
 */
export function runChild(command: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const [program = '', ...args] = command
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...env }, stdio: 'inherit' })
    // A terminal sends Ctrl-C to the whole group: the program has it already, and a second one might mean something else to it.
    const handlers = FORWARDED.map((signal) => {
      const isTerminals = ['SIGINT', 'SIGQUIT', 'SIGWINCH'].includes(signal)
      const handler = () => {
        if (!(isTerminals && process.stdin.isTTY)) child.kill(signal)
      }
      process.on(signal, handler)
      return () => process.off(signal, handler)
    })
    const done = () => handlers.forEach((remove) => remove())
    child.once('error', (thrown: NodeJS.ErrnoException) => {
      done()
      reject(
        new CommandFailure(
          Exit.usage,
          thrown.code === 'ENOENT' ? `There is no program ${program}.` : `${program} could not be started.`,
        ),
      )
    })
    child.once('exit', (code, signal) => {
      done()
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}
