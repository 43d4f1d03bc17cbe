// What every rule of the policy is given.
import type { CardFound } from '../secrets/cards.ts'
import type { SecretFound } from '../secrets/scan.ts'
import type { Text } from '../secrets/texts.ts'
import type { Binding, Detection, Message, Place } from '../ports.ts'
import type { Policy } from './document.ts'
import type { Reason } from './reasons.ts'

export interface Subject {
  readonly message: Message
  readonly detection: Detection
  readonly bindings: readonly Binding[]
  readonly policy: Policy
  readonly nowSeconds: number
  readonly texts: readonly Text[]
  readonly secrets: readonly SecretFound[]
  readonly cards: readonly CardFound[]
  /** Where one of the texts stands. Written once: it may be as long as the body. */
  placeOf(text: Text): Place
  /** Whether a place is one where a credential, proof or token is expected. */
  isExpected(place: Place): boolean
}

export type Rule = (subject: Subject) => readonly Reason[]

/** Answers to earlier messages and offers: nothing is paid by them yet. */
export const isAnswer = ({ detection: { stage } }: Subject): boolean =>
  stage === 'challenge' || stage === 'settlement' || stage === 'result' || stage === 'error'
