// An operator's day on the command line, against the real gateway in a process of its own.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newToken } from '../../src/lib/tokens.ts'
import { type GatewayProcess, runCli, startGatewayProcess } from '../support/cli.ts'
import { createWorld, UPSTREAM_HOST, type World } from '../support/gateway.ts'

const SECRET = 'upstream-secret-of-the-cli-test'

let world: World
let gateway: GatewayProcess
let env: Record<string, string>
let baseUrl: string

beforeAll(async () => {
  world = await createWorld()
  env = { ...world.env, NODE_EXTRA_CA_CERTS: await world.ca.write(world.dataDir) }
  gateway = startGatewayProcess(env, { upstreamsOnLoopback: true })
  baseUrl = await gateway.listening
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.ended
  await world.close()
})

const cli = (args: readonly string[], input?: string) => runCli(args, env, input)

/** Runs with --json and expects it to work. */
// oxlint-disable-next-line typescript/no-explicit-any
async function json(args: readonly string[], input?: string): Promise<any> {
  const { code, stdout, stderr } = await cli([...args, '--json'], input)
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

const scope = ['--provider', 'custom', '--host', UPSTREAM_HOST, '--path', '/v1', '--method', 'get']

async function fetchOnce(capability: string, url: string) {
  const response = await fetch(`${baseUrl}/v1/egress/fetch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${capability}`, 'content-type': 'application/json' },
    body: JSON.stringify({ method: 'GET', url }),
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: (await response.json()) as any }
}

/** Where nothing listens. */
async function freeAddress(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

describe('the whole way of a credential', () => {
  it('changes the authority of a credential and nothing else of its settings', async () => {
    const ca = String(env['NODE_EXTRA_CA_CERTS'])
    const file = join(world.dataDir, 'reach.json')
    const settings = {
      rules: ['deny DELETE *', 'allow * *'],
      response_headers: ['x-next'],
      tls: { token_endpoint: false },
    }
    writeFileSync(file, JSON.stringify(settings))
    const all = { ...settings, tls: { token_endpoint: false, ca: readFileSync(ca, 'utf8') } }
    const add = ['credentials', 'add', ...scope, '--settings-file', file, '--ca-file', ca]
    const added = await json(add, `${SECRET}\n`)
    expect(added.settings).toEqual(all)
    const edit = ['credentials', 'edit', added.credential_id]
    expect((await json([...edit, '--ca-file', ca])).settings).toEqual(all)
    expect((await json([...edit, '--label', 'other'])).settings).toEqual(all)

    const { rules: _rules, ...fewer } = settings
    writeFileSync(file, JSON.stringify(fewer))
    expect((await json([...edit, '--settings-file', file])).settings).toEqual(fewer)

    writeFileSync(file, JSON.stringify({ ...fewer, placements: [{ in: 'query', name: 'key' }] }))
    const ofSecret = await cli([...edit, '--settings-file', file])
    expect([ofSecret.code, ofSecret.stderr]).toEqual([2, expect.stringContaining('belong to the secret')])
    const target = { host: UPSTREAM_HOST, port: 443, cidr: '10.0.0.0/8' }
    writeFileSync(file, JSON.stringify({ unsafe_private_targets: [target] }))
    const twice = [
      ...edit,
      '--settings-file',
      file,
      '--unsafe-private-target',
      `${UPSTREAM_HOST}:443=10.1.0.0/16`,
    ]
    const lists = await cli(twice)
    expect([lists.code, lists.stderr]).toEqual([2, expect.stringContaining('unsafe_private_targets')])
  })

  it('stores several texts with settings from a file, and says what is wrong with either', async () => {
    const settings = join(world.dataDir, 'settings.json')
    const kind = { type: 'aws_sigv4', region: 'eu-west-1', service: 's3' }
    writeFileSync(settings, JSON.stringify({ kind }))
    const add = ['credentials', 'add', ...scope, '--settings-file', settings]
    const keys = { access_key_id: 'AKIDEXAMPLE', secret_access_key: SECRET }
    const added = await json([...add, '--parts'], JSON.stringify(keys))
    expect(added.settings).toEqual({ kind, parts: { access_key_id: 'public', secret_access_key: 'secret' } })

    const torn = await cli([...add, '--parts'], `{"secret_access_key": "${SECRET}`)
    expect([torn.code, torn.stderr]).toEqual([2, expect.stringContaining('one JSON object of texts')])
    expect(torn.stderr).not.toContain(SECRET)
    writeFileSync(settings, JSON.stringify({ kind: { ...kind, region: 7 } }))
    const wrong = await cli([...add, '--parts'], JSON.stringify(keys))
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('/kind/region')])
  })

  it('stores a secret from stdin, hands out a capability, and shows attempt and receipt', async () => {
    const credential = await json(['credentials', 'add', ...scope, '--label', 'cli'], `${SECRET}\n`)
    expect(credential).toMatchObject({
      provider: 'custom',
      label: 'cli',
      hosts: [UPSTREAM_HOST],
      path_prefixes: ['/v1'],
      methods: ['GET'],
      version: 1,
    })

    const file = join(world.dataDir, 'agent.cap')
    const issue = [
      'capabilities',
      'issue',
      '--credential',
      credential.credential_id,
      '--ttl',
      '10m',
      '--max-uses',
      '5',
    ]
    const issued = await json([...issue, '--out', file])
    expect(issued).toMatchObject({ capability_file: file, max_uses: 5 })
    expect(issued.capability).toBeUndefined()
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const capability = readFileSync(file, 'utf8').trim()
    expect(capability).toMatch(/^agw_cap_/)

    const answer = await fetchOnce(capability, world.url('/v1/things'))
    expect(answer.status).toBe(200)
    const sent = Object.fromEntries(world.upstream.requests.at(-1)!.headers)
    expect(sent['authorization']).toBe(`Bearer ${SECRET}`)

    const attempt = await json(['attempts', 'show', answer.body.attempt_id])
    expect(attempt).toMatchObject({
      state: 'settled',
      method: 'GET',
      credits_charged: 1,
      upstream_status: 200,
    })
    const list = await json(['attempts', 'list', '--state', 'settled', '--limit', '1'])
    expect(list.attempts[0].attempt_id).toBe(answer.body.attempt_id)

    const shown = await json(['receipts', 'show', attempt.receipt_id])
    expect(shown.jws).toBe(answer.body.receipt.jws)
    const text = await cli(['receipts', 'show', attempt.receipt_id])
    expect(text.stdout).toContain(attempt.receipt_id)

    const narrowed = await json(
      ['capabilities', 'narrow', '--max-uses', '1', '--label', 'helper'],
      capability,
    )
    expect(narrowed).toMatchObject({ parent_id: issued.capability_id, max_uses: 1 })
    const capabilities = await json(['capabilities', 'list', '--credential', credential.credential_id])
    expect(capabilities.capabilities).toHaveLength(2)
    expect(JSON.stringify(capabilities)).not.toContain('agw_cap_')
    expect(await json(['capabilities', 'revoke', issued.capability_id])).toMatchObject({ revoked: 2 })
    expect((await fetchOnce(narrowed.capability, world.url('/v1/things'))).status).toBe(401)
  })

  it('rotates from a file, lists metadata only, and revokes', async () => {
    const file = join(world.dataDir, 'secret.txt')
    writeFileSync(file, `${SECRET}-2\n`)
    const added = await json(['credentials', 'add', ...scope, '--label', 'rotated'], SECRET)
    const rotated = await json(['credentials', 'rotate', added.credential_id, '--secret-file', file])
    expect(rotated.version).toBe(2)

    const { stdout } = await cli(['credentials', 'list'])
    expect(stdout).toMatch(/^CREDENTIAL ID +PROVIDER +LABEL/)
    expect(stdout).toContain(added.credential_id)
    expect((await json(['credentials', 'revoke', added.credential_id])).revoked_at).not.toBeNull()

    const everything = await Promise.all([
      cli(['credentials', 'list', '--json']),
      cli(['capabilities', 'list', '--json']),
      cli(['attempts', 'list', '--json']),
    ])
    expect(JSON.stringify(everything)).not.toContain(SECRET)
    expect(gateway.stderr()).not.toContain(SECRET)
  })

  it('verifies a receipt online and offline, and tells an altered one', async () => {
    const added = await json(['credentials', 'add', ...scope], SECRET)
    const { capability } = await json(['capabilities', 'issue', '--credential', added.credential_id])
    const { body } = await fetchOnce(capability, world.url('/v1/receipt'))
    const file = join(world.dataDir, 'answer.json')
    writeFileSync(file, JSON.stringify(body))

    const online = await cli(['receipts', 'verify', file])
    expect(online.stdout).toContain('This receipt verifies')
    expect(online.stdout).toContain(UPSTREAM_HOST)

    const keys = join(world.dataDir, 'keys.json')
    writeFileSync(keys, await (await fetch(`${baseUrl}/.well-known/gateway-egress-key.json`)).text())
    // Nothing listens there: offline means offline.
    const offline = { ...env, GATEWAY_BASE_URL: await freeAddress() }
    const piped = await runCli(
      ['receipts', 'verify', '-', '--keys', keys, '--json'],
      offline,
      body.receipt.jws,
    )
    expect(JSON.parse(piped.stdout)).toMatchObject({
      verified: true,
      receipt: { request: { host: UPSTREAM_HOST } },
    })

    const [head, payload, signature] = body.receipt.jws.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const altered = Buffer.from(JSON.stringify({ ...claims, outcome: 'forged' })).toString('base64url')
    const refused = await runCli(
      ['receipts', 'verify', '-', '--keys', keys],
      offline,
      [head, altered, signature].join('.'),
    )
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('does NOT verify: the signature does not fit')

    writeFileSync(keys, '{"keys":[]}')
    const foreign = await runCli(['receipts', 'verify', file, '--keys', keys, '--json'], offline)
    expect(foreign.code).toBe(1)
    expect(JSON.parse(foreign.stderr)).toMatchObject({ verified: false, reason: 'unknown_key' })
    expect((await runCli(['receipts', 'verify', file], offline)).code).toBe(3)
  })
})

describe('keys, credits and the authority', () => {
  it('opens an account, grants it credits once, and ends its key', async () => {
    const made = await json(['keys', 'create', '--new-account', 'team-b', '--label', 'first'])
    expect(made).toMatchObject({ label: 'first', admin: false, credits: 100 })
    const file = join(world.dataDir, 'team-b.key')
    writeFileSync(file, `${made.key}\n`)

    const grant = ['credits', 'grant', '50', '--account', made.account_id, '--reference', 'welcome']
    expect(await json(grant)).toMatchObject({ balance: 150, repeated: false })
    expect(await json(grant)).toMatchObject({ balance: 150, repeated: true })
    expect(await json(['credits', 'balance', '--key-file', file])).toMatchObject({
      account_id: made.account_id,
      balance: 150,
    })
    const { stdout } = await cli(['credits', 'balance', '--key-file', file])
    expect(stdout).toMatch(/^150 credits on acct_/)
    expect(stdout).toContain('welcome')

    const keys = await json(['keys', 'list', '--limit', '100'])
    expect(keys.keys.map((key: { key_id: string }) => key.key_id)).toContain(made.key_id)
    const { stdout: table } = await cli(['keys', 'list', '--limit', '1'])
    expect(table).toMatch(/more: --before key_/)
    expect((await json(['keys', 'revoke', made.key_id])).revoked_at).not.toBeNull()
    const ended = await cli(['keys', 'list', '--key-file', file])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(
      /^agent-gateway: The key is not valid \(key_invalid, 401\)\n {2}.*\n {2}request id req_/,
    )
  })

  it('shows a new key once, last and alone on its line', async () => {
    const { stdout, code } = await cli(['keys', 'create', '--label', 'deploy'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/label +deploy\n/)
    expect(stdout).toMatch(/\n\nagw_sk_[0-9A-Za-z]{49}\n$/)
  })

  it('rotates the authority and credentials still open', async () => {
    const added = await json(['credentials', 'add', ...scope], SECRET)
    const { capability } = await json(['capabilities', 'issue', '--credential', added.credential_id])
    const rotated = await json(['authority', 'rotate'])
    expect(rotated.rewrapped).toBeGreaterThan(0)
    expect((await fetchOnce(capability, world.url('/v1/after'))).status).toBe(200)
  })
})

describe('the signing key', () => {
  it('is rotated and revoked, and what it signed verifies until then, offline too', async () => {
    const keysFile = join(world.dataDir, 'keys.json')
    const saveKeys = async () =>
      writeFileSync(keysFile, await (await fetch(`${baseUrl}/.well-known/gateway-egress-key.json`)).text())
    const added = await json(['credentials', 'add', ...scope], SECRET)
    const { capability } = await json(['capabilities', 'issue', '--credential', added.credential_id])
    const { receipt } = (await fetchOnce(capability, world.url('/v1/signed'))).body
    const file = join(world.dataDir, 'before-rotation.json')
    writeFileSync(file, JSON.stringify(receipt))
    const { keys } = await json(['signing-key', 'list'])
    const [{ kid: old }] = keys
    expect(keys).toMatchObject([{ state: 'signing', retired_at: null }])

    const rotated = await json(['signing-key', 'rotate'])
    expect(rotated.retired).toEqual([old])
    await saveKeys()
    const verified = await json(['receipts', 'verify', file, '--keys', keysFile])
    expect(verified).toMatchObject({ verified: true, kid: old })

    const refused = await cli(['signing-key', 'retire', rotated.kid])
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('This key signs')])
    const revoked = await json(['signing-key', 'revoke', old, '--reason', 'stolen with a backup'])
    expect(revoked).toMatchObject({ kid: old, state: 'revoked', reason: 'stolen with a backup' })
    await saveKeys()
    for (const how of [['--keys', keysFile], []]) {
      const { code, stderr } = await cli(['receipts', 'verify', file, ...how])
      expect([code, stderr]).toEqual([1, expect.stringContaining('the key that signed it was revoked')])
    }
    const shown = await json(['receipts', 'show', receipt.receipt_id])
    expect(shown).toMatchObject({
      kid: rotated.kid,
      revoked_key: { kid: old, reason: 'stolen with a backup' },
    })
    writeFileSync(file, JSON.stringify(shown))
    expect(await json(['receipts', 'verify', file, '--keys', keysFile])).toMatchObject({ verified: true })
  })
})

describe('what goes wrong is said in words', () => {
  it.each([
    [
      'a secret as an argument',
      ['credentials', 'add', ...scope, '--secret', SECRET],
      2,
      'A secret may not be an argument',
    ],
    ['an unknown command', ['keys', 'mint'], 2, "unknown command 'mint'"],
    ['an unknown option', ['keys', 'list', '--al'], 2, "unknown option '--al'"],
    ['a secret that is not given', ['credentials', 'add', '--provider', 'openai'], 2, 'No secret was given'],
    ['a missing option', ['capabilities', 'issue'], 2, "'--credential <credential-id>' not specified"],
    [
      'a time that is none',
      ['capabilities', 'issue', '--credential', 'c', '--ttl', 'soon'],
      2,
      'Write a time like',
    ],
    ['an id of nothing', ['attempts', 'show', 'att_nothing'], 1, 'attempt_not_found, 404'],
    [
      'input the gateway refuses',
      ['capabilities', 'issue', '--credential', 'c', '--host', 'NOT A HOST'],
      1,
      '/hosts/0',
    ],
    [
      'a key file that is not there',
      ['keys', 'list', '--key-file', '/nowhere/key'],
      1,
      '/nowhere/key cannot be read',
    ],
    [
      'a receipt file that is not there',
      ['receipts', 'verify', '/nowhere/receipt'],
      2,
      '/nowhere/receipt cannot be read',
    ],
    ['an address that is none', ['keys', 'list', '--url', 'gopher'], 2, 'not an http or https address'],
    ['a key in the clear', ['keys', 'list', '--url', 'http://gateway.example'], 2, 'in the clear'],
  ])('%s', async (_, args, code, words) => {
    const result = await cli(args)
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' })
    expect(result.stderr).toContain(words)
    expect(result.stderr).not.toContain(SECRET)
    expect(result.stderr).not.toMatch(/^ +at /m)
  })

  it('a wrong key, as a problem document with --json', async () => {
    const result = await runCli(['keys', 'list', '--json'], { ...env, GATEWAY_OPERATOR_KEY: newToken('sk') })
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toMatchObject({ status: 401, code: 'key_invalid' })
  })

  it('no secret on stdin', async () => {
    const result = await cli(['credentials', 'add', ...scope], '')
    expect(result.code).toBe(2)
    expect(result.stderr).toContain('No secret was given')
  })

  it('a token file that exists: nothing is issued and nothing overwritten', async () => {
    const file = join(world.dataDir, 'precious')
    writeFileSync(file, 'precious')
    const before = (await json(['keys', 'list', '--limit', '100'])).keys.length
    const result = await cli(['keys', 'create', '--out', file])
    expect(result).toMatchObject({
      code: 1,
      stderr: `agent-gateway: ${file} exists already: name a new file.\n`,
    })
    expect(readFileSync(file, 'utf8')).toBe('precious')
    expect((await json(['keys', 'list', '--limit', '100'])).keys).toHaveLength(before)
  })

  it('a refused request leaves no empty token file behind', async () => {
    const file = join(world.dataDir, 'refused.cap')
    const result = await cli(['capabilities', 'issue', '--credential', 'cred_nothing', '--out', file])
    expect(result.code).toBe(1)
    expect(existsSync(file)).toBe(false)
  })

  it('no gateway, and a server that is none', async () => {
    const nowhere = await freeAddress()
    const gone = await runCli(['keys', 'list'], { ...env, GATEWAY_BASE_URL: nowhere })
    expect(gone).toMatchObject({ code: 3, stdout: '' })
    expect(gone.stderr).toContain(`No gateway answers at ${nowhere}. Start it with`)

    const other: Server = createServer((_req, res) => res.end('<html>hello</html>'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const wrong = await cli(['keys', 'list', '--url', url])
    other.closeAllConnections()
    await new Promise((resolve) => other.close(resolve))
    expect(wrong.code).toBe(3)
    expect(wrong.stderr).toContain('not like an Agent Gateway (status 200)')
  })

  it('a redirect is not followed: the key stays here', async () => {
    const seen: string[] = []
    const thief: Server = createServer((req, res) => {
      seen.push(req.url!)
      res.writeHead(307, { location: '/stolen' }).end()
    })
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve))
    const result = await cli([
      'keys',
      'list',
      '--url',
      `http://127.0.0.1:${(thief.address() as AddressInfo).port}`,
    ])
    thief.closeAllConnections()
    await new Promise((resolve) => thief.close(resolve))
    expect(result.code).toBe(3)
    expect(seen).toEqual(['/v1/keys?limit=50'])
  })
})

describe('help', () => {
  it.each([
    [[], 2, 'stderr'],
    [['--help'], 0, 'stdout'],
  ] as const)('of %j names every command and the exit codes', async (args, code, stream) => {
    const result = await cli(args)
    expect(result.code).toBe(code)
    for (const name of [
      'serve',
      'stdio',
      'doctor',
      'keys',
      'credits',
      'payments',
      'credentials',
      'capabilities',
      'mandates',
      'permits',
      'attempts',
      'receipts',
      'authority',
      'signing-key',
    ])
      expect(result[stream]).toMatch(new RegExp(`^ {2}${name} `, 'm'))
    expect(result[stream]).toContain('Exit codes: 0 done')
  })

  it('of a command says where the secret comes from and shows an example', async () => {
    const { stdout, code } = await cli(['credentials', 'add', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('never from an argument')
    expect(stdout).toContain('Examples:')
  })
})
