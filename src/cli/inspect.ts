// `inspect`: the answer of POST /v1/inspect under the default policy, for a person or for a program (--json).
import type { Command } from 'commander'
import type { InspectResult } from '../../schemas/commerce.ts'
import { createCommerce } from '../commerce/index.ts'
import { createLogger } from '../lib/log.ts'
import { jsonOption } from './options.ts'
import { formatRecord, printJson, printLine, showText } from './output.ts'
import { readTransaction } from './transactions.ts'

/** `inspect FILE`: judges a transaction in this process under the default policy; nothing is sent. */
export function addInspectCommand(program: Command): void {
  program
    .command('inspect <file>')
    .description('say what a transaction is and whether policy allows, reviews or denies it')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
FILE is JSON: {"target": "https://…", "method": "POST", "headers": {…}, "body": …}; a body that is text is the raw body. Other members are
ignored. - reads stdin. The default policy applies, and nothing is counted: a gateway knows those of accounts. Nothing is sent
and no name is resolved; the clock of this machine says what has expired.
Exit code 0: there is an answer, whatever it is. 65: FILE is no transaction.

Examples:
  agent-gateway inspect payment.json
  agent-gateway inspect - --json < payment.json | jq -r .policy.decision`,
    )
    .action(inspect)
}

async function inspect(file: string, { json }: { readonly json?: boolean }): Promise<void> {
  const transaction = await readTransaction(file)
  const commerce = createCommerce({
    // There is no account here, so none has a policy of its own.
    documents: { read: async ({ initial }) => ({ value: initial }) },
    log: createLogger('silent'),
    now: Date.now,
  })
  const result = await commerce.inspect(transaction, undefined)
  if (json) printJson(result)
  else printLine(showText(formatInspection(result)))
}

/** Lines for a terminal: the decision, each reason with its place, the facts, and what told the protocol. */
export function formatInspection(result: InspectResult): string {
  const { policy, transaction } = result
  const kind = [result.protocol, result.version, result.stage, result.transport && `over ${result.transport}`]
  const lines = [
    `${policy.decision.toUpperCase()}   ${kind.filter((part) => part !== null && part !== '').join(', ')} (${result.confidence} confidence)`,
  ]
  for (const { code, severity, path, message } of policy.reasons)
    lines.push(`  ${severity.padEnd(6)} ${code}${path === '' ? '' : ` at ${path}`}: ${message}`)
  lines.push('', formatRecord(transaction))
  if (result.evidence.length > 0) lines.push('', 'Recognised by:')
  for (const { mark, at } of result.evidence) lines.push(`  ${mark}${at === '' ? '' : ` at ${at}`}`)
  if (result.redactions.length > 0) lines.push('', 'Not shown:')
  for (const { path, kind: what } of result.redactions) lines.push(`  ${what} at ${path}`)
  lines.push('', `Nothing was forwarded. Rules ${policy.ruleset_version}, ${policy.policy_source} policy.`)
  return lines.join('\n')
}
