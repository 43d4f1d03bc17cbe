import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readFile, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../../src/core/errors.ts'
import { openAuthority } from '../../../src/egress/adapters/authority.ts'
import type { Logger } from '../../../src/lib/log.ts'

let directory: string
let file: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'agw-authority-'))
  file = join(directory, 'keys', 'authority.jwk')
})
afterEach(() => rm(directory, { recursive: true }))

const open = () => openAuthority({ file, now: Date.now })
const binding = Buffer.from('binding')
const recordKey = randomBytes(32)

test('generates a key for its owner alone and finds it again', async () => {
  const first = await open()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(directory, 'keys'))).toEqual(['authority.jwk'])
  const wrap = await first.wrap(recordKey, binding)
  const second = await open()
  expect(second.current().kid).toBe(first.current().kid)
  expect(await second.unwrap(wrap, binding)).toEqual(recordKey)
  expect(second.current().publicJwk).toEqual({
    kty: 'EC',
    crv: 'P-256',
    x: expect.any(String),
    y: expect.any(String),
    kid: first.current().kid,
    use: 'enc',
    alg: 'HPKE-0',
  })
})

test('two replicas that start at once end up with one key', async () => {
  const [a, b] = await Promise.all([open(), open()])
  expect(a.current().kid).toBe(b.current().kid)
})

test('reads a single JWK without kid', async () => {
  await open()
  const { keys } = JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, string>[] }
  const { kid, ...single } = keys[0]!
  await writeFile(file, JSON.stringify(single))
  expect((await open()).current().kid).toBe(kid)
})

test('another replica goes on unwrapping and wrapping across a rotation', async () => {
  const [a, b] = [await open(), await open()]
  const old = await a.wrap(recordKey, binding)
  const { kid, previous } = await a.rotate()
  expect(previous).toEqual([old.kid])
  const fresh = await a.wrap(recordKey, binding)
  expect(fresh.kid).toBe(kid)
  expect(await b.unwrap(fresh, binding)).toEqual(recordKey)
  expect(await b.unwrap(old, binding)).toEqual(recordKey)
  // Not to the key that is about to be dropped.
  const { kid: next } = await a.rotate()
  expect((await b.wrap(recordKey, binding)).kid).toBe(next)
})

test('a rotation through a link reaches the replicas that have the file by another one', async () => {
  const a = await open()
  const linked = join(directory, 'linked.jwk')
  await symlink(file, linked)
  const b = await openAuthority({ file: linked, now: Date.now })
  const { kid, previous } = await b.rotate()
  await b.drop(previous)
  expect(await a.unwrap(await b.wrap(recordKey, binding), binding)).toEqual(recordKey)
  expect((await a.wrap(recordKey, binding)).kid).toBe(kid)
})

test('drops what it is asked to, but never the current key', async () => {
  const authority = await open()
  const old = await authority.wrap(recordKey, binding)
  const { kid } = await authority.rotate()
  await authority.drop([old.kid, kid])
  await expect(authority.unwrap(old, binding)).rejects.toThrow('not in the key file')
  expect(authority.current().kid).toBe(kid)
  expect(await readFile(file, 'utf8')).not.toContain(old.kid)
})

test('a second rotation waits its turn, and a lock left by a dead process does not block for ever', async () => {
  const authority = await open()
  await writeFile(`${file}.lock`, '')
  await expect(authority.rotate()).rejects.toMatchObject({ code: 'state_conflict' })
  const longAgo = new Date(Date.now() - 3_600_000)
  await utimes(`${file}.lock`, longAgo, longAgo)
  expect((await authority.rotate()).previous).toHaveLength(1)
})

test('goes on with a key that another process made, and writes nothing for that', async () => {
  const authority = await open()
  const { kid } = authority.current()
  await writeFile(`${file}.lock`, '')
  expect(await authority.rotate({ from: 'the-key-of-before' })).toEqual({ kid, previous: [] })
})

describe('a file that was changed under a running gateway', () => {
  const inUse: string[] = []
  const retired: string[] = []
  const records: string[] = []
  const known = {
    read: async () => ({ inUse, retired }),
    listNeeded: async () => records,
  }
  beforeEach(() => {
    for (const list of [inUse, retired, records]) list.length = 0
  })
  const openKnown = () => openAuthority({ file, now: Date.now, known })
  const foreign = async () => {
    const other = join(directory, 'other.jwk')
    await openAuthority({ file: other, now: Date.now })
    return readFile(other, 'utf8')
  }

  test.each([
    ['is that of before the rotation', async (old: string) => old, 'authority_key'],
    ['is that of another installation', foreign, 'authority_key'],
    ['is damaged', async () => '{"keys":[', 'authority_file'],
    ['is gone', async () => undefined, 'authority_file'],
  ])('takes no key away, seals nothing and names the file: one that %s', async (_, change, reason) => {
    const authority = await openKnown()
    const old = await readFile(file, 'utf8')
    const { previous } = await authority.rotate()
    const { kid } = authority.current()
    inUse.push(kid)
    retired.push(...previous)
    await authority.drop(previous)
    const whole = await readFile(file, 'utf8')
    const wrapped = await authority.wrap(recordKey, binding)

    const content = await change(old)
    await (content === undefined ? rm(file) : writeFile(file, content))
    for (let i = 0; i < 2; i++) {
      await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({
        code: 'credential_unavailable',
        reason,
        cause: { message: expect.stringContaining(file) },
      })
      await expect(authority.check?.()).rejects.toMatchObject({ reason, lacksKey: false })
      expect(await authority.unwrap(wrapped, binding)).toEqual(recordKey)
    }
    await expect(authority.unwrap({ ...wrapped, kid: 'another' }, binding)).rejects.toMatchObject({ reason })
    await expect(authority.drop(previous)).rejects.toMatchObject({ reason })
    if (content !== undefined) expect(await readFile(file, 'utf8')).toBe(content)

    await writeFile(file, whole, { mode: 0o600 })
    expect(await authority.unwrap(await authority.wrap(recordKey, binding), binding)).toEqual(recordKey)
  })

  test('goes on where the key that is gone was retired, by a rotation on another replica', async () => {
    const [a, b] = [await openKnown(), await openKnown()]
    const old = b.current().kid
    await a.rotate()
    inUse.push(a.current().kid)
    retired.push(old)
    await a.drop([old])
    expect((await b.wrap(recordKey, binding)).kid).toBe(a.current().kid)
  })

  test('is one that lacks the newest key, where records are under that: of a replica with a copy of its own', async () => {
    const authority = await openKnown()
    const own = authority.current().kid
    inUse.push(own, 'made-elsewhere')
    // Replicas that store no credential may each have made a file.
    expect((await authority.wrap(recordKey, binding)).kid).toBe(own)
    records.push('made-elsewhere')
    const lacks = { lacksKey: true, message: expect.stringContaining('lacks the key made-elsewhere') }
    await expect(authority.check?.()).rejects.toMatchObject(lacks)
    // Nor is it in memory, whatever becomes of the file.
    const whole = await readFile(file)
    await rm(file)
    await expect(authority.check?.()).rejects.toMatchObject(lacks)
    await writeFile(file, whole, { mode: 0o600 })
    await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({ reason: 'authority_key' })
    inUse.pop()
    records.pop()
    retired.push(...inUse.splice(0))
    await expect(authority.check?.()).rejects.toMatchObject({ reason: 'authority_key' })
  })
})

test('names at the start every key that is missing of those that records are under', async () => {
  const { kid } = (await open()).current()
  const errors: { readonly fields: unknown; readonly text: string }[] = []
  const log = { error: (fields: unknown, text: string) => errors.push({ fields, text }) } as unknown as Logger
  // What the check at the start looked at is a sample.
  const known = {
    read: async () => ({ inUse: [], retired: [] }),
    listNeeded: async () => [kid, 'lost-1', 'lost-2'],
  }
  await openAuthority({ file, now: Date.now, sealedTo: ['lost-1', kid], log, known })
  expect(errors).toEqual([{ fields: { keys: ['lost-1', 'lost-2'] }, text: expect.stringContaining(file) }])
  await expect(openAuthority({ file, now: Date.now, sealedTo: ['lost-1', 'lost-2'], log })).rejects.toThrow(
    'lost-1, lost-2',
  )
})

test('does not unwrap under another binding', async () => {
  const authority = await open()
  const wrap = await authority.wrap(recordKey, binding)
  await expect(authority.unwrap(wrap, Buffer.from('another'))).rejects.toThrow()
})

describe('refuses in words, without quoting it, a file that', () => {
  const refusal = async (): Promise<string> => {
    try {
      await open()
      return 'opened'
    } catch (thrown) {
      if (!(thrown instanceof ConfigError)) throw thrown
      return thrown.problems.join('\n')
    }
  }
  test('others can read', async () => {
    await open()
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(file, mode)
      expect(await refusal()).toContain('chmod 600')
    }
  })
  test.each([
    ['is no JSON', () => '{"d":"hunter2'],
    ['is another kind of key', () => '{"kty":"OKP","crv":"Ed25519","x":"hunter2","d":"hunter2"}'],
    ['holds no key', () => '{"keys":[]}'],
    ['holds only a public half', (jwk: Record<string, string>) => JSON.stringify({ ...jwk, d: undefined })],
    [
      'holds halves of two keys',
      (jwk: Record<string, string>, other: Record<string, string>) =>
        JSON.stringify({ ...jwk, d: other['d'] }),
    ],
  ])('%s', async (_what, content) => {
    const keyOf = async () => {
      await rm(file, { force: true })
      await open()
      return (JSON.parse(await readFile(file, 'utf8')) as { keys: Record<string, string>[] }).keys[0]!
    }
    const text = content(await keyOf(), await keyOf())
    await writeFile(file, text)
    const words = await refusal()
    expect(words).toMatch(/GATEWAY_AUTHORITY_KEY_FILE: .* (?:is not|holds a key)/)
    expect(words).not.toContain('hunter2')
  })
})
