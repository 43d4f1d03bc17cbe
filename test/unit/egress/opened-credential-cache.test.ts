import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createLeakGates, searchWhole } from '../../../src/egress/leak/inspection.ts'
import {
  createOpenedCredentials,
  type OpenedCredential,
} from '../../../src/egress/opened-credential-cache.ts'
import { readSealedText, replaceSealedText } from '../../../src/egress/leak/previous-secrets.ts'
import { CertificateExpired } from '../../../src/egress/reach/tls-identity.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { SealedCredential } from '../../../src/store/ports.ts'
import { createTestCa } from '../../support/ca.ts'

const credential: SealedCredential = {
  id: 'cred_1',
  accountId: 'acct_1',
  provider: 'custom',
  label: 'test',
  version: 1,
  isBudgeted: false,
  header: 'authorization',
  scheme: 'Bearer',
  settings: {},
  scope: { hosts: ['api.example.com'], path_prefixes: ['/v1'], methods: ['GET'] },
  createdAt: 0,
  rotatedAt: null,
  editedAt: null,
  revokedAt: null,
  sealed: {
    ciphertext: 'first-secret',
    iv: 'iv',
    tag: 'tag',
    wrap: { kid: 'k1', enc: 'enc', wrapped: 'wrapped' },
  },
}
const echo = (text: string) => ({ statusText: 'OK', headers: [], body: Buffer.from(text) })
const revealParts = ({ parts }: OpenedCredential) =>
  Object.fromEntries([...parts].map(([name, secret]) => [name, secret.use((text) => text)]))

describe('an opened credential', () => {
  // What a vault does, without the cryptography: the seal is the secret.
  const vault = { open: vi.fn(async (sealed: SealedCredential['sealed']) => new Secret(sealed.ciphertext)) }
  const made = vi.fn(createLeakGates({ search: async (_, ...rest) => searchWhole(...rest) }))
  const create = () => createOpenedCredentials({ vault, createLeakGate: made, now: Date.now }).open
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.clearAllMocks()
    vi.useRealTimers()
  })

  it('is opened once for a burst of attempts, and its gate made once, for the first response', async () => {
    const open = create()
    const first = await open(credential)
    expect(made).not.toHaveBeenCalled()
    const second = await open({ ...credential })
    expect(second.gate()).toBe(first.gate())
    expect(revealParts(second)).toEqual({ secret: 'first-secret' })
    expect(vault.open).toHaveBeenCalledTimes(1)
    expect(made).toHaveBeenCalledTimes(1)
  })

  it('lets the runtime forget its texts a second after the last of all is gone, and not while one is in use', async () => {
    const onIdle = vi.fn()
    const { open } = createOpenedCredentials({ vault, createLeakGate: made, now: Date.now, onIdle })
    await open(credential)
    await vi.advanceTimersByTimeAsync(1_500)
    await open({ ...credential, id: 'cred_2' })
    await vi.advanceTimersByTimeAsync(1_900)
    expect(onIdle).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1_100)
    expect(onIdle).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(onIdle).toHaveBeenCalledTimes(1)
  })

  it('is gone two seconds after it was opened, used or not', async () => {
    const open = create()
    await open(credential)
    vi.advanceTimersByTime(1_999)
    await open(credential)
    expect(vault.open).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(1)
    await open(credential)
    expect(vault.open).toHaveBeenCalledTimes(2)
  })

  it.each<[string, Partial<SealedCredential>]>([
    ['a rotated secret', { version: 2, sealed: { ...credential.sealed, ciphertext: 'second-secret' } }],
    ['another credential', { id: 'cred_2' }],
    ['another account', { accountId: 'acct_2' }],
    ['another provider', { provider: 'github' }],
    ['another header', { header: 'x-api-key' }],
    ['another scheme', { scheme: 'Token' }],
    ['another setting', { settings: { encoded_slash: true } }],
    ['another host', { scope: { ...credential.scope, hosts: ['evil.example.com'] } }],
    ['a wider path', { scope: { ...credential.scope, path_prefixes: ['/'] } }],
    ['another method', { scope: { ...credential.scope, methods: ['GET', 'POST'] } }],
    ['another nonce', { sealed: { ...credential.sealed, iv: 'vi' } }],
    ['another tag', { sealed: { ...credential.sealed, tag: 'gat' } }],
    [
      'a re-wrapped key',
      { sealed: { ...credential.sealed, wrap: { ...credential.sealed.wrap, kid: 'k2' } } },
    ],
    ['another wrap', { sealed: { ...credential.sealed, wrap: { ...credential.sealed.wrap, wrapped: 'x' } } }],
    [
      'another encapsulation',
      { sealed: { ...credential.sealed, wrap: { ...credential.sealed.wrap, enc: 'x' } } },
    ],
  ])('is opened anew for %s: what the seal covers is judged by the vault', async (_, over) => {
    const open = create()
    await open(credential)
    await open({ ...credential, ...over })
    expect(vault.open).toHaveBeenCalledTimes(2)
  })

  it('that was rotated looks for the new secret at once', async () => {
    const open = create()
    await (await open(credential)).gate()
    const rotated = {
      ...credential,
      version: 2,
      sealed: { ...credential.sealed, ciphertext: 'second-secret' },
    }
    const gate = (await open(rotated)).gate()
    expect((await gate.inspect(echo('second-secret'))).ok).toBe(false)
    expect((await gate.inspect(echo('first-secret'))).ok).toBe(true)
  })

  it('of several parts is opened to each of them, and its gate looks for those that are secret', async () => {
    const settings = { parts: { user: 'public', application_key: 'secret', api_key: 'secret' } } as const
    const texts = { user: 'a-public-name', application_key: 'application-secret', api_key: 'api-secret' }
    vault.open.mockResolvedValueOnce(new Secret(JSON.stringify(texts)))
    const opened = await create()({ ...credential, settings })
    expect(revealParts(opened)).toEqual(texts)
    expect((await opened.gate().inspect(echo('application-secret'))).ok).toBe(false)
    expect((await opened.gate().inspect(echo('api-secret'))).ok).toBe(false)
    expect((await opened.gate().inspect(echo('a-public-name'))).ok).toBe(true)
  })

  it.each(['"a text"', '{"user":"a-public-name"}', '{"user":"a-public-name","key":7}', 'not JSON'])(
    'does not open where %s was sealed instead of the parts that it names',
    async (text) => {
      vault.open.mockResolvedValueOnce(new Secret(text))
      const settings = { parts: { user: 'public', key: 'secret' } } as const
      await expect(create()({ ...credential, settings })).rejects.toThrow()
    },
  )

  it('that was rotated looks for what was replaced as long as that may live', async () => {
    const sealed = { ...credential.sealed }
    const text = replaceSealedText(
      {
        before: readSealedText(new Secret('first-secret')),
        secrets: [new Secret('first-secret')],
        tokens: [{ secret: new Secret('minted-token'), soughtUntil: Date.now() + 60_000 }],
      },
      new Secret('second-secret'),
      Date.now(),
    )
    const open = create()
    const ask = async (shown = 'first-secret') => {
      vault.open.mockResolvedValueOnce(text)
      const opened = await open({ ...credential, version: 2, sealed })
      vi.advanceTimersByTime(2_000)
      return await opened.gate().inspect(echo(shown))
    }
    expect((await ask()).ok).toBe(false)
    expect((await ask('minted-token')).ok).toBe(false)
    vi.advanceTimersByTime(60_000)
    expect((await ask('minted-token')).ok).toBe(true)
    expect((await ask()).ok).toBe(false)
    vi.advanceTimersByTime(31 * 24 * 3_600_000)
    expect((await ask()).ok).toBe(true)
  })

  it('whose client certificate has ended opens for searches of answers, and for no request', async () => {
    vi.useRealTimers()
    const client = await (await createTestCa()).client('worker-1')
    const clock = { ms: Date.now() }
    const { open, openToSearch } = createOpenedCredentials({
      vault,
      createLeakGate: made,
      now: () => clock.ms,
    })
    const settings = {
      parts: { key: 'secret', client_certificate: 'public', client_key: 'secret' },
    } as const
    const texts = { key: 'first-secret', client_certificate: client.cert, client_key: client.key }
    vault.open.mockResolvedValueOnce(new Secret(JSON.stringify(texts)))
    const row = { ...credential, settings }
    await open(row)
    clock.ms += 365 * 24 * 3_600_000
    await expect(open(row)).rejects.toThrow(CertificateExpired)
    const { gate } = await openToSearch(row)
    expect((await gate().inspect(echo('first-secret'))).ok).toBe(false)
    vault.open.mockResolvedValueOnce(new Secret(JSON.stringify(texts)))
    expect((await (await openToSearch({ ...row, version: 2 })).gate().inspect(echo('nothing'))).ok).toBe(true)
    await expect(open({ ...row, version: 2 })).rejects.toThrow(CertificateExpired)
  })

  it('that does not open is not remembered', async () => {
    const open = create()
    vault.open.mockRejectedValueOnce(new Error('sealed record: tampered with'))
    await expect(open(credential)).rejects.toThrow()
    expect(revealParts(await open(credential))).toEqual({ secret: 'first-secret' })
  })

  it('beyond the first 256 is opened for one attempt and not kept', async () => {
    const open = create()
    for (let i = 0; i < 256; i++) await open({ ...credential, id: `cred_${i}` })
    const extra = { ...credential, id: 'cred_extra' }
    expect(await open(extra)).not.toBe(await open(extra))
  })
})
