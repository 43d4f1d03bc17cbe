import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type AnswerSearchParts,
  createAnswerSearches,
  type Standing,
} from '../../../../src/egress/kinds/answer-search.ts'
import { createEditions, type Edition } from '../../../../src/egress/kinds/editions.ts'
import { createLeakGates, searchWhole } from '../../../../src/egress/leak/inspection.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { log, sealedCredential } from '../../../support/store.ts'

const FIRST = 'key-q7Zk9Wm2Rt5Yp8VxB3nLc6Hd'
const SECOND = 'key-Jf4Gs0TaUeKX1vQoPiYw5MbN'
const THIRD = 'key-u8Mw3Nz6Cq1Xr7Lb5Ks9Ht2Dv'

const credential = sealedCredential('acct_1')
const createGate = createLeakGates({ search: async (_, ...rest) => searchWhole(...rest) })
const soughtOf = (...texts: string[]) => {
  const sought = texts.map((text) => new Secret(text))
  return { sought, gate: () => createGate(sought, credential) }
}
const edition = (version: number, generation = 0): Edition => ({ version, generation })
const standing = (at: Edition, ...texts: string[]): Standing => ({
  edition: at,
  open: async () => soughtOf(...texts),
})

function setUp(found: Standing | undefined = standing(edition(1), FIRST)) {
  const clock = { ms: 1_000_000 }
  const editions = createEditions()
  editions.note(credential.id, edition(1))
  const look = vi.fn<AnswerSearchParts['look']>(async () => found)
  const searchFor = createAnswerSearches({ editions, look, now: () => clock.ms, log })
  const begin = (at = edition(1)) => {
    const search = searchFor({ credential, own: soughtOf(FIRST), edition: at, since: clock.ms })
    const shows = async (text: string) => {
      const body = Buffer.from(`{"recent":"Bearer ${text}"}`)
      const verdict = await search.gate.inspect({ statusText: '', headers: [], body })
      return verdict.ok ? 'passed' : verdict.reason
    }
    return { search, shows }
  }
  return { clock, editions, look, begin }
}

const never = <T>() => new Promise<T>(() => {})

describe('the search of an answer', () => {
  afterEach(() => void vi.useRealTimers())

  it('asks the store nothing within a second, and looks for what went with the request', async () => {
    const { clock, look, begin } = setUp()
    const { shows } = begin()
    clock.ms += 999
    expect([await shows('nothing'), await shows(FIRST), await shows(SECOND)]).toEqual([
      'passed',
      'reflected',
      'passed',
    ])
    expect(look).not.toHaveBeenCalled()
  })

  it('asks once a second is over, and not again before another one is', async () => {
    const { clock, look, begin } = setUp()
    const { shows } = begin()
    clock.ms += 1_000
    await shows('nothing')
    clock.ms += 999
    await shows('nothing')
    expect(look).toHaveBeenCalledTimes(1)
    clock.ms += 1
    await shows('nothing')
    expect(look).toHaveBeenCalledTimes(2)
  })

  it('asks where the clock was set back, once', async () => {
    const { clock, look, begin } = setUp(standing(edition(2), SECOND))
    const { shows } = begin()
    clock.ms -= 1
    expect([await shows(SECOND), await shows(SECOND)]).toEqual(['reflected', 'reflected'])
    expect(look).toHaveBeenCalledTimes(1)
  })

  it('looks for old and new together once it learned of the new one', async () => {
    const { clock, begin } = setUp(standing(edition(2), SECOND))
    const { search, shows } = begin()
    clock.ms += 1_000
    expect(await shows('nothing')).toBe('passed')
    expect([await shows(FIRST), await shows(SECOND)]).toEqual(['reflected', 'reflected'])
    expect(search.sought().map((secrets) => secrets.map((secret) => secret.use((text) => text)))).toEqual([
      [FIRST],
      [SECOND],
    ])
  })

  it.each([edition(2), edition(1, 1)])('finds at once what this process heard of: %o', async (heard) => {
    const { editions, look, begin } = setUp(standing(heard, SECOND))
    const { shows } = begin()
    editions.note(credential.id, heard)
    expect([await shows(SECOND), await shows(FIRST)]).toEqual(['reflected', 'reflected'])
    expect(look).toHaveBeenCalledTimes(1)
  })

  it('goes on to the next edition, and the next', async () => {
    const { editions, look, begin } = setUp()
    const { shows } = begin()
    for (const [at, text] of [
      [edition(1, 1), SECOND],
      [edition(2, 0), THIRD],
    ] as const) {
      look.mockResolvedValue(standing(at, text))
      editions.note(credential.id, at)
      expect(await shows(text)).toBe('reflected')
    }
  })

  it('is of the edition that its request went out with, whatever was heard before', async () => {
    const { editions, look, begin } = setUp()
    editions.note(credential.id, edition(2, 3))
    editions.note(credential.id, edition(1, 9))
    const { shows } = begin(edition(2, 3))
    expect(await shows('nothing')).toBe('passed')
    expect(look).not.toHaveBeenCalled()
  })

  it('asks where nothing is remembered of the credential any more', async () => {
    const { editions, look, begin } = setUp(standing(edition(2), SECOND))
    const { shows } = begin()
    for (let i = 0; i < 10_000; i++) editions.note(`cred_${i}`, edition(1))
    expect(await shows(SECOND)).toBe('reflected')
    expect(look).toHaveBeenCalledTimes(1)
  })

  const failures: Record<string, () => Promise<Standing | undefined>> = {
    'the store fails': async () => Promise.reject(new Error('no store')),
    'the credential is revoked': async () => undefined,
  }
  it.each(Object.keys(failures))('goes on where %s and nothing else was heard', async (how) => {
    const { clock, look, begin } = setUp()
    look.mockImplementation(failures[how]!)
    const { shows } = begin()
    clock.ms += 1_000
    expect([await shows('nothing'), await shows(FIRST)]).toEqual(['passed', 'reflected'])
    expect(look).toHaveBeenCalledTimes(1)
  })

  it.each(Object.keys(failures))(
    'lets nothing pass where %s and something newer was heard of',
    async (how) => {
      const { editions, look, begin } = setUp()
      look.mockImplementation(failures[how]!)
      const { shows } = begin()
      editions.note(credential.id, edition(2))
      expect(await shows('nothing')).toBe('failed')
      look.mockResolvedValue(standing(edition(2), SECOND))
      expect([await shows('nothing'), await shows(SECOND)]).toEqual(['passed', 'reflected'])
    },
  )

  it('lets nothing pass where what the store has cannot be opened', async () => {
    const { clock, begin } = setUp({
      edition: edition(2),
      open: async () => Promise.reject(new Error('the key service is away')),
    })
    const { shows } = begin()
    clock.ms += 1_000
    expect([await shows('nothing'), await shows('nothing')]).toEqual(['failed', 'failed'])
  })

  it('waits two seconds for a store that hangs, once for all streams, and not again within a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { clock, look, begin } = setUp()
    look.mockImplementation(never)
    const streams = [begin(), begin()]
    clock.ms += 1_000
    const pieces = Promise.all(streams.map(({ shows }) => shows('nothing')))
    clock.ms += 2_000
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await pieces).toEqual(['passed', 'passed'])
    clock.ms += 999
    for (const { shows } of streams)
      expect([await shows('nothing'), await shows(FIRST)]).toEqual(['passed', 'reflected'])
    expect(look).toHaveBeenCalledTimes(1)
    look.mockResolvedValue(standing(edition(2), SECOND))
    clock.ms += 1
    for (const { shows } of streams) expect(await shows(SECOND)).toBe('reflected')
  })

  it('does not take a look that began before something was heard for one that knows of it', async () => {
    const { clock, editions, look, begin } = setUp()
    const late = Promise.withResolvers<Standing>()
    look.mockReturnValueOnce(late.promise)
    const [one, other] = [begin(), begin()]
    clock.ms += 1_000
    const first = one.shows('nothing')
    editions.note(credential.id, edition(2))
    look.mockResolvedValue(standing(edition(2), SECOND))
    expect(await other.shows(SECOND)).toBe('reflected')
    late.resolve(standing(edition(1), FIRST))
    expect(await first).toBe('passed')
    expect(await one.shows(SECOND)).toBe('reflected')
  })

  it('lets nothing pass where what the store has is not open within two seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { clock, begin } = setUp({ edition: edition(2), open: never })
    const { shows } = begin()
    clock.ms += 1_000
    const piece = shows('nothing')
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await piece).toBe('failed')
  })

  it('believes a store that has lost what was heard', async () => {
    const { editions, look, begin } = setUp(standing(edition(1), FIRST))
    editions.note(credential.id, edition(1, 5))
    const { shows } = begin()
    expect([await shows('nothing'), await shows(FIRST)]).toEqual(['passed', 'reflected'])
    expect(look).toHaveBeenCalledTimes(1)
  })

  it('looks for the same secrets once, where another version has no others', async () => {
    const { editions, begin } = setUp(standing(edition(2), FIRST))
    const { search, shows } = begin()
    const before = search.sought()
    editions.note(credential.id, edition(2))
    expect(await shows(FIRST)).toBe('reflected')
    expect(search.sought().flat()).toEqual(before.flat())
  })
})
