// `doctor`: looks at everything a start or a call needs, says how it is, and what to do. Never prints a secret. The checks are those of src/app/doctor,
// which the console shows too.
import type { Command } from 'commander'
import { examine } from '../app/doctor/examine.ts'
import type { Finding } from '../app/doctor/finding.ts'
import { Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine } from './output.ts'

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
