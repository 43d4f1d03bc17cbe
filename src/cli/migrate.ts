// `migrate`: from SQLite in the data directory to PostgreSQL, and the way back.
import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Config } from '../core/config.ts'
import { loadConfig } from '../app/config.ts'
import { migrateToPostgres, moveBack } from '../app/transfer/migrate.ts'
import { describeAftermath, describeAge } from './aftermath.ts'
import { confirm } from './confirm.ts'
import { CommandFailure, Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine } from './output.ts'
import { faultOf, runTransfer } from './transfer.ts'

interface Options {
  readonly to?: string
  readonly json?: boolean
  readonly acceptFindings?: boolean
  readonly back?: boolean
  readonly yes?: boolean
}

/** `migrate`: no gateway may run on the data directory. */
export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .option('--to <file>', 'a file (0600) that holds the postgres:// address; default GATEWAY_DATABASE_URL')
    .option('--accept-findings', 'although balances were wrong before')
    .option('--back', 'let a gateway start on the copy in the data directory again, as after a restore of it')
    .option('--yes', 'with --back: do not ask')
    .addOption(jsonOption())
    .description('move the data of the data directory (SQLite) into an empty PostgreSQL database')
    .addHelpText(
      'after',
      `
Stop the gateway, make an empty database, and set GATEWAY_DATA_DIR and GATEWAY_DATABASE_URL as the gateway will be started with from then on; an address is never an
argument, because it holds a password. Key files stay where they are. Rows are carried in one transaction, read back and compared; after a crash run it again.
The data directory keeps its copy untouched, and no gateway starts on that copy any more. --back undoes this: what has happened in PostgreSQL since is not in the copy, so
that it is treated like a backup that is restored. What works once (permits, sessions, invitations, recovery codes, tokens of assistants) does not work after that, and
payouts to sellers are by hand; what else is to be looked at is named at the end. Where the data had not arrived in PostgreSQL, as that database says, the copy stays as it is.
To go back with all of it, make a backup there and restore it into an empty data directory.`,
    )
    .action(async (options: Options) => {
      if (options.back) return goBack(options)
      const config = loadConfig(process.env)
      const to = await readTarget(options, config)
      if (to === undefined)
        throw new CommandFailure(
          Exit.usage,
          'Where to? Set GATEWAY_DATABASE_URL to the empty database, or name a file that holds its address with --to.',
        )
      const fault = faultOf(config)
      const { acceptFindings } = options
      const report = await runTransfer(config, options, ({ show }) =>
        migrateToPostgres({ config, to, now: Date.now, fault, acceptFindings, onPhase: show }),
      )
      if (options.json) return printJson(report)
      const speed = Math.round(report.rows / Math.max(report.seconds, 0.001))
      printLine(
        report.wasThere
          ? `An earlier run had carried everything to ${report.to} before it was cut off. ${config.dataDir} is marked as moved.`
          : `Moved ${report.rows} rows of ${report.tables} tables to ${report.to} in ${report.seconds.toFixed(1)} s (${speed} a second), read back and equal; every balance is what its ledger adds up to.`,
      )
      for (const finding of report.findings) printLine(`WRONG ALREADY BEFORE: ${finding}.`)
      printLine(
        `Start the gateway with GATEWAY_DATABASE_URL set to that database and GATEWAY_DATA_DIR=${config.dataDir}, where its key files are. The copy there starts no gateway any more; remove ` +
          'gateway.db when you are sure.',
      )
    })
}

async function goBack(options: Options): Promise<void> {
  const { yes, json } = options
  const config = loadConfig(process.env)
  const to = await readTarget(options, config)
  if (!yes)
    await confirm(
      `Use the copy in ${config.dataDir} again? What has happened in PostgreSQL since the move is not in it, and a gateway must not run on both. What works once ends in the copy, and payouts are by hand.`,
      'What has happened in PostgreSQL since the move is not in the copy, and a gateway must not run on both. What works once ends in the copy, and payouts are by hand. If that is what you want: --back --yes',
    )
  const fault = faultOf(config)
  const { moved, aftermath } = await runTransfer(config, { json }, () =>
    moveBack({ config, to, now: Date.now, fault }),
  )
  if (json) return printJson({ ...moved, ...aftermath })
  if (aftermath) {
    const age = describeAge(Date.now() - Date.parse(moved.at))
    const [, ...lines] = describeAftermath(aftermath, { age, event: 'the move' })
    for (const line of [...lines, '']) printLine(line)
  } else printLine(`The data had not arrived in ${moved.to}: the copy is as it was.`)
  printLine(
    `A gateway may start on ${config.dataDir} again. Stop those on ${moved.to}, leave GATEWAY_DATABASE_URL unset, and remove that database: permits, payments and ` +
      'credits would otherwise count twice.',
  )
}

/** The database that the data goes to, or went to. */
async function readTarget({ to }: Options, { databaseUrl, databaseDirectUrl }: Config) {
  if (to !== undefined) return { url: await readAddress(to), directUrl: undefined }
  return databaseUrl === undefined ? undefined : { url: databaseUrl, directUrl: databaseDirectUrl }
}

async function readAddress(file: string): Promise<string> {
  if (/^postgres(?:ql)?:/i.test(file))
    throw new CommandFailure(
      Exit.usage,
      'The address of a database holds its password, and arguments can be read by other users: put it into a file (0600) and name that with --to, or set ' +
        'GATEWAY_DATABASE_URL.',
    )
  const text = await readFile(file, 'utf8').catch(() => {
    throw new CommandFailure(
      Exit.usage,
      `${file} cannot be read: it does not exist, or this user may not read it.`,
    )
  })
  const url = text.trim()
  if (!/^postgres(?:ql)?:\/\/\S+$/.test(url) || !URL.canParse(url))
    throw new CommandFailure(
      Exit.usage,
      `${file} holds no address of a database (postgres://user:password@host/name).`,
    )
  return url
}
