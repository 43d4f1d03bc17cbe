import { describe, expect, it, vi } from 'vitest'
import { createBudget, OverBudget } from '../../../../src/egress/leak/budget.ts'
import { createLeakGates, type LeakVerdict, searchWhole } from '../../../../src/egress/leak/inspection.ts'
import type { SeenParts } from '../../../../src/egress/leak/reading.ts'
import { createLeakSearch } from '../../../../src/egress/leak/search.ts'
import { listValues } from '../../../../src/egress/leak/values.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { adversarialBodies } from '../../../support/adversarial-bodies.ts'
import { cpuMs } from '../../../support/cpu-time.ts'
import { createRandom } from '../../../support/ordinary-answers.ts'
import { countTurns } from '../../../support/turns.ts'

const SECRET = 'sk_live_0123456789abcdefghijklmn'
const sought = { secrets: [new Secret(SECRET)], scheme: 'Bearer' }
const withBody = (body: Buffer | string) => ({ statusText: 'OK', headers: [], body: Buffer.from(body) })

function openGate() {
  const search = vi.fn(async (): Promise<LeakVerdict> => ({ ok: false, reason: 'busy' }))
  const gate = createLeakGates({ search })(sought.secrets, { accountId: 'acct_1', scheme: 'Bearer' })
  return { gate, search }
}

describe('where a response is searched', () => {
  it('is here for a short one, found or not', async () => {
    const { gate, search } = openGate()
    expect(await gate.inspect(withBody('{"ok":true}'))).toEqual({ ok: true })
    expect(await gate.inspect(withBody(SECRET))).toMatchObject({ reason: 'reflected', where: 'body' })
    expect(await gate.inspect(withBody('{"id":1,"name":"a"},'.repeat(3_276)))).toEqual({ ok: true })
    expect(search).not.toHaveBeenCalled()
  })

  it('is a thread for a long one, and for a short one that takes long', async () => {
    const { gate, search } = openGate()
    const long = withBody(Buffer.alloc(1 << 20))
    expect(await gate.inspect(long)).toEqual({ ok: false, reason: 'busy' })
    expect(search).toHaveBeenLastCalledWith('acct_1', sought, long)
    const dense = withBody('\\\\u005cu005c%25255c&amp;amp;#92;=3D5C'.repeat(3_000))
    expect(await gate.inspect(dense)).toEqual({ ok: false, reason: 'busy' })
    expect(search).toHaveBeenLastCalledWith('acct_1', sought, dense)
    const dense_headers = {
      ...withBody(''),
      headers: [{ name: 'x-a', value: '%25&#38;\\\\'.repeat(20_000) }],
    }
    expect(await gate.inspect(dense_headers)).toEqual({ ok: false, reason: 'busy' })
  })

  it('is a thread for a long secret, and for many short ones, of which nothing is made here', async () => {
    const search = vi.fn(async (): Promise<LeakVerdict> => ({ ok: true }))
    const read = vi.spyOn(Secret.prototype, 'use')
    const gateOf = (texts: readonly string[]) => {
      const secrets = texts.map((text) => new Secret(text))
      const gate = createLeakGates({ search })(secrets, { accountId: 'acct_1', scheme: 'Bearer' })
      read.mockClear()
      return gate
    }
    for (const texts of [['k'.repeat(16_385)], ['密'.repeat(5462)], ['k'.repeat(8192), 'q'.repeat(8193)]]) {
      const gate = gateOf(texts)
      gate.prepare?.()
      search.mockClear()
      expect(await gate.inspect(withBody('{}'))).toEqual({ ok: true })
      expect(search).toHaveBeenCalledOnce()
      expect(read).not.toHaveBeenCalled()
    }
    gateOf(['k'.repeat(500), 'q'.repeat(524)]).prepare?.()
    expect(read).toHaveBeenCalledTimes(2)
    read.mockRestore()
  })
})

describe('of secrets of more than a kilobyte a search is made here', () => {
  const random = createRandom('two kilobytes')
  const openLong = (search = vi.fn(async (): Promise<LeakVerdict> => ({ ok: true }))) => {
    const create = createLeakGates({ search })
    const open = () => {
      const secrets = [new Secret(random.bytes(1_500).toString('base64url'))]
      return { secrets, gate: create(secrets, { accountId: 'acct_1', scheme: 'Bearer' }) }
    }
    return { open, search }
  }
  it('in turns, which every answer to its requests waits for', async () => {
    const { open, search } = openLong()
    const { gate, secrets } = open()
    gate.prepare?.()
    const turns = countTurns()
    const part = secrets[0]?.use((text) => text.slice(1_000, 1_030)) ?? ''
    const hex = withBody(Buffer.from(part).toString('hex'))
    const verdicts = await Promise.all([gate.inspect(withBody('{}')), gate.inspect(hex)])
    turns.end()
    expect(verdicts).toMatchObject([{ ok: true }, { encoding: 'hex' }])
    expect(turns.now()).toBeGreaterThan(2)
    expect(search).not.toHaveBeenCalled()
  })

  it('so that parts count together from the first piece of a stream on', async () => {
    const { open } = openLong()
    const { gate, secrets } = open()
    const seen: SeenParts = new Map()
    const parts = Array.from(
      { length: 200 },
      (_, i) => secrets[0]?.use((text) => text.slice(i * 10, i * 10 + 10)) ?? '',
    )
    const verdicts = []
    for (const part of parts.filter((part) => part.length === 10))
      verdicts.push(await gate.inspect(withBody(`! ${part} !`), seen))
    expect(verdicts.at(0)).toEqual({ ok: true })
    expect(verdicts.at(-1)).toMatchObject({ reason: 'reflected' })
  })

  it('one at a time: others are left to threads meanwhile', async () => {
    const { open, search } = openLong()
    const [first, second] = [open(), open()]
    first.gate.prepare?.()
    second.gate.prepare?.()
    await second.gate.inspect(withBody('{}'))
    expect(search).toHaveBeenCalledOnce()
    await first.gate.inspect(withBody('{}'))
    search.mockClear()
    expect(await second.gate.inspect(withBody('{}'))).toEqual({ ok: true })
    expect(search).not.toHaveBeenCalled()
  })
})

const DOUBLES = Array.from({ length: 6 }, () => adversarialBodies(1 << 15, SECRET))

describe('a search', () => {
  it('that would cost more than its budget ends there, and is never called clean', () => {
    const search = createLeakSearch(sought)
    const response = withBody('%2525'.repeat(1_000))
    let steps = 0
    expect(search.inspect(response, { spend: (more) => (steps += more) })).toEqual({ ok: true })
    expect(search.inspect(response, createBudget(steps))).toEqual({ ok: true })
    for (const fewer of [steps - 1, steps >> 1, 1, 0])
      expect(() => search.inspect(response, createBudget(fewer))).toThrow(OverBudget)
  })

  // The bound of a turn of the event loop rests on this: nothing is done that is not paid for. `npm run bench -- leaks` times it.
  it.each(Object.entries(adversarialBodies(1 << 14, SECRET)))(
    'of %s pays for each look at it, and costs twice as much where there is twice as much of it',
    (name, body) => {
      const search = createLeakSearch(sought)
      const priceOf = (bytes: Buffer) => {
        let steps = 0
        search.inspect(withBody(bytes), { spend: (more) => (steps += more) })
        return steps
      }
      const price = priceOf(Buffer.from(body))
      expect(price).toBeGreaterThanOrEqual(body.length)
      // One in six of random bodies begins as brotli does, and costs several times as much: the least of several counts.
      const tries = /random|base64 of/.test(name) ? DOUBLES : DOUBLES.slice(0, 1)
      const doubles = tries.map((bodies) => bodies[name] ?? '')
      expect(Math.min(...doubles.map((double) => priceOf(Buffer.from(double))))).toBeLessThan(price * 3)
    },
  )

  // Steps that nobody counted show in the time alone: of these bodies two took seven seconds, growing with the square of their
  // length. The bound tells that from a slow machine, and nothing finer; `npm run bench -- leaks` has the times.
  it.each([
    'blanks in a dump',
    'blanks before a return in a dump',
    'members of an archive',
    'members of an archive in base64',
  ])('of %s is over, or over its budget, within a moment', (name) => {
    const search = createLeakSearch(sought)
    const response = withBody(adversarialBodies(120_000, SECRET)[name] ?? '')
    const took = cpuMs(() => {
      try {
        search.inspect(response, createBudget(1_000_000))
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(OverBudget)
      }
    })
    expect(took).toBeLessThan(2000)
  })

  it('in a thread finds each of several long secrets', () => {
    const random = createRandom('long secrets')
    const ends = Array.from({ length: 3 }, () => random.bytes(30).toString('base64url'))
    const secrets = ends.map((end) => new Secret('k'.repeat(8_000) + end))
    for (const end of ends)
      expect(searchWhole({ secrets, scheme: 'Bearer' }, withBody(end))).toMatchObject({ reason: 'reflected' })
    expect(searchWhole({ secrets, scheme: 'Bearer' }, withBody('{"ok":true}'))).toEqual({ ok: true })
  })

  it('is for few texts where a long one of another script looks like escapes by chance', () => {
    const bytes = createRandom('another script').bytes(5_460)
    const codes = Array.from({ length: 2_730 }, (_, i) => 0x4e00 + (bytes.readUInt16LE(i * 2) % 20_000))
    expect(listValues(String.fromCharCode(...codes), 'Bearer')).toHaveLength(3)
  })

  it('in a thread has a budget too: beyond it the response is refused', () => {
    const response = withBody('&'.repeat(10_000))
    expect(searchWhole(sought, response)).toEqual({ ok: true })
    expect(searchWhole(sought, response, 10_000)).toEqual({ ok: false, reason: 'over_budget' })
  })
})
