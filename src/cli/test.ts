// `test`: the report of POST /v1/test for a person, for a program (--json), or as a picture (--badge).
import { writeFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { TestReport } from '../../schemas/commerce.ts'
import { drawBadge } from '../commerce/rubric/badge.ts'
import { testTransaction } from '../commerce/rubric/report.ts'
import { CommandFailure, Exit } from './exit.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine, showText } from './output.ts'
import { readSample } from './transactions.ts'

interface TestOptions {
  readonly json?: boolean
  readonly badge?: string
  readonly evaluateAt?: number
}

/** `test FILE`: scores a transaction against the rubric of its protocol, in this process. */
export function addTestCommand(program: Command): void {
  program
    .command('test <file>')
    .description('score a sample transaction: how safe it is to run, and what would make it safer')
    .addOption(jsonOption())
    .option('--evaluate-at <time>', 'RFC 3339; without it windows are judged by their own bounds', parseTime)
    .option('--badge <file>', 'write the score as an SVG')
    .addHelpText(
      'after',
      `
FILE is JSON: {"target": "https://…", "method": "POST", "headers": {…}, "body": …}; a body that is text is the raw body. evaluate_at and
tool_annotations are taken as POST /v1/test takes them, other members are ignored. - reads stdin. x402, MPP, AP2, UCP, ACP and MCP are recognised. Everything happens in this process: no gateway, no network, no key.
Exit code 0: there is a report, whatever its score. 65: FILE is no sample.

Examples:
  agent-gateway test payment.json
  agent-gateway test payment.json --json | jq .score
  agent-gateway test payment.json --badge readiness.svg`,
    )
    .action(test)
}

async function test(file: string, options: TestOptions): Promise<void> {
  const { evaluate_at: evaluateAt, tool_annotations: annotations, ...transaction } = await readSample(file)
  const report = testTransaction(transaction, {
    evaluateAt: options.evaluateAt ?? (evaluateAt === undefined ? undefined : Date.parse(evaluateAt)),
    annotations,
  })
  if (options.badge !== undefined) await writeBadge(options.badge, drawBadge(report))
  if (options.json) printJson(report)
  else printLine(showText(formatReport(report)))
}

async function writeBadge(file: string, svg: string): Promise<void> {
  try {
    await writeFile(file, svg)
  } catch {
    throw new CommandFailure(Exit.failed, `${file} cannot be written by this user.`)
  }
}

/** @returns milliseconds */
function parseTime(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Write a time like 2026-01-15T12:00:00Z.')
  return ms
}

const BAR_CHARS = 20
const bar = (score: number) => {
  const filled = Math.round((score * BAR_CHARS) / 100)
  return '#'.repeat(filled) + '.'.repeat(BAR_CHARS - filled)
}
const words = (name: string) => name.replaceAll('_', ' ')

/** Text from the sample may be in it (names of headers and members, in pointers): the caller escapes what cannot be seen. */
export function formatReport(report: TestReport): string {
  const kind = [report.protocol, report.version, report.stage, report.transport && `over ${report.transport}`]
  const lines = [
    `${report.score}/100  ${words(report.level)}   ${kind.filter((part) => part !== null && part !== '').join(', ')}`,
    '',
  ]
  for (const [name, { score, weight, applicable }] of Object.entries(report.dimensions))
    lines.push(
      applicable
        ? `  ${words(name).padEnd(18)} ${bar(score)} ${String(score).padStart(3)}  (weight ${weight})`
        : `  ${words(name).padEnd(18)} ${'not applicable'.padEnd(BAR_CHARS)}`,
    )
  if (report.caps.length > 0) lines.push('', 'Caps: whatever else is right, the score is not above these.')
  for (const { id, max, at, message } of report.caps)
    lines.push(`  ${id} (at most ${max})${place(at)}: ${message}`)

  const lost = report.checks.filter(({ result }) => result === 'partial' || result === 'fail')
  const own = lost.filter((check) => !check.protocol_limit)
  if (own.length > 0) lines.push('', 'Findings:')
  for (const check of own) lines.push(...describe(check))
  const limits = lost.filter((check) => check.protocol_limit)
  if (limits.length > 0) lines.push('', 'Not the fault of this sample: the protocol has no field for it.')
  for (const check of limits) lines.push(...describe(check))

  if (report.notes.length > 0) lines.push('', 'Notes:')
  for (const { id, at, message } of report.notes) lines.push(`  ${id}${place(at)}: ${message}`)
  lines.push(
    '',
    'By structure alone: no signature was verified and nothing was contacted.',
    `Rules ${report.ruleset_version}, report ${report.report_hash}`,
  )
  return lines.join('\n')
}

const place = (at: string | null) => (at === null || at === '' ? '' : ` at ${at}`)

function describe({
  id,
  points,
  max,
  finding,
  evidence,
  remediation,
  spec,
}: TestReport['checks'][number]): string[] {
  return [
    `  ${id}  ${points} of ${max}${place(evidence)}`,
    `    ${finding ?? ''}`,
    `    -> ${remediation ?? ''}`,
    ...(spec === null ? [] : [`    see ${spec}`]),
  ]
}
