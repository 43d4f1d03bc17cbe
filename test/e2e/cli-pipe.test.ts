// Output that nobody reads to its end, `agent-gateway … | head`, and output that has no room.
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runShell, startCli } from '../support/cli.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

it.each(['--help', '--version', 'permits prepare --help'])(
  'ends `%s` without a word when its reader has gone',
  async (command) => {
    const started = startCli(command.split(' '), {})
    started.child.stdout!.destroy()
    await once(started.child, 'exit')
    expect({ code: started.child.exitCode, stderr: started.stderr() }).toEqual({ code: 0, stderr: '' })
  },
)

it('says that there is no room, without a stack', async () => {
  expect(await runShell('agent-gateway --version > /dev/full', {})).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^agent-gateway: Stdout takes no more \(ENOSPC\): [^\n]+\n$/),
  })
})

describe('what is of no use in part', () => {
  const commands = ['backup --out -', 'audit export', 'payments export']
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startTestGateway()
  })
  afterAll(() => gateway.close())
  const run = (script: string) =>
    runShell(script, {
      GATEWAY_BASE_URL: gateway.baseUrl,
      GATEWAY_OPERATOR_KEY: gateway.operatorKey,
      GATEWAY_DATA_DIR: gateway.env['GATEWAY_DATA_DIR']!,
    })

  it.each(commands)('`%s` fails in words when its reader has gone', async (command) => {
    // A pipe whose reader has gone before anything is written.
    const { code, stderr } = await run(`exec 3> >(true); wait $!; agent-gateway ${command} >&3`)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^agent-gateway: What reads stdout went away [^\n]+ Run this again[^\n]+\n$/),
    ])
  })

  it.each(commands)('`%s` fails in words when there is no room', async (command) => {
    const { code, stderr } = await run(`agent-gateway ${command} > /dev/full`)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^agent-gateway: Stdout takes no more \(ENOSPC\): [^\n]+\n$/),
    ])
  })

  it('says so to programs as JSON', async () => {
    const { code, stderr } = await run('agent-gateway payments export --json > /dev/full')
    expect([code, JSON.parse(stderr)]).toEqual([
      1,
      { error: expect.stringContaining('ENOSPC'), exit_code: 1 },
    ])
  })

  it('is written whole to a reader that takes its time', async () => {
    const { code, stdout, stderr } = await run(
      'agent-gateway backup --out - | { sleep 0.2; zcat | tail -1; }; exit ${PIPESTATUS[0]}',
    )
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining('rows'),
      expect.stringMatching(/^\d+ rows, \d+ bytes, sha256 /),
    ])
  })
})
