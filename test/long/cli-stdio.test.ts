// `agent-gateway stdio`: which gateway a desktop assistant ends up at. The protocol itself is tested with the MCP door.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { bareEnv, COMMAND, runCli, startCli, startGatewayProcess } from '../support/cli.ts'
import { start } from '../support/process.ts'
import { removeFolder } from '../support/remove-folder.ts'

let folder: string
let dataDir: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stdio-'))
  dataDir = join(folder, 'data')
})
afterEach(() => removeFolder(folder))

const request = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
const INITIALIZE = request(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
})
const CONVERSATION = `${INITIALIZE}${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n${request(2, 'tools/list', {})}`

interface Answer {
  readonly id: number
  readonly result: { readonly serverInfo?: { name: string }; readonly tools?: readonly { name: string }[] }
}

/** Every line of stdout is a message of the protocol. */
const answersOf = (stdout: string): Answer[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer)
    .sort((a, b) => a.id - b.id)

/** A host that starts the server with pipes of its own, says its pid, and shows what it answers. */
const startHost = (env: Record<string, string>, said = INITIALIZE) =>
  start(process.execPath, ['-e', HOST, JSON.stringify([COMMAND, said])], { env: bareEnv(env) })
const untilGone = (pid: number) =>
  vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 60_000, interval: 100 })
const HOST = `
  const [command, first] = JSON.parse(process.argv[1])
  const flags = ['--disable-warning=ExperimentalWarning', command, 'stdio']
  const child = require('node:child_process').spawn(process.execPath, flags, { stdio: ['pipe', 'pipe', 'inherit'] })
  process.stderr.write('pid ' + child.pid + '\\n')
  child.stdout.pipe(process.stdout)
  child.stdin.write(first)
`

const namesOf = (answers: readonly Answer[]) => answers[1]!.result.tools!.map((tool) => tool.name)

describe('stdio', () => {
  it('bridges to the gateway that owns the data directory, with the token of the file', async () => {
    const operatorKey = newToken('sk')
    const gateway = startGatewayProcess({
      PORT: '0',
      GATEWAY_DATA_DIR: dataDir,
      GATEWAY_OPERATOR_KEY: operatorKey,
    })
    try {
      await gateway.listening
      const publicly = await runCli(['stdio'], { GATEWAY_DATA_DIR: dataDir }, CONVERSATION)
      expect(publicly.code).toBe(0)
      expect(publicly.stderr).toContain('bridge to http://localhost:')
      expect(namesOf(answersOf(publicly.stdout))).toContain('gateway_egress_fetch')
      expect(namesOf(answersOf(publicly.stdout))).not.toContain('gateway_egress_credentials_create')

      // Many more answers than a pipe holds are still read to the last.
      const many = Array.from({ length: 60 }, (_, i) => request(i + 3, 'tools/list', {}))
      const all = await runCli(['stdio'], { GATEWAY_DATA_DIR: dataDir }, CONVERSATION + many.join(''))
      expect(answersOf(all.stdout)).toHaveLength(62)

      const file = join(folder, 'token')
      writeFileSync(file, `${operatorKey}\n`)
      for (const given of [{ GATEWAY_TOKEN_FILE: file }, { GATEWAY_TOKEN: operatorKey }]) {
        const operating = await runCli(['stdio'], { GATEWAY_DATA_DIR: dataDir, ...given }, CONVERSATION)
        expect(namesOf(answersOf(operating.stdout))).toContain('gateway_egress_credentials_create')
        expect(operating.stderr).not.toContain(operatorKey)
      }
    } finally {
      gateway.kill('SIGTERM')
      await gateway.ended
    }
  })

  it('runs a sandbox of its own where there is no gateway, and other commands find it', async () => {
    const assistant = startCli(['stdio'], { GATEWAY_DATA_DIR: dataDir })
    assistant.child.stdin!.write(CONVERSATION)
    await assistant.until('stdout', /"id":2/)
    const names = namesOf(answersOf(assistant.stdout()))
    expect(names).toContain('gateway_execute')
    expect(names.filter((name) => name.includes('.'))).toEqual([])
    expect(assistant.stderr()).toContain('SANDBOX')

    const beside = await runCli(['credits', 'balance', '--json'], { GATEWAY_DATA_DIR: dataDir })
    expect(JSON.parse(beside.stdout)).toMatchObject({ balance: 100 })

    assistant.child.stdin!.end()
    expect(await assistant.ended).toEqual({ code: 0, signal: null })
    expect(readdirSync(dataDir)).not.toContain('gateway.json')
  })

  it('runs where nothing can be written, and leaves nothing behind', async () => {
    writeFileSync(join(folder, 'file'), '')
    const { code, stdout, stderr } = await runCli(
      ['stdio'],
      { GATEWAY_DATA_DIR: join(folder, 'file', 'data'), TMPDIR: folder },
      CONVERSATION,
    )
    expect(code, stderr).toBe(0)
    expect(answersOf(stdout)).toHaveLength(2)
    expect(readdirSync(folder)).toEqual(['file'])
  })

  it('ends at SIGTERM although the client keeps its end open', async () => {
    const assistant = startCli(['stdio'], { GATEWAY_DATA_DIR: dataDir })
    assistant.child.stdin!.write(INITIALIZE)
    await assistant.until('stdout', /"id":1/)
    assistant.kill('SIGTERM')
    expect(await assistant.ended).toEqual({ code: 0, signal: null })
  })

  describe.each(['bridge', 'sandbox'] as const)('as a %s, when its host goes away', (kind) => {
    let gateway: ReturnType<typeof startGatewayProcess> | undefined
    beforeEach(async () => {
      gateway = kind === 'bridge' ? startGatewayProcess({ PORT: '0', GATEWAY_DATA_DIR: dataDir }) : undefined
      await gateway?.listening
    })
    afterEach(async () => {
      gateway?.kill('SIGTERM')
      await gateway?.ended
    })
    const env = () => ({ GATEWAY_DATA_DIR: dataDir, GATEWAY_LOG_LEVEL: 'warn' })
    const open = async () => {
      const assistant = startCli(['stdio'], env())
      assistant.child.stdin!.write(INITIALIZE)
      await assistant.until('stdout', /"id":1/)
      return assistant
    }
    const expectQuiet = (stderr: string) =>
      expect(stderr).toMatch(/^agent-gateway stdio: (bridge to|SANDBOX in this process)[^\n]*\n$/)

    it.each([
      ['its end of the input is closed', (child: ChildProcess) => void child.stdin!.end()],
      [
        'nobody reads its output',
        (child: ChildProcess) => {
          child.stdout!.destroy()
          child.stdin!.write(request(2, 'tools/list', {}))
        },
      ],
      ['it is told to end', (child: ChildProcess) => void child.kill('SIGTERM')],
    ])('ends quietly: %s', async (_how, go) => {
      const assistant = await open()
      go(assistant.child)
      expect(await assistant.ended).toEqual({ code: 0, signal: null })
      expectQuiet(assistant.stderr())
    })

    it('ends, and leaves nothing behind, when the process that started it is killed', async () => {
      const host = startHost(env())
      await host.until('stdout', /"id":1/)
      const pid = Number(/pid (\d+)/.exec(host.stderr())?.[1])
      host.kill('SIGKILL')
      await untilGone(pid)
    })
  })

  it('does not wait for the answer to a call whose host was killed', async () => {
    const gateway = createServer((req, res) => {
      req.setEncoding('utf8').on('data', (text: string) => {
        if (!text.includes('"initialize"')) return
        const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'slow' } }
        res
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))
      })
    }).listen(0, '127.0.0.1')
    await once(gateway, 'listening')
    const { port } = gateway.address() as AddressInfo
    const env = { GATEWAY_DATA_DIR: dataDir, GATEWAY_BASE_URL: `http://127.0.0.1:${port}` }
    const host = startHost(env, CONVERSATION)
    await host.until('stdout', /"id":1/)
    const pid = Number(/pid (\d+)/.exec(host.stderr())?.[1])
    host.kill('SIGKILL')
    await untilGone(pid)
    gateway.closeAllConnections()
    gateway.close()
  })

  it.each([
    [
      'a token file that is not there',
      { GATEWAY_TOKEN_FILE: '/nowhere/token' },
      78,
      '/nowhere/token cannot be read',
    ],
    [
      'production without a gateway',
      { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: '' },
      78,
      'GATEWAY_BASE_URL is required',
    ],
  ])('refuses %s in words on stderr', async (_, env, code, words) => {
    const result = await runCli(['stdio'], { GATEWAY_DATA_DIR: dataDir, ...env }, CONVERSATION)
    expect(result).toMatchObject({ code, stdout: '' })
    expect(result.stderr).toContain(words)
  })

  it('refuses a token file that holds something else, and does not quote it', async () => {
    const file = join(folder, 'token')
    writeFileSync(file, 'github_pat_of_somebody\n')
    const result = await runCli(['stdio'], { GATEWAY_DATA_DIR: dataDir, GATEWAY_TOKEN_FILE: file }, '')
    expect(result).toMatchObject({ code: 78, stdout: '' })
    expect(result.stderr).toContain('holds no whole token')
    expect(result.stderr).not.toContain('github_pat')
  })

  it('does not carry a token to another machine in the clear', async () => {
    const file = join(folder, 'token')
    writeFileSync(file, newToken('cap'))
    const env = { GATEWAY_BASE_URL: 'http://gateway.example', GATEWAY_TOKEN_FILE: file }
    const result = await runCli(['stdio'], env, CONVERSATION)
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('in the clear')
  })
})
