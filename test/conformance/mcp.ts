// Runs the official MCP suite against the real server, for both requirement sets, and prints `N passed, N failed`.
// `node test/conformance/mcp.ts`: serve.ts starts the gateway with the tools that the suite calls.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { removeFolder } from '../support/remove-folder.ts'

const REVISIONS = ['2025-11-25', '2026-07-28']
const MAX_EXPECTED_FAILURES = 5
const root = new URL('../..', import.meta.url).pathname
const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const directory = await mkdtemp(join(tmpdir(), 'gateway-conformance-'))

let passed = 0
let failed = 0
let server: ChildProcess | undefined
try {
  await checkExpectedFailures()
  const started = await startServer()
  server = started.server
  for (const revision of REVISIONS) await runSuite(revision, `${started.url}/mcp`)
} catch (thrown) {
  failed++
  console.error(thrown instanceof Error ? thrown.message : thrown)
} finally {
  if (server && server.exitCode === null && server.kill('SIGTERM')) await once(server, 'exit')
  await removeFolder(directory)
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

async function checkExpectedFailures(): Promise<void> {
  const lists = await Promise.all(REVISIONS.map((revision) => readFile(expectedFailures(revision), 'utf8')))
  const entries = lists.join('\n').match(/^\s*- \S/gm) ?? []
  if (entries.length > MAX_EXPECTED_FAILURES)
    throw new Error(`${entries.length} expected failures; at most ${MAX_EXPECTED_FAILURES} are allowed`)
}

function expectedFailures(revision: string): string {
  return join(root, `test/conformance/mcp-${revision}.yml`)
}

async function startServer(): Promise<{ server: ChildProcess; url: string }> {
  const child = spawn(process.execPath, [join(root, 'test/conformance/serve.ts')], {
    env: {
      ...process.env,
      PORT: '0',
      GATEWAY_DATA_DIR: join(directory, 'data'),
      GATEWAY_RATE_LIMIT: '0',
      GATEWAY_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line)
        const match = /listening on (https?:\/\/\S+)/.exec(line)
        if (match) resolve(match[1]!)
      })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${said.join('\n')}`)))
  })
  return { server: child, url }
}

/** What the revision requires of a server; the suite runs more than that, and does not score it. */
async function requiredScenarios(revision: string): Promise<string[]> {
  const text = await readFile(join(suite, '../../requirements', `${revision}.yaml`), 'utf8')
  const list = /^server:\n((?: +- .+\n)+)/m.exec(text)?.[1] ?? ''
  return [...list.matchAll(/- (\S+)/g)].map((match) => match[1]!)
}

async function runSuite(revision: string, url: string): Promise<void> {
  const args = ['server', '--url', url, '--requirements', revision, '--output-dir', join(directory, revision)]
  const child = spawn(process.execPath, [suite, ...args, '--expected-failures', expectedFailures(revision)], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]

  const summary = output.slice(output.indexOf('=== SUMMARY ==='))
  const before = { passed, failed }
  for (const name of await requiredScenarios(revision)) {
    const counts = new RegExp(`^\\S+ ${name}: (\\d+) passed, (\\d+) failed`, 'm').exec(summary)
    passed += Number(counts?.[1] ?? 0)
    failed += counts ? Number(counts[2]) : 1
    if (!counts) console.log(`${revision}: ${name} is required and was not run`)
  }
  // The exit code also knows of stale entries, and of a suite that did not get as far as a summary.
  if (code !== 0 && failed === before.failed) failed++
  console.log(
    `${revision}: ${passed - before.passed} required checks passed, ${failed - before.failed} failed`,
  )
  if (failed > before.failed) console.log(output.slice(-8000))
}
