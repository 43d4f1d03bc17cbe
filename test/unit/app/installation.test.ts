import { createSecretKey } from 'node:crypto'
import { expect, it } from 'vitest'
import { sharesDerivationKey } from '../../../src/app/installation.ts'
import type { DocumentKind, DocumentStore } from '../../../src/store/ports.ts'

/** One document in memory. `rival` writes just before an update, as another replica may. */
function createDocuments(rival?: unknown): Pick<DocumentStore, 'read' | 'update'> {
  let kept: unknown
  const valueOf = <T>({ parse, initial }: DocumentKind<T>) => (kept === undefined ? initial : parse(kept))
  return {
    read: async (document) => ({ value: valueOf(document) }),
    async update(document, change) {
      if (rival !== undefined) {
        kept = rival
        throw new Error('it changed underneath')
      }
      const value = change(valueOf(document))
      kept = value
      return value
    },
  }
}
const deriveFrom = (root: string) => (purpose: string) =>
  createSecretKey(Buffer.from(`${root} ${purpose}`.padEnd(32)))

it('knows a replica that derives other keys than the first one did', async () => {
  const documents = createDocuments()
  expect(await sharesDerivationKey(documents, deriveFrom('one'))).toBe(true)
  expect(await sharesDerivationKey(documents, deriveFrom('one'))).toBe(true)
  expect(await sharesDerivationKey(documents, deriveFrom('two'))).toBe(false)
})

it('takes what another replica noted at the same moment', async () => {
  const documents = createDocuments({ check: 'of the other one' })
  expect(await sharesDerivationKey(documents, deriveFrom('one'))).toBe(false)
})
