// A run whose gateway gives it nothing: the program and the summary are told why.
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { CommandFailure, Exit } from '../../src/cli/exit.ts'
import { runProgram } from '../../src/cli/run/session.ts'
import { nodeProgram } from '../support/programs.ts'
import { removeFolder } from '../support/remove-folder.ts'
import { EMPTY_HOLDER, runIn } from '../support/run-alone.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-gateway-'))
})
afterAll(() => removeFolder(folder))

let said: string
beforeEach(() => {
  said = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => (said += String(text)) !== '')
})
afterEach(() => vi.restoreAllMocks())

const DOWN = new CommandFailure(Exit.unreachable, 'No gateway answers at http://localhost:1.')
const refused = (status: number, detail: string, more = {}) =>
  new CommandFailure(Exit.failed, 'several\nlines', {
    code: 'some_code',
    title: 'No',
    status,
    detail,
    ...more,
  })

/** Runs a program that calls a host once, and prints the status, what it may wait, and the words. */
async function run(failure: CommandFailure, at: 'covers' | 'find') {
  const summaryFile = join(folder, 'summary.json')
  const fail = () => Promise.reject(failure)
  const file = join(folder, 'answer.json')
  const program = nodeProgram('fetch', 'https://api.example.com/v1').replace(
    /console\.log\(response.*\n/,
    `const { writeFileSync } = await import('node:fs')
    writeFileSync(${JSON.stringify(file)}, JSON.stringify([response.status, response.headers.get('retry-after'), await response.json()]))
`,
  )
  const exitCode = await runProgram({
    client: { url: 'http://localhost:1', call: async () => ({ providers: [] }) as never, get: fail },
    holder: { ...EMPTY_HOLDER, ...(at === 'covers' && { covers: fail }), find: fail },
    ...runIn(folder, program),
    unknown: 'tunnel',
    summaryFile,
  })
  const summary = JSON.parse(await readFile(summaryFile, 'utf8'))
  return { exitCode, summary, answer: async () => JSON.parse(await readFile(file, 'utf8')) }
}

describe('a run whose gateway gives it nothing', () => {
  it.each([
    [503, null, 'upstream_unreachable', 'No gateway answers at http://localhost:1.', DOWN],
    [503, null, 'upstream_unreachable', 'The gateway failed.', refused(500, 'The gateway failed.')],
    [429, '7', 'rate_limited', 'Too many.', refused(429, 'Too many.', { retry_after_seconds: 7 })],
    [403, null, 'scope_denied', 'No such credential.', refused(404, 'No such credential.')],
  ])('tells the program and the summary why, with %d', async (status, retryAfter, code, detail, failure) => {
    const { exitCode, summary, answer } = await run(failure, 'find')
    expect(exitCode).toBe(0)
    expect(await answer()).toEqual([status, retryAfter, expect.objectContaining({ code, detail })])
    expect(summary.refused).toEqual([{ host: 'api.example.com', code, detail, times: 1 }])
    expect(said).toContain(`api.example.com  refused: ${detail}`)
    expect(said).not.toContain('nothing was called')
  })

  it('refuses the connection in the same words, where the host is asked about first', async () => {
    const { exitCode, summary } = await run(DOWN, 'covers')
    expect(exitCode).toBe(9)
    expect(summary.refused).toMatchObject([
      { host: 'api.example.com:443', code: 'upstream_unreachable', detail: DOWN.message },
    ])
  })
})
