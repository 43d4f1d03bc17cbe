// `upgrade-check`: what this release would do to a database that another one wrote, before it is started on it.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { loadConfig } from '../app/config.ts'
import { API_VERSION } from '../core/config.ts'
import { planUpgrade } from '../store/releases.ts'
import { type FoundTables, readTableVersion } from '../store/table-version.ts'
import { CommandFailure, Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine } from './output.ts'

/** Adds the command. */
export function addUpgradeCheckCommand(program: Command): void {
  program
    .command('upgrade-check')
    .description('say what this release would do to the data that another one wrote; changes nothing')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Run the new release's command with the environment that the old one runs with (GATEWAY_DATA_DIR, GATEWAY_DATABASE_URL), while that one serves or not.
It reads one table, tries the locks of PostgreSQL, writes nothing and asks nobody else. Exit code 0: start this release; 1: something has to be done by hand first, and the
lines say what; 78: the configuration, or there is no database where it points.`,
    )
    .action(async ({ json }: { json?: boolean }) => {
      const found = await find()
      // Whoever asks has data. An answer about none would be taken for one about theirs.
      if (found.engine === 'sqlite' && found.undecided === undefined && !existsSync(found.place))
        throw new CommandFailure(
          Exit.config,
          `There is no database in ${dirname(found.place)}. Set GATEWAY_DATA_DIR (or GATEWAY_DATABASE_URL) as the gateway is started with.`,
        )
      const plan = planUpgrade(found.engine, found.reached, API_VERSION, found)
      const byHand = [
        ...(found.undecided === undefined ? [] : [found.undecided]),
        ...(found.obstacle === undefined || (plan.migrations.length === 0 && found.reached > 0)
          ? []
          : [found.obstacle]),
        ...plan.byHand,
      ]
      if (json)
        printJson({
          ok: byHand.length === 0,
          release: API_VERSION,
          engine: found.engine,
          place: found.place,
          table_version: found.reached,
          written_by: plan.writtenBy,
          migrations: plan.migrations,
          side_by_side: plan.sideBySide ?? null,
          by_hand: byHand,
        })
      else {
        const lines = {
          database: `${found.place}, table version ${found.reached}`,
          'written by': plan.writtenBy,
          'this release': API_VERSION,
          migrations: describeMigrations(plan.migrations),
          'side by side': SIDE_BY_SIDE[String(plan.sideBySide) as keyof typeof SIDE_BY_SIDE],
          'by hand':
            byHand.length === 0
              ? 'nothing. Back up before: there is no way back but the backup.'
              : byHand.join('\n              '),
        }
        for (const [name, text] of Object.entries(lines)) printLine(`${name.padEnd(12)}  ${text}`)
      }
      if (byHand.length > 0) process.exitCode = Exit.failed
    })
}

const SIDE_BY_SIDE = {
  true: 'yes: processes of the release before that run go on; one that starts later comes up where it knows of this rule (releases after 5.0.2), else it refuses these tables',
  false: 'no',
  undefined: 'does not arise: one process at a time has this database, so stop the old one first',
}

function describeMigrations(
  migrations: readonly { readonly version: number; readonly name: string }[],
): string {
  const first = migrations[0]
  if (first === undefined) return 'none'
  return `${migrations.length}, from version ${first.version} on: ${migrations.map(({ name }) => name).join(', ')}`
}

/** @throws {CommandFailure} where it cannot be read */
async function find(): Promise<FoundTables> {
  const config = loadConfig(process.env)
  try {
    return await readTableVersion(config)
  } catch (thrown) {
    const code = (thrown as { code?: unknown }).code
    const why = typeof code === 'string' ? ` (${code})` : ''
    throw new CommandFailure(
      Exit.failed,
      config.databaseUrl === undefined
        ? `${config.dataDir}/gateway.db cannot be read as a database of this gateway${why}. \`agent-gateway doctor\` says more.`
        : `The database does not answer, or its tables may not be read${why}. \`agent-gateway doctor\` says more.`,
    )
  }
}
