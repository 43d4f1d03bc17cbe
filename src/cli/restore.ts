// `restore`: a backup becomes the data of an empty place, and what it cannot know is said.
import type { Command } from 'commander'
import { loadConfig } from '../app/config.ts'
import { restore, type RestoreReport } from '../app/transfer/restore.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine } from './output.ts'
import { faultOf, runTransfer } from './transfer.ts'

interface Options {
  readonly json?: boolean
  readonly acceptFindings?: boolean
  readonly revokeTokens?: boolean
}

/** `restore FILE`: fills the database itself; no gateway may run on it. */
export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .argument('<file>', 'of `agent-gateway backup`')
    .addOption(jsonOption())
    .option('--accept-findings', 'restore although balances or receipts were wrong in what was backed up')
    .option(
      '--revoke-tokens',
      'end every service key but the operator key, and every capability: where you do not know what was revoked',
    )
    .description('fill an empty data directory, or an empty PostgreSQL database, from a backup')
    .addHelpText(
      'after',
      `
Set the variables of the gateway first (GATEWAY_DATA_DIR, GATEWAY_MODE, and GATEWAY_DATABASE_URL for PostgreSQL) and put the key files into the data directory: they are
looked at before anything is written. Other files may be there, but no data of a gateway. The file may come from either engine, and from an earlier release.
Everything is read back and compared; balances are added up; receipts are verified. Then all of it counts, or nothing: after a crash run it again.
What works once (permits, sessions, invitations, recovery codes, tokens of assistants) does not work after a restore, because it may have been used since the backup.
Keys and capabilities that were revoked since work again: revoke them before others reach the gateway, or name --revoke-tokens. What happened since is
named at the end.`,
    )
    .action(async (file: string, { json, acceptFindings, revokeTokens }: Options) => {
      const config = loadConfig(process.env)
      const fault = faultOf(config)
      const report = await runTransfer(config, { json }, ({ show }) =>
        restore({ config, file, now: Date.now, fault, acceptFindings, revokeTokens, onPhase: show }),
      )
      if (json) printJson({ ...report, taken_at: report.header.taken_at })
      else for (const line of describe(report, Date.now())) printLine(line)
    })
}

/** What an operator has to know, and to do. */
export function describe(report: RestoreReport, now: number): readonly string[] {
  const { header, receipts, ended, living, settledLately } = report
  const age = describeAge(now - Date.parse(header.taken_at))
  return [
    `Restored ${report.rows} rows of ${report.tables} tables into ${report.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, as they were on ${header.taken_at}, ${age} ago (release ${header.gateway}).`,
    'Read back and equal; ' +
      (report.findings.length === 0 ? 'every balance is what its ledger adds up to; ' : '') +
      `${receipts.verified} receipts of a sample verify${receipts.revoked > 0 ? `, ${receipts.revoked} are of a revoked key` : ''}.`,
    ...report.findings.map((finding) => `WRONG ALREADY IN THE BACKUP: ${finding}.`),
    ...report.keys.map(({ file, says }) => `${file}: ${says}`),
    '',
    `What happened in those ${age} is not here:`,
    '- Keys, capabilities, credentials, passkeys and people that were revoked or removed since then work again, and limits count from then. Revoke them ' +
      `again before you start (${living.service_keys} service keys, ${living.capabilities} capabilities, ${living.people} people, ${living.signing_keys} signing keys are live).`,
    '- Credits that were spent since then are there again, and credits that were bought are not: give them with `credits grant`.',
    '- Calls under an Idempotency-Key made since then are not remembered: whoever repeats one has it carried out again.',
    '- Receipts, audit events and stored results made since then are gone. Receipts that were handed out still verify. The audit log goes on from the backup.',
    '- x402 payments made since then are spent on their chain, which refuses them a second time (where the gateway knows no chain, its facilitator does). Refunds sent since then are not known here: look at the chain ' +
      'before you refund anew.',
    '- Those payments are in no list: neither `payments reconcile` nor `payments refund` finds them. Compare what your accounts received on their chains since then with `payments list --state settled`; what is owed ' +
      'back for them you send by hand.',
    '- One of them that a reorganisation took back is not missed by anybody here: its receipt still verifies, and its signature, unused again, buys once more until it expires.',
    ...(settledLately > 0
      ? [
          `- ${settledLately} payments were settled in the last 15 minutes before the backup. The start looks for each on its chain: one that a reorganisation took back since is open again ` +
            '(`payments list --state pending`, reason `reorganised`), and this process has no copy of it to send.',
        ]
      : []),
    '',
    'Ended, because it may have been used or done since:',
    `- ${ended.permits} open permits, ${ended.sessions} sessions, ${ended.invitations} invitations and ${ended.recovery_codes} recovery codes do not work; ` +
      `${ended.assistants} connected assistants have to connect again.`,
    `- ${ended.attempts_in_doubt} requests that were about to be sent count as sent (ambiguous, see \`attempts list\`); ${ended.payments_in_doubt} payments under way are ` +
      'decided by their chains at the start.',
    ...(report.payoutsHeld
      ? [
          `- Payouts to sellers are by hand (\`payouts.schedule\` in the document \`market\`), and ${ended.payout_batches} open batches are closed: those paid since then would be ` +
            'paid again. Compare with the chain, then set the schedule back.',
        ]
      : []),
    '',
    'Next: start the gateway, then `agent-gateway doctor`.',
  ]
}

function describeAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 120) return `${minutes} minutes`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 60 / 24)} days`
}
