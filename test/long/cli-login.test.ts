// A person signs in from a terminal: the command shows a code, they decide in the console, and commands then act in their name.
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli, startCli } from '../support/cli.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { signIn, type TestPerson } from '../support/people.ts'
import { allow, browserOf, submit } from '../support/signed-in.ts'

let gateway: TestGateway
let owner: TestPerson
let env: Record<string, string>
let file: string
beforeAll(async () => {
  gateway = await startTestGateway()
  owner = await signIn(gateway)
  const home = join(gateway.dataDir, 'home')
  await mkdir(home)
  // Another machine: no data directory of the gateway, no key.
  env = { XDG_CONFIG_HOME: home, GATEWAY_DATA_DIR: join(home, 'nothing') }
  file = join(home, 'agent-gateway', 'login.json')
})
afterAll(() => gateway?.close())

const cli = (...args: string[]) => runCli([...args, '--url', gateway.baseUrl, '--json'], env)

/** Runs `login`, and decides in the browser. */
async function login(more: Record<string, string> | undefined) {
  const started = startCli(['login', '--url', gateway.baseUrl, '--json'], env)
  const [, code = ''] = await started.until('stderr', /user_code=([A-Z]{4}-[A-Z]{4})/)
  const browser = browserOf(gateway.baseUrl, owner)
  const found = await submit(browser, '/console/device', { _action: 'find', code })
  const path = found.headers.get('location') ?? ''
  if (more) await allow(browser, path, undefined, more)
  else await submit(browser, path, { _action: 'refuse' })
  const { code: exit } = await started.ended
  return { code: exit, stdout: started.stdout(), stderr: started.stderr() }
}

describe('agent-gateway login', () => {
  it('acts for the person, as far as they allowed, until it ends', async () => {
    expect((await cli('credentials', 'list')).stderr).toContain('agent-gateway login')
    const done = await login({ may_operate: 'on' })
    expect(done.code).toBe(0)
    expect(JSON.parse(done.stdout)).toEqual({
      signed_in_to: gateway.baseUrl,
      may_operate: true,
      kept_in: file,
    })
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await cli('credentials', 'list')).code).toBe(0)

    // A token that is about to end is replaced first.
    const held = JSON.parse(await readFile(file, 'utf8'))
    const { keepLogin } = await import('../../src/cli/login-file.ts')
    const soon = { ...held[gateway.baseUrl], expires_at: new Date(Date.now() + 1000).toISOString() }
    await keepLogin(gateway.baseUrl, soon, file)
    expect((await cli('credentials', 'list')).code).toBe(0)
    const next = JSON.parse(await readFile(file, 'utf8'))[gateway.baseUrl]
    expect(next.refresh_token).not.toBe(soon.refresh_token)

    expect((await cli('logout')).code).toBe(0)
    await expect(stat(file)).rejects.toThrow('ENOENT')
    const answer = await gateway.rest('GET', '/v1/egress/credentials', undefined, next.access_token)
    expect(answer.status).toBe(401)
  })

  it('is told that the person refused, and what they did not allow', async () => {
    const refused = await login(undefined)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('refused in the browser')])
    const done = await login({})
    expect(JSON.parse(done.stdout)).toMatchObject({ may_operate: false })
    const listed = await cli('credentials', 'list')
    expect([listed.code, listed.stderr]).toEqual([1, expect.stringContaining('insufficient_scope')])
    // It was ended in the console while a token waits to be replaced.
    const held = JSON.parse(await readFile(file, 'utf8'))[gateway.baseUrl]
    const { keepLogin } = await import('../../src/cli/login-file.ts')
    await keepLogin(gateway.baseUrl, { ...held, expires_at: new Date().toISOString() }, file)
    await gateway.services.identity.connections.revokeClient(owner.accountId, 'agent-gateway-cli')
    expect((await cli('credentials', 'list')).stderr).toContain('was ended or is too old')
  })
})
