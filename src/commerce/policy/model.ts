// Every rule of the policy is given this subject.
import type { Analysis } from '../analysis.ts'
import type { CardFound } from '../secrets/cards.ts'
import type { SecretFound } from '../secrets/scan.ts'
import type { Place, Text } from '../ports.ts'
import type { Policy } from './document.ts'
import type { Reason } from './reasons.ts'

export interface Subject extends Analysis {
  readonly policy: Policy
  readonly nowSeconds: number
  readonly texts: readonly Text[]
  readonly secrets: readonly SecretFound[]
  readonly cards: readonly CardFound[]
  /** Whether a place is one where a credential, proof or token is expected. */
  isExpected(place: Place): boolean
}

export type Rule = (subject: Subject) => readonly Reason[]

/** Whether the message answers an earlier one or makes an offer, so that nothing is paid by it yet. */
export const isAnswer = ({ detection: { stage } }: Pick<Analysis, 'detection'>): boolean =>
  stage === 'challenge' || stage === 'settlement' || stage === 'result' || stage === 'error'

/** Place that a reason about the payment itself points to. */
export const placeOfPayment = ({ primary }: Pick<Analysis, 'primary'>): Place =>
  primary?.layer.document?.at ?? primary?.layer.evidence[0]?.at ?? ''
