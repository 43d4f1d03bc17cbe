// What payments stand on fails: somebody else's facilitator, the node of a chain, the chain itself.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { openPayments, type PaymentScene } from '../payments.ts'
import { must } from '../../src/lib/must.ts'

const FAULT_MS = 12_000
const DROPS = 12
const REORG_DEPTH = 2
const RESTARTS = 3
const DOWN_MS = 1000

/** A payment that is acknowledged leads to another account than it should. */
const takePayment = {
  what: 'one acknowledged transfer taken back on the chain',
  async spoil({ chain, payments }: PaymentScene): Promise<void> {
    const paid = must(
      payments.find(({ state }) => state === 'acknowledged'),
      'an acknowledged payment',
    )
    await chain.drain(paid.payTo)
  },
}

export const faults: readonly Fault<PaymentScene>[] = [
  {
    name: 'facilitator hanging',
    command: 'a facilitator that settles on the chain and never answers, 12 s',
    promise:
      'the chain is asked: what it has is settled once, the rest is `settlement_unknown`; nobody else gets the payment',
    notCovered: 'payments on a network without a node here (`GATEWAY_RPC_…`), which rest on its word',
    open: () => openPayments({ isForeign: true }),
    async inject({ facilitator }) {
      const server = facilitator()
      const { onSettle } = server
      server.onSettle = async (call, res) => {
        // Told to nobody: the answer goes to a response that is not sent.
        res.write = () => true
        const end = res.end.bind(res)
        res.end = () => res
        await onSettle(call, res)
        res.once('close', end)
      }
      await sleep(FAULT_MS)
      server.onSettle = onSettle
    },
    control: takePayment,
  },
  {
    name: 'node drops accepted transactions',
    command: 'anvil_dropAllTransactions each second, 12 s',
    promise: 'they are sent again; each payment moves once',
    notCovered: 'a node that drops everything for longer than a payment is valid: it expires unpaid',
    open: () => openPayments(),
    async inject({ chain }) {
      await chain.setBlockTime(3)
      for (let i = 0; i < DROPS; i++) {
        await chain.rpc('anvil_dropAllTransactions')
        await sleep(FAULT_MS / DROPS)
      }
    },
    heal: ({ chain }) => chain.setBlockTime(1),
    control: takePayment,
  },
  {
    name: 'node behind',
    command: 'a proxy before the node that knows no receipt and no log, 12 s',
    promise: 'nothing counts before it is seen; what is doubtful is `settlement_unknown` and found later',
    notCovered: 'a node that lies about what it has seen: use one of yours',
    open: () => openPayments(),
    async inject({ node }) {
      node.on('eth_getTransactionReceipt', () => ({ result: null }))
      node.on('eth_getLogs', () => ({ result: [] }))
      await sleep(FAULT_MS)
    },
    heal: async ({ node }) => node.reset(),
    control: takePayment,
  },
  {
    name: 'chain reorganises',
    command: `anvil_reorg of ${REORG_DEPTH} blocks, three times; GATEWAY_CONFIRMATIONS of ${REORG_DEPTH + 2}`,
    promise: 'nothing acknowledged is taken back: it was deeper than that',
    notCovered: 'deeper ones: the receipt is withdrawn within a minute, and the payment is sent again',
    open: () => openPayments({ confirmations: REORG_DEPTH + 2 }),
    async inject({ chain }) {
      for (let i = 0; i < 3; i++) {
        await chain.reorg(REORG_DEPTH)
        await sleep(3000)
      }
    },
    control: {
      what: 'GATEWAY_CONFIRMATIONS of 1',
      open: () => openPayments({ confirmations: 1 }),
    },
  },
  {
    name: 'PostgreSQL crashed under payments',
    command: 'pg_ctl restart -m immediate, three times',
    promise:
      'each payment moves once; what was acknowledged has its receipt, what was claimed and not sent is free again, or refused as not sent',
    notCovered: 'the same as under calls',
    open: () => openPayments({ engine: 'postgres', refusals: ['payment_blocked'] }),
    async inject({ database, load }) {
      for (let i = 0; i < RESTARTS; i++) {
        if (i > 0) await load.acknowledge(load.stretch)
        await database().stop('immediate')
        await sleep(DOWN_MS)
        await database().start()
      }
    },
    control: takePayment,
  },
]
