// When the chains are asked to prove their tokens, and what is taken on a network meanwhile.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createNetworks } from '../../../src/core/networks.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { createTokenProofs, type TokenVerdict } from '../../../src/payments/token-proofs.ts'

const BASE = 'eip155:8453'
const NAMED = 'eip155:59144'
const GOOD: TokenVerdict = { ok: true, name: 'USD Coin', version: '2' }
const AWAY: TokenVerdict = { ok: false, isFinal: false, why: 'the node gives no answer' }
const WRONG: TokenVerdict = { ok: false, isFinal: true, why: 'it has 18 decimals' }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open(first: Readonly<Record<string, TokenVerdict>>) {
  const says: Record<string, TokenVerdict> = { [BASE]: GOOD, [NAMED]: GOOD, ...first }
  const named = { chainId: 59144, address: `0x${'12'.repeat(20)}`, revenue: true }
  const networks = createNetworks([8453, 59144, 84532], [named])
  const asked: string[] = []
  const logged: string[] = []
  const proofs = createTokenProofs({
    networks,
    asked: [BASE, NAMED],
    prove: async ({ network }) => {
      asked.push(network)
      return says[network]!
    },
    log: createLogger('info', { write: (line: string) => void logged.push(line) }),
  })
  return { networks, proofs, says, asked, logged }
}

describe('the proofs of tokens', () => {
  it('leave a network out until its chain was asked, and one that nobody has to prove alone', async () => {
    const { networks, proofs } = open({})
    expect(networks.hindrance(BASE)).toBeDefined()
    expect(networks.hindrance('eip155:84532')).toBeUndefined()
    expect(await proofs.start()).toEqual([])
    expect(networks.hindrance(BASE)).toBeUndefined()
    expect(networks.find(NAMED)?.asset).toMatchObject({ name: 'USD Coin', version: '2' })
    proofs.close()
  })

  it('name at the start what can never be right, and not what is only away', async () => {
    const { proofs } = open({ [BASE]: AWAY, [NAMED]: WRONG })
    expect(await proofs.start()).toMatchObject([{ network: { network: NAMED }, why: WRONG.why }])
    proofs.close()
  })

  it('ask again soon while a node is away, later each time, and take payments from then on', async () => {
    const { networks, proofs, says, asked } = open({ [BASE]: AWAY })
    await proofs.start()
    expect(networks.hindrance(BASE)).toBe(AWAY.why)
    const waits: number[] = []
    for (let seconds = 0, seen = asked.length; waits.length < 6; seconds++) {
      await vi.advanceTimersByTimeAsync(1000)
      if (asked.length > seen) {
        waits.push(seconds + 1)
        seen = asked.length
        seconds = -1
      }
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60])
    says[BASE] = GOOD
    await vi.advanceTimersByTimeAsync(60_000)
    expect(networks.hindrance(BASE)).toBeUndefined()
    proofs.close()
  })

  it('ask every ten minutes whether a token is still what it was, and take nothing once it is not', async () => {
    const { networks, proofs, says, logged } = open({})
    await proofs.start()
    says[NAMED] = WRONG
    await vi.advanceTimersByTimeAsync(9 * 60_000)
    expect(networks.hindrance(NAMED)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(networks.hindrance(NAMED)).toBe(WRONG.why)
    expect(logged.at(-1)).toContain('no payment is taken there')
    expect(networks.hindrance(BASE)).toBeUndefined()
    says[NAMED] = GOOD
    await vi.advanceTimersByTimeAsync(60_000)
    expect(networks.hindrance(NAMED)).toBeUndefined()
    proofs.close()
  })

  it('take nothing back when a proven node is away for a moment', async () => {
    const { networks, proofs, says } = open({})
    await proofs.start()
    says[BASE] = AWAY
    await vi.advanceTimersByTimeAsync(10 * 60_000)
    expect(networks.hindrance(BASE)).toBeUndefined()
    proofs.close()
  })

  it('ask at once when a node is back, once however often that is said', async () => {
    const { networks, proofs, says, asked } = open({})
    await proofs.start()
    says[BASE] = WRONG
    asked.length = 0
    proofs.recheck(BASE)
    proofs.recheck(BASE)
    proofs.recheck('eip155:84532')
    await vi.advanceTimersByTimeAsync(0)
    expect(asked).toEqual([BASE])
    expect(networks.hindrance(BASE)).toBe(WRONG.why)
    proofs.close()
  })

  it('ask nobody any more once they are closed', async () => {
    const { proofs, asked } = open({ [BASE]: AWAY })
    await proofs.start()
    proofs.close()
    proofs.recheck(BASE)
    await vi.advanceTimersByTimeAsync(3_600_000)
    expect(asked).toEqual([BASE, NAMED])
  })
})
