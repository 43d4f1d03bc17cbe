// What `backup`, `restore` and `migrate` share: they work on the database itself, and say why they do not.
import { parseFault } from '../lib/fault-points.ts'
import { ConfigError, GatewayError } from '../core/errors.ts'
import type { Config } from '../core/config.ts'
import { TransferFault } from '../store/transfer/ports.ts'
import { CommandFailure, Exit } from './exit.ts'
import { startProgress } from './progress.ts'
import { explainStartFailure } from './start-failure.ts'

const STOPS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What the work tells of itself. */
interface Transfer {
  /** @param total null where nobody knows it */
  show(phase: string, rows: number, total: number | null): void
  readonly signal: AbortSignal
}

/**
 * Runs the work and shows how far it is; a signal stops it, and what was begun is undone.
 * @throws {CommandFailure} in words for what stands in the way
 */
export async function runTransfer<T>(
  config: Config,
  options: { readonly json?: boolean | undefined },
  work: (on: Transfer) => Promise<T>,
): Promise<T> {
  let phaseNow = ''
  let line = startProgress('rows', options)
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  for (const signal of STOPS) process.once(signal, onSignal)
  try {
    return await work({
      signal: stop.signal,
      show(phase, rows, total) {
        // The work itself is asked to end where it can undo what it began.
        stop.signal.throwIfAborted()
        if (phase !== phaseNow) {
          line.end()
          line = startProgress(`${phase}, rows`, options)
          phaseNow = phase
        }
        line.at(rows, total)
      },
    })
  } catch (thrown) {
    line.end()
    if (stop.signal.aborted) throw new CommandFailure(Exit.failed, 'Stopped. What was begun is undone.')
    throw inWords(thrown, config)
  } finally {
    line.end()
    for (const signal of STOPS) process.off(signal, onSignal)
  }
}

function inWords(thrown: unknown, config: Config): unknown {
  if (thrown instanceof ConfigError) return thrown
  if (thrown instanceof TransferFault || thrown instanceof GatewayError)
    return new CommandFailure(Exit.failed, thrown.message)
  const words = explainStartFailure(thrown, config)
  return words === undefined ? thrown : new CommandFailure(Exit.failed, words)
}

/** Fault points of tests; production refuses the variable. */
export const faultOf = ({ fault }: Config) => parseFault(fault)
