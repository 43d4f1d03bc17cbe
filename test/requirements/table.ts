// `npm run requirements [report.json ...]`: clause, test and result of every requirement, from vitest's JSON reports. Without a
// report the suites that cite requirements are run first. Ends with 1 where a requirement has no test that passed.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { A2A_REQUIREMENTS } from './a2a.ts'
import { EGRESS_REQUIREMENTS } from './egress.ts'
import type { Requirement } from './levels.ts'
import { MCP_REQUIREMENTS } from './mcp.ts'
import { X402_REQUIREMENTS } from './x402.ts'

const FAMILIES: readonly (readonly [string, Readonly<Record<string, Requirement>>])[] = [
  ['A2A 1.0', A2A_REQUIREMENTS],
  ['MCP 2026-07-28', MCP_REQUIREMENTS],
  ['x402 v2', X402_REQUIREMENTS],
  ['Egress', EGRESS_REQUIREMENTS],
]
const root = fileURLToPath(new URL('../..', import.meta.url))

interface Shown {
  readonly test: string
  readonly isPassed: boolean
}

function run(): string[] {
  const tests = join(root, 'test')
  const citing = readdirSync(tests, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      /^(?:unit|contract|flow|e2e)\b.*\.test\.ts$/.test(name) &&
      /\b(?:verifies|cites)\(/.test(readFileSync(join(tests, name), 'utf8')),
  )
  const folder = mkdtempSync(join(tmpdir(), 'gateway-requirements-'))
  const report = join(folder, 'report.json')
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const options = ['run', '-c', 'test/vitest.config.ts', '--reporter=json', `--outputFile.json=${report}`]
  try {
    execFileSync(process.execPath, [vitest, ...options, ...citing.map((name) => `test/${name}`)], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } catch {
    // What failed is in the report.
  }
  const read = readFileSync(report, 'utf8')
  rmSync(folder, { recursive: true })
  return [read]
}

/** Tests by the ids that stand in brackets at the end of their titles. */
function showing(reports: readonly string[]): Map<string, Shown[]> {
  const found = new Map<string, Shown[]>()
  for (const report of reports) {
    const { testResults } = JSON.parse(report) as {
      testResults: { name: string; assertionResults: { title: string; status: string }[] }[]
    }
    for (const { name, assertionResults } of testResults)
      for (const { title, status } of assertionResults) {
        const [, sentence, ids] = /^(.*) \[([\w:-]+(?:, [\w:-]+)*)\]$/s.exec(title) ?? []
        if (sentence === undefined || ids === undefined) continue
        const shown = { test: `${relative(root, name)}: ${sentence}`, isPassed: status === 'passed' }
        for (const id of ids.split(', ')) found.set(id, [...(found.get(id) ?? []), shown])
      }
  }
  return found
}

function resultOf({ level, outside }: Requirement, tests: readonly Shown[]): string {
  if (outside !== undefined) return `outside: ${outside}`
  if (tests.length === 0) return level === 'MUST' ? '**no test**' : 'no test'
  const failed = tests.filter(({ isPassed }) => !isPassed).length
  return failed === 0 ? `${tests.length} passed` : `**${failed} of ${tests.length} failed**`
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const given = process.argv.slice(2)
const found = showing(given.length > 0 ? given.map((file) => readFileSync(file, 'utf8')) : run())
let shown = 0
let open = 0
for (const [family, requirements] of FAMILIES) {
  console.log(
    `\n## ${family}\n\n| id | clause | requirement | test | result |\n| --- | --- | --- | --- | --- |`,
  )
  for (const [id, requirement] of Object.entries(requirements)) {
    const tests = found.get(id) ?? []
    const result = resultOf(requirement, tests)
    if (result.startsWith('**')) open++
    else if (result.endsWith('passed')) shown++
    const { level, section, behaviour } = requirement
    const first = tests[0]?.test ?? ''
    console.log(
      `| ${[id, section, `${level}: ${behaviour}`, first.slice(0, 160), result].map(cell).join(' | ')} |`,
    )
  }
}
console.log(`\n${shown} requirements are shown by tests that passed, ${open} are not.`)
process.exitCode = open === 0 ? 0 : 1
