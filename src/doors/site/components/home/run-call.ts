// The two calls of the first page, told step by step.
import { readDocument, verifyAnswer } from '../../browser/lib/after-call.ts'
import { callPaid, type CallStep } from '../../browser/lib/paid-call.ts'
import { IDLE, type LiveCallProps, type Progress, type StepName } from './live.ts'

type Tell = (progress: Progress) => void

/** The line that is under way once a step has ended. */
const AFTER: Readonly<Record<CallStep['name'], StepName>> = {
  asked: 'priced',
  priced: 'paid',
  paid: 'answered',
  answered: 'answered',
}

/** Buys with test money, reads what was bought, and verifies its receipt. */
export async function runPaid({ api, baseUrl, wallet, paid }: LiveCallProps, tell: Tell): Promise<void> {
  let now: Progress = { ...IDLE, at: 'priced' }
  const go = (change: Partial<Progress>) => tell((now = { ...now, ...change }))
  go({})
  const outcome = await callPaid({ api, ...paid, wallet }, (step) =>
    go({ steps: { ...now.steps, [step.name]: step }, at: AFTER[step.name] }),
  )
  if (!outcome.ok) {
    const { at = 'priced' } = now
    return go({ outcome, failed: { at, problem: outcome.problem } })
  }
  go({ outcome })
  await Promise.all([
    readDocument(api, outcome.body).then((document) => document && go({ document })),
    verifyAnswer({ api, baseUrl }, outcome).then((proof) => proof && go({ proof })),
  ])
}

/** Runs the free sample, and then asks for the price of the paid call. */
export async function runFree({ api, paid, free }: LiveCallProps, tell: Tell): Promise<void> {
  let now: Progress = { ...IDLE, at: 'answered' }
  const go = (change: Partial<Progress>) => tell((now = { ...now, ...change }))
  go({})
  const outcome = await callPaid({ api, ...free, wallet: undefined }, (step) =>
    go({ steps: { ...now.steps, [step.name]: step } }),
  )
  if (!outcome.ok) return go({ outcome, failed: { at: 'answered', problem: outcome.problem } })
  go({ outcome })
  const price = await callPaid({ api, ...paid, wallet: undefined }, (step) => {
    if (step.name === 'priced') go({ steps: { ...now.steps, priced: step } })
  })
  // A price is the end that was wanted, and the call path knows it as a refusal.
  if (!price.ok && !now.steps.priced) go({ failed: { at: 'priced', problem: price.problem } })
}

/** Lets one run at a time through: the second of two quick clicks comes before anything is drawn anew, and would pay once more. */
export function oneAtATime(): (run: () => Promise<void>) => Promise<void> {
  let isRunning = false
  return async (run) => {
    if (isRunning) return
    isRunning = true
    try {
      await run()
    } finally {
      isRunning = false
    }
  }
}
