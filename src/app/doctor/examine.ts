// All checks of the doctor, one after the other.
import { ConfigError } from '../../core/errors.ts'
import type { Config } from '../../core/config.ts'
import { loadConfig } from '../config.ts'
import { findRunning } from '../running.ts'
import { describeUnknownVariables } from '../unknown-variables.ts'
import { checkDatabase } from './database.ts'
import { checkDocuments } from './documents.ts'
import { checkEdge } from './edge.ts'
import { checkDataDirectory, checkKeyFiles } from './files.ts'
import { type Check, errorCode, type Examined, fail, type Finding, ok, warn } from './finding.ts'
import { checkBaseUrl, checkDns, checkEgress, checkPort } from './network.ts'
import { checkPayments } from './payments.ts'
import { checkProviders } from './providers.ts'
import { checkRedis } from './redis.ts'
import { checkClock, checkCoreDumps, checkExtraCertificates, checkRuntime, checkSigners } from './runtime.ts'

const CHECKS: readonly Check[] = [
  checkRuntime,
  checkSigners,
  checkExtraCertificates,
  checkCoreDumps,
  checkDataDirectory,
  checkKeyFiles,
  checkDatabase,
  checkRedis,
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

/**
 * Judges the environment, and runs all checks where it makes a configuration.
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
  return [
    ok('configuration', `${config.mode} mode`),
    ...unknown,
    ...(await examineAll({ config, running: await findRunning(config.dataDir) })),
  ]
}

/** Runs all checks on a configuration that is valid; a check that throws is a finding of its own. */
export async function examineAll(examined: Examined): Promise<readonly Finding[]> {
  const findings: Finding[] = []
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
