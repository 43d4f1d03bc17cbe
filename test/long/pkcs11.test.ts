// The wrapping key in a PKCS#11 token: a real one in software, through the package that operators install, in the process of its own.
import { execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { inspect, promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AuthoritySpec } from '../../src/core/config.ts'
import { openPkcs11 } from '../../src/egress/adapters/key-services/pkcs11.ts'
import type { KeyService } from '../../src/egress/authority/key-service.ts'
import { openServiceAuthority } from '../../src/egress/authority/service-authority.ts'
import { parseAuthority } from '../../src/egress/authority/spec.ts'
import { createWorld, startTestGateway, type TestGateway, type World } from '../support/gateway.ts'
import {
  createSoftHsm,
  environmentOf,
  PACKAGES,
  processesOf,
  type SoftHsm,
  tokenProcesses,
} from '../support/soft-hsm.ts'

const recordKey = randomBytes(32)
const binding = Buffer.from('binding')

let hsm: SoftHsm
beforeAll(async () => {
  hsm = await createSoftHsm()
  vi.stubEnv('NODE_PATH', PACKAGES)
  vi.stubEnv('SOFTHSM2_CONF', hsm.env['SOFTHSM2_CONF'])
  await hsm.makeKey('agent-gateway', '01')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await hsm.close()
})

type Pkcs11Spec = Extract<AuthoritySpec, { kind: 'pkcs11' }>
const services: KeyService[] = []
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.close()))
  await expect.poll(tokenProcesses).toEqual([])
})
/** Long enough for a process to start on a busy machine; what a token that hangs takes is tried with the product's own. */
const PATIENT_MS = 120_000
async function open(
  text = hsm.uri('object=agent-gateway'),
  answerMs: number | undefined = PATIENT_MS,
): Promise<KeyService> {
  const spec = parseAuthority(text)
  if (typeof spec === 'string') throw new Error(spec)
  const service = await openPkcs11(spec as Pkcs11Spec, {
    environment: process.env,
    answerMs,
  })
  services.push(service)
  return service
}
const openAuthority = async (text?: string) => openServiceAuthority(await open(text))

describe('an authority in a PKCS#11 token', () => {
  it('wraps what it unwraps again, also for another replica, and publishes no key', async () => {
    const [one, two] = [await openAuthority(), await openAuthority()]
    const wrap = await one.wrap(recordKey, binding)
    expect(wrap.kid).toMatch(/^pkcs11\/[\w-]{43}$/)
    expect(await two.unwrap(wrap, binding)).toEqual(recordKey)
    expect(one.current()).toEqual({ kid: wrap.kid })
    expect(Buffer.from(wrap.wrapped, 'base64url').includes(recordKey)).toBe(false)
    expect((await one.wrap(recordKey, binding)).wrapped).not.toBe(wrap.wrapped)
  })

  it('serves many at once', async () => {
    const authority = await openAuthority()
    const keys = Array.from({ length: 100 }, () => randomBytes(32))
    const wraps = await Promise.all(keys.map((key) => authority.wrap(key, binding)))
    expect(await Promise.all(wraps.map((wrap) => authority.unwrap(wrap, binding)))).toEqual(keys)
  })

  it('opens nothing of a row that was changed: binding, key id, bytes, encapsulation', async () => {
    await hsm.makeKey('other', '02')
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    const other = await (await openAuthority(hsm.uri('object=other'))).wrap(recordKey, binding)
    const bytes = Buffer.from(wrap.wrapped, 'base64url')
    const flippedAt = (at: number) => {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      return { ...wrap, wrapped: flipped.toString('base64url') }
    }
    const changed = [
      [wrap, Buffer.from('another')],
      [{ ...wrap, kid: other.kid }, binding],
      [{ ...other, kid: wrap.kid }, binding],
      [flippedAt(bytes.length - 1), binding],
      [flippedAt(70), binding],
      [flippedAt(0), binding],
      [{ ...wrap, wrapped: bytes.subarray(0, 80).toString('base64url') }, binding],
      [{ ...wrap, wrapped: '' }, binding],
      [{ ...wrap, enc: 'AAAA' }, binding],
    ] as const
    for (const [row, bound] of changed)
      await expect(authority.unwrap(row, bound)).rejects.toMatchObject({ reason: 'refused' })
    expect(await authority.unwrap(wrap, binding)).toEqual(recordKey)
  })

  it('never asks the token about a point that is not on the curve', async () => {
    const service = await open()
    const kid = await service.newest()
    const sealed = await service.encrypt(kid, recordKey, binding)
    const [pid] = await tokenProcesses()
    process.kill(pid!, 'SIGSTOP')
    const off = Buffer.concat([Buffer.from([4]), randomBytes(64)])
    const refused = service.decrypt(kid, Buffer.concat([off, sealed.subarray(65)]), binding)
    await expect(refused).rejects.toMatchObject({ reason: 'refused' })
  })

  it('is rotated by naming the new key in front of the old one', async () => {
    await hsm.makeKey('agent-gateway', '03')
    // Two of that name now, and it is not said which.
    await expect(open()).rejects.toMatchObject({
      reason: 'key_missing',
      message: expect.stringContaining('several private keys are so named: give the id, too'),
    })
    const [old, next] = [hsm.uri('object=agent-gateway;id=%01'), hsm.uri('object=agent-gateway;id=%03')]
    const before = await openAuthority(old)
    const after = await openAuthority(next)
    const wrap = await before.wrap(recordKey, binding)
    const { kid, previous } = await after.rotate({ from: wrap.kid })
    expect(previous).toEqual([wrap.kid])
    expect(kid).not.toBe(wrap.kid)
    await hsm.tool('--delete-object', '--type', 'privkey', '--id', '03')
    await hsm.tool('--delete-object', '--type', 'pubkey', '--id', '03')
  })

  it('uses a key of the right kind alone, and says what is wrong with another', async () => {
    await hsm.makeKey('p384', '10', 'EC:secp384r1')
    await hsm.makeKey('rsa', '11', 'rsa:2048')
    const tool = hsm.tool
    await tool(
      '--keypairgen',
      '--key-type',
      'EC:prime256v1',
      '--label',
      'signs',
      '--id',
      '12',
      '--usage-sign',
    )
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const files = [join(hsm.directory, 'key.der'), join(hsm.directory, 'public.der')] as const
    await writeFile(files[0], privateKey.export({ format: 'der', type: 'pkcs8' }))
    await writeFile(files[1], publicKey.export({ format: 'der', type: 'spki' }))
    const put = (type: string, file: string, ...args: string[]) =>
      tool('--write-object', file, '--type', type, '--usage-derive', ...args)
    await put('privkey', files[0], '--label', 'copied', '--id', '13', '--extractable')
    // The public half of a stranger beside a private one.
    await hsm.makeKey('swapped', '14')
    await tool('--delete-object', '--type', 'pubkey', '--id', '14')
    await put('pubkey', files[1], '--label', 'swapped', '--id', '14')
    await hsm.makeKey('alone', '15')
    await tool('--delete-object', '--type', 'pubkey', '--id', '15')
    for (const [label, words] of [
      ['nothing', 'no private key of an elliptic curve is so named'],
      ['rsa', 'no private key of an elliptic curve is so named'],
      ['p384', 'must be of the curve P-256'],
      ['signs', 'must allow derivation'],
      ['copied', 'must be sensitive and not extractable'],
      ['swapped', 'the public key beside it belongs to another one'],
      ['alone', 'no public key of an elliptic curve is so named'],
    ] as const)
      await expect(openAuthority(hsm.uri(`object=${label}`)), label).rejects.toMatchObject({
        reason: 'key_missing',
        message: expect.stringContaining(words),
      })
    await expect(
      open('pkcs11:token=gateway;object=x?module-path=/etc/passwd&pin-source=file:' + hsm.pinFile),
    ).rejects.toMatchObject({ reason: 'key_missing', message: expect.stringContaining('cannot be loaded') })
  })
})

describe('a token that is not as it was', () => {
  const theProcess = async () => {
    const pids = await tokenProcesses()
    expect(pids).toHaveLength(1)
    return pids[0]!
  }

  it('is asked through another process where the one that had its library crashed', async () => {
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    const crashed = await theProcess()
    process.kill(crashed, 'SIGSEGV')
    expect(await authority.unwrap(wrap, binding)).toEqual(recordKey)
    expect(await theProcess()).not.toBe(crashed)
  })

  it('keeps nobody waiting while it hangs, and is asked through another process then', async () => {
    const authority = await openServiceAuthority(await open(undefined, 3_000))
    const wrap = await authority.wrap(recordKey, binding)
    const hung = await theProcess()
    process.kill(hung, 'SIGSTOP')
    const waits = await Promise.allSettled([authority.unwrap(wrap, binding), authority.unwrap(wrap, binding)])
    expect(waits).toMatchObject([
      { status: 'rejected', reason: { reason: 'unreachable' } },
      { status: 'rejected', reason: { reason: 'unreachable' } },
    ])
    await expect.poll(() => authority.unwrap(wrap, binding)).toEqual(recordKey)
    expect(await theProcess()).not.toBe(hung)
  })

  it('is unreachable while it is away, and is used again once it is back', async () => {
    const authority = await openAuthority()
    const wrap = await authority.wrap(recordKey, binding)
    await rename(hsm.tokens, `${hsm.tokens}-away`)
    process.kill(await theProcess(), 'SIGKILL')
    await expect(authority.unwrap(wrap, binding)).rejects.toMatchObject({
      reason: 'unreachable',
      message: expect.stringContaining('try again in a moment'),
    })
    await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({ code: 'credential_unavailable' })
    await expect(open()).rejects.toMatchObject({ reason: 'unreachable' })
    await rename(`${hsm.tokens}-away`, hsm.tokens)
    await expect.poll(() => authority.unwrap(wrap, binding)).toEqual(recordKey)
  })

  it('seals nothing once its key is gone or another one has its name', async () => {
    await hsm.makeKey('replaced', '20')
    const authority = await openAuthority(hsm.uri('object=replaced'))
    const wrap = await authority.wrap(recordKey, binding)
    for (const type of ['privkey', 'pubkey']) await hsm.tool('--delete-object', '--type', type, '--id', '20')
    await expect(authority.wrap(recordKey, binding)).rejects.toMatchObject({ code: 'credential_unavailable' })
    await hsm.makeKey('replaced', '20')
    // What the last start came to is heard for a second.
    const said = () => authority.unwrap(wrap, binding).catch((thrown: unknown) => thrown)
    await expect.poll(said).toMatchObject({
      reason: 'key_missing',
      message: expect.stringContaining('another key in its place'),
    })
  })

  it('is not tried again with a PIN that it refused, until the file changes', async () => {
    const pinFile = join(hsm.directory, 'changing-pin')
    await writeFile(pinFile, hsm.pin, { mode: 0o600 })
    const authority = await openAuthority(hsm.uri('object=agent-gateway', pinFile))
    const wrap = await authority.wrap(recordKey, binding)
    await writeFile(pinFile, '000000')
    process.kill(await theProcess(), 'SIGKILL')
    await expect(authority.unwrap(wrap, binding)).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringContaining('(CKR_PIN_INCORRECT)'),
    })
    const again = await authority.unwrap(wrap, binding).catch((thrown: unknown) => thrown)
    expect(again).toMatchObject({ reason: 'denied', message: expect.stringContaining('not tried again') })
    expect(inspect(again, { depth: 10, showHidden: true })).not.toContain('000000')
    await writeFile(pinFile, `${hsm.pin}\n`)
    // Nobody tries any while the token says that a wrong one was tried last: neither this gateway nor another one.
    const said = () => authority.unwrap(wrap, binding).catch((thrown: unknown) => thrown)
    await expect.poll(said).toMatchObject({
      reason: 'denied',
      message: expect.stringContaining('a wrong PIN was tried last: log in by hand'),
    })
    await expect(open()).rejects.toMatchObject({ reason: 'denied' })
    await hsm.tool('--list-objects')
    await expect.poll(() => authority.unwrap(wrap, binding)).toEqual(recordKey)
  })

  it('is not asked by a process for every call while it cannot be opened', async () => {
    let started = 0
    // Read once for each process, since it is handed on.
    const counting = {
      get COUNTING() {
        started++
        return 'yes'
      },
    }
    const environment = Object.defineProperties(
      { ...process.env },
      Object.getOwnPropertyDescriptors(counting),
    )
    const spec = parseAuthority(hsm.uri('object=agent-gateway')) as Pkcs11Spec
    const service = await openPkcs11(spec, { environment, answerMs: PATIENT_MS })
    services.push(service)
    const authority = await openServiceAuthority(service)
    const wrap = await authority.wrap(recordKey, binding)
    await rename(hsm.tokens, `${hsm.tokens}-away`)
    process.kill(await theProcess(), 'SIGKILL')
    const calls = await Promise.allSettled(Array.from({ length: 30 }, () => authority.unwrap(wrap, binding)))
    await rename(`${hsm.tokens}-away`, hsm.tokens)
    for (const call of calls) expect(call).toMatchObject({ reason: { reason: 'unreachable' } })
    // The one that was killed, one that was started, and one more whenever a second has passed.
    expect(started).toBeGreaterThan(1)
    expect(started).toBeLessThan(10)
  })

  it('needs a PIN that nobody else may read', async () => {
    const pinFile = join(hsm.directory, 'open-pin')
    const uri = hsm.uri('object=agent-gateway', pinFile)
    await expect(open(uri)).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringContaining(pinFile),
    })
    await writeFile(pinFile, '', { mode: 0o600 })
    await expect(open(uri)).rejects.toMatchObject({
      message: expect.stringContaining(`no PIN in ${pinFile}`),
    })
    await rm(pinFile)
    await writeFile(pinFile, hsm.pin, { mode: 0o644 })
    await expect(open(uri)).rejects.toMatchObject({
      message: expect.stringContaining(`chmod 600 ${pinFile}`),
    })
  })

  it('is unreachable where no descriptor is left for its process, and nothing else ends by that', async () => {
    const module = new URL('../../src/egress/adapters/key-services/pkcs11/reopening.ts', import.meta.url).href
    const code = `
const { closeSync, openSync } = await import('node:fs')
const { createReopeningToken } = await import(${JSON.stringify(module)})
const said = new Set()
for (let free = 0; free < 12; free++) {
  const taken = []
  const token = createReopeningToken(${JSON.stringify(parseAuthority(hsm.uri('object=agent-gateway')))}, { environment: process.env })
  try { for (;;) taken.push(openSync('/dev/null')) } catch {}
  for (const one of taken.splice(0, free)) closeSync(one)
  await token.open().then(() => said.add('opened'), ({ failure }) => said.add(failure.reason))
  for (const one of taken) closeSync(one)
  await token.close()
}
console.log([...said].toSorted().join())`
    const limited = [
      '-c',
      'ulimit -n 100; exec "$0" "$@"',
      process.execPath,
      '--input-type=module',
      '-e',
      code,
    ]
    // A group of its own: what is signalled by mistake there is nobody else.
    const program = spawn('/bin/sh', limited, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    expect(await text(program.stdout)).toBe('opened,unreachable\n')
  })

  it('is meant by its serial where two have one label', async () => {
    const two = await createSoftHsm()
    try {
      vi.stubEnv('SOFTHSM2_CONF', two.env['SOFTHSM2_CONF'])
      await two.makeKey('agent-gateway', '01')
      await expect(open(two.uri('object=agent-gateway'))).resolves.toBeDefined()
      await two.initToken('gateway')
      const uri = two.uri('object=agent-gateway')
      await expect(open(uri)).rejects.toMatchObject({
        reason: 'key_missing',
        message: expect.stringContaining('several tokens are so named: give the serial, too'),
      })
    } finally {
      vi.stubEnv('SOFTHSM2_CONF', hsm.env['SOFTHSM2_CONF'])
      await two.close()
    }
  })
})

describe('a library that hangs while it is opened', () => {
  // It reads its settings when it is loaded, and a named pipe that nobody writes to holds it there.
  const hanging = join(tmpdir(), `agw-hsm-${process.pid}.fifo`)
  beforeAll(async () => {
    await promisify(execFile)('/usr/bin/mkfifo', [hanging])
    vi.stubEnv('SOFTHSM2_CONF', hanging)
  })
  afterAll(async () => {
    vi.stubEnv('SOFTHSM2_CONF', hsm.env['SOFTHSM2_CONF'])
    await rm(hanging)
  })
  const hangingProcesses = async () => {
    const all = await processesOf('pkcs11/process.ts')
    const envs = await Promise.all(all.map((pid) => environmentOf(pid).catch((): string[] => [])))
    return all.filter((_pid, i) => envs[i]?.includes(`SOFTHSM2_CONF=${hanging}`))
  }

  it('is given up, and leaves no process', async () => {
    await expect(open()).rejects.toMatchObject({
      reason: 'unreachable',
      message: expect.stringContaining('15 s'),
    })
    await expect.poll(hangingProcesses).toEqual([])
  })

  it('does not outlive a gateway that was killed', async () => {
    const module = new URL('../../src/egress/adapters/key-services/pkcs11.ts', import.meta.url).href
    const spec = JSON.stringify(parseAuthority(hsm.uri('object=agent-gateway')))
    const code = `const { openPkcs11 } = await import(${JSON.stringify(module)}); await openPkcs11(${spec}, { environment: process.env })`
    const gateway = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' })
    await expect.poll(hangingProcesses).toHaveLength(1)
    gateway.kill('SIGKILL')
    await expect.poll(hangingProcesses).toEqual([])
  })
})

describe('a gateway whose wrapping key is in a token', () => {
  let world: World
  beforeAll(async () => {
    world = await createWorld()
  })
  afterAll(() => world.close())

  async function withGateway<T>(named: string, work: (gw: TestGateway) => Promise<T>): Promise<T> {
    const gw = await startTestGateway({
      world: { ...world, env: { ...world.env, GATEWAY_AUTHORITY: named } },
    })
    try {
      return await work(gw)
    } finally {
      await gw.close()
    }
  }
  const statusOf = async (gw: TestGateway, capability: string) =>
    (await gw.fetch(capability, { url: gw.url('/v1/things') })).status

  it('moves there from its file and back, and refunds a call while the token is away', async () => {
    const authority = hsm.uri('object=agent-gateway;id=%01')
    const { capability } = await withGateway('file', (gw) => gw.grant())
    await withGateway(`${authority},file`, async (gw) => {
      expect(await statusOf(gw, capability)).toBe(200)
      const rotated = await gw.rest('POST', '/v1/authority/rotate', {})
      expect(rotated.body).toMatchObject({
        state: 'done',
        kid: expect.stringMatching(/^pkcs11\//),
        rewrapped: 1,
      })
    })
    await expect(withGateway('file', async () => {})).rejects.toThrow(/key of none of the authorities named/)
    await withGateway(authority, async (gw) => {
      expect(await statusOf(gw, capability)).toBe(200)
      const keys = await gw.rest('GET', '/.well-known/gateway-egress-key.json', undefined, '')
      expect(keys.text).not.toContain('pkcs11')

      const [pid] = await tokenProcesses()
      expect((await environmentOf(pid!)).filter((pair) => pair.startsWith('GATEWAY_'))).toEqual([])

      const other = await gw.grant({ secret: 'a-secret-while-it-was-there' })
      const balance = await gw.balance()
      await rename(hsm.tokens, `${hsm.tokens}-away`)
      process.kill(pid!, 'SIGKILL')
      const refused = await gw.fetch(other.capability, { url: gw.url('/v1/things') })
      expect([refused.status, refused.body.code]).toEqual([503, 'credential_unavailable'])
      expect(refused.body.credits).toEqual({ charged: 0, balance })
      await rename(`${hsm.tokens}-away`, hsm.tokens)
      await expect.poll(() => statusOf(gw, other.capability)).toBe(200)
      expect(gw.log()).not.toContain(hsm.pin)
    })
    await withGateway(`file,${authority}`, async (gw) => {
      expect((await gw.rest('POST', '/v1/authority/rotate', {})).body).toMatchObject({ rewrapped: 2 })
    })
    await withGateway('file', async (gw) => expect(await statusOf(gw, capability)).toBe(200))
  })

  it('does not start without the package, and says how to get it', async () => {
    vi.stubEnv('NODE_PATH', '')
    try {
      await expect(withGateway(hsm.uri('object=agent-gateway'), async () => {})).rejects.toThrow(
        /the package pkcs11js is missing, or was not compiled; install it in the gateway's folder with `npm install --no-save --save-prod --omit=dev --omit=optional pkcs11js@2\.1\.7`/,
      )
    } finally {
      vi.stubEnv('NODE_PATH', PACKAGES)
    }
  })
})
