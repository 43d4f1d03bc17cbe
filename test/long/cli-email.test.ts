// Addresses as an operator sees them on the command line, against the real gateway in a process of its own.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type GatewayProcess, runCli, startGatewayProcess } from '../support/cli.ts'
import { createWorld, type World } from '../support/gateway.ts'

let world: World
let gateway: GatewayProcess

beforeAll(async () => {
  world = await createWorld()
  world.dns.set('good.com', { MX: [[10, 'mx.good.com']], ttl: 60 })
  world.dns.set('yahooo.com', { MX: [[10, 'mx.good.com']], ttl: 60 })
  world.dns.set('mx.good.com', { A: ['93.184.216.34'], ttl: 60 })
  gateway = startGatewayProcess(world.env)
  await gateway.listening
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.ended
  await world.close()
})

const run = (...args: string[]) => runCli(['email', ...args], world.env)

describe('email verify', () => {
  // A name that was not found within two seconds is asked for again, and one that was is remembered for a minute.
  beforeEach(async () => {
    const url = await gateway.listening
    const verify = async () => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${world.operatorKey}` }
      const body = JSON.stringify({ emails: ['ada@good.com', 'ada@yahooo.com'] })
      return (await fetch(`${url}/v1/verify/batch`, { method: 'POST', headers, body })).text()
    }
    await expect.poll(verify).toMatch(/"accept"(?![\s\S]*dns_(?:failure|timeout))/)
  })

  it('says the decision, why, and where mail goes', async () => {
    const { code, stdout, stderr } = await run('verify', 'ada@good.com', 'ada@yahooo.com')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`accept  ada@good.com
        mail goes to mx.good.com
review  ada@yahooo.com  (typo)
        did you mean ada@yahoo.com?
        mail goes to mx.good.com
`)
  })
  it('exits with 1 where an address is rejected, and says at which character it is wrong', async () => {
    const { code, stdout } = await run('verify', 'ada@good.com', 'ada..x@good.com')
    expect(code).toBe(1)
    expect(stdout).toContain('reject  ada..x@good.com  (syntax)\n        There are two dots in a row')
    expect(stdout).toContain('At character 5.')
  })
  it('prints the answer of the gateway for programs', async () => {
    const { code, stdout } = await run('verify', '--json', 'ada@good.com')
    expect(code).toBe(0)
    expect(JSON.parse(stdout).results).toMatchObject([{ email: 'ada@good.com', decision: 'accept' }])
  })
  it('refuses more than a batch before it asks', async () => {
    const { code, stderr } = await run('verify', ...Array<string>(101).fill('ada@good.com'))
    expect(code).toBe(2)
    expect(stderr).toContain('At most 100 addresses')
  })
})

describe('email keys', () => {
  it('lists what was given out, and ends one at once', async () => {
    const url = await gateway.listening
    const post = async (path: string, body: unknown, key?: string) => {
      const headers = {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      }
      return fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    const made = (await (await post('/v1/keys/free', {})).json()) as { key_id: string; key: string }
    const verify = async () => (await post('/v1/verify', { email: 'ada@good.com' }, made.key)).status
    expect(await verify()).toBe(200)

    const listed = await run('keys', 'list')
    expect({ code: listed.code, stderr: listed.stderr }).toEqual({ code: 0, stderr: '' })
    expect(listed.stdout).toMatch(/^KEY ID +CREATED AT +LAST SEEN ON +USED TODAY +REVOKED AT/)
    expect(listed.stdout).toContain(made.key_id)
    expect(listed.stdout).not.toContain(made.key)

    const revoked = await run('keys', 'revoke', made.key_id, '--json')
    expect(revoked.code).toBe(0)
    expect(JSON.parse(revoked.stdout)).toMatchObject({
      key_id: made.key_id,
      revoked_at: expect.stringContaining('T'),
    })
    expect(await verify()).toBe(401)
  })
  it('says that a key is not there', async () => {
    const { code, stderr } = await run('keys', 'revoke', 'ek_0000000000000000000000000000000000')
    expect(code).toBe(1)
    expect(stderr).toContain('No email key has this id. List them to find it.')
  })
})

describe('email lists refresh', () => {
  const domains = Array.from({ length: 150 }, (_, i) => `throwaway-${i}.com`)
  it('puts a list into the data directory, and says what changed', async () => {
    const file = join(world.dataDir, 'blocklist.conf')
    await writeFile(file, `# fresh\n${domains.join('\n')}\n`)
    const { code, stdout } = await run('lists', 'refresh', '--from', file, '--json')
    expect(code).toBe(0)
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({ domains: 150, added: 150, removed: 0, ignored: 0 })
    expect(await readFile(report.file, 'utf8')).toContain('throwaway-149.com')
  })
  it('refuses what is no list, and says why', async () => {
    const file = join(world.dataDir, 'page.html')
    await writeFile(file, '<html>\n<body>503</body>\n')
    const { code, stderr } = await run('lists', 'refresh', '--from', file)
    expect(code).toBe(1)
    expect(stderr).toContain('This is no list of disposable domains.')
  })
})
