// `agent-gateway run`: an unmodified program from its start to the summary, against a running gateway.
import { execFile } from 'node:child_process'
import { constants, writeSync } from 'node:fs'
import { open, readFile, readdir, watch, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runCli, runShell, startCli } from '../support/cli.ts'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { sendConnect } from '../support/proxy-client.ts'
import { nodeClients, nodeProgram, runNode } from '../support/programs.ts'
import { type RunCommand, startRunCommand } from '../support/run-command.ts'
import { serveWebSockets } from '../support/websocket.ts'

const SECRET = 'real-secret-0123456789abcdef'

let command: RunCommand
let gateway: TestGateway
let folder: string
let env: RunCommand['env']
let credentialId: string

beforeAll(async () => {
  command = await startRunCommand()
  ;({ gateway, folder, env } = command)
  ;({ credentialId } = await gateway.grant({ secret: SECRET, credential: { label: 'upstream' } }))
})
afterAll(() => command.close())

const node = (program: string) => ['--', process.execPath, '--input-type=module', '-e', program]
const summaryIn = async (file: string) => JSON.parse(await readFile(file, 'utf8'))
const liveRuns = async () => {
  const { body } = await gateway.rest('GET', '/v1/egress/capabilities?limit=100')
  return body.capabilities.filter(
    (one: { label: string; revoked_at: string | null }) =>
      one.label.startsWith('run ') && one.revoked_at === null,
  )
}

async function runFolderMade(): Promise<void> {
  for await (const { filename } of watch(folder)) if (filename?.startsWith('agent-gateway-run-')) return
}

// Each starts the whole command line from source, which a busy machine takes its time for.
describe('agent-gateway run', () => {
  it('serves programs with each of the clients of Node, and says what happened', async () => {
    const summary = join(folder, 'summary.json')
    const programs = nodeClients.map((client) =>
      nodeProgram(client, gateway.url(`/${client}`), { authorization: 'Bearer placeholder' }),
    )
    const program = programs.map((text) => `{ ${text} }`).join('\n')
    const ended = await runCli(
      ['run', '--credential', 'upstream', '--summary', summary, ...node(program)],
      env,
    )
    expect(ended.stdout).toBe('200 {"ok":true}\n'.repeat(programs.length))
    expect(ended.code).toBe(0)
    const received = gateway.upstream.requests
    expect(received.map(({ target }) => target)).toEqual(nodeClients.map((client) => `/${client}`))
    for (const { headers } of received) expect(headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
    expect(ended.stderr).toContain(`${UPSTREAM_HOST}  3 attempts, 3 credits, 3 receipts`)
    const { hosts, attempts, refused } = await summaryIn(summary)
    expect(hosts).toEqual([{ host: UPSTREAM_HOST, attempts: 3, credits: 3, receipts: 3 }])
    expect(refused).toEqual([])
    for (const { receipt_id } of attempts)
      expect((await gateway.rest('GET', `/v1/receipts/${receipt_id}`)).status).toBe(200)
    expect(await liveRuns()).toEqual([])
  })

  it('brings the agents that a program makes of its own undici to the proxy, and keeps no program for them', async () => {
    const program = `
      import { Agent, Pool, fetch, request, setGlobalDispatcher } from 'undici'
      const url = (path) => ${JSON.stringify(gateway.url('/own-agents'))} + path
      const say = async ({ statusCode, body }) => console.log(statusCode, await body.text())
      await say(await request(url('/agent'), { dispatcher: new Agent() }))
      const pool = new Pool(new URL(url('')).origin)
      const bodies = ['a', 'b'].map((letter) => pool.request({ path: '/own-agents/pool', method: 'POST', body: letter.repeat(400_000) }))
      for (const answer of await Promise.all(bodies)) await say(answer)
      setGlobalDispatcher(new Agent())
      console.log((await fetch(url('/fetch'))).status)
      await request('https://unknown.example.com/', { dispatcher: new Agent() }).catch(({ code, message }) => console.log(code, message))`
    const before = gateway.upstream.requests.length
    const ended = await runCli(['run', '--credential', 'upstream', ...node(program)], env)
    expect(ended.stdout).toBe(
      '200 {"ok":true}\n'.repeat(3) +
        '200\nERR_PROXY_TUNNEL the proxy refused the connection to unknown.example.com: 403\n',
    )
    expect(ended.code).toBe(0)
    const received = gateway.upstream.requests.slice(before)
    expect(received.map(({ body }) => body.length)).toEqual([0, 400_000, 400_000, 0])
    for (const { headers } of received) expect(headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
  })

  it('serves the WebSocket of Node itself, which knows of no gateway', async () => {
    const summary = join(folder, 'websocket.json')
    serveWebSockets(gateway.upstream)
    const program = `
      const ws = new WebSocket(${JSON.stringify(gateway.url('/live').replace('https', 'wss'))}, { headers: { authorization: 'Bearer placeholder' } })
      ws.onopen = () => ws.send('hello')
      ws.onmessage = ({ data }) => { console.log(data); ws.close(4000, 'done') }
      ws.onerror = ({ message, error }) => console.log('failed', message, error)
      ws.onclose = ({ code, reason }) => console.log(code, reason)`
    const ended = await runCli(
      ['run', '--credential', 'upstream', '--summary', summary, ...node(program)],
      env,
    )
    expect(ended.stdout).toBe('hello\n4000 done\n')
    gateway.upstream.upgrade(undefined)
    expect(gateway.upstream.requests.at(-1)!.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
    const { hosts } = await summaryIn(summary)
    expect(hosts).toEqual([{ host: UPSTREAM_HOST, attempts: 1, credits: 1, receipts: 1 }])
  })

  it('gives the program nothing of the gateway: no key, no capability, no secret, in its environment or files', async () => {
    const program = `
      import { readFileSync, readdirSync } from 'node:fs'
      import { dirname } from 'node:path'
      const run = dirname(process.env.NODE_EXTRA_CA_CERTS)
      console.log(JSON.stringify({ env: process.env, files: readdirSync(run).map((name) => readFileSync(run + '/' + name, 'utf8').slice(-2000)) }))`
    const stored = await gateway.rest('POST', '/v1/egress/credentials', {
      provider: 'anthropic',
      label: 'claude',
      secret: 'sk-ant-api03-real-secret-of-a-test',
      path_prefixes: ['/v1'],
      methods: ['POST'],
    })
    expect(stored.status).toBe(201)
    const { stdout, code } = await runCli(['run', '--credential', 'claude', ...node(program)], {
      ...env,
      LEFT_BEHIND: gateway.operatorKey,
      ANTHROPIC_API_KEY: 'sk-ant-api03-of-the-person',
      KEPT: 'kept',
    })
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/agw_|GATEWAY_/)
    expect(stdout).not.toMatch(/real-secret|of-the-person/)
    const { env: seen } = JSON.parse(stdout)
    expect(seen.KEPT).toBe('kept')
    expect(seen.ANTHROPIC_API_KEY).toMatch(/^sk-ant-api03-AgentGatewayPlaceholder\w{72}$/)
    expect(seen.OPENAI_API_KEY).toBeUndefined()
    for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'http_proxy'])
      expect(seen[name]).toMatch(/^http:\/\/agent:/)
    expect(seen.NO_PROXY).toBe('localhost,127.0.0.1,::1')
    expect((await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))).toEqual([])
  })

  it('cuts the run from a capability that is given, without a service key', async () => {
    const { capability, capabilityId } = await gateway.grant({
      secret: SECRET,
      credential: { label: 'given' },
    })
    const file = join(folder, 'agent.cap')
    await writeFile(file, `${capability}\n`, { mode: 0o600 })
    const { GATEWAY_OPERATOR_KEY: _key, ...keyless } = env
    const program = ['https://other.example.com/', gateway.url('/narrowed')]
      .map((url) => `{ ${nodeProgram('fetch', url)} }`)
      .join('\n')
    const ended = await runCli(['run', '--capability-file', file, ...node(program)], keyless)
    expect(ended.stdout).toMatch(/^failed.*\n200 \{"ok":true\}\n$/)
    expect(ended.stderr).toContain('1 attempt, 1 credit, 1 receipt')
    expect(ended.stderr).toContain('Connections to other.example.com are not allowed here')
    const { body } = await gateway.rest('GET', '/v1/egress/capabilities?limit=100')
    const own = body.capabilities.find((one: { capability_id: string }) => one.capability_id === capabilityId)
    expect(own.revoked_at).toBeNull()
    expect(await liveRuns()).toEqual([])
  })

  it('denies a host without a credential, says so, and ends with 128 and the number of the signal', async () => {
    const program = `${nodeProgram('fetch', 'https://other.example.com/')}\nprocess.kill(process.pid, 'SIGKILL')`
    const denied = await runCli(['run', '--credential', credentialId, ...node(program)], env)
    expect(denied.code).toBe(137)
    expect(denied.stdout).toMatch(/^failed/)
    expect(denied.stderr).toMatch(/other\.example\.com:443 {2}refused: Connections to other\.example\.com/)
  })

  it('forwards signals, and still revokes and cleans up', async () => {
    const program = `
      process.on('SIGTERM', () => { console.log('got SIGTERM'); process.exit(5) })
      await fetch(${JSON.stringify(gateway.url('/signal'))})
      console.log('ready')
      setInterval(() => {}, 1000)`
    const started = startCli(['run', ...node(program)], env)
    await started.until('stdout', /ready/)
    expect(await liveRuns()).toHaveLength(1)
    started.kill('SIGTERM')
    expect((await started.ended).code).toBe(5)
    expect(started.stdout()).toContain('got SIGTERM')
    expect(await liveRuns()).toEqual([])
    expect((await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))).toEqual([])
  })

  it('takes back what it gave the program, however often it is told to end meanwhile', async () => {
    const program = `
      process.on('SIGTERM', () => process.exit(0))
      await fetch(${JSON.stringify(gateway.url('/impatient'))})
      console.log('ready')
      setInterval(() => {}, 1000)`
    const started = startCli(['run', ...node(program)], env)
    await started.until('stdout', /ready/)
    expect(await liveRuns()).toHaveLength(1)
    const impatient = setInterval(() => started.kill('SIGTERM'), 1)
    // Once all is taken back a signal ends the run before it has spoken: the last one comes while it waits for this.
    const { revokeCapability } = gateway.store
    const revoked = vi.spyOn(gateway.store, 'revokeCapability').mockImplementationOnce(async (input) => {
      clearInterval(impatient)
      started.kill('SIGTERM')
      return revokeCapability(input)
    })
    await started.ended
    expect(revoked).toHaveBeenCalled()
    revoked.mockRestore()
    expect(started.stderr()).toContain('the program has ended; what it was given is taken back')
    expect(await liveRuns()).toEqual([])
  })

  it('takes back what it gave the program where nobody reads its stderr any more', async () => {
    const program = `
      import { writeSync } from 'node:fs'
      await fetch(${JSON.stringify(gateway.url('/unheard'))})
      try { for (;;) writeSync(2, '.') } catch ({ code }) { console.log(code) }`
    const before = gateway.upstream.requests.length
    const ended = await runShell(
      `agent-gateway run -- '${process.execPath}' --input-type=module -e "$PROGRAM" 2> >(:)`,
      { ...env, PROGRAM: program },
    )
    expect(ended).toMatchObject({ code: 0, stdout: 'EPIPE\n' })
    expect(gateway.upstream.requests.length).toBe(before + 1)
    expect(await liveRuns()).toEqual([])
    expect((await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))).toEqual([])
  })

  it('takes everything back and writes its summary where the reader of its stderr keeps it waiting', async () => {
    const pipe = join(folder, 'stderr')
    const summary = join(folder, 'kept-waiting.json')
    await promisify(execFile)('mkfifo', [pipe])
    const reader = await open(pipe, constants.O_RDWR | constants.O_NONBLOCK)
    for (const size of [4096, 1])
      expect(() => {
        for (;;) writeSync(reader.fd, Buffer.alloc(size))
      }).toThrow('EAGAIN')
    const program = `await fetch(${JSON.stringify(gateway.url('/unread'))}); process.exitCode = 5`
    const ended = runShell(
      `agent-gateway run --summary '${summary}' -- '${process.execPath}' --input-type=module -e "$PROGRAM" 2> '${pipe}'`,
      { ...env, PROGRAM: program },
    )
    await vi.waitFor(async () => expect(await summaryIn(summary)).toMatchObject({ exit_code: 5 }), {
      timeout: 60_000,
    })
    expect(await liveRuns()).toEqual([])
    expect((await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))).toEqual([])
    await reader.close()
    expect(await ended).toMatchObject({ code: 5 })
  })

  it('leaves nothing behind where it is told to end before the program is started', async () => {
    const made = runFolderMade()
    const started = startCli(['run', ...node(`setInterval(() => {}, 1000)`)], env)
    await made
    started.kill('SIGTERM')
    expect(await started.ended).toEqual({ code: 143, signal: null })
    expect(await liveRuns()).toEqual([])
    expect((await readdir(folder)).filter((name) => name.startsWith('agent-gateway-run-'))).toEqual([])
  })

  it('says where the options of a program stand', async () => {
    const ended = await runCli(['run', 'curl', '-s', gateway.url('/')], env)
    expect(ended.code).toBe(2)
    expect(ended.stderr).toContain(
      "error: unknown option '-s'\nOptions of the program stand after --, and those of run before it: agent-gateway run -- PROGRAM [options]\n",
    )
  })

  it('keeps two runs at once apart: each door takes its own password alone', async () => {
    const wait = `console.log(process.env.HTTPS_PROXY); setInterval(() => {}, 1000)`
    const first = startCli(['run', ...node(wait)], env)
    const [address] = await first.until('stdout', /http:\S+/)
    const foreign = `
      const { host } = new URL(${JSON.stringify(address)})
      const own = new URL(process.env.HTTPS_PROXY)
      const { ProxyAgent, request } = await import('undici')
      const dispatcher = new ProxyAgent({ uri: 'http://' + host, token: 'Basic ' + btoa('agent:' + own.password) })
      await request(${JSON.stringify(gateway.url('/foreign'))}, { dispatcher }).then(
        ({ statusCode }) => console.log(statusCode), (thrown) => console.log('refused', thrown.message))`
    const before = gateway.upstream.requests.length
    const second = await runCli(['run', ...node(foreign)], env)
    expect(second.stdout).toMatch(/^refused/)
    // Without a password it is the door of those that descend from its run; this process does not.
    const stranger = await sendConnect(new URL(address).origin, new URL(gateway.url('/')).host)
    stranger.socket.destroy()
    expect(stranger.status).toBe(407)
    expect(gateway.upstream.requests.length).toBe(before)
    first.kill('SIGTERM')
    await first.ended
    expect(first.stderr()).toContain('This proxy belongs to another run.')
  })

  it('prints the variables of the proxy of a gateway, which a shell takes as they are', async () => {
    const withProxy = await startTestGateway({ env: { GATEWAY_PROXY_PORT: '0' } })
    try {
      const { capability } = await withProxy.grant({ secret: SECRET })
      const options = [
        '--proxy',
        withProxy.gateway.proxyUrl!,
        '--provider',
        'openai',
        '--folder',
        join(folder, 'trust'),
      ]
      const { stdout, code } = await runCli(['env', ...options], env, capability)
      expect(code).toBe(0)
      const variables = Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => /^export (\w+)=(.*)$/.exec(line)!.slice(1)),
      )
      expect(variables['OPENAI_API_KEY']).toMatch(/^sk-proj-AgentGatewayPlaceholder/)
      const asFile = await runCli(['env', ...options, '--format', 'env-file'], env, capability)
      expect(asFile.stdout).toBe(stdout.replaceAll(/^export /gm, ''))
      const { output } = await runNode(nodeProgram('fetch', withProxy.url('/env')), variables)
      expect(output).toBe('200 {"ok":true}\n')
      expect(withProxy.upstream.requests[0]!.headers).toContainEqual(['authorization', `Bearer ${SECRET}`])
    } finally {
      await withProxy.close()
    }
  })

  it.each([
    ['http://agent:s3cr3t-word@127.0.0.1:1', 2, '--proxy takes the address without a user and a password'],
    ['http://s3cr3t-word@127.0.0.1:1', 2, '--proxy takes the address without a user and a password'],
    ['http://127.0.0.1:1/s3cr3t-word?s3cr3t-word', 3, 'No proxy of a gateway answers at http://127.0.0.1:1.'],
  ])('prints no secret that somebody put into the address of a proxy: %s', async (proxy, code, words) => {
    const ended = await runCli(['env', '--proxy', proxy, '--folder', join(folder, 'none')], env, 'x')
    expect(ended).toMatchObject({ code, stdout: '' })
    expect(ended.stderr).toContain(words)
    expect(ended.stderr).not.toContain('s3cr3t-word')
  })

  it('prints no variables for a provider that there is not', async () => {
    const ended = await runCli(['env', '--provider', 'opnai', '--proxy', 'http://127.0.0.1:1'], env, 'x')
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain('there is no provider opnai. Did you mean openai?')
  })

  it('has a doctor that tries a program, and says that it can be helped', async () => {
    const tried = await runCli(['doctor', '--json', '--', process.execPath], env)
    expect(JSON.parse(tried.stdout)).toMatchObject({ ok: true, findings: [{ level: 'ok' }] })
    expect(tried.stdout).toContain('uses the proxy and trusts its certificates')
  })

  it('says that there is no such program, and leaves nothing behind', async () => {
    const ended = await runCli(['run', '--', 'no-such-program-of-a-test', '--token', 'x'], env)
    expect(ended.code).toBe(127)
    expect(ended.stderr).toContain('There is no program no-such-program-of-a-test')
    expect(await liveRuns()).toEqual([])
  })
})
