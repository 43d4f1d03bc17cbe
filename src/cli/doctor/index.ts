// `doctor`: looks at everything a start or a call needs, says how it is, and what to do. Never prints a secret.
import type { Command } from 'commander'
import { loadConfig } from '../../app/config.ts'
import { describeUnknownVariables } from '../../app/unknown-variables.ts'
import { ConfigError } from '../../core/errors.ts'
import type { Config } from '../../core/config.ts'
import { Exit } from '../exit.ts'
import { jsonOption } from '../options.ts'
import { printJson, printLine } from '../output.ts'
import { findRunning } from '../running.ts'
import { checkDatabase } from './database.ts'
import { checkDocuments } from './documents.ts'
import { checkEdge } from './edge.ts'
import { checkDataDirectory, checkKeyFiles } from './files.ts'
import { type Check, errorCode, fail, type Finding, ok, warn } from './finding.ts'
import { checkBaseUrl, checkDns, checkEgress, checkPort } from './network.ts'
import { checkPayments } from './payments.ts'
import { checkProviders } from './providers.ts'
import { checkClock, checkExtraCertificates, checkRuntime } from './runtime.ts'

const CHECKS: readonly Check[] = [
  checkRuntime,
  checkExtraCertificates,
  checkDataDirectory,
  checkKeyFiles,
  checkDatabase,
  checkDocuments,
  checkClock,
  checkDns,
  checkPort,
  checkBaseUrl,
  checkEgress,
  checkProviders,
  checkEdge,
  checkPayments,
]

/** `doctor`: prints a line for each finding; exit code 1 when one fails. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check configuration, keys, database, clock, DNS, ports, addresses and payments; say what to do',
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Run it with the environment the gateway runs with, beside a running gateway or before the first start.
Each line is ok, warn or fail; warn and fail say what to do. Exit code 1 when something fails. Secrets are checked, never shown.`,
    )
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await examine(process.env)
      if (json) printJson({ ok: !findings.some(isFailure), findings })
      else printFindings(findings)
      if (findings.some(isFailure)) process.exitCode = Exit.failed
    })
}

const isFailure = ({ level }: Finding) => level === 'fail'

/**
 * Runs all checks; a check that throws is a finding of its own.
 * @param env environment variables, as process.env holds them
 */
export async function examine(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const unknown = describeUnknownVariables(env).map((sentence) =>
    warn('configuration', sentence, 'Correct or remove it, unless it is of another program.'),
  )
  let config: Config
  try {
    config = loadConfig(env)
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown
    const problems = thrown.problems.map((problem) =>
      fail('configuration', problem, 'Correct this environment variable.'),
    )
    return [...problems, ...unknown]
  }
  const examined = { config, running: await findRunning(config.dataDir) }
  const findings = [ok('configuration', `${config.mode} mode`), ...unknown]
  for (const check of CHECKS) {
    try {
      findings.push(...(await check(examined)))
    } catch (thrown) {
      // A check that breaks is a finding like any other: the ones after it still matter.
      findings.push(
        fail('doctor', `a check ended early (${errorCode(thrown) ?? 'error'})`, 'Report this as a bug.'),
      )
    }
  }
  return findings
}

function printFindings(findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { level, check, says, todo } of findings) {
    printLine(`${level.padEnd(4)}  ${check.padEnd(width)}  ${says}`)
    if (todo !== undefined) printLine(`${' '.repeat(width + 8)}${todo}`)
  }
  const failures = findings.filter(isFailure).length
  const warnings = findings.filter(({ level }) => level === 'warn').length
  printLine(`\n${failures} failed, ${warnings} to look at, ${findings.length - failures - warnings} ok`)
}
