// The cards are signed for whoever asks first: a start signs none, and nobody waits for a signature twice.
import { expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { createSignedCards } from '../../../src/doors/a2a/signed-cards.ts'
import { createSkillTable } from '../../../src/doors/a2a/skills.ts'
import { tools } from '../../../tools/index.ts'

const BASE = 'https://gateway.example'

function openCards() {
  const signed: string[] = []
  const signer = {
    kid: 'first',
    environment: 'production' as const,
    sign: () => 'head.payload.' + String(signed.push(signer.kid)),
  }
  const cards = createSignedCards(
    createSkillTable(createRegistry(tools)),
    { baseUrl: BASE, siteUrl: BASE, mcpUrl: `${BASE}/mcp` },
    signer,
    () => 0,
    { pushNotifications: false },
  )
  return { cards, signer, signed }
}

it('signs no card before somebody reads one, and each card once', () => {
  const { cards, signed } = openCards()
  expect(signed).toEqual([])
  const { v1, extended } = cards().cards
  const count = signed.length
  expect(count).toBeGreaterThan(0)
  expect(cards().cards.v1).toBe(v1)
  expect(extended('public')).toBe(v1)
  expect(signed).toHaveLength(count)
  const operator = extended('operator')
  expect(signed.length).toBeGreaterThan(count)
  const all = signed.length
  expect(cards().cards.extended('operator')).toBe(operator)
  expect(signed).toHaveLength(all)
})

it('signs every card again under a new key', () => {
  const { cards, signer, signed } = openCards()
  const before = [cards().cards.v1, cards().cards.extended('seller')]
  signer.kid = 'second'
  signed.splice(0)
  const after = [cards().cards.v1, cards().cards.extended('seller')]
  expect(after[0]).not.toBe(before[0])
  expect(after[1]).not.toBe(before[1])
  expect(new Set(signed)).toEqual(new Set(['second']))
})
