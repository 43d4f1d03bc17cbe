// Exit codes of every command. Scripts depend on them: add, never renumber.
import { EXIT_CONFIG } from '../app/config.ts'

export const Exit = {
  ok: 0,
  /** The gateway refused, a check failed, a receipt does not verify. */
  failed: 1,
  /** Unknown option, missing argument, a secret given as an argument. */
  usage: 2,
  /** The gateway does not answer at the address. */
  unreachable: 3,
  /** sysexits.h EX_DATAERR: what a file holds is not what the command judges. */
  data: 65,
  /** sysexits.h EX_UNAVAILABLE: a program that this needs is not installed; the words say what installs it. */
  missing: 69,
  /** As shells have it: the program of `run` is there, and could not be started. */
  notStarted: 126,
  /** As shells have it: there is no such program. */
  notFound: 127,
  /** sysexits.h EX_CONFIG: somebody has to edit the configuration first. */
  config: EXIT_CONFIG,
} as const

/** A failure in words for a person: printed without a stack, then the process ends with `exitCode`. */
export class CommandFailure extends Error {
  readonly exitCode: number
  /** The document that --json prints: a problem document of the gateway, or nothing more than the words. */
  readonly problem: Readonly<Record<string, unknown>> | undefined

  constructor(exitCode: number, words: string, problem?: Readonly<Record<string, unknown>>) {
    super(words)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
    this.problem = problem
  }
}
