// Runs the official MCP suite against the real server with the fixtures that the suite calls, for both requirement sets, and prints
// `N passed, N failed`. `node test/conformance/mcp.ts`: serve.ts starts the gateway. product.ts runs it without fixtures.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { conform, requiredScenarios, type Revision, REVISIONS, root, runSuite, type Tally } from './suite.ts'

const MAX_EXPECTED_FAILURES = 5

await conform(
  [join(root, 'test/conformance/serve.ts')],
  { GATEWAY_RATE_LIMIT: '0' },
  async (url, directory, tally) => {
    await checkExpectedFailures()
    for (const revision of REVISIONS) await check(revision, url, directory, tally)
  },
)

async function checkExpectedFailures(): Promise<void> {
  const lists = await Promise.all(REVISIONS.map((revision) => readFile(expectedFailures(revision), 'utf8')))
  const entries = lists.join('\n').match(/^\s*- \S/gm) ?? []
  if (entries.length > MAX_EXPECTED_FAILURES)
    throw new Error(`${entries.length} expected failures; at most ${MAX_EXPECTED_FAILURES} are allowed`)
}

function expectedFailures(revision: Revision): string {
  return join(root, `test/conformance/mcp-${revision}.yml`)
}

async function check(revision: Revision, url: string, directory: string, tally: Tally): Promise<void> {
  const { code, output } = await runSuite(revision, url, directory, [
    '--expected-failures',
    expectedFailures(revision),
  ])
  const summary = output.slice(output.indexOf('=== SUMMARY ==='))
  const before = { ...tally }
  for (const name of await requiredScenarios(revision)) {
    const counts = new RegExp(`^\\S+ ${name}: (\\d+) passed, (\\d+) failed`, 'm').exec(summary)
    tally.passed += Number(counts?.[1] ?? 0)
    tally.failed += counts ? Number(counts[2]) : 1
    if (!counts) console.log(`${revision}: ${name} is required and was not run`)
  }
  // The exit code also knows of stale entries, and of a suite that did not get as far as a summary.
  if (code !== 0 && tally.failed === before.failed) tally.failed++
  console.log(
    `${revision}: ${tally.passed - before.passed} required checks passed, ${tally.failed - before.failed} failed`,
  )
  if (tally.failed > before.failed) console.log(output.slice(-8000))
}
