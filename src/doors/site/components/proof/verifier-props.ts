// What the verifier and its cards are given.
import type { Proof } from '../../browser/lib/proof.ts'
import type { Language } from '../../routes.ts'
import type { ProofKindTexts } from '../../texts/proof-kinds.ts'
import type { ProofTexts } from '../../texts/proof.ts'
import type { VerifyIslandTexts } from '../../texts/verify.ts'

export interface VerifierProps {
  /** `page.api`, `page.baseUrl`, `page.language` */
  readonly api: string
  readonly baseUrl: string
  readonly language: Language
  /** Address of this page, and of receipts without the id. */
  readonly here: string
  readonly receipts: string
  readonly texts: VerifyIslandTexts
  readonly proofTexts: ProofTexts
  readonly kinds: ProofKindTexts
}

export interface ShownProof extends Proof {
  /** Members that lead to it in what was pasted. */
  readonly at: string
}
