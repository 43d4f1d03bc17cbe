// In which order settled transfers are looked at again, and how many in a round: a chain that is silent costs one question and keeps
// nobody waiting.
import { expect, it } from 'vitest'
import { createNetworks } from '../../../src/core/networks.ts'
import { createLogger } from '../../../src/lib/log.ts'
import type { Evidence } from '../../../src/payments/chain-evidence.ts'
import { createTransfers } from '../../../src/payments/transfers.ts'

const SILENT = 'eip155:1'
const OTHER = 'eip155:8453'
const START = Date.UTC(2026, 10, 23)
const BATCH = 100

interface Row {
  readonly id: string
  readonly network: string
  readonly tries: number
  readonly transaction: string | null
  readonly receiptId: string | null
  readonly finishedAt: number | null
}

const rowsOf = (network: string, count: number, first = 0): Row[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `${network}/${i}`,
    network,
    tries: 1,
    transaction: '0xaa',
    receiptId: 'rcp_1',
    finishedAt: START + first + i,
  }))

/** Transfers that settled, oldest first, and what a round asks of which chain. */
function open(rows: readonly Row[], answer: (network: string) => Evidence) {
  const asked: string[] = []
  let pages = 0
  const unused = () => Promise.reject(new Error('nothing of it is open'))
  const transfers = createTransfers<Row>(
    {
      engine: 'sqlite',
      networks: createNetworks([1, 8453]),
      evidence: {
        canRead: () => true,
        countsAtOnce: () => false,
        readDeclined: async () => ({ state: 'unanswered' }),
        async read({ nonce, network }) {
          asked.push(nonce)
          return answer(network)
        },
      },
      router: { routes: async () => [] },
      account: undefined,
      now: () => START,
      log: createLogger('silent'),
    },
    {
      noun: 'payout',
      toTransfer: ({ id, network }) => ({
        network,
        asset: 'a',
        sender: 's',
        recipient: 'r',
        amount: '1',
        nonce: id,
        createdAt: START,
        validBefore: START,
      }),
      fieldsOf: ({ id }) => ({ payout: id }),
      get: unused,
      submit: unused,
      settle: unused,
      fail: unused,
      reopen: unused,
      touch: unused,
      finalize: unused,
      listOpen: async () => [],
      async listSettled({ after, limit }) {
        pages++
        return rows.filter(({ finishedAt }) => finishedAt! > (after?.finishedAt ?? 0)).slice(0, limit)
      },
    },
  )
  return {
    async round() {
      asked.length = 0
      pages = 0
      await transfers.reconcile()
      return { asked: [...asked], pages }
    },
  }
}

const answering = (network: string): Evidence =>
  network === SILENT ? { state: 'unanswered' } : { state: 'paid', transaction: '0xaa' }

it('asks a silent chain once in a round, and looks at those of another one behind all of its own', async () => {
  const { round } = open([...rowsOf(SILENT, BATCH + 1), ...rowsOf(OTHER, 3, BATCH + 1)], answering)
  for (let i = 0; i < 2; i++) {
    const { asked } = await round()
    expect(asked).toEqual([`${SILENT}/0`, `${OTHER}/0`, `${OTHER}/1`, `${OTHER}/2`])
  }
})

it('looks at no more than a hundred in a round, and the next one goes on with those behind', async () => {
  const { round } = open(rowsOf(OTHER, BATCH + 50), answering)
  const first = await round()
  expect([first.asked.length, first.asked[0]]).toEqual([BATCH, `${OTHER}/0`])
  const second = await round()
  expect([second.asked.length, second.asked[0]]).toEqual([50, `${OTHER}/${BATCH}`])
  expect((await round()).asked).toEqual(first.asked)
})

it('reads a bounded number of rows of a silent chain in a round, and comes to those behind them all the same', async () => {
  const { round } = open([...rowsOf(SILENT, 2500), ...rowsOf(OTHER, 1, 2500)], answering)
  const rounds = [await round(), await round(), await round()]
  expect(rounds.map(({ pages }) => pages)).toEqual([10, 10, 6])
  expect(rounds.map(({ asked }) => asked)).toEqual([
    [`${SILENT}/0`],
    [`${SILENT}/1000`],
    [`${SILENT}/2000`, `${OTHER}/0`],
  ])
})
