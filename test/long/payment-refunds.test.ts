// A refund on its way: what is sent, what is never sent twice, and what becomes of it when upstream or chain fail.
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hashTypedData, recoverAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { noFault } from '../../src/lib/fault-points.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import { createEvidenceReader } from '../../src/payments/chain-evidence.ts'
import { ChainError } from '../../src/payments/chain-ports.ts'
import type { UpstreamRequest, UpstreamSettlement } from '../../src/payments/ports.ts'
import { createTransferSigner, type TransferSigner } from '../../src/payments/transfer-signer.ts'
import { createRefunds, type RefundRequest } from '../../src/payments/refunds.ts'
import type { NewPaymentClaim } from '../../src/store/ports.ts'
import {
  claimFor,
  exactKind,
  fakeChain,
  fakeUpstream,
  hash,
  makePayment,
  networks,
  sepolia,
  usedIn,
} from '../support/payment-fakes.ts'
import { openTempStore, type TempStore } from '../support/temp-store.ts'

const BOOT = 'boot_test'
const KEY = `0x${'a7'.repeat(32)}` as const
const TX = hash('a')
const MINUTE = 60_000
const CONFLICT = { code: 'state_conflict' }

let temp: TempStore
let account: TransferSigner
let world: ReturnType<typeof open>
beforeEach(async () => {
  temp = await openTempStore()
  account = await createTransferSigner(new Secret<string>(KEY))
  world = open(account)
})
afterEach(() => temp.close())

function open(signer: TransferSigner | undefined) {
  const clock = { at: Date.now() }
  const now = () => clock.at
  const chain = fakeChain(now)
  const upstream = fakeUpstream('up0', { answer: { state: 'settled', transaction: TX } })
  const routes = [{ upstream, kind: exactKind(), latencyMs: null }]
  const chains = new Map([[sepolia.network, chain]])
  const refunds = createRefunds({
    store: temp.store,
    networks,
    chains,
    evidence: createEvidenceReader({ chains, now }),
    router: { routes: async () => routes },
    signer: { kid: 'k', environment: 'sandbox', sign: (_typ, payload) => JSON.stringify(payload) },
    renewReceipt: (receipt) => receipt,
    payTo: undefined,
    baseUrl: 'https://gateway.test',
    account: signer,
    fault: noFault,
    now,
    log: createLogger('silent'),
  })
  /** The chain has what the upstream was handed. */
  const mine = (request: UpstreamRequest): UpstreamSettlement => {
    chain.statuses.set(request.payment.nonce, usedIn(TX))
    return { state: 'settled', transaction: TX }
  }
  return {
    clock,
    chain,
    upstream,
    routes,
    refunds,
    mine,
    /** Housekeeping, when so much time has passed for everybody. */
    async round(passed = MINUTE) {
      clock.at += passed
      chain.time = clock.at
      await refunds.reconcile()
    },
  }
}

async function settledClaim(over: Partial<NewPaymentClaim> = {}): Promise<string> {
  const { id } = await claimFor(temp.store, makePayment(Date.now()), BOOT, over)
  await temp.store.submitClaim({ id, bootId: BOOT, upstream: 'up0', result: null, now: Date.now() })
  const receipt = { id: `rcp_${id}`, accountId: '', jws: '{}', createdAt: Date.now() }
  await temp.store.settleClaim({ id, transaction: TX, receipt, transactionId: `txn_${id}`, now: Date.now() })
  return id
}
const ask = (claimId: string, over: Partial<RefundRequest> = {}): RefundRequest => ({
  claimId,
  amount: undefined,
  reason: 'the page was empty',
  reference: randomBytes(8).toString('hex'),
  accountId: 'acct_operator',
  ...over,
})
const refund = async (claimId: string, over: Partial<RefundRequest> = {}) =>
  (await world.refunds.refund(ask(claimId, over))).refund
const now = async (id: string) => (await temp.store.getRefund(id))!

describe('what is sent', () => {
  it('is a transfer that the refund account signed, to the payer, of the amount, with the nonce of the row', async () => {
    world.upstream.answer = world.mine
    const { nonce, payer, validBefore } = await refund(await settledClaim(), { amount: '300' })
    const [sent] = world.upstream.settled
    const { kind } = sent!.payment
    if (kind.type !== 'eip3009') throw new Error('not a transfer')
    const from = privateKeyToAccount(KEY).address
    const { authorization } = kind
    expect(authorization).toEqual({
      from: from.toLowerCase(),
      to: payer,
      value: 300n,
      validAfter: 0n,
      validBefore: BigInt(validBefore / 1000),
      nonce,
    })
    const { name, version, address } = sepolia.asset
    const digest = hashTypedData({
      domain: { name, version, chainId: sepolia.chainId, verifyingContract: address as `0x${string}` },
      types: {
        TransferWithAuthorization: [
          { name: 'from', type: 'address' },
          { name: 'to', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'validAfter', type: 'uint256' },
          { name: 'validBefore', type: 'uint256' },
          { name: 'nonce', type: 'bytes32' },
        ],
      },
      primaryType: 'TransferWithAuthorization',
      message: authorization as never,
    })
    const signature = kind.signature.use((text) => text as `0x${string}`)
    expect(await recoverAddress({ hash: digest, signature })).toBe(from)
  })

  it('is signed anew each time: no signature is on disk', async () => {
    const { claimId } = await refund(await settledClaim())
    const kind = world.upstream.settled[0]?.payment.kind
    const signature = kind?.type === 'eip3009' ? kind.signature.use((text) => text) : undefined
    expect(signature).toHaveLength(132)
    expect(JSON.stringify(await temp.store.listRefunds(claimId))).not.toContain(signature?.slice(2, 60))
  })

  it('is on disk as submitted before an upstream gets it', async () => {
    let seen: unknown
    const claimId = await settledClaim()
    const { settle } = world.upstream
    world.upstream.settle = async (request) => {
      seen = await temp.store.listRefunds(claimId)
      return settle(request)
    }
    await refund(claimId)
    expect(seen).toMatchObject([{ state: 'submitted', tries: 1 }])
  })
})

describe('an upstream that refuses before anything left', () => {
  it('fails the refund at once, and it can be asked for anew', async () => {
    world.upstream.answer = { state: 'refused', reason: 'no_settler' }
    const claimId = await settledClaim()
    expect(await refund(claimId)).toMatchObject({ state: 'failed', failure: 'no_settler' })
    world.upstream.answer = world.mine
    expect(await refund(claimId)).toMatchObject({ state: 'settled', amount: '1000', transaction: TX })
  })

  it('and the next one takes it', async () => {
    const second = fakeUpstream('up1', { answer: world.mine })
    world.upstream.answer = { state: 'refused', reason: 'no_settler' }
    world.routes.push({ ...world.routes[0]!, upstream: second })
    expect(await refund(await settledClaim())).toMatchObject({ state: 'settled' })
    expect(second.settled).toHaveLength(1)
  })

  it('decides nothing once the transfer was sent before', async () => {
    world.upstream.answer = { state: 'unknown', reason: 'timeout' }
    const { id } = await refund(await settledClaim())
    world.upstream.answer = { state: 'refused', reason: 'no_settler' }
    await world.round()
    expect(await now(id)).toMatchObject({ state: 'submitted', tries: 2 })
  })

  it('decides nothing while the chain does not answer', async () => {
    world.upstream.answer = ({ payment }) => {
      world.chain.statuses.set(payment.nonce, 'silent')
      return { state: 'refused', reason: 'chain_unreachable' }
    }
    expect(await refund(await settledClaim())).toMatchObject({ state: 'submitted' })
  })
})

describe('a refund that is on its way', () => {
  it('is sent again with the same nonce until the chain has it, and settles with a receipt', async () => {
    world.upstream.answer = { state: 'unknown', reason: 'timeout' }
    const { id } = await refund(await settledClaim())
    await world.round()
    world.upstream.answer = world.mine
    await world.round()
    await world.round()
    expect(new Set(world.upstream.settled.map(({ payment }) => payment.nonce)).size).toBe(1)
    expect(world.upstream.settled).toHaveLength(3)
    const settled = await now(id)
    expect(settled).toMatchObject({ state: 'settled', transaction: TX, tries: 3 })
    expect(await temp.store.getReceipt(settled.receiptId ?? '')).toMatchObject({ accountId: 'acct_operator' })
  })

  it('settles by the chain alone, whoever submitted it', async () => {
    world.upstream.answer = { state: 'unknown', reason: 'timeout' }
    const { id, nonce } = await refund(await settledClaim())
    world.chain.statuses.set(nonce, usedIn(hash('b')))
    await world.round()
    expect(await now(id)).toMatchObject({ state: 'settled', transaction: hash('b'), tries: 1 })
  })

  it('is not believed to be settled on the word of an upstream', async () => {
    expect(await refund(await settledClaim())).toMatchObject({ state: 'submitted' })
  })

  it('fails once its time is over on the chain, and not a moment before', async () => {
    world.upstream.answer = { state: 'unknown', reason: 'timeout' }
    const { id, validBefore } = await refund(await settledClaim())
    await world.round(validBefore - world.clock.at)
    expect(await now(id)).toMatchObject({ state: 'submitted', tries: 1 })
    await world.round(2 * MINUTE)
    expect(await now(id)).toMatchObject({ state: 'failed', failure: 'authorization_expired' })
    expect(world.upstream.settled).toHaveLength(1)
  })

  it('of an account whose key is gone is not signed by another, and is decided all the same', async () => {
    world.upstream.answer = { state: 'unknown', reason: 'timeout' }
    const { id, nonce } = await refund(await settledClaim())
    const other = open(await createTransferSigner(new Secret<string>(`0x${'b8'.repeat(32)}`)))
    await other.round()
    expect(other.upstream.settled).toEqual([])
    other.chain.statuses.set(nonce, usedIn(TX))
    await other.round()
    expect(await now(id)).toMatchObject({ state: 'settled' })
  })
})

describe('a settled refund that its chain took back', () => {
  it('is sent again, with another receipt', async () => {
    world.upstream.answer = world.mine
    const { id, nonce, receiptId } = await refund(await settledClaim())
    await world.round()
    expect(await now(id)).toMatchObject({ state: 'settled', receiptId })
    world.chain.statuses.delete(nonce)
    await world.round()
    const again = await now(id)
    expect(again).toMatchObject({ state: 'settled', tries: 2 })
    expect(again.receiptId).not.toBe(receiptId)
    expect(await temp.store.getReceiptStanding(receiptId ?? '')).toBeDefined()
  })

  it('is left alone once it was found after 15 minutes, and while the chain does not answer', async () => {
    world.upstream.answer = world.mine
    const { id, nonce } = await refund(await settledClaim())
    world.chain.statuses.set(nonce, 'silent')
    await world.round()
    expect(await now(id)).toMatchObject({ state: 'settled', tries: 1 })
    world.chain.statuses.set(nonce, usedIn(TX))
    await world.round(16 * MINUTE)
    world.chain.statuses.delete(nonce)
    await world.round()
    expect(await now(id)).toMatchObject({ state: 'settled', tries: 1 })
  })
})

describe('a refund is refused in words', () => {
  const refused = (claimId: string, over: Partial<RefundRequest> = {}) =>
    world.refunds.refund(ask(claimId, over)).then(
      () => Promise.reject(new Error('it was not refused')),
      (thrown: unknown) => thrown,
    )

  it('without an account to refund from', async () => {
    const claimId = await settledClaim()
    const done = await refund(claimId, { reference: 'done', amount: '1' })
    const { refunds } = open(undefined)
    const thrown = await refunds.refund(ask(claimId)).catch((error: unknown) => error)
    expect(thrown).toMatchObject(CONFLICT)
    expect(String(thrown)).toContain('GATEWAY_REFUND_KEY_FILE')
    const repeated = await refunds.refund(ask(claimId, { reference: 'done' }))
    expect(repeated).toMatchObject({ repeated: true, refund: { id: done.id } })
  })

  it.each<[string, Partial<NewPaymentClaim>, string]>([
    ['that went to another seller', { origin: 'settle' }, 'another seller'],
    ['on a network without a chain here', { network: 'eip155:8453' }, 'eip155:8453'],
    ['in another asset', { asset: `0x${'12'.repeat(20)}` }, 'by hand'],
    ['of a payer that only its facilitator knows', { payer: '' }, 'by hand'],
  ])('of a payment %s', async (_what, over, words) => {
    const thrown = await refused(await settledClaim(over))
    expect(thrown).toMatchObject(CONFLICT)
    expect(String(thrown)).toContain(words)
    expect(world.upstream.settled).toEqual([])
  })

  it('where other refunds on their way take what the account holds', async () => {
    world.upstream.answer = { state: 'unknown', reason: 'timeout' }
    world.chain.balanceOf = async () => 1_500n
    await refund(await settledClaim())
    const claimId = await settledClaim()
    const thrown = await refused(claimId)
    expect(thrown).toMatchObject(CONFLICT)
    expect(String(thrown)).toContain(
      'holds 1500 atomic units on Base Sepolia, of which 1000 are on their way',
    )
    expect(await refund(claimId, { amount: '500' })).toMatchObject({ state: 'submitted' })
    expect(await temp.store.listRefunds(claimId)).toHaveLength(1)
  })

  it('of a payment that is not settled', async () => {
    const { id } = await claimFor(temp.store, makePayment(Date.now()), BOOT)
    expect(String(await refused(id))).toContain('claimed')
  })

  it('while the chain does not say what the account holds: nothing is bound', async () => {
    const claimId = await settledClaim()
    world.chain.balanceOf = async () => {
      throw new ChainError('timeout', sepolia.network)
    }
    expect(await refused(claimId)).toMatchObject({ code: 'payments_unavailable' })
    expect(await temp.store.listRefunds(claimId)).toEqual([])
  })
})

describe('a spend report', () => {
  const report = (asked: { from?: string; to?: string }) => world.refunds.spend('0xAB', asked)

  it('covers twelve months unless it is said otherwise', async () => {
    world.clock.at = Date.UTC(2026, 2, 15)
    expect(await report({})).toMatchObject({ payer: '0xab', from: '2025-04', to: '2026-03' })
    expect(await report({ to: '2024-02' })).toMatchObject({ from: '2023-03', to: '2024-02' })
    expect(await report({ from: '2026-03' })).toMatchObject({ from: '2026-03', to: '2026-03' })
  })

  it.each([
    [{ from: '2026-02', to: '2026-01' }, 'after the last'],
    [{ from: '2000-01', to: '2026-01' }, 'at most 120'],
  ])('is refused for %o', async (asked, words) => {
    await expect(report(asked)).rejects.toThrow(words)
  })
})
