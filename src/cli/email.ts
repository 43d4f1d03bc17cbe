// `email`: decisions about addresses from a running gateway, the keys it gave out for them, and newer lists for it.
import type { Command } from 'commander'
import type { EmailVerification } from '../../schemas/email.ts'
import { emailKeysList } from '../../tools/email-keys-list.ts'
import { emailKeysRevoke } from '../../tools/email-keys-revoke.ts'
import { emailVerifyBatch } from '../../tools/email-verify-batch.ts'
import { loadConfig } from '../app/config.ts'
import { refreshLists } from '../email/adapters/source.ts'
import { GatewayError } from '../core/errors.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  jsonOption,
  pageOf,
  type PageOptions,
} from './options.ts'
import { formatValue, printJson, printLine, printPage, printRecord, showText } from './output.ts'

const MAX_ADDRESSES = 100
const KEY_COLUMNS = ['key_id', 'created_at', 'last_seen_on', 'used_today', 'revoked_at']

/** `email verify|keys|lists`: decisions, the free keys behind them, and the lists of disposable domains. */
export function addEmailCommands(program: Command): void {
  const email = program
    .command('email')
    .description('decisions about email addresses, the keys for them, and the lists behind them')

  addConnectionOptions(email.command('verify <address...>'))
    .description('accept, review or reject each address, and why')
    .addHelpText(
      'after',
      `
Up to ${MAX_ADDRESSES} addresses. The gateway looks at spelling, DNS and lists; no mail is sent, the mailbox is not probed, and nothing is stored.
Exit code 0: no address was rejected. 1: at least one was.

Examples:
  agent-gateway email verify ada@example.com
  agent-gateway email verify --json ada@example.com grace@example.org | jq -r '.results[].decision'`,
    )
    .action(verify)

  const keys = email
    .command('keys')
    .description('free keys of email verification (agw_ek_…) that were given out; administrators only')
  addPageOptions(addConnectionOptions(keys.command('list')))
    .description('list keys, newest first, with the day each was used last')
    .action(async (options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(emailKeysList, pageOf(options))
      printPage(answer, answer.keys, KEY_COLUMNS, 'No email keys.', options)
    })
  addConnectionOptions(keys.command('revoke <key-id>'))
    .description('end a key: at once here, within a second in other gateways on the same database')
    .addHelpText('after', '\nExample:\n  agent-gateway email keys revoke ek_06fa2r5gz0q7w2h4k8n1d3t5v9')
    .action(async (keyId: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(emailKeysRevoke, { key_id: keyId }), options)
    })

  const lists = email
    .command('lists')
    .description('disposable domains beyond those that come with the gateway')
  lists
    .command('refresh')
    .description('read a newer list, check it, and put it into the data directory')
    .addOption(jsonOption())
    .option('--from <file-or-url>', 'one domain a line; default: the maintained list of its project')
    .addHelpText(
      'after',
      `
The list adds to what came with the gateway. A running gateway that owns the data directory (GATEWAY_DATA_DIR) has it within a minute. What
is no list of domains is refused, and the one before stays. Own exceptions go into email-domains.json in the same directory:
{"disposable": [], "allowed": [], "roles": []}.

Examples:
  agent-gateway email lists refresh
  agent-gateway email lists refresh --from blocklist.conf`,
    )
    .action(refresh)
}

async function verify(emails: string[], options: ConnectionOptions): Promise<void> {
  if (emails.length > MAX_ADDRESSES)
    throw new CommandFailure(
      Exit.usage,
      `At most ${MAX_ADDRESSES} addresses at a time: run it once for each part.`,
    )
  const answer = await (await connect(options)).call(emailVerifyBatch, { emails })
  if (options.json) printJson(answer)
  else for (const result of answer.results) printLine(showText(formatVerification(result)))
  if (answer.results.some(({ decision }) => decision === 'reject')) process.exitCode = Exit.failed
}

/** Lines for a terminal: the decision, its reasons, and what could be typed instead. */
export function formatVerification(result: EmailVerification): string {
  const { checks } = result
  const lines = [
    `${result.decision.padEnd(6)}  ${result.email}${result.reasons.length > 0 ? `  (${result.reasons.join(', ')})` : ''}`,
  ]
  if (checks.syntax.detail !== null) {
    const { detail, position } = checks.syntax
    lines.push(`        ${detail}${position === null ? '' : ` At character ${position + 1}.`}`)
  }
  if (checks.disposable.list !== null) lines.push(`        listed in ${checks.disposable.list}`)
  if (result.did_you_mean !== null) lines.push(`        did you mean ${result.did_you_mean}?`)
  if (checks.mx.hosts.length > 0)
    lines.push(`        mail goes to ${checks.mx.hosts.map(({ host }) => host).join(', ')}`)
  return lines.join('\n')
}

async function refresh(options: { readonly json?: boolean; readonly from?: string }): Promise<void> {
  const { dataDir } = loadConfig(process.env)
  try {
    const report = await refreshLists({ dataDir, from: options.from, now: Date.now() })
    printRecord({ ...report, protected: report.protected.map(formatValue) }, options)
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw new CommandFailure(Exit.failed, thrown.message)
    throw thrown
  }
}
