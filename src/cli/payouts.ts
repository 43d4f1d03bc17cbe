// `payouts`: what sellers of the market are owed, and the transfers that they were paid with.
import { type Command, InvalidArgumentError } from 'commander'
import { marketplacePayoutsRun } from '../../tools/marketplace-payouts-run.ts'
import { marketplacePayoutsState } from '../../tools/marketplace-payouts-state.ts'
import { marketplacePayoutsVerify } from '../../tools/marketplace-payouts-verify.ts'
import { marketplacePayouts } from '../../tools/marketplace-payouts.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { printPage, printRecord } from './output.ts'

const RUN_COLUMNS = [
  'batch_id',
  'network',
  'period',
  'paid',
  'paid_atomic',
  'under_way',
  'failed',
  'finished_at',
]
const PAID_COLUMNS = ['payout_id', 'seller', 'amount_atomic', 'network', 'to', 'transaction', 'paid_at']
const PROOF_COLUMNS = ['payout_id', 'seller', 'amount_atomic', 'network', 'chain', 'receipt', 'transaction']
const PAGE = 100

/** `payouts run|show|verify`, for administrators. */
export function addPayoutCommands(program: Command): void {
  const payouts = program.command('payouts').description('what sellers are owed and paid (administrators)')

  addTableOptions(addConnectionOptions(payouts.command('run')))
    .description('send every seller what it is owed, now')
    .option('--minimum-atomic <n>', 'atomic units; default the minimum of the settings', parseAtomic)
    .addHelpText(
      'after',
      `
The transfers leave from the account of GATEWAY_PAYOUT_KEY_FILE (by default the refund account), which needs no gas. What is taken for a
payout is owed no more, so that a second run, at the same time or after a crash, pays nobody again. Without this command sellers are
paid by the schedule of the settings document \`market\`.

Examples:
  agent-gateway payouts run
  agent-gateway payouts run --minimum-atomic 1`,
    )
    .action(async (options: ConnectionOptions & TableOptions & { minimumAtomic?: number }) => {
      const { minimumAtomic } = options
      const input = minimumAtomic === undefined ? {} : { minimum_atomic: minimumAtomic }
      const answer = await (await connect(options)).call(marketplacePayoutsRun, input)
      printPage({ ...answer, next: null }, answer.batches, RUN_COLUMNS, WORDS[answer.state], options)
      if (answer.state === 'no_account') throw new CommandFailure(Exit.failed, WORDS.no_account)
    })

  addTableOptions(addConnectionOptions(payouts.command('show')))
    .description('show what is owed and kept as owed, or what a seller was paid')
    .option('--seller <id>', 'list the payouts of this seller')
    .option('--paid', 'list the newest payouts')
    .action(async (options: ConnectionOptions & TableOptions & { seller?: string; paid?: true }) => {
      const client = await connect(options)
      if (options.paid || options.seller !== undefined) {
        const seller = options.seller === undefined ? {} : { seller: options.seller }
        const answer = await client.call(marketplacePayouts, { ...seller, limit: PAGE })
        printPage(answer, answer.payouts, PAID_COLUMNS, 'No payouts.', options)
        return
      }
      printRecord(await client.call(marketplacePayoutsState, {}), options)
    })

  addTableOptions(addConnectionOptions(payouts.command('verify')))
    .description('look for every payout on its chain, and make the sums of the ledger again')
    .action(async (options: ConnectionOptions & TableOptions) => {
      const client = await connect(options)
      const found = await client.call(marketplacePayoutsVerify, { limit: PAGE })
      const proven = [...found.payouts]
      let { ok } = found
      for (let before = found.next; before !== null;) {
        const page = await client.call(marketplacePayoutsVerify, { limit: PAGE, before })
        proven.push(...page.payouts)
        ok &&= page.ok
        before = page.next
      }
      const answer = { ...found, ok, payouts: proven, next: null }
      printPage(answer, proven, PROOF_COLUMNS, 'No payouts.', options)
      if (!ok) throw new CommandFailure(Exit.failed, 'The ledger and its proofs do not agree: see --json.')
    })
}

const WORDS = {
  done: 'Nobody is owed as much.',
  running: 'The run goes on; `agent-gateway payouts show` says how far it is.',
  busy: 'Another process is paying out: `agent-gateway payouts show` says how far it is.',
  no_account: 'No account pays out. Set GATEWAY_PAYOUT_KEY_FILE or GATEWAY_REFUND_KEY_FILE.',
} as const

function parseAtomic(text: string): number {
  const amount = Number(text)
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Atomic units: a whole number from 1.')
  return amount
}
