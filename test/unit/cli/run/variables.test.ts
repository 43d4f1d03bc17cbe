import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  awsVariables,
  childEnvironment,
  placeholderOf,
  placeholderVariables,
  proxyVariables,
  toEnvFile,
  toShell,
  trustVariables,
} from '../../../../src/cli/run/variables.ts'
import { shellQuote } from '../../../../src/lib/shell-quote.ts'
import { builtIn } from '../../../../src/egress/providers/index.ts'

describe('placeholders', () => {
  it.each([
    [{ prefix: 'sk-proj-', length: 164 }, /^sk-proj-AgentGatewayPlaceholder/],
    [{ prefix: '', length: 32 }, /^AgentGatewayPlaceholder/],
    [{ prefix: 'sk-ant-api03-', length: 16 }, /^sk-ant-api03-AgentGat/],
  ])('have the form of a key: %j', (format, form) => {
    const placeholder = placeholderOf(format)
    expect(placeholder).toMatch(form)
    expect(placeholder).toHaveLength(Math.max(format.length, format.prefix.length + 8))
  })

  it('of every provider stand for a person as what they are, and no two providers share a variable', () => {
    const names: string[] = []
    for (const { variables, key_format } of builtIn) {
      names.push(...variables)
      if (variables.length > 0) expect(placeholderOf(key_format)).toContain('AgentG')
    }
    expect(names.length).toBeGreaterThan(30)
    expect(new Set(names).size).toBe(names.length)
  })

  it('are set for the providers that are used, and for no others', () => {
    const found = placeholderVariables(builtIn, new Set(['github', 'custom']))
    expect(Object.keys(found)).toEqual(['GITHUB_TOKEN', 'GH_TOKEN'])
    expect(found['GH_TOKEN']).toMatch(/^ghp_\w{36}$/)
  })
})

describe('the environment of the program', () => {
  const inherited = {
    PATH: '/bin',
    HOME: '/srv/me',
    GATEWAY_OPERATOR_KEY: 'x',
    GATEWAY_DATA_DIR: '/data',
    OTHER: 'key=agw_sk_123',
    HARMLESS: 'agw_ and nothing',
    HTTPS_PROXY: 'http://company:3128',
    SSH_AUTH_SOCK: '/tmp/agent',
    UNSET: undefined,
  }

  it('has nothing of the gateway in it, and what was added stands over what was there', () => {
    expect(childEnvironment(inherited, { HTTPS_PROXY: 'http://door' }, { isSandboxed: false })).toEqual({
      PATH: '/bin',
      HOME: '/srv/me',
      HARMLESS: 'agw_ and nothing',
      HTTPS_PROXY: 'http://door',
      SSH_AUTH_SOCK: '/tmp/agent',
    })
  })

  it('names no socket that a sandbox hides', () => {
    expect(childEnvironment(inherited, {}, { isSandboxed: true })).not.toHaveProperty('SSH_AUTH_SOCK')
  })

  it('names the proxy in both spellings, and loopback is not behind it', () => {
    const variables = proxyVariables('http://agent:p@127.0.0.1:1')
    for (const name of ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'])
      expect(variables[name.toLowerCase()]).toBe(variables[name])
    expect(variables['NO_PROXY']).toBe('localhost,127.0.0.1,::1')
    expect(variables['NODE_USE_ENV_PROXY']).toBe('1')
  })

  it('gives all roots to what replaces the trust of a program, and ours alone to what adds to it', () => {
    const { NODE_EXTRA_CA_CERTS, DENO_CERT, ...replacing } = trustVariables({ bundle: 'all', own: 'ours' })
    expect([NODE_EXTRA_CA_CERTS, DENO_CERT]).toEqual(['ours', 'ours'])
    expect(new Set(Object.values(replacing))).toEqual(new Set(['all']))
    expect(Object.keys(replacing)).toContain('REQUESTS_CA_BUNDLE')
  })
})

it('tells programs of AWS not to sign chunks', () => {
  expect(awsVariables).toEqual({
    AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
    AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
  })
})

describe('lines for a shell', () => {
  it.each(['plain', '', "it's", '$(touch x) `y`', 'a b', '"', '\\', "'\\''"])('say %j as it is', (value) => {
    const text = execFileSync('/bin/sh', ['-c', `${toShell({ A: value })}printf %s "$A"`], {
      encoding: 'utf8',
    })
    expect(text).toBe(value)
  })

  it('are those of an --env-file without a shell: nothing is quoted there', () => {
    expect(toEnvFile({ A: "it's", B: '$x y' })).toBe("A=it's\nB=$x y\n")
  })

  it('leaves what means nothing to a shell without quotes', () => {
    expect(shellQuote('http://agent:agw_cap_1@127.0.0.1:8403')).toBe('http://agent:agw_cap_1@127.0.0.1:8403')
  })
})
