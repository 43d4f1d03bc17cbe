// `test`: the report of POST /v1/test for a person, for programs and for continuous integration (--format), or as a picture (--badge).
import { writeFile } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { TestReport } from '../../schemas/commerce.ts'
import { drawBadge } from '../commerce/rubric/badge.ts'
import { CommandFailure, Exit } from './exit.ts'
import { jsonOption, parseInteger } from './options.ts'
import { printJson, printLine, showText } from './output.ts'
import { formatGithub } from './testing/github.ts'
import { exitCodeOf, isFaulty, judgeFiles, listFailures, type Outcome } from './testing/outcome.ts'
import { findSamples, isFolder } from './testing/samples.ts'
import { toSarif } from './testing/sarif.ts'
import { watchSamples } from './testing/watch.ts'

type Format = 'text' | 'json' | 'sarif' | 'github'

interface TestOptions {
  readonly json?: boolean
  readonly format: Format
  readonly minScore?: number
  readonly badge?: string
  readonly evaluateAt?: number
  readonly watch?: boolean
}

/** `test FILE…`: scores transactions against the rubric of their protocol, in this process. */
export function addTestCommand(program: Command): void {
  program
    .command('test <file...>')
    .description('score sample transactions: how safe they are to run, and what would make them safer')
    .addOption(
      new Option('--format <format>', 'what is printed')
        .choices(['text', 'json', 'sarif', 'github'])
        .default('text'),
    )
    .addOption(jsonOption().conflicts('format'))
    .option('--min-score <n>', 'fail unless every sample scores as much', parseInteger(0, 100))
    .option('--watch', 'run again whenever a file changes, until Ctrl-C')
    .option('--evaluate-at <time>', 'RFC 3339; without it windows are judged by their own bounds', parseTime)
    .option('--badge <file>', 'write the score of the one sample as an SVG')
    .addHelpText(
      'after',
      `
FILE is JSON: {"target": "https://…", "method": "POST", "headers": {…}, "body": …}; a body that is text is the raw body. evaluate_at and
tool_annotations are taken as the tool gateway.test takes them, other members are ignored. - reads stdin. A folder stands for every .json file in it
and below, except in node_modules and in names that begin with a dot. x402, MPP, AP2, UCP, ACP and MCP are recognised. Everything happens
in this process: no gateway, no network, no key.
--json: of one FILE the report of the tool gateway.test itself; of several, as --format json. json: {"passed", "min_score", "files": [{"file", "report"}]}.
sarif: SARIF 2.1.0. github: workflow commands, which annotate the lines of a pull request. sarif and github name files from GITHUB_WORKSPACE
on, where that is set, else from the working directory.
Exit code 0: there is a report of every file, and no score is below --min-score. 1: a score is below, or what has to score is no transaction.
2: wrong usage, or a file cannot be read. 65: a file is no sample, or a folder holds none. --watch ends with 0.

Examples:
  agent-gateway test payment.json
  agent-gateway test payment.json --json | jq .score
  agent-gateway test payment.json --badge readiness.svg
  agent-gateway test samples/ --min-score 75 --format github
  agent-gateway test samples/ --watch`,
    )
    .action(test)
}

async function test(names: readonly string[], options: TestOptions): Promise<void> {
  await refuseContradictions(names, options)
  if (!options.watch) return runOnce(names, options)
  const stop = new AbortController()
  const abort = () => stop.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, abort)
  await watchSamples({ names, signal: stop.signal, run: () => runInWatch(names, options) })
  // A watch is ended by whoever started it: whatever was found last was shown, and is no failure of the watch.
  process.exitCode = Exit.ok
}

async function refuseContradictions(names: readonly string[], options: TestOptions): Promise<void> {
  const refuse = (words: string) => {
    throw new CommandFailure(Exit.usage, words)
  }
  if (options.watch && (options.json || options.format !== 'text')) refuse('--watch shows text.')
  if (options.watch && names.includes('-')) refuse('--watch watches files: stdin is read once.')
  if (options.badge !== undefined && (names.length > 1 || (await isFolder(names[0] ?? ''))))
    refuse('--badge draws the score of one sample: name one file.')
}

async function runOnce(names: readonly string[], options: TestOptions): Promise<void> {
  const outcome = await judge(names, options)
  const [only] = outcome.files
  const isOne = names.length === 1 && outcome.files.length === 1 && only?.file === names[0]
  // Nothing but its fault can be said of a single file without a report.
  if (isOne && only && isFaulty(only) && (options.json || options.format === 'text')) throw only.failure
  if (options.badge !== undefined && only && !isFaulty(only))
    await writeBadge(options.badge, drawBadge(only.report))
  if (options.json && isOne && only && !isFaulty(only)) printJson(only.report)
  else print(outcome, options.json ? 'json' : options.format)
  const failures = listFailures(outcome)
  if (failures.length === 0) return
  // The documents say themselves what failed, and where they are read as orders nothing else may be printed.
  if (!options.json && options.format !== 'text') process.exitCode = exitCodeOf(outcome)
  else throw new CommandFailure(exitCodeOf(outcome), showText(failures.map(inOneLine).join('\n')))
}

async function judge(names: readonly string[], { minScore, evaluateAt }: TestOptions): Promise<Outcome> {
  return judgeFiles(await findSamples(names), { minScore, evaluateAt })
}

const CLEAR = '\u001b[2J\u001b[3J\u001b[H'

/** What is wrong with a file is shown, and the next change may mend it. */
async function runInWatch(names: readonly string[], options: TestOptions): Promise<void> {
  if (process.stdout.isTTY) process.stdout.write(CLEAR)
  try {
    await runOnce(names, options)
  } catch (thrown) {
    if (!(thrown instanceof CommandFailure)) throw thrown
    printLine(showText(`\n${thrown.message}`))
  }
  printLine('\nWaiting for changes; Ctrl-C ends it.')
}

function print(outcome: Outcome, format: Format): void {
  if (format === 'json') printJson(toDocument(outcome))
  else if (format === 'sarif') printJson(toSarif(outcome, uriOf))
  else if (format === 'github') printLine(formatGithub(outcome, pathOf))
  else printLine(showText(formatOutcome(outcome)))
}

const toDocument = (outcome: Outcome) => ({
  passed: exitCodeOf(outcome) === Exit.ok,
  min_score: outcome.minScore ?? null,
  files: outcome.files.map((file) =>
    isFaulty(file)
      ? { file: file.file, report: null, problem: file.failure.problem ?? { detail: file.failure.message } }
      : { file: file.file, report: file.report },
  ),
})

/** Where the checkout is, if it is one: a workflow may have gone into a folder of it. */
const rootFolder = () => process.env['GITHUB_WORKSPACE'] || process.cwd()

function pathOf(file: string): string | undefined {
  if (file === '-') return undefined
  const path = relative(rootFolder(), resolve(file))
  return path.startsWith('..') || isAbsolute(path) ? resolve(file) : path.split(sep).join('/')
}

function uriOf(file: string): string | undefined {
  const path = pathOf(file)
  if (path === undefined || isAbsolute(path)) return path && pathToFileURL(path).href
  return path.split('/').map(encodeURIComponent).join('/')
}

/** Several reports under the names of their files, and in the end what failed. */
function formatOutcome({ files, minScore }: Outcome): string {
  const [only] = files
  if (files.length === 1 && only && !isFaulty(only)) return formatReport(only.report)
  const parts = files.map((file) =>
    isFaulty(file)
      ? `== ${inOneLine(file.file)}\n\n${file.failure.message}\n`
      : `== ${inOneLine(file.file)}\n\n${formatReport(file.report)}\n`,
  )
  const failed = listFailures({ files, minScore }).length
  return [...parts, `${files.length} tested, ${failed} failed.`].join('\n')
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

const place = (at: string | null) => (at === null || at === '' ? '' : ` at ${inOneLine(at)}`)

/** A name with a line break in it would begin a line of its own, which a runner of workflows may take for an order. */
const inOneLine = (text: string) => text.replaceAll('\n', '\\u{a}')

function describe({
  id,
  points,
  max,
  finding,
  evidence,
  remediation,
  fragment,
  spec,
}: TestReport['checks'][number]): string[] {
  return [
    `  ${id}  ${points} of ${max}${place(evidence)}`,
    `    ${finding ?? ''}`,
    `    -> ${remediation ?? ''}`,
    ...(fragment === null ? [] : fragment.split('\n').map((line) => `       ${line}`)),
    ...(spec === null ? [] : [`    see ${spec}`]),
  ]
}
