// The official MCP suite against a server of ours: starts the server, runs one requirement set, reads what each check said.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { removeFolder } from '../support/remove-folder.ts'

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const
export type Revision = (typeof REVISIONS)[number]

export const root = new URL('../..', import.meta.url).pathname
export const suiteProgram = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

export interface Tally {
  passed: number
  failed: number
}

/** What one run of the suite said. */
export interface Run {
  readonly code: number | null
  readonly output: string
  /** What the checks that failed said, by scenario and id; a scenario without any has none. */
  readonly failures: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly passed: number
}

/**
 * Starts a server, hands its address over and ends it; prints `N passed, N failed`, which .ci/run reads.
 * @param program script and arguments of the server, which says where it listens
 */
export async function conform(
  program: readonly string[],
  env: Readonly<Record<string, string>>,
  check: (url: string, directory: string, tally: Tally) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-conformance-'))
  const tally: Tally = { passed: 0, failed: 0 }
  let server: ChildProcess | undefined
  try {
    const started = await startServer(program, { ...env, GATEWAY_DATA_DIR: join(directory, 'data') })
    server = started.server
    await check(`${started.url}/mcp`, directory, tally)
  } catch (thrown) {
    tally.failed++
    console.error(thrown instanceof Error ? thrown.message : thrown)
  } finally {
    if (server && server.exitCode === null && server.kill('SIGTERM')) await once(server, 'exit')
    await removeFolder(directory)
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed`)
  process.exitCode = tally.failed === 0 && tally.passed > 0 ? 0 : 1
}

async function startServer(
  program: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ server: ChildProcess; url: string }> {
  const child = spawn(process.execPath, program, {
    cwd: root,
    env: { ...process.env, PORT: '0', GATEWAY_LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        said.push(line)
        const [, found] = /(https?:\/\/(?:127\.0\.0\.1|localhost):\d+)/.exec(line) ?? []
        if (found !== undefined) resolve(found)
      })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${said.join('\n')}`)))
  })
  return { server: child, url }
}

/** What the revision requires of a server; the suite runs more than that, and does not score it. */
export async function requiredScenarios(revision: Revision): Promise<string[]> {
  const text = await readFile(join(suiteProgram, '../../requirements', `${revision}.yaml`), 'utf8')
  const [, list = ''] = /^server:\n((?: +- .+\n)+)/m.exec(text) ?? []
  return [...list.matchAll(/- (\S+)/g)].flatMap(([, name]) => name ?? [])
}

/** @param options further arguments of the suite */
export async function runSuite(
  revision: Revision,
  url: string,
  directory: string,
  options: readonly string[] = [],
): Promise<Run> {
  const out = join(directory, revision)
  const args = ['server', '--url', url, '--requirements', revision, '--output-dir', out, ...options]
  const child = spawn(process.execPath, [suiteProgram, ...args], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const [code] = (await once(child, 'close')) as [number | null]
  const failures = new Map<string, ReadonlyMap<string, string>>()
  let passed = 0
  for (const folder of await readdir(out).catch(() => [])) {
    const [, scenario] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder) ?? []
    if (scenario === undefined) continue
    const checks = JSON.parse(await readFile(join(out, folder, 'checks.json'), 'utf8')) as {
      id: string
      status: string
      errorMessage?: string
    }[]
    passed += checks.filter(({ status }) => status === 'SUCCESS').length
    const failed = checks.filter(({ status }) => status === 'FAILURE')
    failures.set(scenario, new Map(failed.map(({ id, errorMessage = '' }) => [id, errorMessage])))
  }
  return { code, output, failures, passed }
}
