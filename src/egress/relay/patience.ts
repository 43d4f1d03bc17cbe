// How long a program that reads slowly is waited for.
import { StreamBroken } from '../ports.ts'

/** The program took nothing for too long. */
export class ClientStalled extends Error {}

export interface Patience {
  /** Waits for the program to take more. @throws {ClientStalled} @throws {StreamBroken} total, aborted */
  wait(taken: Promise<void> | undefined): Promise<void>
}

export interface PatienceParts {
  /** Of one wait, in milliseconds. */
  readonly stallMs: number
  /** Of all of it, however much of it is waiting; milliseconds since the epoch. */
  readonly endsAt: number
  /** Aborts when it is not to go on. */
  readonly cut: AbortSignal
  readonly now: () => number
}

export function createPatience({ stallMs, endsAt, cut, now }: PatienceParts): Patience {
  return {
    async wait(taken) {
      if (cut.aborted) throw new StreamBroken('aborted')
      const left = endsAt - now()
      if (left <= 0) throw new StreamBroken('total')
      if (!taken) return
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const abort = () => reject(new StreamBroken('aborted'))
      const timer =
        left < stallMs
          ? setTimeout(() => reject(new StreamBroken('total')), left)
          : setTimeout(() => reject(new ClientStalled()), stallMs)
      cut.addEventListener('abort', abort)
      taken.then(resolve, reject)
      try {
        await promise
      } finally {
        clearTimeout(timer)
        cut.removeEventListener('abort', abort)
      }
    },
  }
}
