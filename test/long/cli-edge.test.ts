// A merchant's DNS as an operator sees it on the command line, against the real gateway in a process of its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayProcess, runCli, startGatewayProcess } from '../support/cli.ts'
import { type DnsZone, startDnsServer, type TestDnsServer } from '../support/dns-server.ts'
import { createWorld, type World } from '../support/gateway.ts'

const HOST = 'shop.example.com'
const NAME = `_agent-gateway.${HOST}`

let world: World
let other: TestDnsServer
let gateway: GatewayProcess
let env: Record<string, string>
let expected: string

beforeAll(async () => {
  world = await createWorld({ env: { GATEWAY_EDGE_NAME: 'gw.example.com' } })
  other = await startDnsServer()
  for (const server of [world.dns, other]) server.set(HOST, { A: ['127.0.0.1'] })
  env = { ...world.env, GATEWAY_DNS_SERVERS: `${world.dns.address},${other.address}` }
  gateway = startGatewayProcess(env, { upstreamsOnLoopback: true })
  await gateway.listening
  publish({})
  expected = (await check(['--json'])).answer.expected
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.ended
  await world.close()
  await other.close()
})

function publish(first: DnsZone, second: DnsZone = first): void {
  world.dns.set(NAME, first)
  other.set(NAME, second)
}

async function check(options: readonly string[] = [], host = HOST) {
  const { code, stdout, stderr } = await runCli(['edge', 'check', host, ...options], env)
  return { code, stdout, stderr, answer: options.includes('--json') ? JSON.parse(stdout) : undefined }
}

describe('edge check', () => {
  it('says what to publish where nothing is, as a line for the zone file, and exits with 1', async () => {
    publish({})
    const { code, stdout, stderr } = await check()
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toBe(`${HOST} is NOT authorized (absent)
  There is no consent record at ${NAME}. Publish the TXT record there.

The record that authorizes it:
  ${NAME}. 300 IN TXT "${expected}"

What the resolvers find there:
  ${world.dns.address}  nothing
  ${other.address}  nothing
`)
    expect(expected).toMatch(/^v=agw1; gw=gw\.example\.com; acct=[a-z2-7]{26}$/)
  })

  it('says what is allowed once the record is there, and exits with 0', async () => {
    publish({ TXT: [`${expected}; paths=/v1/; until=4102444800`], ttl: 60 })
    const { code, stdout, stderr } = await check()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(
      `${HOST} is authorized\n  Transactions sent to ${await gateway.listening}/edge/${HOST}/`,
    )
    expect(stdout).toContain(`"${expected}; paths=/v1/; until=4102444800" (TTL 60 s)`)
    expect(stdout).toMatch(/\nPaths {4}\/v1\/\nMethods {2}POST\nUntil {4}2100-01-01T00:00:00\.000Z\n$/)
  })

  it.each<[string, () => [DnsZone, DnsZone?], string, string]>([
    [
      'names another gateway',
      () => [{ TXT: [expected.replace('gw.example.com', 'gw.example.net')] }],
      'wrong_gateway',
      'gw=gw.example.com',
    ],
    ['has expired', () => [{ TXT: [`${expected}; until=1000000000`] }], 'expired', 'has expired'],
    ['is seen by one resolver only', () => [{ TXT: [expected] }, {}], 'resolvers_disagree', 'do not agree'],
    ['cannot be asked for', () => [{ rcode: 2 }], 'resolver_failed', 'no usable answer'],
  ])('says why a record is refused that %s, and exits with 1', async (_what, zones, refusal, words) => {
    publish(...(zones() as [DnsZone, DnsZone]))
    const { code, stdout } = await check()
    expect(code).toBe(1)
    expect(stdout).toContain(`NOT authorized (${refusal})`)
    expect(stdout).toContain(words)
  })

  it('prints nothing of a record that moves the cursor', async () => {
    publish({ TXT: ['\x1b]0;owned\x07\x9b2J'] })
    const { stdout } = await check()
    expect(stdout).toContain('"\\027]0;owned\\007\\194\\1552J"')
    expect(stdout).not.toMatch(/[^\n -~]/)
  })

  it('says that consent is not enough for a private address', async () => {
    publish({ TXT: [expected] })
    for (const server of [world.dns, other]) server.set(HOST, { A: ['10.0.0.1'] })
    const { code, stdout } = await check()
    for (const server of [world.dns, other]) server.set(HOST, { A: ['127.0.0.1'] })
    expect(code).toBe(0)
    expect(stdout).toMatch(/leads to no public address \(private\): calls are refused/)
  })

  it('prints the answer of the gateway with --json, and the same exit code', async () => {
    publish({ TXT: [expected] })
    expect(await check(['--json'])).toMatchObject({
      code: 0,
      answer: { host: HOST, authorized: true, refusal: null, name: NAME, expected },
    })
    publish({})
    expect(await check(['--json'])).toMatchObject({
      code: 1,
      answer: { authorized: false, refusal: 'absent' },
    })
  })

  it('refuses what is no host in words', async () => {
    const { code, stdout, stderr } = await check([], 'https://shop.example.com/')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('input_invalid')
  })
})
