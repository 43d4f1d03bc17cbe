// With --json whatever stands in the way of a command is one JSON document on stderr, and stdout stays empty.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { run } from '../../../src/cli/program.ts'

beforeEach(() => {
  vi.stubEnv('GATEWAY_DATA_DIR', join(tmpdir(), 'no-data-of-json-problems'))
})
afterEach(() => {
  vi.unstubAllEnvs()
})

/** Runs a command in this process, and leaves no exit code behind. */
async function runHere(command: string) {
  const said = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      said[name] += String(text)
      return true
    })
  const before = process.exitCode
  process.exitCode = 0
  try {
    await run(command.split(' '))
    return { code: process.exitCode, ...said }
  } finally {
    process.exitCode = before
    vi.restoreAllMocks()
  }
}

describe('a problem of the configuration', () => {
  beforeEach(() => {
    vi.stubEnv('GATEWAY_MODE', 'frob')
  })

  it.each([
    'backup',
    'restore x',
    'migrate',
    'upgrade-check',
    'people recover',
    'keys list',
    'database partitions',
  ])('of `%s --json` is JSON', async (command) => {
    const { code, stdout, stderr } = await runHere(`${command} --json`)
    expect([code, stdout]).toEqual([78, ''])
    expect(JSON.parse(stderr)).toEqual({ error: expect.stringContaining('GATEWAY_MODE'), exit_code: 78 })
  })

  it('is in words without it', async () => {
    const { code, stderr } = await runHere('keys list')
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(/^agent-gateway: The configuration has 1 problem/m),
    ])
  })
})

describe('wrong usage', () => {
  it.each([
    ['keys list --json --frob', "unknown option '--frob'"],
    ['credits grant --json', "missing required argument 'amount'"],
    ['keys create --json --role king', "argument 'king' is invalid"],
    ['keys lst --json', "unknown command 'lst'"],
    ['keys list --limit 0 --json', 'from 1 to 100'],
  ])('of `%s` is JSON', async (command, words) => {
    const { code, stdout, stderr } = await runHere(command)
    expect([code, stdout]).toEqual([2, ''])
    expect(JSON.parse(stderr)).toEqual({ error: expect.stringContaining(words), exit_code: 2 })
    expect(stderr).not.toContain('error: ')
  })

  it.each(['keys list --frob', 'serve --json', 'stdio --json'])('of `%s` is in words', async (command) => {
    const { code, stdout, stderr } = await runHere(command)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^error: unknown option '--\w+'\n\(--help shows/)
  })

  it('is no word for help', async () => {
    const { code, stdout, stderr } = await runHere('keys list --json --help')
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining('Usage:'), ''])
  })
})
