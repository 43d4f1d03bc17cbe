// `credits`: what pays for outbound attempts.
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { creditsBalance } from '../../tools/credits-balance.ts'
import { creditsGrant } from '../../tools/credits-grant.ts'
import { connect } from './client.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
  parseInteger,
} from './options.ts'
import { printJson, printLine, printPage, printRecord } from './output.ts'

/** `credits balance|grant`: what an account has left, and what moved it. */
export function addCreditCommands(program: Command): void {
  const credits = program.command('credits').description('usage credits: one pays for one outbound attempt')

  addPageOptions(addConnectionOptions(credits.command('balance')))
    .description('credits left, and the movements, newest first')
    .action(async (options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(creditsBalance, pageOf(options))
      if (options.json) return printJson(answer)
      printLine(`${answer.balance} credits on ${answer.account_id}\n`)
      const columns = ['created_at', 'amount', 'kind', 'reference', 'transaction_id']
      printPage(answer, answer.ledger, columns, 'No movements.', options)
    })

  addConnectionOptions(credits.command('grant'))
    .description('give an account credits by hand (administrators)')
    .argument('<amount>', 'whole credits', parseInteger(1, 1_000_000_000))
    .option('--account <account-id>', 'who gets them; default your own account')
    .option('--reference <text>', 'what it is for; the same reference on the same account is granted once')
    .addHelpText(
      'after',
      `
With a --reference the command is safe to repeat: a second run changes nothing and says so. Without one each run grants anew.

Examples:
  agent-gateway credits grant 1000 --reference "invoice 2026-117"
  agent-gateway credits grant 50 --account acct_… --reference welcome`,
    )
    .action(async (amount: number, options: ConnectionOptions & { account?: string; reference?: string }) => {
      const answer = await (
        await connect(options)
      ).call(creditsGrant, {
        amount,
        reference: options.reference ?? `cli ${randomUUID()}`,
        ...(options.account === undefined ? {} : { account_id: options.account }),
      })
      printRecord(answer, options)
    })
}
