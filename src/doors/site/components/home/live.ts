// What the parts of the live call share: what is called, how far it has come, and the words.
import type { ReadDocument } from '../../browser/lib/after-call.ts'
import type { CallOutcome, CallProblem, CallStep, ShownRequest } from '../../browser/lib/paid-call.ts'
import type { Proof } from '../../browser/lib/proof.ts'
import type { Language } from '../../routes.ts'
import type { LiveTexts } from '../../texts/home.ts'
import type { ProofTexts } from '../../texts/proof.ts'

export interface CallToMake {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

export interface LiveCallProps {
  readonly api: string
  /** `page.baseUrl` */
  readonly baseUrl: string
  /** Address of the test wallet; undefined where there is none: then the free call is made, and of the paid one the price is shown. */
  readonly wallet: string | undefined
  readonly paid: CallToMake
  readonly free: CallToMake
  /** Decimal USDC of the paid call. */
  readonly amount: string
  readonly language: Language
  readonly texts: LiveTexts
  readonly proofTexts: ProofTexts
  /** Addresses of pages, with `{id}` and `{code}` to be filled in. */
  readonly receiptPage: string
  readonly problemPage: string
}

/** A line of the list. */
export type StepName = 'asked' | 'priced' | 'paid' | 'answered' | 'receipt'

export interface Progress {
  /** By the line that shows it. */
  readonly steps: Readonly<Partial<Record<StepName, CallStep>>>
  readonly outcome: CallOutcome | undefined
  /** The line that is under way, or the last one that was. */
  readonly at: StepName | undefined
  /** The line that failed, and why. */
  readonly failed?: { readonly at: StepName; readonly problem: CallProblem }
  /** What was fetched, as a document; it comes after the answer. */
  readonly document?: ReadDocument
  /** The receipt, as this browser judged it, and how long that took. */
  readonly proof?: { readonly verified: Proof; readonly ms: number }
}

export const IDLE: Progress = { steps: {}, outcome: undefined, at: undefined }

/** The request as it will be sent, for the window before anything was. */
export const plannedRequest = ({ wallet, paid, free }: LiveCallProps): ShownRequest => {
  const { method, path, body } = wallet === undefined ? free : paid
  return {
    method,
    path,
    headers: [
      { name: 'accept', value: 'application/json' },
      { name: 'content-type', value: 'application/json' },
    ],
    body: JSON.stringify(body, undefined, 2),
  }
}
