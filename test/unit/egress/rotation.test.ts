import { chmod, chown, copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import { joinAuthorities, type OwningAuthority } from '../../../src/egress/authority/joined.ts'
import {
  KEY_SERVICE_CONNECTIONS,
  type KeyService,
  KeyServiceError,
  REWRAPS_AT_ONCE,
} from '../../../src/egress/authority/key-service.ts'
import { openServiceAuthority } from '../../../src/egress/authority/service-authority.ts'
import { openAuthority } from '../../../src/egress/adapters/authority.ts'
import { credentialUnavailable } from '../../../src/egress/refusals.ts'
import { bindingOf } from '../../../src/egress/sealing.ts'
import { createVault } from '../../../src/egress/envelope.ts'
import type { Authority, Vault } from '../../../src/egress/ports.ts'
import { createRotations } from '../../../src/egress/rotation/job.ts'
import { knownKeys, publishAuthority } from '../../../src/egress/rotation/keys.ts'
import { createSealGate } from '../../../src/egress/sealing.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { SealedCredential } from '../../../src/store/ports.ts'
import { makeCredential, seedAccount } from '../../support/seed.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'
import { cites } from '../../requirements.ts'

let temp: TempStore
let authority: Authority
let vault: Vault
let accountId: string
const seals = createSealGate()
beforeEach(async () => {
  temp = await openTempStore()
  authority = await openAuthority({ file: join(temp.directory, 'authority.jwk'), now: Date.now })
  vault = createVault(authority)
  accountId = await seedAccount(temp.store, 0)
  await publishAuthority({ store: temp.store, authority, now: Date.now })
})
afterEach(() => temp.close())

const parts = () => ({
  store: temp.store,
  authority,
  seals,
  bootId: 'boot_1',
  now: Date.now,
  log: createLogger('silent'),
  fault: noFault,
})
const rotateAuthority = (with_ = parts()) => createRotations(with_).start()

async function storeSealed(count: number): Promise<SealedCredential[]> {
  const made: SealedCredential[] = []
  for (let i = 0; i < count; i++) {
    const credential = makeCredential(accountId)
    const sealed = await vault.seal(new Secret(`secret number ${i}`), bindingOf(credential))
    made.push({ ...credential, sealed })
    await temp.store.insertCredential(made.at(-1)!)
  }
  return made
}

it(cites('egress:rotation:rewrap', 're-wraps every record key and touches nothing else'), async () => {
  // More than one batch.
  const before = await storeSealed(130)
  const old = authority.current().kid
  const { kid, retired, rewrapped, total, state } = await rotateAuthority()
  expect({ retired, rewrapped, total, state }).toEqual({
    retired: [old],
    rewrapped: 130,
    total: 130,
    state: 'done',
  })
  if (kid === null) throw new Error('no key was made')
  expect(kid).not.toBe(old)
  for (const [i, { sealed, ...credential }] of before.entries()) {
    const after = (await temp.store.getCredential(credential.id, accountId))!
    const { wrap, ...rest } = after.sealed
    const { wrap: oldWrap, ...untouched } = sealed
    expect(rest).toEqual(untouched)
    expect(wrap.kid).toBe(kid)
    expect(wrap.wrapped).not.toBe(oldWrap.wrapped)
    const secret = await vault.open(after.sealed, bindingOf(after))
    expect(secret.use((value) => value)).toBe(`secret number ${i}`)
  }
})

it(cites('egress:rotation:backup', 'leaves what a backup kept under the old key shut'), async () => {
  const [credential] = await storeSealed(1)
  await rotateAuthority()
  await expect(vault.open(credential!.sealed, bindingOf(credential!))).rejects.toThrow()
  expect(await readFile(join(temp.directory, 'authority.jwk'), 'utf8')).not.toContain(
    credential!.sealed.wrap.kid,
  )
})

it(cites('egress:rotation:published', 'publishes the new key and retires the old one'), async () => {
  const old = authority.current().kid
  await rotateAuthority()
  const { kid } = authority.current()
  const keys = (await temp.store.listPublishedKeys()).map((key) => [key.kid, key.retiredAt === null])
  expect(Object.fromEntries(keys)).toEqual({ [old]: false, [kid]: true })
  await publishAuthority(parts())
  expect(await temp.store.listPublishedKeys()).toHaveLength(2)
})

it(
  cites(
    'egress:rotation:race',
    'waits for a credential that was sealed under the old key and is not stored yet',
  ),
  async () => {
    const credential = makeCredential(accountId)
    const sealed = await vault.seal(new Secret('in between'), bindingOf(credential))
    const insert = Promise.withResolvers<void>()
    const storing = seals.run(async () => {
      await insert.promise
      await temp.store.insertCredential({ ...credential, sealed })
    })
    // The row appears only once the rotation waits for it; a rotation that does not wait never sees it.
    const waiting = {
      ...seals,
      settled() {
        insert.resolve()
        return seals.settled()
      },
    }
    const { rewrapped } = await rotateAuthority({ ...parts(), seals: waiting })
    insert.resolve()
    await storing
    expect(rewrapped).toBe(1)
    const after = (await temp.store.getCredential(credential.id, accountId))!
    expect((await vault.open(after.sealed, bindingOf(after))).use((value) => value)).toBe('in between')
  },
)

it('keeps the old key and names the record when one cannot be re-wrapped', async () => {
  const [good] = await storeSealed(1)
  const credential = makeCredential(accountId)
  const sealed = await vault.seal(
    new Secret('of another row'),
    bindingOf({ ...credential, id: 'cred_other' }),
  )
  await temp.store.insertCredential({ ...credential, sealed })
  const old = authority.current().kid
  await expect(rotateAuthority()).rejects.toMatchObject({
    code: 'state_conflict',
    extras: { credential_ids: [credential.id] },
  })
  expect(await readFile(join(temp.directory, 'authority.jwk'), 'utf8')).toContain(old)
  const after = (await temp.store.getCredential(good!.id, accountId))!
  expect(after.sealed.wrap.kid).toBe(authority.current().kid)
})

it('makes a new key also where another replica has made one since this one read the file', async () => {
  const [credential] = await storeSealed(1)
  const other = await openAuthority({ file: join(temp.directory, 'authority.jwk'), now: Date.now })
  const first = await rotateAuthority()
  const second = await rotateAuthority({ ...parts(), authority: other })
  expect(second).toMatchObject({ state: 'done', retired: [first.kid], rewrapped: 1 })
  expect(await readFile(join(temp.directory, 'authority.jwk'), 'utf8')).not.toContain(first.kid)
  const after = await temp.store.getCredential(credential!.id, accountId)
  expect(after?.sealed.wrap.kid).toBe(second.kid)
})

it('begins nothing on a replica whose own copy of the key file lacks the key that records are under', async () => {
  await storeSealed(1)
  const file = join(temp.directory, 'copy.jwk')
  await copyFile(join(temp.directory, 'authority.jwk'), file)
  const before = await readFile(file, 'utf8')
  const other = await openAuthority({ file, now: Date.now, known: knownKeys(temp.store) })
  const { rotation_id: elsewhere, kid } = await rotateAuthority()
  await expect(rotateAuthority({ ...parts(), authority: other })).rejects.toMatchObject({
    code: 'state_conflict',
    reason: 'authority_key',
    message: expect.stringContaining('copy the file'),
  })
  expect(await readFile(file, 'utf8')).toBe(before)
  expect((await temp.store.latestRotation())?.id).toBe(elsewhere)
  const binding = Buffer.from('binding')
  await expect(other.wrap(Buffer.alloc(32), binding)).rejects.toMatchObject({
    code: 'credential_unavailable',
    reason: 'authority_key',
    cause: { message: expect.stringContaining(String(kid)) },
  })

  const [row] = await temp.store.listWrapsNotUnder('', 1)
  const cause: unknown = await other.unwrap(row!.wrap, binding).catch((thrown: unknown) => thrown)
  expect(credentialUnavailable(cause)).toMatchObject({
    reason: 'authority_key',
    message: expect.not.stringContaining('store it again'),
  })

  await copyFile(join(temp.directory, 'authority.jwk'), file)
  expect((await other.wrap(Buffer.alloc(32), binding)).kid).toBe(kid)
  expect(await rotateAuthority({ ...parts(), authority: other })).toMatchObject({
    state: 'done',
    rewrapped: 1,
  })
})

it.each([
  ['a key service does not answer', new KeyServiceError('unreachable', 'KMS', 'ThrottlingException')],
  ['a key service refuses the gateway', new KeyServiceError('denied', 'KMS', 'AccessDeniedException')],
  ['the key file cannot be read', new ConfigError(['gone'])],
])('gives no credential up where %s, and goes on afterwards', async (_, away) => {
  await storeSealed(3)
  let failures = 2
  const shaky = {
    ...authority,
    async rewrap(...asked: Parameters<Authority['rewrap']>) {
      if (failures-- > 0) throw away
      return authority.rewrap(...asked)
    },
  }
  const rotation = await createRotations({ ...parts(), authority: shaky, retryMs: 5 }).start()
  expect(rotation).toMatchObject({ state: 'done', credential_ids: [] })
  expect(await temp.store.countWrapsNotUnder(authority.current().kid)).toEqual({ total: 0, kids: [] })
})

it('is at no more records at once than leave connections of a key service to calls', async () => {
  await storeSealed(3 * REWRAPS_AT_ONCE)
  let underWay = 0
  let most = 0
  const counted = {
    ...authority,
    async rewrap(...asked: Parameters<Authority['rewrap']>) {
      most = Math.max(most, ++underWay)
      await new Promise(setImmediate)
      underWay--
      return authority.rewrap(...asked)
    },
  }
  await rotateAuthority({ ...parts(), authority: counted })
  expect(most).toBeGreaterThan(1)
  expect(most).toBeLessThanOrEqual(KEY_SERVICE_CONNECTIONS / 2)
})

it('begins no rotation where the key cannot be read', async () => {
  const away = { ...authority, reload: () => Promise.reject(new ConfigError(['gone'])) }
  await expect(rotateAuthority({ ...parts(), authority: away })).rejects.toMatchObject({
    code: 'state_conflict',
  })
  expect(await temp.store.latestRotation()).toBeUndefined()
})

const NOBODY = 65534

/** A key in a folder that may be read and not written, as systemd and Kubernetes mount one, for as long as the work takes. */
async function whereKeysAreReadOnly(work: (authority: Authority, file: string) => Promise<void>) {
  const folder = join(temp.directory, 'mounted')
  const file = join(folder, 'authority.jwk')
  await mkdir(folder)
  const mounted = await openAuthority({ file, now: Date.now })
  await chmod(folder, 0o555)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    // Root may write anywhere: somebody else asks.
    await chmod(temp.directory, 0o755)
    await chown(file, NOBODY, NOBODY)
    process.seteuid?.(NOBODY)
  }
  try {
    await work(mounted, file)
  } finally {
    if (isRoot) process.seteuid?.(0)
    await chmod(folder, 0o755)
  }
}

it('begins no rotation where the key file cannot be replaced, and names the file', () =>
  whereKeysAreReadOnly(async (mounted, file) => {
    await expect(rotateAuthority({ ...parts(), authority: mounted })).rejects.toMatchObject({
      code: 'state_conflict',
      reason: 'key_not_replaceable',
      message: expect.stringContaining(file),
    })
    expect(await temp.store.latestRotation()).toBeUndefined()
  }))

it('ends as failed a rotation that finds only later that it can make no key, and changes nothing', () =>
  whereKeysAreReadOnly(async (mounted, file) => {
    const { kid } = mounted.current()
    const late = { ...mounted, checkReplaceable: async () => {} }
    const rotations = createRotations({ ...parts(), authority: late, retryMs: 5 })
    await expect(rotations.start()).rejects.toThrow(`${file} cannot be rotated in place`)
    expect(await rotations.latest()).toMatchObject({ state: 'failed', kid: null, rewrapped: 0 })
    expect(mounted.current().kid).toBe(kid)

    // One that an earlier release left running.
    const left = await temp.store.beginRotation({ fromKid: kid, bootId: 'boot_dead', now: Date.now() })
    if (!left.ok) throw new Error('another one runs')
    await rotations.resume()
    await expect.poll(rotations.latest).toMatchObject({ rotation_id: left.rotation.id, state: 'failed' })
  }))

it('refuses a second rotation while one runs, and says how far that is', async () => {
  await storeSealed(3)
  const held = Promise.withResolvers<void>()
  const rotations = createRotations({
    ...parts(),
    seals: { ...seals, settled: () => held.promise },
  })
  const first = rotations.start()
  const begun = async () => (await rotations.latest())?.total === 3
  while (!(await begun())) await new Promise((resolve) => setTimeout(resolve, 5))
  const second = createRotations({ ...parts(), bootId: 'boot_2' })
  await expect(second.start()).rejects.toMatchObject({
    code: 'state_conflict',
    reason: 'rotation_runs',
    message: expect.stringContaining('0 of 3 record keys done'),
  })
  held.resolve()
  expect((await first).state).toBe('done')
  expect((await second.start()).state).toBe('done')
})

it.each([
  'after_rotation_begun',
  'after_authority_key',
  'after_rewrap_batch',
  'after_authority_retired',
] as const)(
  'goes on at the next start with what a process left %s, with one new key in all',
  async (point) => {
    const before = await storeSealed(130)
    const old = authority.current().kid
    // The process dies there: nothing of it runs on.
    const dead = {
      at: (reached: string) => (reached === point ? new Promise<never>(() => {}) : Promise.resolve()),
    }
    createRotations({ ...parts(), fault: dead })
      .start()
      .catch(() => {})
    const left = async () => (await temp.store.latestRotation())?.step
    const steps = {
      after_rotation_begun: 'begun',
      after_authority_key: 'begun',
      after_rewrap_batch: 'key_made',
    }
    const step = point in steps ? steps[point as keyof typeof steps] : 'rewrapped'
    const isReached = async () =>
      (await left()) === step &&
      (point !== 'after_authority_key' || authority.current().kid !== old) &&
      (point !== 'after_rewrap_batch' || ((await temp.store.latestRotation())?.rewrapped ?? 0) > 0) &&
      (point !== 'after_authority_retired' ||
        (await temp.store.listPublishedKeys()).some(({ retiredAt }) => retiredAt !== null))
    while (!(await isReached())) await new Promise((resolve) => setTimeout(resolve, 5))

    const next = createRotations({ ...parts(), bootId: 'boot_2' })
    await next.resume()
    while ((await next.latest())?.state === 'running') await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await next.latest()).toMatchObject({ state: 'done', retired: [old], rewrapped: 130 })
    expect(await temp.store.listPublishedKeys()).toHaveLength(2)
    expect(await temp.store.countWrapsNotUnder(authority.current().kid)).toEqual({ total: 0, kids: [] })
    const [first] = before
    if (!first) throw new Error('nothing was stored')
    const after = await temp.store.getCredential(first.id, accountId)
    if (!after) throw new Error('the record is gone')
    expect((await vault.open(after.sealed, bindingOf(after))).use((value) => value)).toBe('secret number 0')
  },
)

it('goes on by itself where the store or the key file is away for a moment', async () => {
  await storeSealed(3)
  let failures = 2
  const shaky = {
    ...authority,
    drop: async (kids: readonly string[]) => {
      if (failures-- > 0) throw new Error('EBUSY')
      await authority.drop(kids)
    },
  }
  const rotation = await createRotations({ ...parts(), authority: shaky, retryMs: 5 }).start()
  expect(rotation).toMatchObject({ state: 'done', rewrapped: 3 })
})

it('is one event of each step, however often a step has to be tried again', async () => {
  let failures = 4
  const shaky = {
    ...authority,
    drop: async (kids: readonly string[]) => {
      if (failures-- > 0) throw new Error('read-only file system')
      await authority.drop(kids)
    },
  }
  const before = await temp.store.getAuditChain('installation')
  await createRotations({ ...parts(), authority: shaky, retryMs: 5 }).start()
  const from = { chain: 'installation', after: before?.seq ?? 0, upTo: 1e6, limit: 1e6 }
  const events = await temp.store.listAuditEvents(from)
  expect(events.map(({ body }) => (JSON.parse(body) as { event: string }).event)).toEqual([
    'authority.rotation_started',
    'wrapping_key.published',
    'published_key.retired',
    'authority.rotated',
  ])
})

it('stores nothing under a key that was retired meanwhile, and seals it again', async () => {
  const credential = makeCredential(accountId)
  // Another replica: its seal gate is another one, so that no rotation waits for it.
  let sealings = 0
  await createSealGate().run(async () => {
    const sealed = await vault.seal(new Secret('late'), bindingOf(credential))
    if (sealings++ === 0) await rotateAuthority()
    await temp.store.insertCredential({ ...credential, sealed })
  })
  expect(sealings).toBe(2)
  const after = await temp.store.getCredential(credential.id, accountId)
  if (!after) throw new Error('nothing was stored')
  expect((await vault.open(after.sealed, bindingOf(after))).use((value) => value)).toBe('late')
})

/** A key service whose newest version is what the test says. */
const serviceParts = (version: () => string): KeyService => ({
  name: 'test',
  owns: (kid) => kid.startsWith('v'),
  newest: async () => version(),
  encrypt: async (_kid, plaintext) => Buffer.from(plaintext),
  decrypt: async (_kid, ciphertext) => Buffer.from(ciphertext),
  close: async () => {},
})
const serviceAt = (version: () => string): Promise<OwningAuthority> =>
  openServiceAuthority(serviceParts(version))

it.each<[string, Partial<KeyService>]>([
  ['may not decrypt', { decrypt: () => Promise.reject(new KeyServiceError('denied', 'test', 'status 403')) }],
  ['answers with nothing', { encrypt: async () => Buffer.alloc(0) }],
])('takes no wrap away, on the move to a key service that %s, until that is mended', async (_, fault) => {
  const [stored] = await storeSealed(1)
  if (!stored) throw new Error('nothing was stored')
  let isMended = false
  let failures = 0
  const sound = serviceParts(() => 'v1')
  const service = await openServiceAuthority({
    ...sound,
    ...Object.fromEntries(
      Object.entries(fault).map(([verb, broken]) => [
        verb,
        (...asked: Parameters<KeyService['encrypt']>) =>
          (isMended ? sound[verb as 'encrypt'] : (broken as KeyService['encrypt']))(...asked),
      ]),
    ),
  })
  const moved = joinAuthorities(service, [
    { ...authority, owns: (kid) => !kid.startsWith('v1'), close: async () => {} },
  ])
  const rotating = rotateAuthority({
    ...parts(),
    authority: {
      ...moved,
      rewrap: (...asked: Parameters<Authority['rewrap']>) =>
        moved.rewrap(...asked).catch((thrown: unknown) => {
          failures++
          throw thrown
        }),
    },
    retryMs: 5,
  } as ReturnType<typeof parts>)
  await expect.poll(() => failures).toBeGreaterThan(1)
  const kept = await temp.store.getCredential(stored.id, accountId)
  expect(kept?.sealed.wrap).toEqual(stored.sealed.wrap)
  isMended = true
  expect(await rotating).toMatchObject({ state: 'done', kid: 'v1', rewrapped: 1 })
  const after = await temp.store.getCredential(stored.id, accountId)
  if (!after) throw new Error('the record is gone')
  expect((await createVault(moved).open(after.sealed, bindingOf(after))).use((value) => value)).toBe(
    'secret number 0',
  )
})

it('ends with the newest version where a key service got another one meanwhile', async () => {
  let version = 'v1'
  const service = await serviceAt(() => version)
  vault = createVault(service)
  await storeSealed(3)
  version = 'v2'
  const job = await rotateAuthority({
    ...parts(),
    authority: service,
    fault: { at: async (point: string) => void (point === 'after_authority_key' && (version = 'v3')) },
  })
  expect(job).toMatchObject({ state: 'done', kid: 'v3', rewrapped: 3 })
  expect(await temp.store.countWrapsNotUnder('v3')).toEqual({ total: 0, kids: [] })
})

it('names no key as retired that the records are under, where a service tells of its newest version by turns', async () => {
  let version = 'v1'
  const service = await serviceAt(() => version)
  vault = createVault(service)
  await storeSealed(3)
  version = 'v2'
  const job = await rotateAuthority({
    ...parts(),
    authority: service,
    fault: { at: async (point: string) => void (point === 'after_authority_key' && (version = 'v1')) },
  })
  expect(job).toMatchObject({ state: 'done', kid: 'v1', retired: [] })
})

it('is ended under its new key by a process that read the key file before that was made', async () => {
  await storeSealed(130)
  const file = join(temp.directory, 'authority.jwk')
  const other = await openAuthority({ file, now: Date.now })
  const died = new Promise<never>(() => {})
  const fault = { at: (point: string) => (point === 'after_rewrap_batch' ? died : Promise.resolve()) }
  rotateAuthority({ ...parts(), fault }).catch(() => {})
  await expect.poll(async () => (await temp.store.latestRotation())?.rewrapped).toBe(100)
  const { kid } = authority.current()
  const rotations = createRotations({ ...parts(), authority: other, bootId: 'boot_2' })
  await rotations.resume()
  await expect.poll(async () => (await rotations.latest())?.state).toBe('done')
  expect(await rotations.latest()).toMatchObject({ kid, rewrapped: 130 })
  expect(await temp.store.countWrapsNotUnder(kid)).toEqual({ total: 0, kids: [] })
})

it('answers with the rotation that it began, and tries that again, after the clock was set back', async () => {
  let clock = Date.now()
  const at = (changes: Partial<ReturnType<typeof parts>> = {}) =>
    createRotations({ ...parts(), now: () => clock, retryMs: 5, ...changes })
  const first = await at().start()
  clock -= 3_600_000
  const second = await at().start()
  expect(second).toMatchObject({ state: 'done', retired: [first.kid], kid: authority.current().kid })

  let failures = 1
  const shaky = {
    ...authority,
    rotate: async (...asked: Parameters<Authority['rotate']>) => {
      if (failures-- > 0) throw new Error('the key file is away')
      return authority.rotate(...asked)
    },
  }
  const rotations = at({ authority: shaky })
  expect(await rotations.start()).toMatchObject({ state: 'done', retired: [second.kid] })
  expect(await rotations.latest()).toMatchObject({ kid: authority.current().kid })
})

it('goes on past a credential that was deleted after it was listed', async () => {
  const [gone] = await storeSealed(3)
  const store = {
    ...temp.store,
    getCredential: async (id: string, account: string) =>
      id === gone!.id ? undefined : temp.store.getCredential(id, account),
  }
  expect(await rotateAuthority({ ...parts(), store })).toMatchObject({ state: 'done', rewrapped: 2 })
})
