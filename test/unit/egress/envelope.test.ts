import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openAuthority } from '../../../src/egress/adapters/authority.ts'
import { createVault, wrapBinding } from '../../../src/egress/envelope.ts'
import type { Authority, SecretBinding, Vault } from '../../../src/egress/ports.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { SealedSecret } from '../../../src/store/ports.ts'
import { cites } from '../../requirements.ts'

let directory: string
let authority: Authority
let vault: Vault
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agw-envelope-'))
  authority = await openAuthority({ file: join(directory, 'authority.jwk'), now: Date.now })
  vault = createVault(authority)
})
afterAll(() => rm(directory, { recursive: true }))

const binding: SecretBinding = {
  credentialId: 'cred_1',
  accountId: 'acct_1',
  provider: 'custom',
  hosts: ['api.example.com'],
  pathPrefixes: ['/v1'],
  methods: ['GET', 'POST'],
  header: 'authorization',
  scheme: 'Bearer',
  settings: {},
  version: 1,
}
const reveal = (secret: Secret<string>) => secret.use((value) => value)

test('opens what was sealed', async () => {
  const text = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 200 })
    .filter((value) => value.isWellFormed())
  await fc.assert(
    fc.asyncProperty(text, async (value) => {
      const sealed = await vault.seal(new Secret(value), binding)
      expect(reveal(await vault.open(sealed, binding))).toBe(value)
    }),
    { numRuns: 100 },
  )
})

test(cites('egress:envelope:fresh', 'holds nothing of the secret and is never the same twice'), async () => {
  const [a, b] = [
    await vault.seal(new Secret('the secret'), binding),
    await vault.seal(new Secret('the secret'), binding),
  ]
  expect(JSON.stringify(a)).not.toContain('the secret')
  expect(a.ciphertext).not.toBe(b.ciphertext)
  expect(a.iv).not.toBe(b.iv)
})

test.each([
  [{ credentialId: 'cred_2' }],
  [{ accountId: 'acct_2' }],
  [{ provider: 'github' }],
  [{ hosts: ['api.example.com', 'evil.example.net'] }],
  [{ hosts: ['api.example.com:8443'] }],
  [{ pathPrefixes: ['/'] }],
  [{ methods: ['POST', 'GET'] }],
  [{ header: 'x-api-key' }],
  [{ scheme: '' }],
  [{ version: 2 }],
  [{ settings: { encoded_slash: true } }],
  // Nothing moves from one field into its neighbour.
  [{ header: 'authorizationB', scheme: 'earer' }],
] as [Partial<SecretBinding>][])(
  cites('egress:envelope:bound', 'does not open once %j was changed in the row'),
  async (change) => {
    const sealed = await vault.seal(new Secret('the secret'), binding)
    await expect(vault.open(sealed, { ...binding, ...change })).rejects.toThrow()
  },
)

// The text that every release before settings sealed with: what was stored then has to open.
test('binds a credential without settings to the text of before there were any', () => {
  expect(wrapBinding(binding).toString()).toBe(
    '{"account_id":"acct_1","credential_id":"cred_1","header":"authorization","hosts":["api.example.com"],' +
      '"methods":["GET","POST"],"path_prefixes":["/v1"],"provider":"custom","scheme":"Bearer","v":1,"version":1}',
  )
})

test.each([
  [{ settings: {} }],
  [{ settings: { parts: { user: 'secret', password: 'secret' } } }],
  [{ settings: { parts: { user: 'public', password: 'secret' }, encoded_slash: true } }],
] as [Pick<SecretBinding, 'settings'>][])('does not open with settings changed to %j', async (change) => {
  const bound = { ...binding, settings: { parts: { user: 'public', password: 'secret' } } } as const
  const sealed = await vault.seal(new Secret('the secret'), bound)
  expect(reveal(await vault.open(sealed, structuredClone(bound)))).toBe('the secret')
  await expect(vault.open(sealed, { ...bound, ...change })).rejects.toThrow()
})

test(cites('egress:envelope:any', 'does not open once any character of any column is another'), async () => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ '
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.constantFrom(...alphabet), fc.boolean(), async (at, char, isAdded) => {
      const sealed = await vault.seal(new Secret('the secret'), binding)
      const change = (column: string) => {
        const i = at % column.length
        return column.slice(0, i) + char + column.slice(isAdded ? i : i + 1)
      }
      const { wrap } = sealed
      const variants: SealedSecret[] = [
        { ...sealed, ciphertext: change(sealed.ciphertext) },
        { ...sealed, iv: change(sealed.iv) },
        { ...sealed, tag: change(sealed.tag) },
        { ...sealed, wrap: { ...wrap, kid: change(wrap.kid) } },
        { ...sealed, wrap: { ...wrap, enc: change(wrap.enc) } },
        { ...sealed, wrap: { ...wrap, wrapped: change(wrap.wrapped) } },
      ]
      for (const variant of variants)
        if (JSON.stringify(variant) !== JSON.stringify(sealed))
          await expect(vault.open(variant, binding)).rejects.toThrow()
    }),
    { numRuns: 50 },
  )
})

test(cites('egress:envelope:parts', 'parts of two records do not combine'), async () => {
  const [a, b] = [
    await vault.seal(new Secret('secret a'), binding),
    await vault.seal(new Secret('secret b'), binding),
  ]
  await expect(vault.open({ ...a, wrap: b.wrap }, binding)).rejects.toThrow()
  await expect(vault.open({ ...b, wrap: a.wrap }, binding)).rejects.toThrow()
})

test('opens after a re-wrap that left the ciphertext alone, and not once the old key is dropped without one', async () => {
  const sealed = await vault.seal(new Secret('the secret'), binding)
  const left = await vault.seal(new Secret('left behind'), binding)
  const { kid, previous } = await authority.rotate()
  expect(reveal(await vault.open(sealed, binding))).toBe('the secret')
  const wrap = await authority.rewrap(sealed.wrap, wrapBinding(binding))
  expect(wrap.kid).toBe(kid)
  expect(reveal(await vault.open({ ...sealed, wrap }, binding))).toBe('the secret')
  await authority.drop(previous)
  expect(reveal(await vault.open({ ...sealed, wrap }, binding))).toBe('the secret')
  await expect(vault.open(left, binding)).rejects.toThrow()
})
