// `doctor`: looks at everything a start or a call needs, says how it is, and what to do. Never prints a secret. The checks are those of src/app/doctor,
// which the console shows too.
import type { Command } from 'commander'
import { examine } from '../app/doctor/examine.ts'
import type { Finding } from '../app/doctor/finding.ts'
import { Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine } from './output.ts'
import type { TrialFinding } from './run/programs.ts'
import { tryProgram } from './run/trial.ts'

/** `doctor`: prints a line for each finding; exit code 1 when one fails. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'check configuration, keys, database, clock, DNS, ports, addresses and payments; say what to do',
    )
    .argument('[program]', 'says instead whether this program can be run with `agent-gateway run`')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Run it with the environment the gateway runs with, beside a running gateway or before the first start.
Each line is ok, warn or fail; warn and fail say what to do. Exit code 1 when something fails. Secrets are checked, never shown.
With a program (\`doctor -- curl\`) it is made to call an address that this command answers: whether it takes the proxy and trusts its certificates.`,
    )
    .action(async (program: string | undefined, { json }: { json?: boolean }) => {
      const findings =
        program === undefined
          ? await examine(process.env)
          : toFindings(program, await tryProgram(program, process.env))
      if (json) printJson({ ok: !findings.some(isFailure), findings })
      else printFindings(findings)
      if (findings.some(isFailure)) process.exitCode = Exit.failed
    })
}

const toFindings = (check: string, found: readonly TrialFinding[]): readonly Finding[] =>
  found.map(({ level, says }) => ({ level, check, says }))

const isFailure = ({ level }: Finding) => level === 'fail'

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
