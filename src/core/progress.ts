// How far long work is, from the handler that reports it to the door that passes it on. Decides the order and the arithmetic;
// what a report looks like on a wire is the door's business.

/** `done` grows with every report; `total` is left out while nobody knows it. */
export interface ProgressReport {
  readonly done: number
  readonly total?: number
  /** For people and models: no address, no id and nothing that came from the internet. */
  readonly message?: string
  /** Says that a payment was accepted, which some doors tell in their own words. */
  readonly isAcceptance?: true
  /** Nothing happens until people have decided: a door may say so in its own words. */
  readonly waitsFor?: 'approval'
}

export type Progress = (report: ProgressReport) => void

export const noProgress: Progress = () => {}

/**
 * Passes on what moves forward and nothing after the end: MCP wants reports that strictly increase and stop when the call is
 * answered, and a handler has workers that know neither of each other nor of the end.
 */
export function forwardOnly(send: Progress): { readonly report: Progress; end(): void } {
  let last = -Infinity
  return {
    report(report) {
      if (!(report.done > last)) return
      last = report.done
      send(report)
    },
    end() {
      last = Infinity
    },
  }
}

/** Steps of a settlement after the work: it is begun, and handed over. */
const SETTLEMENT_STEPS = 2

/** Progress of a call that is paid with x402: its payment first, then the work's own steps, then the settlement's. */
export interface PaidProgress {
  /** The payment was found good and is reserved. */
  verified(): void
  readonly work: Progress
  /** @param message what the settlement does now */
  settling(message: string): void
}

/** Puts the steps of payment, work and settlement in one row, however many the work turns out to have. */
export function paidProgress(report: Progress): PaidProgress {
  let done = 0
  let settlementEnd: number | undefined
  return {
    verified() {
      done = 1
      report({ done, message: 'The payment is good and reserved; the work begins', isAcceptance: true })
    },
    work({ done: steps, total, message }) {
      done = 1 + steps
      report({
        done,
        ...(total === undefined ? {} : { total: 1 + total + SETTLEMENT_STEPS }),
        ...(message === undefined ? {} : { message }),
      })
    },
    settling(message) {
      settlementEnd ??= Math.floor(done) + SETTLEMENT_STEPS
      done = Math.min(Math.floor(done) + 1, settlementEnd)
      report({ done, total: settlementEnd, message })
    },
  }
}
