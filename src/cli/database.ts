// `database`: the tables of a gateway on PostgreSQL that only grow, in partitions by time. Talks to the database itself, with the environment that
// the gateway runs with; gateways go on meanwhile.
import { Argument, type Command, Option } from 'commander'
import { loadConfig } from '../app/config.ts'
import { GatewayError } from '../core/errors.ts'
import { toTimestamp } from '../lib/timestamp.ts'
import { detachPartition } from '../store/postgres/partitions/detach.ts'
import { divideTable } from '../store/postgres/partitions/divide.ts'
import { findDivisions } from '../store/postgres/partitions/catalogue.ts'
import { type PartitionedTable, type Period, PERIODS } from '../store/postgres/partitions/layout.ts'
import {
  openSession,
  type OwnSession,
  type Session,
  withSession,
} from '../store/postgres/partitions/session.ts'
import { CommandFailure, Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { formatTable, printJson, printLine } from './output.ts'

/** By the names that people use. */
const TABLES = { receipts: 'receipts', ledger: 'ledger_entries' } satisfies Record<string, PartitionedTable>

/** `database partition|partitions|detach`. */
export function addDatabaseCommands(program: Command): void {
  const database = program
    .command('database')
    .description('the tables of PostgreSQL that only grow, in partitions by time')

  database
    .command('partition')
    .addArgument(new Argument('<table>').choices(Object.keys(TABLES)))
    .description('divide `receipts` or `ledger` by time, while gateways go on')
    .addOption(new Option('--every <period>', 'how much goes in one').choices([...PERIODS]).default('month'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
What is there becomes the first partition, unmoved. Gateways of this release make those to come, weeks ahead; run no older release
for longer than that. Calls wait for a moment of about 100 ms once. Looking through a large table takes minutes before that and keeps
nobody waiting. What ends it before it is done leaves the table whole: run it again.

Run it with the environment that the gateway runs with (GATEWAY_DATABASE_URL).
Examples:
  agent-gateway database partition receipts --every month
  agent-gateway database partition ledger`,
    )
    .action(async (name: keyof typeof TABLES, options: { every: Period; json?: boolean }) => {
      const table = TABLES[name]
      const first = await onDatabase((session, open) =>
        divideTable(session, {
          openSession: open,
          table,
          period: options.every,
          now: Date.now(),
          say: (step) => void (options.json ?? process.stderr.write(`${step}\n`)),
        }),
      )
      if (options.json) return printJson({ table, partitioned: true, first_partition: first ?? null })
      printLine(
        first === undefined
          ? `${table} is partitioned already: \`agent-gateway database partitions\` lists them.`
          : `${table} is partitioned. What was there is in ${first}.`,
      )
    })

  database
    .command('partitions')
    .description('list partitions with their sizes, oldest first')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
ROWS is the server's own estimate; -1 until it has looked. A partition whose detaching was cut off is named below the table.
Example:
  agent-gateway database partitions`,
    )
    .action(async (options: { json?: boolean }) => {
      const divisions = await onDatabase(findDivisions)
      const rows = divisions.flatMap(({ table, partitions }) =>
        partitions.map(({ name, from, to, rows, bytes, isHalfDetached }) => ({
          table,
          partition: name,
          from: from === undefined ? null : toTimestamp(from),
          to: toTimestamp(to),
          rows,
          bytes,
          half_detached: isHalfDetached,
        })),
      )
      if (options.json) return printJson({ partitions: rows })
      printLine(
        rows.length === 0
          ? 'No table is partitioned. `agent-gateway database partition receipts` begins.'
          : formatTable(rows, ['table', 'partition', 'from', 'to', 'rows', 'bytes']),
      )
      for (const { partition } of rows.filter((row) => row.half_detached))
        printLine(
          `${partition} is half detached: its rows are not found any more. \`agent-gateway database detach ${partition}\` finishes it.`,
        )
    })

  database
    .command('detach <partition>')
    .description('take old receipts out: the partition becomes a table of its own')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Its receipts are no longer found by their ids (what their holders have verifies as before), and nothing is deleted: keep the table
elsewhere with pg_dump, then drop it. Only receipts that are older than 30 days can go. The ledger stays, because balances are its sum.
What ends it before it is done leaves the partition half detached: run it again.

Example:
  agent-gateway database detach receipts_2026_01`,
    )
    .action(async (name: string, options: { json?: boolean }) => {
      await onDatabase((session) => detachPartition(session, name, Date.now()))
      if (options.json) return printJson({ detached: name })
      printLine(
        `${name} is a table of its own now. To keep it elsewhere: pg_dump --table=${name} …, then DROP TABLE ${name}.`,
      )
    })
}

async function onDatabase<T>(
  work: (session: Session, open: () => Promise<OwnSession>) => Promise<T>,
): Promise<T> {
  const { databaseUrl: url, databaseDirectUrl: directUrl } = loadConfig(process.env)
  if (url === undefined)
    throw new CommandFailure(
      Exit.usage,
      'GATEWAY_DATABASE_URL is not set. SQLite keeps everything in one file, which is not partitioned.',
    )
  try {
    const address = { url, directUrl }
    return await withSession(address, (session) => work(session, () => openSession(address)))
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw new CommandFailure(Exit.failed, thrown.message)
    // The server's own words name tables and roles, and no password.
    const { code, message } = thrown as { code?: unknown; message?: unknown }
    throw new CommandFailure(
      Exit.failed,
      `The database refused (${String(code ?? 'no code')}): ${String(message)}`,
    )
  }
}
