// One line of the doctor: what was looked at, how it is, and what to do when it is not well.
import type { Config } from '../../core/config.ts'
import type { Running } from '../running.ts'

export interface Finding {
  readonly level: 'ok' | 'warn' | 'fail'
  readonly check: string
  readonly says: string
  /** The advice; always there unless the level is ok. */
  readonly todo?: string
}

/** A finding that needs nothing done. */
export const ok = (check: string, says: string): Finding => ({ level: 'ok', check, says })
/** A finding to look at: the gateway works, and `todo` says what would be better. The exit code stays 0. */
export const warn = (check: string, says: string, todo: string): Finding => ({
  level: 'warn',
  check,
  says,
  todo,
})
/** A finding that has to be mended, as `todo` says. The exit code becomes 1. */
export const fail = (check: string, says: string, todo: string): Finding => ({
  level: 'fail',
  check,
  says,
  todo,
})

export interface Examined {
  readonly config: Config
  /** The gateway that owns the data directory now, if one runs. */
  readonly running: Running | undefined
}

export type Check = (examined: Examined) => Promise<readonly Finding[]>

/** Code of a system error; undefined for anything else. Messages are not shown: drivers quote what they were given. */
export function errorCode(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  if ('code' in thrown && typeof thrown.code === 'string') return thrown.code
  return thrown.cause === undefined ? undefined : errorCode(thrown.cause)
}
