// The wrapping authority outside of the gateway: each client against a server of its protocol, over TLS.
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openAwsKms } from '../../../src/egress/adapters/key-services/aws-kms.ts'
import { openGcpKms } from '../../../src/egress/adapters/key-services/gcp-kms.ts'
import { openVaultTransit } from '../../../src/egress/adapters/key-services/vault-transit.ts'
import {
  type KeyService,
  KeyServiceError,
  REWRAPS_AT_ONCE,
} from '../../../src/egress/authority/key-service.ts'
import { openServiceAuthority } from '../../../src/egress/authority/service-authority.ts'
import { createVault } from '../../../src/egress/envelope.ts'
import type { SecretBinding } from '../../../src/egress/ports.ts'
import { crc32c } from '../../../src/lib/crc32c.ts'
import { Secret } from '../../../src/lib/secret.ts'
import { createTestCa, type TestCa } from '../../support/ca.ts'
import { type FakeService, startAwsKms, startGcpKms, startVault } from '../../support/key-services.ts'

const before = getCACertificates('default')
let ca: TestCa
let directory: string
beforeAll(async () => {
  ca = await createTestCa()
  setDefaultCACertificates([...before, ca.pem])
  directory = await mkdtemp(join(tmpdir(), 'agw-keys-'))
})
afterAll(async () => {
  setDefaultCACertificates([...before])
  await rm(directory, { recursive: true })
})

interface Opened {
  readonly fake: FakeService
  readonly open: () => Promise<KeyService>
  /** The same with an identity that the service does not know. */
  readonly openAsStranger: () => Promise<KeyService>
  /** The same for a key that is not there. */
  readonly openUnknown: () => Promise<KeyService>
  readonly rotate: () => unknown
  readonly denyDecryption: () => void
  /** Switches the first version of the key off. */
  readonly disableFirst: () => void
}

async function startAws(): Promise<Opened> {
  const fake = await startAwsKms(ca)
  const openWith = (key: string, secretAccessKey = fake.accessKey.secretAccessKey) =>
    openAwsKms({
      key,
      region: 'eu-central-1',
      client: {
        endpoint: fake.url,
        maxAttempts: 1,
        credentials: { accessKeyId: fake.accessKey.accessKeyId, secretAccessKey },
      },
    })
  const first = fake.rotate()
  return {
    fake,
    open: () => openWith(fake.alias),
    openAsStranger: () => openWith(fake.alias, 'another'),
    openUnknown: () => openWith(`${fake.alias}-unknown`),
    rotate: fake.rotate,
    denyDecryption: () => fake.deny('Decrypt'),
    disableFirst: () => fake.disable(first),
  }
}

async function startGcp(): Promise<Opened> {
  const fake = await startGcpKms(ca)
  const openWith = (key: string, credentials = fake.account) =>
    openGcpKms({ key, client: { apiEndpoint: 'localhost', port: fake.port, credentials } })
  return {
    fake,
    open: () => openWith(fake.key),
    openAsStranger: () =>
      openWith(fake.key, { ...fake.account, client_email: 'stranger@p.iam.gserviceaccount.com' }),
    openUnknown: () => openWith(`${fake.key}-unknown`),
    rotate: fake.rotate,
    denyDecryption: () => fake.deny('decrypt'),
    disableFirst: () => fake.disable(`${fake.key}/cryptoKeyVersions/1`),
  }
}

async function startTransit(): Promise<Opened> {
  const fake = await startVault(ca)
  const tokenFile = join(directory, 'token')
  const strangersFile = join(directory, 'stranger')
  await writeFile(tokenFile, `${fake.token}\n`, { mode: 0o600 })
  await writeFile(strangersFile, 'hvs.another', { mode: 0o600 })
  const openWith = async (key: string, file = tokenFile) =>
    openVaultTransit({ origin: fake.url, mount: 'transit', key, tokenFile: file })
  return {
    fake,
    open: () => openWith('agent-gateway'),
    openAsStranger: () => openWith('agent-gateway', strangersFile),
    openUnknown: () => openWith('unknown'),
    rotate: fake.rotate,
    denyDecryption: () => fake.deny('decrypt'),
    disableFirst: () => fake.setMinimum(2),
  }
}

const recordKey = randomBytes(32)
const binding = Buffer.from('binding')

describe.each([
  ['AWS KMS', startAws],
  ['Google Cloud KMS', startGcp],
  ['Vault transit', startTransit],
])('an authority in %s', (_name, start) => {
  let opened: Opened
  const services: KeyService[] = []
  beforeEach(async () => {
    opened = await start()
  })
  afterEach(async () => {
    await Promise.all(services.splice(0).map((service) => service.close()))
    await opened.fake.close()
  })
  async function openAuthority() {
    const service = await opened.open()
    services.push(service)
    return openServiceAuthority(service)
  }
  const failing = async (open: () => Promise<KeyService>) => {
    const service = await open()
    services.push(service)
    return openServiceAuthority(service)
  }

  it('wraps what it unwraps again, also for another replica, and publishes no key', async () => {
    const [one, two] = [await openAuthority(), await openAuthority()]
    const wrap = await one.wrap(recordKey, binding)
    expect(await two.unwrap(wrap, binding)).toEqual(recordKey)
    expect(one.current()).toEqual({ kid: wrap.kid })
    expect(Buffer.from(wrap.wrapped, 'base64url').includes(recordKey)).toBe(false)
  })

  it('seals and opens a secret, which the service never sees, bound to its row', async () => {
    const vault = createVault(await openAuthority())
    const row: SecretBinding = {
      credentialId: 'cred_1',
      accountId: 'acct_1',
      provider: 'custom',
      hosts: ['api.example.com'],
      pathPrefixes: ['/'],
      methods: ['GET'],
      header: 'authorization',
      scheme: 'Bearer',
      version: 1,
      settings: {},
    }
    const sealed = await vault.seal(new Secret('the-secret-itself'), row)
    expect((await vault.open(sealed, row)).use((text) => text)).toBe('the-secret-itself')
    await expect(vault.open(sealed, { ...row, hosts: ['evil.example.com'] })).rejects.toMatchObject({
      reason: 'refused',
    })
    const received = opened.fake.received.join('\n')
    // What a service authenticates is in its log: digests, no names.
    for (const text of ['the-secret-itself', 'cred_1', 'api.example.com'])
      for (const form of [text, Buffer.from(text).toString('base64').replaceAll('=', '')])
        expect(received).not.toContain(form)
  })

  it('follows a rotation: new records under the new version, old ones open until they are re-wrapped', async () => {
    const authority = await openAuthority()
    const old = await authority.wrap(recordKey, binding)
    expect(await authority.rotate({ from: old.kid })).toEqual({ kid: old.kid, previous: [] })
    opened.rotate()
    const { kid, previous } = await authority.rotate({ from: old.kid })
    expect(previous).toEqual([old.kid])
    expect(kid).not.toBe(old.kid)
    // Whoever takes over from a process that died there asks once more: the answer is the same, and no version was made.
    expect(await authority.rotate({ from: old.kid })).toEqual({ kid, previous })
    expect(await (await openAuthority()).rotate({ from: old.kid })).toEqual({ kid, previous })
    expect(authority.current().kid).toBe(kid)
    expect(await authority.unwrap(old, binding)).toEqual(recordKey)
    const rewrapped = await authority.rewrap(old, binding)
    expect(rewrapped.kid).toBe(kid)
    opened.disableFirst()
    await expect(authority.unwrap(old, binding)).rejects.toMatchObject({ reason: 'key_missing' })
    expect(await authority.unwrap(rewrapped, binding)).toEqual(recordKey)
  })

  it('wraps under the new version although another replica rotated', async () => {
    const authority = await openAuthority()
    const { kid } = authority.current()
    opened.rotate()
    expect((await authority.wrap(recordKey, binding)).kid).not.toBe(kid)
  })

  it('opens nothing of a row that was changed: binding, key id, bytes, encapsulation', async () => {
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    opened.rotate()
    const other = await authority.wrap(recordKey, binding)
    const flipped = Buffer.from(wrap.wrapped, 'base64url')
    flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1
    const changed = [
      [wrap, Buffer.from('another')],
      [{ ...wrap, kid: other.kid }, binding],
      [{ ...wrap, wrapped: flipped.toString('base64url') }, binding],
      [{ ...wrap, wrapped: `${wrap.wrapped}=` }, binding],
      [{ ...wrap, enc: 'AAAA' }, binding],
    ] as const
    for (const [row, bound] of changed) await expect(authority.unwrap(row, bound)).rejects.toThrow()
  })

  it('does not ask the service for a key that is not its own', async () => {
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    const asked = opened.fake.asked.length
    for (const kid of [
      'arn:aws:kms:eu-central-1:999988887777:key/of-a-stranger',
      'projects/q/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1',
      'vault-transit/transit/agent-gateway:v1/../../sys',
      'vault-transit/another/agent-gateway:v1',
      '',
    ])
      await expect(authority.unwrap({ ...wrap, kid }, binding)).rejects.toMatchObject({ reason: 'refused' })
    expect(opened.fake.asked).toHaveLength(asked)
  })

  it('says that it does not answer, and goes on when it does again', async () => {
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    opened.fake.setAway(true)
    await expect(authority.unwrap(wrap, binding)).rejects.toMatchObject({ reason: 'unreachable' })
    await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({
      code: 'credential_unavailable',
      message: expect.stringContaining('try again in a moment'),
    })
    opened.fake.setAway(false)
    expect(await authority.unwrap(wrap, binding)).toEqual(recordKey)
  })

  it('says that permission is refused, at the start and later', async () => {
    await expect(failing(opened.openAsStranger)).rejects.toMatchObject({ reason: 'denied' })
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    opened.denyDecryption()
    await expect(authority.unwrap(wrap, binding)).rejects.toMatchObject({ reason: 'denied' })
    // What is encrypted and cannot be opened is lost.
    await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({
      code: 'credential_unavailable',
      reason: 'key_service_denied',
    })
  })

  it('says that there is no such key, and keeps record keys out of what it throws', async () => {
    await expect(failing(opened.openUnknown)).rejects.toMatchObject({ reason: 'key_missing' })
    const authority = await openAuthority()
    opened.fake.setAway(true)
    const thrown: unknown = await authority.wrap(recordKey, binding).catch((error: unknown) => error)
    const { inspect } = await import('node:util')
    const shown = inspect(thrown, { depth: 10, showHidden: true })
    for (const form of ['base64', 'hex', 'latin1'] as const)
      expect(shown).not.toContain(recordKey.toString(form))
  })
})

it('Google Cloud KMS: an answer whose checksum is wrong is not used', async () => {
  const fake = await startGcpKms(ca)
  const client = { apiEndpoint: 'localhost', port: fake.port, credentials: fake.account }
  const service = await openGcpKms({ key: fake.key, client })
  try {
    const kid = await service.newest()
    const sealed = await service.encrypt(kid, recordKey, binding)
    fake.setCorrupting(true)
    await expect(service.encrypt(kid, recordKey, binding)).rejects.toMatchObject({ reason: 'unreachable' })
    await expect(service.decrypt(kid, sealed, binding)).rejects.toMatchObject({ reason: 'unreachable' })
  } finally {
    await service.close()
    await fake.close()
  }
})

it('Vault: a token that an agent renews is read anew, and a sealed Vault is an outage', async () => {
  const fake = await startVault(ca)
  const tokenFile = join(directory, 'renewed')
  const service = openVaultTransit({ origin: fake.url, mount: 'transit', key: 'agent-gateway', tokenFile })
  try {
    await expect(service.newest()).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringContaining(tokenFile),
    })
    await writeFile(tokenFile, fake.token)
    const asked = fake.asked.length
    for (const mode of [0o644, 0o604, 0o641, 0o620, 0o660]) {
      await chmod(tokenFile, mode)
      await expect(service.newest()).rejects.toMatchObject({
        reason: 'denied',
        message: expect.stringContaining(`chmod 640 ${tokenFile}`),
      })
    }
    // Nothing was sent with a token that others may have read.
    expect(fake.asked).toHaveLength(asked)
    // Vault Agent under a user of its own shares a group with the gateway.
    for (const mode of [0o640, 0o440, 0o600]) {
      await chmod(tokenFile, mode)
      expect(await service.newest()).toBe('vault-transit/transit/agent-gateway:v1')
    }
    fake.setSealed(true)
    await expect(service.newest()).rejects.toMatchObject({ reason: 'unreachable' })
  } finally {
    await service.close()
    await fake.close()
  }
})

describe('a service that encrypts what it does not open again', () => {
  const openWith = (service: Partial<KeyService>) =>
    openServiceAuthority({
      name: 'test',
      owns: () => true,
      newest: async () => 'v1',
      encrypt: async (_kid, plaintext) => Buffer.concat([Buffer.alloc(16), plaintext]),
      decrypt: async (_kid, ciphertext) => ciphertext.subarray(16),
      close: async () => {},
      ...service,
    })

  it.each<[string, Partial<KeyService>]>([
    ['nothing', { encrypt: async () => Buffer.alloc(0) }],
    ['nothing, and opens that', { encrypt: async () => Buffer.alloc(0), decrypt: async () => recordKey }],
    ['other bytes', { encrypt: async () => randomBytes(48) }],
    [
      'what it refuses',
      { decrypt: () => Promise.reject(new KeyServiceError('refused', 'test', 'status 400')) },
    ],
  ])('is one at fault: %s', async (_, service) => {
    const authority = await openWith(service)
    await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({
      code: 'credential_unavailable',
      cause: { reason: 'unreachable', message: expect.stringContaining('does not open') },
    })
  })

  it('is told apart from one that does, in one more question for each record', async () => {
    let decryptions = 0
    const authority = await openWith({
      async decrypt(_kid, ciphertext) {
        decryptions++
        return ciphertext.subarray(16)
      },
    })
    const wrap = await authority.wrap(recordKey, binding)
    expect(decryptions).toBe(1)
    expect(await authority.unwrap(wrap, binding)).toEqual(recordKey)
  })
})

it('Vault: as many records as a rotation takes at once are with it at once, and calls beside them', async () => {
  const fake = await startVault(ca)
  const tokenFile = join(directory, 'many')
  await writeFile(tokenFile, fake.token, { mode: 0o600 })
  const service = openVaultTransit({ origin: fake.url, mount: 'transit', key: 'agent-gateway', tokenFile })
  try {
    const release = fake.hold()
    const asking = Array.from({ length: 2 * REWRAPS_AT_ONCE }, () => service.newest())
    await expect.poll(() => fake.asked.length).toBe(asking.length)
    release()
    await Promise.all(asking)
  } finally {
    await service.close()
    await fake.close()
  }
})

it('the checksum is CRC-32C', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  expect(crc32c(Buffer.alloc(0))).toBe(0)
})
