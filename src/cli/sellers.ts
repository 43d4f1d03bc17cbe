// `sellers`: who sells on the market. A seller registers, proves its hosts and replaces its key; the operator suspends.
import type { Command } from 'commander'
import { marketplaceHostsClaim } from '../../tools/marketplace-hosts-claim.ts'
import { marketplaceHostsVerify } from '../../tools/marketplace-hosts-verify.ts'
import { marketplaceModerationDecide } from '../../tools/marketplace-moderation-decide.ts'
import { marketplaceSellerKey } from '../../tools/marketplace-seller-key.ts'
import { marketplaceSellersGet } from '../../tools/marketplace-sellers-get.ts'
import { marketplaceSellersRegister } from '../../tools/marketplace-sellers-register.ts'
import { marketplaceSellerState } from '../../tools/marketplace-seller-state.ts'
import { connect } from './client.ts'
import { Exit } from './exit.ts'
import { addConnectionOptions, addTableOptions, collect, type ConnectionOptions } from './options.ts'
import type { TableOptions } from './table.ts'
import { formatValue, printJson, printLine, printRecord, printTable } from './output.ts'
import { addSellerMoneyCommands } from './seller-money.ts'
import { addOutOption, deliverToken, type TokenKind } from './token-file.ts'

interface Registration extends ConnectionOptions {
  readonly name: string
  readonly payoutAddress: string
  readonly description?: string
  readonly contact?: string
  readonly webhookUrl?: string
  readonly own?: boolean
  readonly out?: string
}

const ANOTHER = 'gateway.seller.recover ends it and makes another one, for a signature of the payout account.'
const FIRST_KEY: TokenKind = {
  member: 'key',
  ifLost: ({ seller }) => `It is the key of the new seller ${formatValue(seller)}: ${ANOTHER}`,
}
/** Whoever has no other key cannot end it. */
const NEW_KEY: TokenKind = {
  member: 'key',
  ifLost: ({ key_id: id }) => `It is ${formatValue(id)}, and those before it have ended: ${ANOTHER}`,
}

/** `sellers register|show|host|verify|key|get|statement|refund|suspend|reinstate`. */
export function addSellerCommands(program: Command): void {
  const sellers = program
    .command('sellers')
    .description('those who sell on the market, and the proof of their hosts')

  addOutOption(addConnectionOptions(sellers.command('register <id>')))
    .description('become a seller: an account of its own, and a key that opens nothing else')
    .requiredOption('--name <text>', 'shown to buyers')
    .requiredOption('--payout-address <address>', 'where USDC is paid out to')
    .option('--description <text>', 'who you are, in your words')
    .option('--contact <text>', 'how the operator reaches you; shown to nobody else')
    .option('--webhook-url <url>', 'events are sent there, signed (Standard Webhooks, v1a)')
    .option('--own', 'the account of your service key becomes the seller; no other key is made')
    .addHelpText(
      'after',
      `
Needs no key, unless --own is given. The seller's key is shown once; with --out it goes into a new file (0600).

Example:
  agent-gateway sellers register acme-weather --name "Acme Weather" --payout-address 0x… --out seller.key`,
    )
    .action(async (id: string, options: Registration) => {
      const client = await connect(options)
      const input = {
        seller: id,
        name: options.name,
        payout_address: options.payoutAddress,
        ...(options.description === undefined ? {} : { description: options.description }),
        ...(options.contact === undefined ? {} : { contact: options.contact }),
        ...(options.webhookUrl === undefined ? {} : { webhook_url: options.webhookUrl }),
      }
      if (options.own) return printRecord(await client.call(marketplaceSellersRegister, input), options)
      return deliverToken(options, FIRST_KEY, () => client.call(marketplaceSellersRegister, input, null))
    })

  addTableOptions(addConnectionOptions(sellers.command('show')))
    .description('your seller, its hosts and its services')
    .action(async (options: ConnectionOptions & TableOptions) => {
      const state = await (await connect(options)).call(marketplaceSellerState, {})
      if (options.json) return printJson(state)
      printRecord(state.seller, options)
      for (const [rows, columns] of [
        [state.hosts, ['host', 'state', 'method', 'proven_at', 'checked_at', 'problem']],
        [state.services, ['service_id', 'state', 'version', 'state_reason']],
      ] as const) {
        if (rows.length === 0) continue
        printLine('')
        printTable(rows, columns, '', options)
      }
    })

  addConnectionOptions(sellers.command('host <origin>'))
    .description('say what a host has to show, and what the payout account signs, to prove that it is yours')
    .action(async (origin: string, options: ConnectionOptions) => {
      const host = await (await connect(options)).call(marketplaceHostsClaim, { origin })
      if (options.json) return printJson(host)
      printLine(`${formatValue(host.origin)} is ${host.state}.\n\nPublish this DNS record:`)
      printLine(`  ${formatValue(host.dns.name)}. 300 IN TXT "${formatValue(host.dns.value)}"`)
      printLine(
        `or this line at ${formatValue(host.well_known.url)}:\n  ${formatValue(host.well_known.line)}`,
      )
      printLine(
        `\nSign this text with ${formatValue(host.sign.by)} (EIP-191 personal_sign):\n  ${formatValue(host.sign.message)}`,
      )
    })

  addConnectionOptions(sellers.command('verify <origin>'))
    .description('look for the proof of a host; exit code 1 where it is not there')
    .option('--proof <signature>', 'signature of the origin by the payout account; repeatable', collect)
    .action(async (origin: string, options: ConnectionOptions & { proof?: readonly string[] }) => {
      const client = await connect(options)
      const answer = await client.call(marketplaceHostsVerify, {
        origin,
        ownership_proofs: [...(options.proof ?? [])],
      })
      if (!answer.proven) process.exitCode = Exit.failed
      if (options.json) return printJson(answer)
      printLine(`${formatValue(answer.host.origin)} is ${answer.proven ? 'proven' : 'NOT proven'}.`)
      for (const problem of answer.problems) printLine(`  ${formatValue(problem)}`)
    })

  addOutOption(addConnectionOptions(sellers.command('key')))
    .description('make a new seller key, and end every other one of your seller')
    .action(async (options: ConnectionOptions & { out?: string }) => {
      const client = await connect(options)
      await deliverToken(options, NEW_KEY, () => client.call(marketplaceSellerKey, {}))
    })

  addSellerMoneyCommands(sellers)

  addConnectionOptions(sellers.command('get <seller>'))
    .description('what everybody may know of a seller')
    .action(async (seller: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(marketplaceSellersGet, { seller }, null), options)
    })

  for (const decision of ['suspend', 'reinstate'] as const)
    addConnectionOptions(sellers.command(`${decision} <seller>`))
      .description(
        decision === 'suspend'
          ? 'stop a seller with everything it offers (administrators)'
          : 'let a seller sell again (administrators)',
      )
      .requiredOption('--reason <text>', 'the seller reads it')
      .action(async (seller: string, options: ConnectionOptions & { reason: string }) => {
        const { reason } = options
        printRecord(
          await (await connect(options)).call(marketplaceModerationDecide, { seller, decision, reason }),
          options,
        )
      })
}
