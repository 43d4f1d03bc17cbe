import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isLoopbackHost } from '../../../src/app/addresses.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { ConfigError } from '../../../src/core/errors.ts'
import { newToken } from '../../../src/lib/tokens.ts'
import { mistyped } from '../../support/mistyped.ts'

type Env = Record<string, string>

function problemsOf(env: Env): readonly string[] {
  try {
    loadConfig(env)
    return []
  } catch (thrown) {
    if (thrown instanceof ConfigError) return thrown.problems
    throw thrown
  }
}

const REPLICA = { GATEWAY_DATABASE_URL: 'postgres://x/gateway' }
const PRODUCTION: Env = { GATEWAY_MODE: 'production', GATEWAY_BASE_URL: 'https://gw.example' }

describe('loadConfig', () => {
  it('has the defaults of the contract and is frozen', () => {
    const config = loadConfig({})
    expect(config).toMatchObject({
      mode: 'sandbox',
      host: 'localhost',
      port: 8402,
      baseUrl: undefined,
      dataDir: resolve('./data'),
      authorityKeyFile: resolve('./data/authority.jwk'),
      databaseUrl: undefined,
      databaseDirectUrl: undefined,
      redisUrl: undefined,
      egressPorts: [443],
      allowPrivateCidrs: [],
      serviceKeyCredits: 100,
      mcpNames: 'auto',
      allowedOrigins: [],
      securityContacts: [],
      rateLimit: undefined,
      trustProxy: 0,
      creditPriceAtomic: 1000n,
      logLevel: 'info',
    })
    expect(Object.isFrozen(config)).toBe(true)
  })

  it('takes an empty variable for an unset one', () => {
    expect(loadConfig({ PORT: '', GATEWAY_MODE: '', GATEWAY_OPERATOR_KEY: '' })).toEqual(loadConfig({}))
  })

  it('reads lists, numbers and URLs', () => {
    const config = loadConfig({
      PORT: '0',
      GATEWAY_BASE_URL: 'https://gw.example/base//',
      GATEWAY_DNS_SERVERS: ' 127.0.0.1:5353 , [::1]:53,9.9.9.9,::1 ',
      GATEWAY_EGRESS_PORTS: '443,8443',
      GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.0.0.0/8,fd00::/8',
      GATEWAY_RATE_LIMIT: '0',
      GATEWAY_TRUST_PROXY: 'off',
    })
    expect(config).toMatchObject({
      port: 0,
      baseUrl: 'https://gw.example/base',
      dnsServers: ['127.0.0.1:5353', '[::1]:53', '9.9.9.9', '::1'],
      egressPorts: [443, 8443],
      allowPrivateCidrs: ['10.0.0.0/8', 'fd00::/8'],
      rateLimit: 0,
      trustProxy: 0,
    })
  })

  it.each<[string, Env]>([
    ['PORT', { PORT: '65536' }],
    ['PORT', { PORT: '80a' }],
    ['PORT', { PORT: '-1' }],
    ['GATEWAY_MODE', { GATEWAY_MODE: 'prod' }],
    ['GATEWAY_BASE_URL', { GATEWAY_BASE_URL: 'ftp://x' }],
    ...['GATEWAY_BASE_URL', 'GATEWAY_SITE_URL', 'GATEWAY_MCP_URL'].flatMap((name) =>
      ['https://u:pw@x.example', 'https://x.example/?y=1', 'https://x.example/#f'].map(
        (url): [string, Env] => [name, { [name]: url }],
      ),
    ),
    ['GATEWAY_DATABASE_URL', { GATEWAY_DATABASE_URL: 'mysql://x' }],
    ['GATEWAY_REDIS_URL', { ...REPLICA, GATEWAY_REDIS_URL: 'https://x' }],
    ['GATEWAY_REDIS_URL', { ...REPLICA, GATEWAY_REDIS_URL: 'redis://x/name' }],
    ['GATEWAY_OPERATOR_KEY', { GATEWAY_OPERATOR_KEY: 'agw_sk_short' }],
    ['GATEWAY_OPERATOR_KEY', { GATEWAY_OPERATOR_KEY: newToken('cap') }],
    ['GATEWAY_OPERATOR_KEY', { GATEWAY_OPERATOR_KEY: mistyped(newToken('sk')) }],
    ['GATEWAY_TOKEN', { GATEWAY_TOKEN: 'agw_cap_short' }],
    ['GATEWAY_TOKEN', { GATEWAY_TOKEN: mistyped(newToken('cap')) }],
    ['GATEWAY_PAY_TO', { GATEWAY_PAY_TO: '0x12' }],
    ['GATEWAY_DNS_SERVERS', { GATEWAY_DNS_SERVERS: 'dns.example' }],
    ['GATEWAY_DNS_SERVERS', { GATEWAY_DNS_SERVERS: '127.0.0.1:70000' }],
    ['GATEWAY_EGRESS_PORTS', { GATEWAY_EGRESS_PORTS: '443,0' }],
    ['GATEWAY_EGRESS_PORTS', { GATEWAY_EGRESS_PORTS: 'https' }],
    ['GATEWAY_ALLOWED_ORIGINS', { GATEWAY_ALLOWED_ORIGINS: 'app.example.com' }],
    ['GATEWAY_ALLOWED_ORIGINS', { GATEWAY_ALLOWED_ORIGINS: 'https://app.example.com/' }],
    ['GATEWAY_ALLOWED_ORIGINS', { GATEWAY_ALLOWED_ORIGINS: 'https://App.example.com' }],
    ['GATEWAY_ALLOWED_ORIGINS', { GATEWAY_ALLOWED_ORIGINS: '*,null' }],
    ['GATEWAY_SECURITY_CONTACT', { GATEWAY_SECURITY_CONTACT: 'security@example.com' }],
    ['GATEWAY_SECURITY_CONTACT', { GATEWAY_SECURITY_CONTACT: 'http://example.com/report' }],
    ['GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS', { GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.0.0.0' }],
    ['GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS', { GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.0.0.0/33' }],
    ['GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS', { GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS: '10.0.0.0/8/8' }],
    ['GATEWAY_MCP_NAMES', { GATEWAY_MCP_NAMES: 'short' }],
    ['GATEWAY_RATE_LIMIT', { GATEWAY_RATE_LIMIT: 'none' }],
    ['GATEWAY_TRUST_PROXY', { GATEWAY_TRUST_PROXY: 'on' }],
    ['GATEWAY_TRUST_PROXY', { GATEWAY_TRUST_PROXY: '11' }],
    ['GATEWAY_CREDIT_PRICE_ATOMIC', { GATEWAY_CREDIT_PRICE_ATOMIC: '0.5' }],
    ...['8453', '8453:0', '8453:257', '0:1', '8453=3', '1:2,base:3'].map((value): [string, Env] => [
      'GATEWAY_CONFIRMATIONS',
      { GATEWAY_CONFIRMATIONS: value },
    ]),
    ['GATEWAY_LOG_LEVEL', { GATEWAY_LOG_LEVEL: 'loud' }],
    ['GATEWAY_UNSAFE_PUBLIC_SANDBOX', { GATEWAY_UNSAFE_PUBLIC_SANDBOX: 'yes' }],
    ['GATEWAY_FACILITATORS', { GATEWAY_FACILITATORS: 'https://a.example,facilitator' }],
    ['GATEWAY_FACILITATORS', { GATEWAY_FACILITATORS: 'https://a.example,http://b.example' }],
    ...[
      'https://user@a.example',
      'https://:p@a.example',
      'https://a.example/x?key=k',
      'https://a.example/#k',
    ].map((url): [string, Env] => [
      'GATEWAY_FACILITATORS',
      { GATEWAY_FACILITATORS: `https://b.example,${url}` },
    ]),
    ['HOST', { HOST: '0.0.0.0' }],
    ['GATEWAY_BASE_URL', { GATEWAY_MODE: 'production' }],
    ['GATEWAY_BASE_URL', { ...PRODUCTION, GATEWAY_BASE_URL: 'http://gw.example' }],
    ['GATEWAY_FAULT', { ...PRODUCTION, GATEWAY_FAULT: 'before_reply:kill' }],
  ])('says in words what is wrong with %s: %j', (name, env) => {
    const problems = problemsOf(env)
    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(name)
    expect(problems[0]).not.toMatch(/Invalid input|undefined|NaN/)
  })

  it.each<[string, Env]>([
    ['loopback sandbox', { HOST: '::1' }],
    ['public sandbox on request', { HOST: '0.0.0.0', GATEWAY_UNSAFE_PUBLIC_SANDBOX: '1' }],
    ['production', { ...PRODUCTION, HOST: '0.0.0.0' }],
    ['production behind a local proxy', { ...PRODUCTION, GATEWAY_BASE_URL: 'http://127.0.0.1:8402' }],
    ['production on IPv6 loopback', { ...PRODUCTION, GATEWAY_BASE_URL: 'http://[::1]:8402' }],
    ['faults in the sandbox', { GATEWAY_FAULT: 'before_reply:kill' }],
    [
      'facilitators',
      { GATEWAY_FACILITATORS: 'https://a.example/x402, http://127.0.0.1:4020,http://localhost' },
    ],
    ['Redis', { ...REPLICA, GATEWAY_REDIS_URL: 'redis://:p@x' }],
    ['a database of Redis, over TLS', { ...REPLICA, GATEWAY_REDIS_URL: 'rediss://u:p@x:6380/3' }],
    ['a service key', { GATEWAY_OPERATOR_KEY: newToken('sk') }],
    ['a capability for stdio', { GATEWAY_TOKEN: newToken('cap') }],
  ])('accepts %s', (_, env) => {
    expect(problemsOf(env)).toEqual([])
  })

  it('takes origins as browsers write them, and addresses for reports', () => {
    const config = loadConfig({
      GATEWAY_ALLOWED_ORIGINS: 'https://app.example.com, http://192.0.2.7:3000, chrome-extension://abcdef, *',
      GATEWAY_SECURITY_CONTACT:
        'mailto:security@example.com, https://example.com/report, tel:+1-201-555-0123',
    })
    expect(config.allowedOrigins).toHaveLength(4)
    expect(config.securityContacts).toHaveLength(3)
  })

  it.each(['GATEWAY_CONFIRMATIONS', 'GATEWAY_SETTLER_MAX_FEE_GWEI'])('%s names a chain once', (name) => {
    // Of two depths the last one would count, whichever was meant.
    expect(problemsOf({ [name]: '1:12,137:2,1:1' })).toEqual([
      `${name} must name every chain once, and names 1 twice`,
    ])
  })

  it('reads how deep a transfer must be on each chain', () => {
    const { confirmations } = loadConfig({ GATEWAY_CONFIRMATIONS: '1:12, 137:256' })
    expect(confirmations).toEqual({ 1: 12, 137: 256 })
    expect(loadConfig({}).confirmations).toEqual({})
  })

  it.each<[string, string, RegExp]>([
    ['plain http', 'https://a.example.com/x,http://b.example.com/y', /entry 2 .*https/],
    ['no URL', 'news', /entry 1 .*https/],
    ['a password in it', 'https://user:hunter2@a.example.com/x', /entry 1 .*password/],
    ['an address instead of a name', 'https://10.0.0.1/x', /entry 1 .*Name the host/],
    ['a name of this machine', 'https://localhost/x', /entry 1 .*public internet/],
    ['a port that is not allowed', 'https://a.example.com:8443/x', /entry 1 .*port/],
    ['spaces for commas', 'https://a.example.com/x https://b.example.com/y', /entry 1 /],
    ['one of them twice', 'https://a.example.com/x,https://a.example.com/x', /entry 2 .*twice/],
    [
      'more than a digest reads',
      'https://a.example.com/1,https://a.example.com/2,https://a.example.com/3,https://a.example.com/4',
      /at most 3/,
    ],
  ])('refuses feeds that no digest could read: %s', (_, value, problem) => {
    const problems = problemsOf({ GATEWAY_FEED_SOURCES: value })
    expect(problems).toEqual([expect.stringMatching(problem)])
    expect(problems[0]).not.toContain('hunter2')
  })

  it('lets feeds be on the ports that outbound requests may use, and on the sample site of a sandbox', () => {
    const other = 'https://a.example.com:8443/x'
    const sample = 'https://sandbox.agent-gateway.test/feeds/hardware.xml'
    expect(loadConfig({ GATEWAY_FEED_SOURCES: other, GATEWAY_EGRESS_PORTS: '443,8443' }).feedSources).toEqual(
      [other],
    )
    expect(loadConfig({ GATEWAY_FEED_SOURCES: sample }).feedSources).toEqual([sample])
    expect(problemsOf({ ...PRODUCTION, GATEWAY_FEED_SOURCES: sample })).toEqual([
      expect.stringMatching(/FEED_SOURCES: entry 1 /),
    ])
    for (const url of loadConfig(PRODUCTION).feedSources)
      expect(problemsOf({ ...PRODUCTION, GATEWAY_FEED_SOURCES: url })).toEqual([])
  })

  it('reports every problem at once, those across variables too', () => {
    const problems = problemsOf({
      PORT: 'x',
      HOST: '0.0.0.0',
      GATEWAY_EGRESS_PORTS: 'y',
      GATEWAY_PAY_TO: 'z',
    })
    expect(problems.map((problem) => /^[A-Z_]+/.exec(problem)![0]).sort()).toEqual([
      'GATEWAY_EGRESS_PORTS',
      'GATEWAY_PAY_TO',
      'HOST',
      'PORT',
    ])
    expect(() => loadConfig({ PORT: 'x' })).toThrow(/1 problem.*\n- PORT/)
  })

  it('never quotes a key pasted into the wrong variable', () => {
    const key = newToken('sk')
    const names =
      'PORT GATEWAY_MODE GATEWAY_BASE_URL GATEWAY_PAY_TO GATEWAY_DATABASE_URL GATEWAY_RATE_LIMIT GATEWAY_LOG_LEVEL GATEWAY_DNS_SERVERS GATEWAY_UNSAFE_ALLOW_PRIVATE_CIDRS GATEWAY_EGRESS_PORTS HOST'
    for (const name of names.split(' ')) {
      const problems = problemsOf({ [name]: key })
      expect(problems, name).not.toHaveLength(0)
      expect(problems.join(), name).not.toContain(key)
    }
  })
})

describe('isLoopbackHost', () => {
  it.each<[string, boolean]>([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['[::1]', true],
    ['0.0.0.0', false],
    ['::', false],
    ['128.0.0.1', false],
    ['127.0.0.1.example.com', false],
    ['localhost.example.com', false],
  ])('%s: %s', (host, isLoopback) => {
    expect(isLoopbackHost(host)).toBe(isLoopback)
  })
})
