// A run of payouts: who is paid and who is not, what is never sent twice, and what becomes of it when upstream or chain fail.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FaultKind } from '../../src/core/faults.ts'
import { createNetworks } from '../../src/core/networks.ts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createPayouts } from '../../src/market/money/payouts.ts'
import { marketSettingsDocument, type MarketSettings } from '../../src/market/settings.ts'
import { createEvidenceReader } from '../../src/payments/chain-evidence.ts'
import { ChainError } from '../../src/payments/chain-ports.ts'
import type { UpstreamRequest, UpstreamSettlement } from '../../src/payments/ports.ts'
import { createTransferSigner, type TransferSigner } from '../../src/payments/transfer-signer.ts'
import type { Seller } from '../../src/store/ports.ts'
import { marketLedgerFaults, saleOf, sell } from '../support/market-money.ts'
import { exactKind, fakeChain, type FakeChain, fakeUpstream, hash, usedIn } from '../support/payment-fakes.ts'
import { queryOf } from '../support/store.ts'
import { openTempStore, type TempStore } from '../support/temp-store.ts'

const BOOT = 'boot_test'
const networks = createNetworks([1, 8453])
const BASE = networks.find('eip155:8453')!
const MAINNET = networks.find('eip155:1')!
const TX = hash('a')
const MINUTE = 60_000
const START = Date.UTC(2026, 10, 23, 12)
const hex = (bytes: number) => `0x${randomBytes(bytes).toString('hex')}`

let temp: TempStore
let account: TransferSigner
let world: ReturnType<typeof open>
beforeEach(async () => {
  temp = await openTempStore()
  account = await createTransferSigner(new Secret<string>(`0x${'a7'.repeat(32)}`))
  world = open()
})
afterEach(async () => {
  expect(
    await marketLedgerFaults({ query: queryOf({ dataDir: temp.directory, databaseUrl: undefined }) }),
  ).toEqual([])
  await temp.close()
})

interface Options {
  readonly bootId?: string
  readonly isSandbox?: boolean
  readonly isKeyless?: boolean
  readonly chain?: FakeChain
  readonly mainnet?: FakeChain
}

function open({ bootId = BOOT, isSandbox = true, isKeyless = false, ...shared }: Options = {}) {
  const clock = { at: START }
  const now = () => clock.at
  const { chain = fakeChain(now, BASE), mainnet } = shared
  const chains = new Map([...(mainnet ? [mainnet] : []), chain].map((one) => [one.network.network, one]))
  const sellers = new Map<string, Pick<Seller, 'state' | 'payoutAddress'>>()
  const lookUp = { seller: async (id: string) => sellers.get(id) }
  const settings: { payouts: MarketSettings['payouts'] } = {
    payouts: { ...marketSettingsDocument.initial.payouts, minimum_atomic: 500, schedule: 'manual' },
  }
  const upstream = fakeUpstream('up0')
  /** The chain has what the upstream was handed. */
  const mine = ({ payment }: UpstreamRequest): UpstreamSettlement => {
    chains.get(payment.network)?.statuses.set(payment.nonce, usedIn(TX))
    return { state: 'settled', transaction: TX }
  }
  upstream.answer = mine
  const faults: FaultKind[] = []
  const payouts = createPayouts({
    store: temp.store,
    networks,
    chains,
    evidence: createEvidenceReader({ chains, now }),
    router: { routes: async () => [{ upstream, kind: exactKind(BASE.network), latencyMs: null }] },
    signer: { kid: 'k', environment: 'sandbox', sign: (_typ, payload) => JSON.stringify(payload) },
    baseUrl: 'https://gateway.test',
    account: isKeyless ? undefined : account,
    own: new Set(['0x00000000000000000000000000000000000b0b0b']),
    findSeller: (id) => lookUp.seller(id),
    readSettings: async () => settings,
    bootId,
    isSandbox,
    fault: noFault,
    now,
    log: createLogger('silent'),
    onFault: (kind) => void faults.push(kind),
  })
  return {
    clock,
    chain,
    upstream,
    mine,
    payouts,
    faults,
    settings,
    sellers,
    lookUp,
    chains,
    async earn(id: string, times = 1, over: Partial<Seller> = {}, { network } = BASE) {
      sellers.set(id, { state: 'active', payoutAddress: hex(20), ...sellers.get(id), ...over })
      for (let i = 0; i < times; i++) await sell(temp.store, BOOT, saleOf(id), { network, at: clock.at })
    },
    run: () => payouts.run({ minimum: undefined, patienceMs: 10_000 }),
    /** Housekeeping, when so much time has passed for everybody. */
    async round(passed = MINUTE) {
      clock.at += passed
      for (const one of chains.values()) one.time = clock.at
      await payouts.keep()
    },
    sentTo: () =>
      upstream.settled.map(({ payment: { kind } }) =>
        kind.type === 'eip3009' ? [kind.authorization.to, kind.authorization.value] : [],
      ),
  }
}

const payoutsOf = async (sellerId: string) => (await temp.store.listPayouts({ sellerId, limit: 9 })).items
const owed = async (sellerId: string) => (await temp.store.marketBalancesOf(`seller:${sellerId}`))[0]?.balance
const held = async (sellerId: string) => (await temp.store.listPayoutHolds({ sellerId }))[0]?.reason

describe('who is paid', () => {
  it('is every seller who is owed the minimum: all of it, once, with a receipt that names the transfer', async () => {
    await world.earn('ada', 2)
    await world.earn('bob')
    const [batch] = (await world.run()) ?? []
    expect(world.sentTo()).toEqual(
      expect.arrayContaining([
        [world.sellers.get('ada')?.payoutAddress, 1940n],
        [world.sellers.get('bob')?.payoutAddress, 970n],
      ]),
    )
    const [paid] = await payoutsOf('ada')
    expect(paid).toMatchObject({ state: 'settled', amount: 1940, transaction: TX, batchId: batch?.id })
    const receipt = await temp.store.getReceipt(paid?.receiptId ?? '')
    expect(JSON.parse(receipt?.jws ?? '')).toMatchObject({
      kind: 'payout',
      seller: 'ada',
      amount: '1940',
      to: world.sellers.get('ada')?.payoutAddress,
      from: account.address,
      nonce: paid?.nonce,
      transaction: TX,
    })
    expect(await temp.store.listOpenPayoutBatches()).toEqual([])
    await world.run()
    expect(world.upstream.settled).toHaveLength(2)
  })

  it('is nobody who is owed less, or test money', async () => {
    world.settings.payouts = { ...world.settings.payouts, minimum_atomic: 971 }
    await world.earn('ada')
    await sell(temp.store, BOOT, saleOf('ada', { feeAtomic: '0', proceedsAtomic: '5000' }), { at: START })
    await world.run()
    expect(world.upstream.settled).toEqual([])
  })

  it('is nobody at the token, at the gateway itself or at an address that nobody has, nor a seller who is suspended', async () => {
    await world.earn('token', 1, { payoutAddress: BASE.asset.address })
    await world.earn('ours', 1, { payoutAddress: '0x00000000000000000000000000000000000b0B0b' })
    await world.earn('zero', 1, { payoutAddress: `0x${'0'.repeat(40)}` })
    await world.earn('barred', 1, { state: 'suspended' })
    await world.earn('gone')
    world.sellers.delete('gone')
    await world.run()
    expect(world.upstream.settled).toEqual([])
    const names = ['token', 'ours', 'zero', 'barred', 'gone']
    expect(await Promise.all(names.map(held))).toEqual([
      'recipient_is_the_token',
      'recipient_is_the_gateway',
      'recipient_is_nobody',
      'seller_suspended',
      'seller_unknown',
    ])
    expect(await Promise.all(names.map(owed))).toEqual([970, 970, 970, 970, 970])
    world.sellers.set('barred', { state: 'active', payoutAddress: hex(20) })
    await world.run()
    expect([await owed('barred'), await held('barred')]).toEqual([0, undefined])
  })

  it('is nobody whom the token refuses: it is asked before anything is written or signed', async () => {
    await world.earn('listed')
    await world.earn('ada')
    const listed = world.sellers.get('listed')?.payoutAddress
    world.chain.findRefusal = async ({ to }) =>
      to === listed ? 'Blacklistable: account is blacklisted' : null
    await world.run()
    expect(await payoutsOf('listed')).toEqual([])
    expect([await held('listed'), await owed('listed'), await owed('ada')]).toEqual([
      'recipient_refused_by_token',
      970,
      0,
    ])
  })

  it('is as many as the account can pay, and the others know why they wait', async () => {
    for (const id of ['ada', 'bob', 'eve']) await world.earn(id)
    world.chain.balanceOf = async () => 2000n
    await world.run()
    expect([await owed('ada'), await owed('bob'), await owed('eve')]).toEqual([0, 0, 970])
    expect(await held('eve')).toBe('payout_account_short')
    expect(world.faults).toEqual(['payout_underfunded'])
  })

  it('waits where a chain may still take back what was earned', async () => {
    const real = open({ isSandbox: false })
    await real.earn('ada')
    await real.run()
    expect(real.upstream.settled).toEqual([])
    real.clock.at += 16 * MINUTE
    await real.run()
    expect(real.upstream.settled).toHaveLength(1)
  })

  it('is nobody without a key: everything stays owed', async () => {
    const without = open({ isKeyless: true })
    await without.earn('ada')
    expect(await without.run()).toEqual([])
    await without.round()
    expect(await owed('ada')).toBe(970)
  })
})

it('keeps owed what gas is too dear for, and pays it when it is not', async () => {
  await world.earn('ada')
  world.upstream.answer = { state: 'refused', reason: 'gas_price_above_cap' }
  await world.run()
  expect([await owed('ada'), await held('ada')]).toEqual([970, 'gas_price_above_cap'])
  world.upstream.answer = world.mine
  await world.run()
  expect([await owed('ada'), await held('ada')]).toEqual([0, undefined])
})

describe('the schedule', () => {
  it('is one batch a day from the hour on, whoever asks, and nothing where nobody is owed anything', async () => {
    world.settings.payouts = { minimum_atomic: 500, schedule: 'daily', hour: 3 }
    await world.round()
    expect(await temp.store.listPayoutBatches(9)).toEqual([])
    await world.earn('ada')
    await world.round()
    await world.earn('ada')
    await world.round()
    expect(world.upstream.settled).toHaveLength(1)
    await world.round(15 * 60 * MINUTE)
    expect(world.upstream.settled).toHaveLength(2)
    const periods = (await temp.store.listPayoutBatches(9)).map(({ period }) => period)
    expect(periods).toEqual(['daily-2026-11-24', 'daily-2026-11-23'])
  })
})

describe('nobody is paid twice', () => {
  it('by a run that is asked for while housekeeping is at work: it waits, and is run', async () => {
    world.settings.payouts = { minimum_atomic: 900, schedule: 'daily', hour: 3 }
    await world.earn('ada')
    const [, begun] = await Promise.all([world.payouts.keep(), world.run(), world.run()])
    expect(begun).toHaveLength(1)
    expect(world.upstream.settled).toHaveLength(1)
  })

  it('and a process that ended begins nothing more, while the next one pays', async () => {
    await world.earn('ada')
    const next = open({ bootId: 'boot_next', chain: world.chain })
    const begun = world.payouts.keep()
    await world.payouts.close()
    expect(await next.run()).toHaveLength(1)
    await begun
    expect(await world.run()).toBeUndefined()
  })

  it('by two processes that run at once', async () => {
    const other = open({ bootId: 'boot_other', chain: world.chain })
    for (const id of ['ada', 'bob', 'eve']) {
      await world.earn(id)
      other.sellers.set(id, world.sellers.get(id)!)
    }
    await Promise.all([world.run(), other.run(), world.run(), other.run()])
    await Promise.all([world.round(), other.round()])
    expect([...world.sentTo(), ...other.sentTo()]).toHaveLength(3)
  })

  it('where the upstream has the transfer and nobody heard of it', async () => {
    await world.earn('ada')
    world.upstream.answer = (request) => {
      world.mine(request)
      return { state: 'unknown', reason: 'upstream_timeout' }
    }
    await world.run()
    await world.round()
    const [paid, ...more] = await payoutsOf('ada')
    expect(paid).toMatchObject({ state: 'settled', transaction: TX })
    expect(more).toEqual([])
    expect(world.upstream.settled).toHaveLength(1)
  })

  it('where it was sent and is in no block yet: the same transfer is sent, until its window is over, and only then it is owed again', async () => {
    await world.earn('ada')
    world.upstream.answer = { state: 'pending', transaction: TX }
    await world.run()
    await world.round()
    await world.run()
    const nonces = world.upstream.settled.map(({ payment }) => payment.nonce)
    expect(new Set(nonces).size).toBe(1)
    expect(await owed('ada')).toBe(0)
    world.upstream.answer = world.mine
    await world.round(45 * MINUTE)
    expect(await payoutsOf('ada')).toMatchObject([{ state: 'failed', failure: 'authorization_expired' }])
    expect(await owed('ada')).toBe(970)
    await world.run()
    expect(await owed('ada')).toBe(0)
    expect(await payoutsOf('ada')).toHaveLength(2)
  })

  it('where the chain is silent: nothing is begun, and the run is gone on with', async () => {
    await world.earn('ada')
    world.chain.balanceOf = async () => {
      throw new ChainError('timeout', BASE.network)
    }
    await expect(world.run()).rejects.toThrow('timeout')
    expect(await temp.store.listOpenPayoutBatches()).toHaveLength(1)
    await world.round()
    expect(await payoutsOf('ada')).toEqual([])
    world.chain.balanceOf = async () => 1_000_000n
    await world.round()
    expect(await owed('ada')).toBe(0)
    expect(await temp.store.listOpenPayoutBatches()).toEqual([])
  })
})

describe('one network, or one seller, that fails', () => {
  const DAY = 24 * 60 * MINUTE
  /** The node of one network is down, and it comes first. */
  function openWithSilent() {
    const mainnet = fakeChain(() => START, MAINNET)
    let asked = 0
    mainnet.balanceOf = async () => {
      asked++
      throw new ChainError('unreachable', MAINNET.network)
    }
    const both = open({ mainnet })
    both.settings.payouts = { minimum_atomic: 500, schedule: 'daily', hour: 3 }
    return { ...both, mainnet, questions: () => asked }
  }

  it('keeps nobody of the others waiting where its chain is silent, for days: its sellers are told why, and paid when it is back', async () => {
    const both = openWithSilent()
    const ids = Array.from({ length: 40 }, (_, i) => `ada-${String(i).padStart(2, '0')}`)
    for (const id of ids) await both.earn(id, 1, {}, MAINNET)
    await both.round()
    for (const day of [1, 2, 3]) {
      await both.earn('bob')
      await both.round(DAY)
      expect([both.upstream.settled.length, await owed('bob')]).toEqual([day, 0])
    }
    const holds = (await Promise.all(ids.map((id) => temp.store.listPayoutHolds({ sellerId: id })))).flat()
    expect(new Set(holds.map(({ reason, since }) => `${reason} ${since}`))).toEqual(
      new Set([`chain_unanswered ${START + MINUTE}`]),
    )
    // One batch is open on the network, and its chain is asked once in a round.
    expect(await temp.store.listOpenPayoutBatches()).toMatchObject([{ network: MAINNET.network }])
    expect(both.questions()).toBe(4)
    both.mainnet.balanceOf = async () => 1_000_000n
    await both.round(MINUTE)
    expect(await temp.store.listPayoutHolds({})).toEqual([])
    expect(await temp.store.listOpenPayoutBatches()).toEqual([])
    expect(await Promise.all(ids.map(owed))).toEqual(ids.map(() => 0))
  })

  it('costs one time-out at once where its chain tells balances and nothing of transfers, however many sellers it has', async () => {
    const mainnet = fakeChain(() => START, MAINNET)
    const both = open({ mainnet })
    both.settings.payouts = { minimum_atomic: 500, schedule: 'daily', hour: 3 }
    let asked = 0
    mainnet.findRefusal = async () => {
      asked++
      throw new ChainError('timeout', MAINNET.network)
    }
    const ids = Array.from({ length: 40 }, (_, i) => `ada-${String(i).padStart(2, '0')}`)
    for (const id of ids) await both.earn(id, 1, {}, MAINNET)
    await both.earn('bob')
    await both.round()
    expect(await owed('bob')).toBe(0)
    // Those that are asked about at the same moment, and nobody after them.
    expect(asked).toBe(8)
    expect(await Promise.all(ids.map(held))).toEqual(ids.map(() => 'chain_unanswered'))
    await both.round()
    expect(asked).toBe(16)
    mainnet.findRefusal = async () => null
    await both.round()
    expect(await Promise.all(ids.map(owed))).toEqual(ids.map(() => 0))
    expect(await temp.store.listPayoutHolds({})).toEqual([])
    expect(await temp.store.listOpenPayoutBatches()).toEqual([])
  })

  it('is told to whoever asks for a run, when the others are paid', async () => {
    const both = open({ mainnet: fakeChain(() => START, MAINNET) })
    both.chain.balanceOf = async () => {
      throw new ChainError('unreachable', BASE.network)
    }
    await both.earn('ada')
    await both.earn('bob', 1, {}, MAINNET)
    await expect(both.run()).rejects.toThrow('unreachable')
    expect([await owed('ada'), await owed('bob')]).toEqual([970, 0])
  })

  it('is held with the reason, and sellers of its page and of later pages are paid', async () => {
    const ids = Array.from({ length: 40 }, (_, i) => `eve-${String(i).padStart(2, '0')}`)
    for (const id of ['ada', 'bob', ...ids]) await world.earn(id)
    world.lookUp.seller = async (id) => {
      if (id === 'ada') throw new Error('its record is not readable')
      return world.sellers.get(id)
    }
    const bob = world.sellers.get('bob')?.payoutAddress
    world.chain.findRefusal = async ({ to }) => {
      if (to === bob) throw new ChainError('malformed', BASE.network)
      return null
    }
    await world.run()
    expect(await Promise.all(ids.map(owed))).toEqual(ids.map(() => 0))
    expect([await owed('ada'), await held('ada')]).toEqual([970, 'payout_interrupted'])
    expect([await owed('bob'), await held('bob')]).toEqual([970, 'chain_unanswered'])
    expect(world.faults).toEqual(['transfer_interrupted', 'transfer_interrupted'])
    // What was a hiccup is over in a minute.
    world.chain.findRefusal = async () => null
    await world.round()
    expect([await owed('ada'), await owed('bob')]).toEqual([970, 0])
    expect(await temp.store.listOpenPayoutBatches()).toHaveLength(1)
    // What is none waits for the next batch, so that nobody else is paid more often than the schedule says.
    await world.round(60 * MINUTE)
    expect(await temp.store.listOpenPayoutBatches()).toEqual([])
    expect([await owed('ada'), await held('ada')]).toEqual([970, 'payout_interrupted'])
  })

  it('is asked once a round for all that is under way on it, and what is under way elsewhere is not kept waiting', async () => {
    const both = openWithSilent()
    both.mainnet.balanceOf = async () => 1_000_000n
    for (const id of ['ada', 'bob', 'eve']) await both.earn(id, 1, {}, MAINNET)
    await both.earn('zoe')
    both.upstream.answer = { state: 'pending', transaction: TX }
    await both.round()
    const asked: string[] = []
    both.mainnet.head = async () => {
      asked.push(MAINNET.network)
      throw new ChainError('timeout', MAINNET.network)
    }
    both.upstream.answer = both.mine
    await both.round()
    expect(asked).toHaveLength(1)
    expect(await payoutsOf('zoe')).toMatchObject([{ state: 'settled' }])
    // All of them have gone behind what was looked at before.
    const unseen = async (before: number) => (await temp.store.listOpenPayouts({ before, limit: 9 })).length
    expect([await unseen(both.clock.at), await unseen(both.clock.at + 1)]).toEqual([0, 3])
  })
})

it('watches what settled on a chain that answers, behind more than a round takes of one that is silent', async () => {
  const both = open({ mainnet: fakeChain(() => START, MAINNET) })
  for (let i = 0; i < 101; i++) await both.earn(`ada-${i}`, 1, {}, MAINNET)
  await both.run()
  both.clock.at += 1000
  await both.earn('bob')
  await both.run()
  const [before] = await payoutsOf('bob')
  const settled = await temp.store.listSettledPayouts({ limit: 999 })
  expect(settled.findIndex(({ sellerId }) => sellerId === 'bob')).toBe(101)
  both.chains.get(MAINNET.network)!.head = async () => {
    throw new ChainError('timeout', MAINNET.network)
  }
  both.chains.get(MAINNET.network)!.authorizationStatus = async () => {
    throw new ChainError('timeout', MAINNET.network)
  }
  both.chain.statuses.clear()
  await both.round(2 * MINUTE)
  const [after] = await payoutsOf('bob')
  expect(after).toMatchObject({ id: before?.id, state: 'settled' })
  expect(after?.receiptId).not.toBe(before?.receiptId)
})

it('opens a payout again whose block was replaced, and sends the same transfer', async () => {
  await world.earn('ada')
  await world.run()
  const [before] = await payoutsOf('ada')
  world.chain.statuses.clear()
  await world.round()
  const [after] = await payoutsOf('ada')
  expect(after).toMatchObject({ id: before?.id, state: 'settled', nonce: before?.nonce })
  expect(after?.receiptId).not.toBe(before?.receiptId)
  expect(await temp.store.getReceiptStanding(before?.receiptId ?? '')).toBeDefined()
  expect(new Set(world.upstream.settled.map(({ payment }) => payment.nonce)).size).toBe(1)
})

it('looks at a payout again that settled before nobody ran for hours, until its block was found to stand', async () => {
  await world.earn('ada')
  await world.run()
  const [before] = await payoutsOf('ada')
  world.chain.statuses.clear()
  await world.round(5 * 60 * MINUTE)
  expect(await payoutsOf('ada')).toMatchObject([
    { id: before?.id, state: 'failed', failure: 'authorization_expired' },
  ])
  expect(await owed('ada')).toBe(970)
  await world.run()
  await world.round(16 * MINUTE)
  expect(await temp.store.listSettledPayouts({ limit: 9 })).toEqual([])
})

it('does not pay again what settled, while its node is back on an older copy', async () => {
  await world.earn('ada')
  await world.run()
  const before = await payoutsOf('ada')
  world.chain.statuses.clear()
  world.chain.time -= 24 * 60 * MINUTE
  for (const passed of [1, 60, 6 * 60, 60]) {
    world.clock.at += passed * MINUTE
    await world.payouts.keep()
    await world.run()
  }
  expect(await payoutsOf('ada')).toEqual(before)
  expect(await owed('ada')).toBe(0)
  expect(world.upstream.settled).toHaveLength(1)
  world.chain.statuses.set(before[0]?.nonce ?? '', usedIn(TX))
  await world.round()
  expect(await temp.store.listSettledPayouts({ limit: 9 })).toEqual([])
  expect(await payoutsOf('ada')).toMatchObject([{ state: 'settled', receiptId: before[0]?.receiptId }])
})

it('names the transaction that the transfer is in, also where it came back in another one', async () => {
  await world.earn('ada')
  await world.run()
  const [before] = await payoutsOf('ada')
  world.chain.statuses.set(before?.nonce ?? '', usedIn(hash('b')))
  await world.round()
  const [after] = await payoutsOf('ada')
  expect(after).toMatchObject({ state: 'settled', transaction: hash('b') })
  expect(after?.receiptId).not.toBe(before?.receiptId)
})
