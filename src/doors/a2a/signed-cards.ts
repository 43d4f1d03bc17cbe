// The agent cards under the key that signs now: made for the first who asks, and again after a rotation.
import type { Addresses } from '../../core/config.ts'
import type { Signer } from '../../receipts/ports.ts'
import { type AgentCards, createAgentCards } from './card.ts'
import { fixDocument, type FixedDocument } from '../http/document.ts'
import { OPEN } from '../http/cors.ts'
import type { SkillTable } from './skills.ts'

export interface SignedCards {
  readonly cards: AgentCards
  readonly documents: {
    readonly v1: FixedDocument
    readonly v03: FixedDocument
    readonly superset: FixedDocument
  }
}

/** @returns the cards that the signer's current key signed; the same ones until there is another key */
export function createSignedCards(
  table: SkillTable,
  addresses: Addresses,
  signer: Signer,
  now: () => number,
  offers: Parameters<typeof createAgentCards>[3],
): () => SignedCards {
  let made: { readonly kid: string; readonly signed: SignedCards } | undefined

  function sign(): SignedCards {
    const cards = createAgentCards(table, addresses, signer, offers)
    const signedAt = now()
    const fix = (card: unknown) =>
      fixDocument(JSON.stringify(card), {
        type: 'application/json',
        headers: { ...OPEN.public, vary: 'A2A-Version' },
        modified: signedAt,
      })
    return { cards, documents: { v1: fix(cards.v1), v03: fix(cards.v03), superset: fix(cards.superset) } }
  }

  return () => {
    const { kid } = signer
    if (made?.kid !== kid) made = { kid, signed: sign() }
    return made.signed
  }
}
