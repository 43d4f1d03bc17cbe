// `restore`: a backup becomes the data of an empty place, and what it cannot know is said.
import type { Command } from 'commander'
import { loadConfig } from '../app/config.ts'
import { describeKey } from '../app/transfer/keys.ts'
import { restore, type RestoreReport } from '../app/transfer/restore.ts'
import { describeAftermath, describeAge } from './aftermath.ts'
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
named at the end.

Example:
  agent-gateway restore gateway-backup.gz`,
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
  const { header, receipts } = report
  const age = describeAge(now - Date.parse(header.taken_at))
  return [
    `Restored ${report.rows} rows of ${report.tables} tables into ${report.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, as they were on ${header.taken_at}, ${age} ago (release ${header.gateway}).`,
    'Read back and equal; ' +
      (report.findings.length === 0 ? 'every balance is what its ledger adds up to; ' : '') +
      `${receipts.verified} receipts of a sample verify${receipts.revoked > 0 ? `, ${receipts.revoked} are of a revoked key` : ''}.`,
    ...report.findings.map((finding) => `WRONG ALREADY IN THE BACKUP: ${finding}.`),
    ...report.keys.map(describeKey),
    ...describeAftermath(report, { age, event: 'the backup' }),
    '',
    'Next: start the gateway, then `agent-gateway doctor`.',
  ]
}
