// Which credential of a connection a request goes out on.
import { describe, expect, it } from 'vitest'
import type { Placement } from '../../../schemas/credential-settings.ts'
import type { Scope } from '../../../schemas/http.ts'
import { choosePart, createChooseCapability } from '../../../src/egress/choose-capability.ts'
import type { CredentialCapability, HeldCapability, SealedCredential } from '../../../src/store/ports.ts'

const root: HeldCapability = {
  id: 'cap_root',
  accountId: 'acct_1',
  credentialId: null,
  parentId: null,
  rootId: 'cap_root',
  label: 'Assistant',
  scope: { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET'] },
  maxUses: null,
  isBudgeted: false,
  showsBalance: false,
  createdAt: 0,
  expiresAt: 9,
  revokedAt: null,
}
const part = (credentialId: string, scope: Partial<Scope> = {}): CredentialCapability => ({
  ...root,
  id: `cap_${credentialId}`,
  credentialId,
  parentId: root.id,
  scope: { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET', 'POST'], ...scope },
})
/** Stored credentials: of each its placements, by its id. */
const stored = (placements: Readonly<Record<string, readonly Placement[]>>) => ({
  getCredential: async (id: string) =>
    ({
      header: 'authorization',
      scheme: 'Bearer',
      settings: { placements: placements[id] },
    }) as SealedCredential,
})
const over = (...parts: CredentialCapability[]) => ({ findParts: async () => parts, ...stored({}) })
const choose = async (parts: CredentialCapability[], url: string, method: 'GET' | 'DELETE' = 'GET') =>
  (await createChooseCapability(over(...parts))(root, { url, method })).credentialId

describe('the capability of a connection that a request goes out on', () => {
  const parts = [
    part('old'),
    part('new'),
    part('deep', { path_prefixes: ['/repos/acme', '/'] }),
    part('port', { hosts: ['other.example.com:8443'] }),
  ]

  it.each([
    ['https://api.example.com/user', 'old'],
    ['https://api.example.com/repos/acme/x', 'deep'],
    ['https://api.example.com/repos/acme', 'deep'],
    ['https://api.example.com/repos/acmes', 'old'],
    ['https://other.example.com:8443/', 'port'],
  ])('is for %s that of the credential %s', async (url, credential) => {
    expect(await choose(parts, url)).toBe(credential)
  })

  it.each(['https://other.example.com/', 'https://api.example.com.evil.example/', 'https://evil.example/'])(
    'is none for %s',
    async (url) => {
      await expect(choose(parts, url)).rejects.toMatchObject({ code: 'scope_denied' })
    },
  )

  it('is none where the method was not allowed, or no credential was', async () => {
    await expect(choose(parts, 'https://api.example.com/', 'DELETE')).rejects.toMatchObject({
      code: 'scope_denied',
    })
    await expect(choose([], 'https://api.example.com/')).rejects.toMatchObject({ code: 'scope_denied' })
  })

  it('leaves what is no address to the one place that judges addresses', async () => {
    for (const url of ['http://api.example.com/', 'no address', 'https://'])
      expect(await choose(parts, url)).toBe('old')
  })

  it.each(['/v1/only%20b/z', '/v1/onl%79%20b/z', '/v1/%6fnly%20%62', '/%76%31/only%20b/'])(
    'is the same however an escape is spelled: %s',
    async (path) => {
      const parts = [part('a'), part('b', { path_prefixes: ['/v1/only%20b'] })]
      expect(await choose(parts, `https://api.example.com${path}`)).toBe('b')
    },
  )

  it('is for a program that of the path without its placeholder, where the credential goes there', async () => {
    const parts = [part('a'), part('b', { path_prefixes: ['/sendMessage'] })]
    const placements: readonly Placement[] = [{ in: 'path', at: 0, prefix: 'bot' }]
    const chooser = createChooseCapability({ ...over(...parts), ...stored({ a: placements, b: placements }) })
    const chosen = async (segment: string, isOfProgram: boolean) => {
      const url = `https://api.example.com/${segment}/send%4Dessage`
      return (await chooser(root, { url, method: 'GET', isOfProgram })).credentialId
    }
    expect([await chosen('botAgentGateway', true), await chosen('botAgentGateway', false)]).toEqual([
      'b',
      'a',
    ])
    // Of what is no placeholder nobody knows whether it is a part of the address.
    expect(await chosen('botanics', true)).toBe('a')
  })

  it('is the one that is held, where it is no connection', async () => {
    const held = part('only')
    const asked = { url: 'https://evil.example/', method: 'GET' } as const
    expect(await createChooseCapability(over())(held, asked)).toEqual(held)
  })
})

describe('the capability of a connection that a smaller one is cut from', () => {
  const parts = [part('a'), part('b', { hosts: ['b.example.com'] })]

  it('is the one that allows all that is asked for', async () => {
    expect((await choosePart(over(...parts), root, { hosts: ['b.example.com'] })).credentialId).toBe('b')
    const [only] = parts
    expect((await choosePart(over(only!), root, {})).credentialId).toBe('a')
  })

  it('is none where that is too much, or where nobody says which', async () => {
    for (const wanted of [{}, { hosts: ['c.example.com'] }, { hosts: ['api.example.com', 'b.example.com'] }])
      await expect(choosePart(over(...parts), root, wanted)).rejects.toMatchObject({ code: 'scope_denied' })
  })
})
