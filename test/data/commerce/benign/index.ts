// Ordinary transactions as agents and shops send them: nothing of them may be denied, and a person is asked only where that is said.
import type { ReasonCode } from '../../../../src/commerce/policy/reasons.ts'
import type { SampleSource } from '../../../support/commerce.ts'
import { ACP } from './acp.ts'
import { PAYMENTS } from './payments.ts'
import { UCP } from './ucp.ts'

export interface Benign {
  readonly id: string
  readonly source: SampleSource
  /** Protocol that is told. */
  readonly is: string
  /** Why a person has to look; empty where nobody has to. */
  readonly review: readonly ReasonCode[]
}

export const BENIGN: readonly Benign[] = [...ACP, ...UCP, ...PAYMENTS]
