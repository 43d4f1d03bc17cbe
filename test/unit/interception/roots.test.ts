import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LEAF_MS } from '../../../src/interception/authority.ts'
import { openInstallationAuthority, rootsDocument } from '../../../src/interception/roots.ts'
import type { DocumentKind } from '../../../src/store/ports.ts'
import { deriveKey } from '../../support/derive-key.ts'

const DAY_MS = 86_400_000
const START = Date.UTC(2026, 10, 28)
const HOST = 'api.example.com'

/** A document store in memory, whose updates can be made to collide as those of two replicas do. */
function createDocuments() {
  const texts = new Map<string, string>()
  const read = <T>(kind: DocumentKind<T>): T => {
    const text = texts.get(kind.name)
    return text === undefined ? kind.initial : kind.parse(JSON.parse(text))
  }
  return {
    texts,
    read: async <T>(kind: DocumentKind<T>) => ({ value: read(kind) }),
    async update<T>(kind: DocumentKind<T>, change: (value: T) => T) {
      const next = change(read(kind))
      texts.set(kind.name, JSON.stringify(next))
      return next
    },
  }
}

const open = (documents: ReturnType<typeof createDocuments>, now: () => number, purpose = 'interception') =>
  openInstallationAuthority({ documents, key: deriveKey(purpose), now })

const rootsIn = (pem: string) => pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []

describe('the roots of an installation', () => {
  it('are the same at the next start, and nothing of the key is in the document', async () => {
    const documents = createDocuments()
    const first = await open(documents, () => START)
    const again = await open(documents, () => START + DAY_MS)
    expect(again.trusted()).toBe(first.trusted())
    expect(rootsIn(first.trusted())).toHaveLength(1)
    const leaf = new X509Certificate(again.issue(HOST).certificate)
    expect(leaf.verify(new X509Certificate(first.trusted()).publicKey)).toBe(true)
    expect(documents.texts.get(rootsDocument.name)).not.toMatch(/PRIVATE|MIGHAgEAMBMGByqGSM49/)
  })

  it('are followed by the next one while the old one still signs, and then it signs alone', async () => {
    const documents = createDocuments()
    let now = START
    const authority = await open(documents, () => now)
    const [old] = rootsIn(authority.trusted())
    const end = Date.parse(new X509Certificate(old!).validTo)

    now = end - 61 * DAY_MS
    await authority.renew()
    expect(rootsIn(authority.trusted())).toEqual([old])

    now = end - 59 * DAY_MS
    await authority.renew()
    const both = rootsIn(authority.trusted())
    expect(both).toHaveLength(2)
    expect(both[0]).toBe(old)
    const signs = (root: string) =>
      new X509Certificate(authority.issue(HOST).certificate).verify(new X509Certificate(root).publicKey)
    expect(signs(both[0]!)).toBe(true)

    now = end - LEAF_MS + 1000
    expect(signs(both[1]!)).toBe(true)

    now = end + 1
    await authority.renew()
    expect(rootsIn(authority.trusted())).toEqual([both[1]])
  })

  it('that have all ended sign nothing until there is another', async () => {
    const documents = createDocuments()
    let now = START
    const authority = await open(documents, () => now)
    const old = authority.trusted()
    now = Date.parse(new X509Certificate(old).validTo) + 1000
    expect(() => authority.issue(HOST)).toThrow('no root that is good now')
    await authority.renew()
    expect(authority.trusted()).not.toContain(old)
    const leaf = new X509Certificate(authority.issue(HOST).certificate)
    expect(leaf.verify(new X509Certificate(authority.trusted()).publicKey)).toBe(true)
  })

  it.each([
    ['another derivation key', (text: string) => text, 'another purpose'],
    [
      'an edited end',
      (text: string) => text.replace(/"not_after":(\d+)/, (_, end) => `"not_after":${Number(end) + 1}`),
    ],
    [
      'another certificate',
      (text: string) => text.replace(/BEGIN CERTIFICATE-----\\n./, (start) => `${start.slice(0, -1)}N`),
    ],
    [
      'an edited key',
      (text: string) =>
        text.replace(/"sealed_key":"./, (start) => `${start.slice(0, -1)}${start.endsWith('A') ? 'B' : 'A'}`),
    ],
  ])('are replaced where the key does not open: %s', async (_, edit, purpose = 'interception') => {
    const documents = createDocuments()
    const before = (await open(documents, () => START)).trusted()
    const text = documents.texts.get(rootsDocument.name)!
    const edited = edit(text)
    if (purpose === 'interception') expect(edited).not.toBe(text)
    documents.texts.set(rootsDocument.name, edited)
    const authority = await open(documents, () => START, purpose)
    expect(rootsIn(authority.trusted())).toHaveLength(1)
    expect(authority.trusted()).not.toBe(before)
    expect(
      new X509Certificate(authority.issue(HOST).certificate).verify(
        new X509Certificate(authority.trusted()).publicKey,
      ),
    ).toBe(true)
  })

  it('are those of the replica that was first', async () => {
    const documents = createDocuments()
    const winner = createDocuments()
    const other = await open(winner, () => START)
    const authority = await openInstallationAuthority({
      documents: {
        read: documents.read,
        // The other one writes between our reading and our writing.
        async update() {
          documents.texts.set(rootsDocument.name, winner.texts.get(rootsDocument.name)!)
          throw new Error('state_conflict')
        },
      },
      key: deriveKey('interception'),
      now: () => START,
    })
    expect(authority.trusted()).toBe(other.trusted())
  })
})
