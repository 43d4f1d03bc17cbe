// `sellers statement|refund`: a seller's account, and money that it gives back.
import { randomUUID } from 'node:crypto'
import { type Command, InvalidArgumentError } from 'commander'
import { marketplaceSellerRefund } from '../../tools/marketplace-seller-refund.ts'
import { marketplaceSellerStatement } from '../../tools/marketplace-seller-statement.ts'
import { connect } from './client.ts'
import { addConnectionOptions, addTableOptions, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { printJson, printLine, printTable } from './output.ts'
import { printRefund } from './refund.ts'
import { writeWhole } from './stdout.ts'

const COLUMNS = [
  'at',
  'kind',
  'amount_atomic',
  'balance_atomic',
  'fee_atomic',
  'service_id',
  'reference',
  'state',
  'transaction',
]
const PAGE = 1000

interface StatementOptions extends ConnectionOptions, TableOptions {
  readonly from?: string
  readonly to?: string
  readonly testnet?: true
  readonly csv?: true
}

interface RefundOptions extends ConnectionOptions {
  readonly reason: string
  readonly amountAtomic?: string
  readonly reference?: string
}

/** For the holder of a seller's key. */
export function addSellerMoneyCommands(sellers: Command): void {
  addTableOptions(addConnectionOptions(sellers.command('statement')))
    .description('list every sale, refund and payout between two months, with the balances before and after')
    .option('--from <month>', 'first month, e.g. 2026-01; default the last one')
    .option('--to <month>', 'last month; default this one')
    .option('--testnet', 'of test money')
    .option('--csv', 'print the lines as CSV')
    .addHelpText(
      'after',
      `
Examples:
  agent-gateway sellers statement --key-file seller.key
  agent-gateway sellers statement --from 2026-01 --to 2026-12 --csv --key-file seller.key > 2026.csv`,
    )
    .action(printStatement)

  addConnectionOptions(sellers.command('refund <claim-or-receipt>'))
    .description('send a sale back to its buyer, all of it or a part, from what you hold')
    .requiredOption('--reason <text>', 'for your records and the operator')
    .option('--amount-atomic <n>', 'atomic units; default all that was not refunded yet', parseAtomic)
    .option('--reference <text>', 'yours; the same reference of a sale is refunded once')
    .action(async (id: string, options: RefundOptions) => {
      const { reason, amountAtomic, reference } = options
      const answer = await (
        await connect(options)
      ).call(marketplaceSellerRefund, {
        ...(id.startsWith('rcp_') ? { receipt_id: id } : { claim_id: id }),
        reason,
        reference: reference ?? `cli ${randomUUID()}`,
        ...(amountAtomic === undefined ? {} : { amount_atomic: amountAtomic }),
      })
      printRefund(answer, options)
    })
}

async function printStatement(options: StatementOptions): Promise<void> {
  const { from, to, testnet, csv, json } = options
  const client = await connect(options)
  const input = {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(testnet ? { network: 'eip155:84532' as const } : {}),
    ...(csv ? { format: 'csv' as const } : {}),
    limit: PAGE,
  }
  const first = await client.call(marketplaceSellerStatement, input)
  const lines = [...first.lines]
  let text = first.csv ?? ''
  for (let cursor = first.next; cursor !== null;) {
    const page = await client.call(marketplaceSellerStatement, { ...input, cursor })
    lines.push(...page.lines)
    // Each page begins with the names.
    text += page.csv?.replace(/^.*\r\n/, '') ?? ''
    cursor = page.next
  }
  if (csv) return writeWhole(text)
  if (json) return printJson({ ...first, lines, next: null })
  printLine(`opening ${first.opening_atomic}`)
  if (lines.length > 0) printTable(lines, COLUMNS, '', options)
  printLine(`closing ${first.closing_atomic}`)
  if (first.kept_because !== null) printLine(`not paid out: ${first.kept_because}`)
}

function parseAtomic(text: string): string {
  if (!/^[1-9]\d{0,17}$/.test(text)) throw new InvalidArgumentError('Atomic units: a whole number from 1.')
  return text
}
